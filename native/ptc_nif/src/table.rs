//! `operations/0`: the table of operations, for the schema functions.

use crate::atoms;
use crate::clock::nif;
use ptc_program::ops::OpCode;
use rustler::{Encoder, Term};

nif! {
    /// `[{name, family, about, [{field, kind, presence, about, values}]}]`, in the order for readers.
    fn operations<'a>(env) -> Vec<Term<'a>> {
        let entry = |op: &OpCode| {
            let definition = op.definition();
            let fields: Vec<_> = definition
                .fields
                .iter()
                .map(|field| {
                    let kind = atoms::named(env, field.kind);
                    let presence = atoms::named(env, field.presence);
                    (field.name, kind, presence, field.about, field.values)
                })
                .collect();
            let family = definition.family;
            (definition.name, family, definition.about, fields).encode(env)
        };
        OpCode::ALL.iter().map(entry).collect()
    }
}
