//! `operations/0`: the table of operations, for the schema functions.

use crate::atoms;
use crate::clock::nif;
use ptc_program::edition::Edition;
use ptc_program::ops::OpCode;
use rustler::{Encoder, Error, NifResult, Term};

nif! {
    /// `[{name, family, about, types, [{field, kind, presence, about, values, choices}]}]`, the operations of an edition in the order for
    /// readers.
    fn operations<'a>(env, edition: u32) -> NifResult<Vec<Term<'a>>> {
        let edition = Edition::of_number(edition).ok_or(Error::BadArg)?;
        let entry = |op: &OpCode| {
            let definition = op.definition();
            let about = match edition {
                Edition::One => definition.about,
                Edition::Two => definition.about_2,
            };
            let fields: Vec<_> = op
                .fields(edition)
                .iter()
                .map(|field| {
                    let kind = atoms::named(env, field.kind);
                    let presence = atoms::named(env, field.presence);
                    (field.name, kind, presence, field.about, field.values, field.choices)
                })
                .collect();
            let family = definition.family;
            (definition.name, family, about, definition.types, fields).encode(env)
        };
        let known = OpCode::ALL.iter().filter(|op| op.edition() <= edition);
        Ok(known.map(entry).collect())
    }
}
