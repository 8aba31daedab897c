//! Builds large maps from coerced fields.

use crate::names::keyword_text;
use crate::raw::{Raw, Terms};
use rustler::sys::ErlNifTerm;
use std::collections::HashMap;

/// Builds a large map from triples of key, old value and new value; of equal keys the last one counts.
pub fn large<'a>(terms: Terms<'a>, map: Raw<'a>, outputs: &[Raw<'a>]) -> Raw<'a> {
    let mut places: HashMap<Key<'a>, usize> = HashMap::new();
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    let mut changed = false;
    for field in outputs.chunks_exact(3) {
        let place = *places.entry(Key::of(terms, field[0])).or_insert(keys.len());
        if place == keys.len() {
            keys.push(field[0]);
            values.push(field[2]);
        }
        values[place] = field[2];
        changed |= field[1].word() != field[2].word();
    }
    match terms.map_size(map) == Some(keys.len()) && !changed {
        true => map,
        false => terms.make_map(&keys, &values).unwrap_or(map),
    }
}

/// A key that can be compared and hashed.
#[derive(PartialEq, Eq, Hash)]
pub enum Key<'a> {
    String(&'a [u8]),
    /// `%PtcRunner.Lisp.Keyword{}` with this name.
    Keyword(&'a [u8]),
    /// An atom, or another term; two different words of other terms count as different keys.
    Word(ErlNifTerm),
}

impl<'a> Key<'a> {
    pub fn of(terms: Terms<'a>, key: Raw<'a>) -> Self {
        let keyword = || keyword_text(terms, key).map(Key::Keyword);
        let string = terms.bytes(key).map(Key::String);
        string.or_else(keyword).unwrap_or(Key::Word(key.word()))
    }
}
