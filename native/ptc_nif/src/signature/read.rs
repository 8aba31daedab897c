//! Type terms to a table.

use super::budget::{Budget, Stop};
use super::words::Words;
use crate::raw::{Raw, Terms};
use ptc_core::signature::{Field, Type, TypeId, Types};
use rustler::sys::ErlNifTerm;
use std::collections::HashMap;

/// The types of one call, with the terms they came from.
pub struct Read<'a> {
    pub types: Types<'a>,
    /// The declared name of each field, as a term.
    pub names: Vec<Raw<'a>>,
    /// The terms that are no types.
    pub unknown: Vec<Raw<'a>>,
}

/// What a walk may take for the same.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    /// Maps are closed, all of them.
    pub closed: bool,
    /// An optional type that is optional once more is read as one.
    pub once_optional: bool,
}

/// With so many types, a term that was seen before is not read again: a small term can stand for a
/// huge type, since parts may be shared.
const FEW: usize = 64;

/// What has begun and is not complete, with the term it is read from.
enum Open<'a> {
    Optional(Raw<'a>),
    List(Raw<'a>),
    Map {
        term: Raw<'a>,
        closed: bool,
        /// Where its fields start among the pending ones.
        start: usize,
        /// The fields that are left.
        rest: Raw<'a>,
    },
}

struct Reader<'a, 'w> {
    terms: Terms<'a>,
    words: &'w Words<'a>,
    reading: Reading,
    read: Read<'a>,
    open: Vec<Open<'a>>,
    pending: Vec<(Field<'a>, Raw<'a>)>,
    known: HashMap<ErlNifTerm, TypeId>,
}

/// Reads a type; a term that is none is kept as unknown, wherever it stands.
pub fn read<'a>(
    terms: Terms<'a>,
    words: &Words<'a>,
    term: Raw<'a>,
    reading: Reading,
    budget: &mut Budget,
) -> Result<(Read<'a>, TypeId), Stop> {
    let read = Read {
        types: Types::new(),
        names: Vec::with_capacity(16),
        unknown: Vec::new(),
    };
    let mut reader = Reader {
        terms,
        words,
        reading,
        read,
        open: Vec::with_capacity(8),
        pending: Vec::with_capacity(16),
        known: HashMap::new(),
    };
    let mut next = term;
    loop {
        budget.spend(terms, 8)?;
        match reader.step(next) {
            Step::Read(term) => next = term,
            Step::Done(id) => return Ok((reader.read, id)),
        }
    }
}

enum Step<'a> {
    Read(Raw<'a>),
    Done(TypeId),
}

impl<'a> Reader<'a, '_> {
    fn step(&mut self, term: Raw<'a>) -> Step<'a> {
        if self.read.types.all().len() > FEW {
            if let Some(id) = self.known.get(&term.word()) {
                return self.complete(*id);
            }
        }
        if let Some(scalar) = self.words.scalar(term) {
            let id = self.read.types.add(Type::Scalar(scalar));
            return self.complete(id);
        }
        let words = self.words;
        match self.terms.tuple(term) {
            Some([tag, inner]) if tag.word() == words.optional.word() => {
                self.open.push(Open::Optional(term));
                Step::Read(*inner)
            }
            Some([tag, inner]) if tag.word() == words.list.word() => {
                self.open.push(Open::List(term));
                Step::Read(*inner)
            }
            Some([tag, fields]) if tag.word() == words.map().word() => {
                self.fields(term, self.reading.closed, self.pending.len(), *fields)
            }
            Some([tag, fields]) if tag.word() == words.closed_map.word() => {
                self.fields(term, true, self.pending.len(), *fields)
            }
            _ => {
                let id = self.unknown(term);
                self.complete(id)
            }
        }
    }

    /// Takes the next field of a map, or completes it.
    fn fields(&mut self, term: Raw<'a>, closed: bool, start: usize, fields: Raw<'a>) -> Step<'a> {
        if let Some((field, rest)) = self.terms.uncons(fields) {
            let parts = self.terms.tuple(field);
            if let Some([name, holds]) = parts {
                if let Some(bytes) = self.name(*name) {
                    let field = Field {
                        name: bytes,
                        holds: TypeId(0),
                    };
                    self.pending.push((field, *name));
                    self.open.push(Open::Map {
                        term,
                        closed,
                        start,
                        rest,
                    });
                    return Step::Read(*holds);
                }
            }
        } else if self.terms.is_empty_list(fields) {
            let pending = &self.pending[start..];
            self.read
                .names
                .extend(pending.iter().map(|(_, name)| *name));
            let fields = pending.iter().map(|(field, _)| *field);
            let fields = self.read.types.add_fields(fields);
            self.pending.truncate(start);
            let id = self.add(term, Type::Map { fields, closed });
            return self.complete(id);
        }
        self.pending.truncate(start);
        let id = self.unknown(term);
        self.complete(id)
    }

    fn name(&self, name: Raw<'a>) -> Option<&'a [u8]> {
        self.terms.bytes(name)
    }

    fn add(&mut self, term: Raw<'a>, of: Type) -> TypeId {
        let id = self.read.types.add(of);
        if id.index() >= FEW {
            self.known.insert(term.word(), id);
        }
        id
    }

    fn unknown(&mut self, term: Raw<'a>) -> TypeId {
        let number = self.read.unknown.len() as u32;
        self.read.unknown.push(term);
        self.add(term, Type::Unknown(number))
    }

    fn complete(&mut self, id: TypeId) -> Step<'a> {
        let mut id = id;
        loop {
            match self.open.pop() {
                None => return Step::Done(id),
                Some(Open::List(term)) => id = self.add(term, Type::List(id)),
                Some(Open::Optional(term)) => {
                    let twice = matches!(self.read.types.get(id), Type::Optional(_));
                    if !(twice && self.reading.once_optional) {
                        id = self.add(term, Type::Optional(id));
                    }
                }
                Some(Open::Map {
                    term,
                    closed,
                    start,
                    rest,
                }) => {
                    if let Some((field, _)) = self.pending.last_mut() {
                        field.holds = id;
                    }
                    return self.fields(term, closed, start, rest);
                }
            }
        }
    }
}
