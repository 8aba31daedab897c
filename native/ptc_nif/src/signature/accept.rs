//! Whether a value is of a type without parts.

use super::kind::{kind, Kind};
use super::shape::Shapes;
use super::words::{Module, Words};
use crate::raw::{Raw, Terms};
use ptc_core::signature::{Fields, Scalar, TypeId, Types};

/// As validation has it; `id` is where the scalar stands in the table.
#[inline]
pub fn accepts<'a>(
    terms: Terms<'a>,
    words: &Words<'a>,
    types: &Types<'a>,
    shapes: &mut Shapes<'a>,
    (scalar, id): (Scalar, TypeId),
    value: Raw<'a>,
) -> bool {
    match scalar {
        Scalar::String => terms.is_binary(value),
        Scalar::Int => kind(terms, value) == Kind::Integer,
        Scalar::Float => matches!(kind(terms, value), Kind::Float | Kind::Integer),
        Scalar::Bool => words.is_bool(value),
        Scalar::Keyword => is_keyword(terms, value),
        Scalar::Any => true,
        Scalar::Map => match shapes.open(types, id, Fields::default(), value) {
            Some(map) => shapes.module(id, map).is_none(),
            None => false,
        },
        Scalar::DateTime => is_date_time(terms, words, value),
    }
}

/// Any atom, or a string that could be the name of a keyword.
fn is_keyword<'a>(terms: Terms<'a>, value: Raw<'a>) -> bool {
    if kind(terms, value) == Kind::Atom {
        return true;
    }
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-*<=>?!_".contains(byte);
    let is_name = |name: &[u8]| !name.is_empty() && name.iter().all(allowed);
    terms.is_binary(value) && terms.bytes(value).is_some_and(is_name)
}

/// `%DateTime{}`
pub fn is_date_time<'a>(terms: Terms<'a>, words: &Words<'a>, value: Raw<'a>) -> bool {
    let module = terms.map_get(value, words.struct_key);
    module.and_then(|module| words.module(terms, module)) == Some(Module::DateTime)
}
