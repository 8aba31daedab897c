//! The fields of a map: look-up by key, and required fields.

use crate::signature::names::{rank, KeyKind, Matching};
use std::collections::HashMap;

/// Index of a type in [`Wanted`](super::Wanted).
pub type Ty = u32;

/// A declared field.
#[derive(Debug)]
pub struct Declared {
    /// Its name.
    pub name: Box<[u8]>,
    /// Its type.
    pub ty: Ty,
}

/// The fields of a map.
#[derive(Debug)]
pub struct Shape {
    /// The declared fields, in order.
    pub fields: Vec<Declared>,
    /// Whether other keys are refused.
    pub closed: bool,
    /// A bit for each of the first 64 fields that are required.
    pub required: u64,
    /// The same for all declared fields, if they are at most 64.
    pub all: Option<u64>,
    /// Whether each field is required.
    needed: Vec<bool>,
    /// The first field of each name, with underscores for hyphens.
    names: HashMap<Vec<u8>, usize>,
    /// The field of each spelling, if it is the only one.
    spellings: HashMap<Vec<u8>, Option<usize>>,
}

/// The result of looking up a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The key is the declared name, or differs only in hyphens and underscores.
    Field(usize),
    /// The key is another spelling of only this field.
    Spelled(usize),
    /// No field.
    Unknown,
}

impl Shape {
    /// `needed`: whether each field is required.
    pub fn new(fields: Vec<Declared>, needed: Vec<bool>, closed: bool) -> Self {
        let mut shape = Shape {
            closed,
            required: 0,
            all: (fields.len() <= 64).then_some(0),
            names: HashMap::with_capacity(fields.len()),
            spellings: HashMap::with_capacity(fields.len()),
            needed,
            fields,
        };
        for (index, field) in shape.fields.iter().enumerate() {
            let first = *shape.names.entry(underscored(&field.name)).or_insert(index) == index;
            shape.needed[index] &= first;
            shape.all = shape.all.map(|all| all | u64::from(first) << (index % 64));
            if shape.needed[index] && index < 64 {
                shape.required |= 1 << index;
            }
            let spelling = shape.spellings.entry(squeezed(&field.name));
            spelling
                .and_modify(|other| *other = None)
                .or_insert(Some(index));
        }
        shape
    }

    /// Returns whether a field is required.
    pub fn is_required(&self, index: usize) -> bool {
        self.needed[index]
    }

    /// Returns whether a field has exactly this name.
    pub fn has_name(&self, key: &[u8]) -> bool {
        self.fields.iter().any(|field| *field.name == *key)
    }

    /// Returns the field that a key names. `hint` is the field that is probably next.
    pub fn find(&self, key: &[u8], hint: usize) -> Found {
        let fits =
            |field: &Declared| rank(&field.name, key, KeyKind::String, Matching::Lenient).is_some();
        let field = self.fields.get(hint);
        if field.is_some_and(|field| *field.name == *key || fits(field)) {
            return Found::Field(hint);
        }
        match self.names.get(&underscored(key)) {
            Some(&index) if fits(&self.fields[index]) => return Found::Field(index),
            _ => {}
        }
        match self.spellings.get(&squeezed(key)) {
            Some(Some(index)) => Found::Spelled(*index),
            _ => Found::Unknown,
        }
    }
}

fn underscored(name: &[u8]) -> Vec<u8> {
    let swap = |byte: &u8| if *byte == b'-' { b'_' } else { *byte };
    name.iter().map(swap).collect()
}

/// Returns a name without the characters in which spellings differ.
fn squeezed(name: &[u8]) -> Vec<u8> {
    let counts = |byte: &&u8| !matches!(**byte, b'_' | b'-' | b' ');
    let all = name.iter().filter(counts);
    all.map(u8::to_ascii_lowercase).collect()
}
