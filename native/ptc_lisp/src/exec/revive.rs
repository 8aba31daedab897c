//! Functions as data become functions again: those that come from the memory.
//!
//! A program is compiled together with the texts of the functions that its memory has. The constant [`FUNCTIONS`] says at which
//! entry each text stands, and what it captures.

use crate::code::{Eval, Halt, Machine};
use crate::consts::{Word, FUNCTIONS};
use crate::table::Builtin;
use crate::values::{field, is_word, make_builtin, MADE};
use ptc_term::heap::{Heap, Kind, Lookup};

/// Returns the function that a struct means; `None` if the program does not know its text.
pub fn revive<H: Heap>(
    m: &mut Machine<'_, H>,
    function: H::Term,
) -> Result<Option<H::Term>, Halt<H>> {
    let Some(kind) = field(m, function, Word::Kind) else {
        return Ok(None);
    };
    if is_word(m, kind, Word::ClosureKind) {
        return closure(m, function);
    }
    if is_word(m, kind, Word::BuiltinKind) {
        let name = field(m, function, Word::Name);
        let name = name.and_then(|name| std::str::from_utf8(m.heap.bytes(name)?).ok());
        let builtin = name.and_then(Builtin::named);
        return Ok(builtin.map(|builtin| make_builtin(m, builtin)));
    }
    let Some(word) = MADE.into_iter().find(|word| is_word(m, kind, *word)) else {
        return Ok(None);
    };
    made(m, function, word)
}

/// The key under which [`FUNCTIONS`] has a function: its text, and the sorted names of what it has captured.
pub fn key_of(source: &[u8], names: &[Vec<u8>]) -> Vec<u8> {
    let mut names: Vec<&Vec<u8>> = names.iter().collect();
    names.sort();
    let mut key = source.to_vec();
    for name in names {
        key.push(0);
        key.extend_from_slice(name);
    }
    key
}

fn closure<H: Heap>(m: &mut Machine<'_, H>, function: H::Term) -> Result<Option<H::Term>, Halt<H>> {
    let (Some(source), Some(captured)) = (
        field(m, function, Word::Source),
        field(m, function, Word::Captured),
    ) else {
        return Ok(None);
    };
    let Some(source) = m.heap.bytes(source).map(<[u8]>::to_vec) else {
        return Ok(None);
    };
    if m.heap.kind(captured) != Kind::Map {
        return Ok(None);
    }
    let names = m.heap.entries(captured).into_iter();
    let names: Option<Vec<_>> = names
        .map(|(name, _)| m.heap.bytes(name).map(<[u8]>::to_vec))
        .collect();
    let Some(names) = names else {
        return Ok(None);
    };
    m.consume_fuel(4 + source.len() / 16)?;
    let key = key_of(&source, &names);
    let key = match m.heap.string_for_lookup(&key) {
        Some(key) => key,
        None => m.heap.make_string(&key),
    };
    let known = m.constant(FUNCTIONS);
    let Lookup::Found(known) = m.heap.lookup(known, key, &mut H::KeyCache::default()) else {
        return Ok(None);
    };
    // `[entry, names of what it captures…]`
    let Some((entry, mut names)) = m.heap.uncons(known) else {
        return Ok(None);
    };
    let mut parts = vec![m.constant(Word::Closure.id()), entry];
    while let Some((name, rest)) = m.heap.uncons(names) {
        let value = m.heap.lookup(captured, name, &mut H::KeyCache::default());
        parts.push(match value {
            Lookup::Found(value) => value,
            _ => m.heap.nil(),
        });
        names = rest;
    }
    Ok(Some(m.heap.make_tuple_value(&parts)))
}

fn made<H: Heap>(
    m: &mut Machine<'_, H>,
    function: H::Term,
    word: Word,
) -> Result<Option<H::Term>, Halt<H>> {
    let Some(captured) = field(m, function, Word::Captured) else {
        return Ok(None);
    };
    let count = m.heap.map_size(captured).unwrap_or(0);
    m.consume_fuel(1 + count)?;
    let mut functions = Vec::with_capacity(count);
    for place in 1..=count {
        let key = place.to_string();
        let key = match m.heap.string_for_lookup(key.as_bytes()) {
            Some(key) => key,
            None => m.heap.make_string(key.as_bytes()),
        };
        match m.heap.lookup(captured, key, &mut H::KeyCache::default()) {
            Lookup::Found(value) => functions.push(value),
            _ => return Ok(None),
        }
    }
    let made: Eval<H> = crate::values::make_made(m, word, &functions);
    made.map(Some)
}
