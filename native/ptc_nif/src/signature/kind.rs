//! The kinds of term that types tell apart.

use crate::raw::{Raw, Terms};
use rustler::sys::ErlNifTermType::*;

/// What a term is. Bitstrings may be binaries or not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Atom,
    Bitstring,
    Float,
    Integer,
    List,
    Map,
    Other,
}

#[inline]
pub fn kind<'a>(terms: Terms<'a>, term: Raw<'a>) -> Kind {
    match terms.kind(term) {
        ERL_NIF_TERM_TYPE_ATOM => Kind::Atom,
        ERL_NIF_TERM_TYPE_BITSTRING => Kind::Bitstring,
        ERL_NIF_TERM_TYPE_FLOAT => Kind::Float,
        ERL_NIF_TERM_TYPE_INTEGER => Kind::Integer,
        ERL_NIF_TERM_TYPE_LIST => Kind::List,
        ERL_NIF_TERM_TYPE_MAP => Kind::Map,
        _ => Kind::Other,
    }
}
