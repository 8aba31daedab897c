//! Builds maps from coerced fields.

use crate::map_view::Flat;
use crate::names::keyword_text;
use crate::raw::{Raw, Terms};
use rustler::sys::ErlNifTerm;
use std::collections::HashMap;

/// A map with at most this many changed values is updated value by value, so that it shares its keys.
const FEW: usize = 4;

/// Builds a small map from these keys and old values: keeps the keys at the `covered` indices, with the
/// `changed` values.
pub fn small<'a>(
    terms: Terms<'a>,
    map: Raw<'a>,
    Flat { keys, values: old }: Flat<'a>,
    covered: u32,
    changed: Option<&[Raw<'a>]>,
) -> Raw<'a> {
    let size = keys.len();
    let whole = covered.count_ones() as usize == size;
    let value = |at: usize| match changed {
        Some(values) => values[at],
        None => old[at],
    };
    let is_other = |at: &usize| value(*at).word() != old[*at].word();
    if whole && (0..size).filter(is_other).count() <= FEW {
        let update = |map, at| terms.map_update(map, keys[at], value(at)).unwrap_or(map);
        return (0..size).filter(is_other).fold(map, update);
    }
    let (mut kept, mut values) = (Vec::with_capacity(size), Vec::with_capacity(size));
    for at in (0..size).filter(|at| covered >> at & 1 == 1) {
        kept.push(keys[at]);
        values.push(value(at));
    }
    terms.make_map(&kept, &values).unwrap_or(map)
}

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
