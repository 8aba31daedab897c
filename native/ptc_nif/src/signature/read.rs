//! Reads type terms into a table.

use super::type_atoms::TypeAtoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use ptc_core::meter::Meter;
use ptc_core::signature::walk::WalkEnd;
use ptc_core::signature::{Field, Type, TypeId, Types};
use rustler::sys::ErlNifTerm;
use std::collections::HashMap;

/// The types of one call, with the terms they came from.
pub struct Read<'a> {
    pub types: Types,
    /// The declared name of each field, as a term, if they are wanted.
    pub names: Vec<Raw<'a>>,
    /// The terms that are not types.
    pub unknown: Vec<Raw<'a>>,
}

/// Which differences between types are ignored.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions {
    /// All maps count as closed.
    pub closed: bool,
    /// An optional type within an optional type counts as one.
    pub once_optional: bool,
    /// The names are wanted as terms.
    pub names: bool,
}

/// From this number of types on, a term that was read before is not read again: a small term can stand for
/// a huge type, since parts may be shared.
const FEW: usize = 64;

/// Bytes of names that are copied, and hashed for the index of a large type, for one unit of fuel.
const BYTES_A_UNIT: usize = 8;
/// A field of a large type costs as much as so many bytes of its name.
const BYTES_A_FIELD: usize = 32;

/// A type that is incomplete, with the term it is read from.
enum OpenType<'a> {
    Optional(Raw<'a>),
    List(Raw<'a>),
    /// The remaining fields follow.
    Map(Map<'a>, Raw<'a>),
}

/// A map type, whose fields are in `pending`.
#[derive(Clone, Copy)]
struct Map<'a> {
    term: Raw<'a>,
    closed: bool,
    /// Index of its first field.
    start: usize,
}

struct Reader<'a, 'w> {
    terms: Terms<'a>,
    type_atoms: &'w TypeAtoms<'a>,
    reading: ReadOptions,
    read: Read<'a>,
    open: Vec<OpenType<'a>>,
    pending: Vec<(Field<'a>, Raw<'a>)>,
    known: HashMap<ErlNifTerm, TypeId>,
    /// The scalars that were read, by number.
    scalars: [Option<TypeId>; 8],
    /// Bytes of names for which no fuel was consumed yet.
    name_bytes: usize,
}

/// Reads a type; an invalid type at any depth is kept as unknown.
pub fn read<'a>(
    heap: &Beam<'a>,
    term: Raw<'a>,
    reading: ReadOptions,
    meter: &mut Meter,
) -> Result<(Read<'a>, TypeId), WalkEnd> {
    let read = Read {
        types: Types::new(),
        names: Vec::new(),
        unknown: Vec::new(),
    };
    let mut reader = Reader {
        terms: heap.terms,
        type_atoms: &TypeAtoms::new(heap.terms.env),
        reading,
        read,
        open: Vec::with_capacity(8),
        pending: Vec::with_capacity(16),
        known: HashMap::new(),
        scalars: [None; 8],
        name_bytes: 0,
    };
    let mut next = ReadStep::Read(term);
    loop {
        meter.consume_fuel(2, heap)?;
        next = match next {
            ReadStep::Read(term) => reader.step(term),
            ReadStep::Close(map) => {
                let bytes = std::mem::take(&mut reader.name_bytes);
                meter.consume_fuel(bytes / BYTES_A_UNIT, heap)?;
                reader.close(map)
            }
            ReadStep::Complete(id) => match reader.hand_over(id) {
                Some(next) => next,
                None => return Ok((reader.read, id)),
            },
        };
    }
}

/// The next step.
enum ReadStep<'a> {
    Read(Raw<'a>),
    /// All fields of this map were read.
    Close(Map<'a>),
    Complete(TypeId),
}

impl<'a> Reader<'a, '_> {
    /// Reads a term as a type.
    fn step(&mut self, term: Raw<'a>) -> ReadStep<'a> {
        if self.read.types.all().len() > FEW {
            if let Some(id) = self.known.get(&term.word()) {
                return ReadStep::Complete(*id);
            }
        }
        if let Some(scalar) = self.type_atoms.scalar(term) {
            let types = &mut self.read.types;
            let known = &mut self.scalars[scalar as usize];
            return ReadStep::Complete(
                *known.get_or_insert_with(|| types.add(Type::Scalar(scalar))),
            );
        }
        let type_atoms = self.type_atoms;
        match self.terms.tuple(term) {
            Some([tag, inner]) if tag.word() == type_atoms.optional.word() => {
                self.open.push(OpenType::Optional(term));
                ReadStep::Read(*inner)
            }
            Some([tag, inner]) if tag.word() == type_atoms.list.word() => {
                self.open.push(OpenType::List(term));
                ReadStep::Read(*inner)
            }
            Some([tag, fields]) if tag.word() == type_atoms.map().word() => {
                self.fields(self.map(term, self.reading.closed), *fields)
            }
            Some([tag, fields]) if tag.word() == type_atoms.closed_map.word() => {
                self.fields(self.map(term, true), *fields)
            }
            _ => self.unknown(term),
        }
    }

    fn map(&self, term: Raw<'a>, closed: bool) -> Map<'a> {
        let start = self.pending.len();
        Map {
            term,
            closed,
            start,
        }
    }

    /// Reads the next field of a map.
    fn fields(&mut self, map: Map<'a>, fields: Raw<'a>) -> ReadStep<'a> {
        if let Some((field, rest)) = self.terms.uncons(fields) {
            if let Some([name, holds]) = self.terms.tuple(field) {
                if let Some(bytes) = self.name(*name) {
                    let field = Field {
                        name: bytes,
                        holds: TypeId(0),
                    };
                    self.pending.push((field, *name));
                    self.name_bytes += BYTES_A_FIELD + bytes.len();
                    self.open.push(OpenType::Map(map, rest));
                    return ReadStep::Read(*holds);
                }
            }
        } else if self.terms.is_empty_list(fields) {
            return ReadStep::Close(map);
        }
        self.pending.truncate(map.start);
        self.unknown(map.term)
    }

    /// Completes a map type.
    fn close(&mut self, map: Map<'a>) -> ReadStep<'a> {
        let pending = &self.pending[map.start..];
        if self.reading.names {
            let names = pending.iter().map(|(_, name)| *name);
            self.read.names.extend(names);
        }
        let fields = pending.iter().map(|(field, _)| *field);
        let fields = self.read.types.add_fields(fields);
        self.pending.truncate(map.start);
        let closed = map.closed;
        ReadStep::Complete(self.add(map.term, Type::Map { fields, closed }))
    }

    /// Passes a type to the type that contains it; `None` if it is the outermost one.
    fn hand_over(&mut self, id: TypeId) -> Option<ReadStep<'a>> {
        Some(match self.open.pop()? {
            OpenType::List(term) => ReadStep::Complete(self.add(term, Type::List(id))),
            OpenType::Optional(term) => {
                let twice = matches!(self.read.types.get(id), Type::Optional(_));
                match twice && self.reading.once_optional {
                    true => ReadStep::Complete(id),
                    false => ReadStep::Complete(self.add(term, Type::Optional(id))),
                }
            }
            OpenType::Map(map, rest) => {
                if let Some((field, _)) = self.pending.last_mut() {
                    field.holds = id;
                }
                self.fields(map, rest)
            }
        })
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

    fn unknown(&mut self, term: Raw<'a>) -> ReadStep<'a> {
        let number = self.read.unknown.len() as u32;
        self.read.unknown.push(term);
        ReadStep::Complete(self.add(term, Type::Unknown(number)))
    }
}
