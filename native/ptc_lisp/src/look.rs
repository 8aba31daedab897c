//! Look-ups by flexible keys: `:user-id` finds `:user-id`, `"user-id"`, `:user_id` and `"user_id"` (specification, section 5.2).
//!
//! A key of the program is four constants: the key, its name as a string, its name as a keyword struct, and its name with `_` in
//! the place of `-`, or nil if it has no `-`.

use crate::cache::KeyForms;
use crate::code::{Halt, Machine};
use crate::consts::Word;
use crate::values::{class, field, make_struct, Class};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_vm::program::ConstId;

/// The offsets of the constants of a key.
const STRING: u32 = 1;
const STRUCT: u32 = 2;
const UNDERSCORED: u32 = 3;

/// Fuel for a look-up whose forms are not remembered.
const FORMS: usize = 16;

/// What a look-up has found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found<T> {
    /// The value.
    Value(T),
    /// The key is absent.
    Missing,
    /// The value that is looked into has no keys: it is a number, a text, a set, a struct, …
    NoKeys,
}

impl<T: Copy> Found<T> {
    /// Returns the value if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Found::Value(value) => Some(value),
            _ => None,
        }
    }
}

/// The result of a look-up.
pub type Looked<H> = Result<Found<<H as Heap>::Term>, Halt<H>>;

/// Looks up a key of the program in a value.
#[inline]
pub fn look_up<H: Heap>(m: &mut Machine<'_, H>, coll: H::Term, key: ConstId) -> Looked<H> {
    if m.heap.kind(coll) == Kind::Map {
        let known = m.cache.peek(key);
        if let Some(value) = known.and_then(|known| known.known(&*m.heap, coll)) {
            return Ok(value.map_or(Found::Missing, Found::Value));
        }
    }
    look_up_slowly(m, coll, key)
}

fn look_up_slowly<H: Heap>(m: &mut Machine<'_, H>, coll: H::Term, key: ConstId) -> Looked<H> {
    match class(m, coll) {
        Class::Map => {}
        Class::List | Class::Nil => {
            let key = m.constant(key);
            return look_up_any(m, coll, key);
        }
        _ => return Ok(Found::NoKeys),
    }
    if m.cache.get(key).is_none() {
        m.consume_fuel(FORMS)?;
        let (own, string) = (m.constant(key), m.constant(key + STRING));
        let (keyword, underscored) = (m.constant(key + STRUCT), m.constant(key + UNDERSCORED));
        let underscored = (m.heap.kind(underscored) == Kind::String).then_some(underscored);
        let forms = forms(m, own, (string, keyword), underscored);
        m.cache.put(key, KeyForms::of(forms));
    }
    m.consume_fuel(2)?;
    let (heap, cache) = (&*m.context.heap, &mut m.cache);
    let found = cache.get(key).and_then(|known| known.find(heap, coll));
    Ok(found.map_or(Found::Missing, Found::Value))
}

/// Looks up any value as a key.
pub fn look_up_any<H: Heap>(m: &mut Machine<'_, H>, coll: H::Term, key: H::Term) -> Looked<H> {
    m.consume_fuel(1)?;
    match class(m, coll) {
        Class::Nil => Ok(Found::Missing),
        Class::List => match m.heap.small_integer(key) {
            Some(index) if index >= 0 => at_index(m, coll, index as usize),
            _ => Ok(Found::Missing),
        },
        Class::Map if m.heap.kind(key) == Kind::List => look_up_path(m, coll, key),
        Class::Map => look_in_map(m, coll, key),
        _ => Ok(Found::NoKeys),
    }
}

/// Looks up the keys of a list, one in the value of the other. A value without keys has none of them.
pub fn look_up_path<H: Heap>(m: &mut Machine<'_, H>, coll: H::Term, path: H::Term) -> Looked<H> {
    let mut value = coll;
    // A key that is a list is a path itself: the innermost one is the last.
    let mut open = vec![path];
    while let Some(rest) = open.pop() {
        let Some((key, rest)) = m.heap.uncons(rest) else {
            continue;
        };
        m.consume_fuel(1)?;
        if m.heap.uncons(rest).is_some() {
            open.push(rest);
        }
        if m.heap.kind(key) == Kind::List && class(m, value) == Class::Map {
            open.push(key);
            continue;
        }
        match look_up_any(m, value, key)? {
            Found::Value(found) => value = found,
            _ => return Ok(Found::Missing),
        }
    }
    Ok(Found::Value(value))
}

/// Returns the item of a list at an index.
fn at_index<H: Heap>(m: &mut Machine<'_, H>, list: H::Term, index: usize) -> Looked<H> {
    m.consume_fuel_at_once(index)?;
    let mut rest = list;
    for _ in 0..index {
        match m.heap.uncons(rest) {
            Some((_, tail)) => rest = tail,
            None => return Ok(Found::Missing),
        }
    }
    let found = m.heap.uncons(rest).map(|(item, _)| item);
    Ok(found.map_or(Found::Missing, Found::Value))
}

fn look_in_map<H: Heap>(m: &mut Machine<'_, H>, map: H::Term, key: H::Term) -> Looked<H> {
    let cost = m.weigh(key)?;
    m.consume_fuel_for_lookup(map, cost)?;
    let exact = m.heap.lookup(map, key, &mut H::KeyCache::default());
    if let Lookup::Found(value) = exact {
        return Ok(Found::Value(value));
    }
    let forms = match class(m, key) {
        Class::Keyword | Class::String | Class::Special | Class::Bool | Class::Nil => {
            m.consume_fuel(FORMS)?;
            forms_of(m, key)
        }
        _ => return Ok(Found::Missing),
    };
    for form in forms.iter().skip(1) {
        if let Lookup::Found(value) = m.heap.lookup(map, *form, &mut H::KeyCache::default()) {
            return Ok(Found::Value(value));
        }
    }
    Ok(Found::Missing)
}

/// Returns the forms of a key that is a keyword or a string.
pub fn forms_of<H: Heap>(m: &mut Machine<'_, H>, key: H::Term) -> Vec<H::Term> {
    let name = match m.heap.kind(key) {
        Kind::String => m.heap.bytes(key).map(<[u8]>::to_vec),
        Kind::Map => {
            field(m, key, Word::Name).and_then(|name| m.heap.bytes(name).map(<[u8]>::to_vec))
        }
        Kind::Nil => Some(b"nil".to_vec()),
        Kind::Bool => Some(if m.heap.truthy(key) {
            b"true".to_vec()
        } else {
            b"false".to_vec()
        }),
        _ => Some(m.heap.with_name(key, <[u8]>::to_vec)),
    };
    let Some(name) = name else {
        return vec![key];
    };
    let string = text_for_lookup(m, &name);
    let keyword = match m.heap.kind(key) {
        Kind::Map => key,
        _ => make_struct(m, Word::KeywordModule, &[Word::Name], &[string]),
    };
    let underscored = name.contains(&b'-').then(|| {
        let name: Vec<u8> = name
            .iter()
            .map(|it| if *it == b'-' { b'_' } else { *it })
            .collect();
        text_for_lookup(m, &name)
    });
    forms(m, key, (string, keyword), underscored)
}

fn text_for_lookup<H: Heap>(m: &mut Machine<'_, H>, text: &[u8]) -> H::Term {
    let made = m.heap.string_for_lookup(text);
    made.unwrap_or_else(|| m.heap.make_string(text))
}

/// Returns all forms of a key in the order in which they are tried.
fn forms<H: Heap>(
    m: &Machine<'_, H>,
    key: H::Term,
    (string, keyword): (H::Term, H::Term),
    underscored: Option<H::Term>,
) -> Vec<H::Term> {
    let atom = m.heap.atom_named(string);
    let other_atom = underscored.and_then(|name| m.heap.atom_named(name));
    let order = match m.heap.kind(key) {
        Kind::String => [Some(key), atom, Some(keyword), underscored, other_atom],
        Kind::Map => [Some(key), atom, Some(string), other_atom, underscored],
        _ => [
            Some(key),
            Some(string),
            Some(keyword),
            other_atom,
            underscored,
        ],
    };
    order.into_iter().flatten().collect()
}
