//! `operations/0`: the table of operations, for the schema functions.

use crate::atoms;
use ptc_core::ops::{FieldKind, OpCode};
use rustler::types::atom::Atom;
use rustler::{Encoder, Env, Term};

/// `[{name, family, about, [{field, kind, required?}]}]`, in the order for readers.
#[rustler::nif]
fn operations(env: Env) -> Vec<Term> {
    let _clock = crate::clock::start("operations");
    let entry = |op: &OpCode| {
        let definition = op.definition();
        let fields: Vec<_> = definition
            .fields
            .iter()
            .map(|field| (field.name, kind(field.kind), field.required))
            .collect();
        let family = definition.family;
        (definition.name, family, definition.about, fields).encode(env)
    };
    OpCode::ALL.iter().map(entry).collect()
}

fn kind(kind: FieldKind) -> Atom {
    match kind {
        FieldKind::Any => atoms::any(),
        FieldKind::String => atoms::string(),
        FieldKind::Map => atoms::map(),
        FieldKind::Expr => atoms::expr(),
        FieldKind::ExprList => atoms::expr_list(),
        FieldKind::StringList => atoms::string_list(),
        FieldKind::Count => atoms::non_neg_integer(),
    }
}
