//! Small maps that share their keys with another map.
//!
//! `enif_make_map_from_arrays` sorts and copies the keys of each map that it makes, which takes most of the time of a program
//! that makes a map for each row. `enif_make_map_update` copies only the values, and changes one of them. So a map with the
//! keys of another one is made as such a copy, and its other values are written into it before anyone else can see it.
//! Whether this works is found out when the library is loaded: otherwise all maps are made from arrays.

use super::{words, Raw, Terms};
use rustler::{Encoder, Env};
use std::sync::atomic::{AtomicBool, Ordering};

/// The words of a small map beside its values: its first word, its size, its keys.
const HEAD: usize = 3;

static WORKS: AtomicBool = AtomicBool::new(false);

/// Returns the words of a map made by [`alike`].
#[inline]
pub fn words_of(values: usize) -> usize {
    HEAD + values
}

/// Returns the map with another first value, which is no other term; `None` if maps cannot be made like this one.
pub fn pattern<'a>(terms: Terms<'a>, map: Raw<'a>) -> Option<Raw<'a>> {
    if !WORKS.load(Ordering::Relaxed) {
        return None;
    }
    let first = *words::small_map(map)?.0.first()?;
    // A new term is at an address of its own.
    let nothing = terms.make_list(&[]);
    terms.map_update(map, first, terms.cons(nothing, nothing))
}

/// Makes a map with the keys of a [`pattern`] and these values; `None` if that is not possible.
#[inline]
pub fn alike<'a>(terms: Terms<'a>, pattern: Raw<'a>, values: &[Raw<'a>]) -> Option<Raw<'a>> {
    if !WORKS.load(Ordering::Relaxed) {
        return None;
    }
    let (keys, old) = words::small_map(pattern)?;
    let (key, first) = (*keys.first()?, *values.first()?);
    if old.len() != values.len() {
        return None;
    }
    let copy = terms.map_update(pattern, key, first)?;
    // It is a copy, and not the pattern itself, unless the value is the same.
    if copy.word() == pattern.word() {
        return None;
    }
    words::set_values(copy, values);
    Some(copy)
}

/// Finds out whether maps can be made like others.
pub fn look_before_use(env: Env) {
    let works = words::known() && [1, 2, 5, 32].iter().all(|size| is_as_expected(env, *size));
    WORKS.store(works, Ordering::Relaxed);
}

fn is_as_expected<'a>(env: Env<'a>, size: usize) -> bool {
    let terms = Terms { env };
    let number = |value: usize| Raw::from((value as i64).encode(env));
    let keys: Vec<_> = (0..size).map(number).collect();
    let (old, new): (Vec<_>, Vec<_>) = (0..size)
        .map(|at| (number(1_000 + at), number(2_000 + at)))
        .unzip();
    WORKS.store(true, Ordering::Relaxed);
    let made = terms.make_map(&keys, &old).and_then(|map| {
        let pattern = pattern(terms, map)?;
        Some((map, pattern, alike(terms, pattern, &new)?))
    });
    let Some((map, pattern, made)) = made else {
        return false;
    };
    let keys_of = |map| words::small_map(map).map(|(keys, _)| keys.as_ptr());
    holds(terms, map, &keys, &old)
        && !holds(terms, pattern, &keys, &old)
        && holds(terms, made, &keys, &new)
        && keys_of(made) == keys_of(map)
        && keys_of(pattern) == keys_of(map)
}

/// Returns whether a map has these entries, and no others.
fn holds<'a>(terms: Terms<'a>, map: Raw<'a>, keys: &[Raw<'a>], values: &[Raw<'a>]) -> bool {
    let has = |(key, value): (&Raw<'a>, &Raw<'a>)| {
        (terms.map_get(map, *key)).is_some_and(|found| found.word() == value.word())
    };
    terms.map_size(map) == Some(keys.len()) && keys.iter().zip(values).all(has)
}
