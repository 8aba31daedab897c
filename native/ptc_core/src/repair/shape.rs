//! The fields of a map: which of them a key means, and which must be there.

use super::wanted::Ty;
use crate::signature::names::{rank, KeyKind, Matching};
use std::collections::HashMap;

/// A declared field.
#[derive(Debug, Clone, Copy)]
pub struct Declared<'t> {
    /// Its name.
    pub name: &'t [u8],
    /// Its type.
    pub ty: Ty,
}

/// The fields of a map.
#[derive(Debug)]
pub struct Shape<'t> {
    /// The declared fields, in order.
    pub fields: Vec<Declared<'t>>,
    /// No other keys are allowed.
    pub closed: bool,
    /// A bit for each of the first 64 fields that must be there.
    pub required: u64,
    /// Whether each field must be there.
    needed: Vec<bool>,
    /// The first field of this name, with underscores for hyphens.
    names: HashMap<Vec<u8>, usize>,
    /// The field with this spelling, if it is the only one.
    spellings: HashMap<Vec<u8>, Option<usize>>,
}

/// How a key fits the fields of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is the declared name, or differs in hyphens and underscores only.
    Field(usize),
    /// It is the only field with this name in another spelling.
    Spelled(usize),
    /// No field.
    Unknown,
}

impl<'t> Shape<'t> {
    /// `needed` says which of the fields must be there.
    pub fn new(fields: Vec<Declared<'t>>, needed: Vec<bool>, closed: bool) -> Self {
        let mut shape = Shape {
            closed,
            required: 0,
            names: HashMap::with_capacity(fields.len()),
            spellings: HashMap::with_capacity(fields.len()),
            needed,
            fields,
        };
        for (index, field) in shape.fields.iter().enumerate() {
            let first = *shape.names.entry(underscored(field.name)).or_insert(index) == index;
            shape.needed[index] &= first;
            if shape.needed[index] && index < 64 {
                shape.required |= 1 << index;
            }
            let spelling = shape.spellings.entry(squeezed(field.name));
            spelling
                .and_modify(|other| *other = None)
                .or_insert(Some(index));
        }
        shape
    }

    /// Whether a field must be there.
    pub fn is_required(&self, index: usize) -> bool {
        self.needed[index]
    }

    /// Whether a field has this very name.
    pub fn has_name(&self, key: &[u8]) -> bool {
        self.fields.iter().any(|field| field.name == key)
    }

    /// The field that a key means. `hint` is the one that probably comes.
    pub fn find(&self, key: &[u8], hint: usize) -> Found {
        let fits =
            |field: &Declared| rank(field.name, key, KeyKind::String, Matching::Lenient).is_some();
        let field = self.fields.get(hint);
        if field.is_some_and(|field| field.name == key || fits(field)) {
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

/// A name without what spellings differ in.
fn squeezed(name: &[u8]) -> Vec<u8> {
    let counts = |byte: &&u8| !matches!(**byte, b'_' | b'-' | b' ');
    let all = name.iter().filter(counts);
    all.map(u8::to_ascii_lowercase).collect()
}
