//! Reads type terms into a table.

mod ruled;

use super::constraint::Constraints;
use super::values::{Class, Values};
use super::walk::WalkEnd;
use super::{Field, Scalar, Type, TypeId, Types};
use ptc_term::meter::Meter;
use std::collections::HashMap;

/// The atoms in type terms.
#[derive(Debug, Clone, Copy)]
pub struct TypeAtoms<T> {
    /// `:optional`
    pub optional: T,
    /// `:list`
    pub list: T,
    /// `:closed_map`
    pub closed_map: T,
    /// By the number of the scalar: those of the grammar.
    pub scalars: [T; Scalar::WORDS.len()],
}

impl<T: Copy> TypeAtoms<T> {
    /// Returns the scalar that a term names.
    #[inline]
    pub fn scalar<H: Values<Term = T>>(&self, heap: &H, term: T) -> Option<Scalar> {
        let index = self
            .scalars
            .iter()
            .position(|word| heap.same(*word, term))?;
        Some(Scalar::WORDS[index])
    }

    /// Returns the atom of the map scalar, which is also the tag of maps.
    pub fn map(&self) -> T {
        self.scalars[Scalar::Map as usize]
    }
}

/// The types of one call, with the terms they came from.
#[derive(Debug)]
pub struct Read<T> {
    /// The table.
    pub types: Types,
    /// The declared name of each field, as a term, if they are wanted.
    pub names: Vec<T>,
    /// The terms that are not types.
    pub unknown: Vec<T>,
    /// The keyword lists of the rules, by their numbers.
    pub rules: Vec<T>,
}

/// Which differences between types are ignored.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// All maps count as closed.
    pub closed: bool,
    /// An optional type within an optional type counts as one.
    pub once_optional: bool,
    /// The names are wanted as terms.
    pub names: bool,
}

impl ReadOptions {
    /// For the types of values.
    pub const VALUES: ReadOptions = ReadOptions {
        closed: false,
        once_optional: true,
        names: false,
    };
}

/// From this number of types on, a term that was read before is not read again: a small term can stand for
/// a huge type, since parts may be shared.
const FEW: usize = 64;

/// Bytes of names that are copied, and hashed for the index of a large type, for one unit of fuel.
const BYTES_A_UNIT: usize = 8;
/// A field of a large type costs as much as so many bytes of its name.
const BYTES_A_FIELD: usize = 32;
/// Fuel for each step of the reader.
const STEP: usize = 2;
/// Fuel for each name that is defined.
const FUEL_A_NAME: usize = 30;
/// Fields with simple types that are read in one step.
const FIELDS_AT_ONCE: u32 = 64;

/// A type that is incomplete, with the term it is read from.
enum OpenType<T> {
    Optional(T),
    List(T),
    /// The remaining fields follow.
    Map(Map<T>, T),
    /// A type with rules: its term, and the rules.
    Where(T, T),
    MapOf(T),
    /// The innermost open union, and its remaining types.
    OneOf(T),
    /// The innermost names that are being defined: the type of the next one is read, or the type around which they are.
    Defs,
    /// The map type of a struct, with its module.
    Struct(T),
}

/// A map type, whose fields are in `pending`.
#[derive(Clone, Copy)]
struct Map<T> {
    term: T,
    closed: bool,
    /// Index of its first field.
    start: usize,
}

/// A union, whose types are in `members`.
struct OneOf<T> {
    term: T,
    list: T,
    start: usize,
    discriminator: Option<Box<[u8]>>,
}

/// Names that are defined.
struct Defs<T> {
    /// The types of the names, the last one first.
    rest: Vec<T>,
    /// The names, and the one of which the type is read.
    names: std::ops::Range<u32>,
    next: u32,
    /// The type around which they are defined.
    around: T,
}

/// What only unions and names need.
struct Inner<'h, T> {
    /// The open unions and definitions, innermost last. They are apart, so that what is open is moved quickly.
    unions: Vec<OneOf<T>>,
    defs: Vec<Defs<T>>,
    members: Vec<TypeId>,
    /// The names that are defined here, innermost last, and the number that each has outside.
    scopes: Vec<(&'h [u8], Option<u32>)>,
    /// The numbers of the names that are defined here.
    defined: HashMap<&'h [u8], u32>,
}

impl<'h, T> Inner<'h, T> {
    /// Defines a name.
    fn enter(&mut self, name: &'h [u8], number: u32) {
        let outside = self.defined.insert(name, number);
        self.scopes.push((name, outside));
    }

    /// Leaves the definition of the last names.
    fn leave(&mut self, count: usize) {
        for (name, outside) in self.scopes.drain(self.scopes.len() - count..).rev() {
            match outside {
                Some(number) => self.defined.insert(name, number),
                None => self.defined.remove(name),
            };
        }
    }
}

struct Reader<'h, H: Values> {
    heap: &'h H,
    type_atoms: TypeAtoms<H::Term>,
    reading: ReadOptions,
    read: Read<H::Term>,
    open: Vec<OpenType<H::Term>>,
    pending: Vec<(Field<'h>, H::Term)>,
    inner: Option<Box<Inner<'h, H::Term>>>,
    /// The types by the identity of their terms.
    known: HashMap<usize, TypeId>,
    /// The scalars that were read, by number.
    scalars: [Option<TypeId>; Scalar::ALL.len()],
    /// Bytes of names for which no fuel was consumed yet.
    name_bytes: usize,
    /// Fuel for types that were read without a step of their own.
    owed: usize,
}

/// Reads a type; an invalid type at any depth is kept as unknown.
pub fn read<H: Values>(
    heap: &H,
    term: H::Term,
    reading: ReadOptions,
    meter: &mut Meter,
) -> Result<(Read<H::Term>, TypeId), WalkEnd> {
    let read = Read {
        types: Types::new(),
        names: Vec::new(),
        unknown: Vec::new(),
        rules: Vec::new(),
    };
    let mut reader = Reader {
        heap,
        type_atoms: heap.type_atoms(),
        reading,
        read,
        open: Vec::with_capacity(8),
        pending: Vec::with_capacity(16),
        inner: None,
        known: HashMap::new(),
        scalars: [None; Scalar::ALL.len()],
        name_bytes: 0,
        owed: 0,
    };
    let mut next = match reader.simple(term) {
        Some(id) => ReadStep::Complete(id),
        None => ReadStep::Read(term),
    };
    loop {
        meter.consume_fuel(STEP + std::mem::take(&mut reader.owed), heap)?;
        next = match next {
            ReadStep::Read(term) => reader.step(term),
            ReadStep::Close(map) => {
                let bytes = std::mem::take(&mut reader.name_bytes);
                meter.consume_fuel(bytes / BYTES_A_UNIT, heap)?;
                reader.close(map)
            }
            ReadStep::Rules(term, id, rules) => reader.rules(term, id, rules, meter)?,
            ReadStep::Defs(term, names, around) => reader.defs(term, names, around, meter)?,
            ReadStep::Complete(id) => match reader.hand_over(id) {
                Some(next) => next,
                None if reader.read.types.has_names() => {
                    meter.consume_fuel(8 * reader.read.types.all().len(), heap)?;
                    if !reader.read.types.are_names_good() {
                        reader.unknown(term);
                        let last = reader.read.types.all().len() as u32 - 1;
                        return Ok((reader.read, TypeId(last)));
                    }
                    return Ok((reader.read, id));
                }
                None => return Ok((reader.read, id)),
            },
        };
    }
}

/// The next step.
enum ReadStep<T> {
    Read(T),
    /// All fields of this map were read.
    Close(Map<T>),
    /// The type with rules of which this is the term was read.
    Rules(T, TypeId, T),
    /// The term that defines names in a type: the names, and the type.
    Defs(T, T, T),
    Complete(TypeId),
}

impl<'h, H: Values> Reader<'h, H> {
    /// Reads a term as a type.
    fn step(&mut self, term: H::Term) -> ReadStep<H::Term> {
        if self.read.types.all().len() > FEW {
            if let Some(id) = self.known.get(&self.heap.identity(term)) {
                return ReadStep::Complete(*id);
            }
        }
        if let Some(scalar) = self.type_atoms.scalar(self.heap, term) {
            return self.scalar(scalar);
        }
        let (heap, type_atoms) = (self.heap, self.type_atoms);
        match heap.tuple(term) {
            Some([tag, inner]) if heap.same(*tag, type_atoms.optional) => {
                self.open.push(OpenType::Optional(term));
                ReadStep::Read(*inner)
            }
            Some([tag, inner]) if heap.same(*tag, type_atoms.list) => {
                self.open.push(OpenType::List(term));
                ReadStep::Read(*inner)
            }
            Some([tag, fields]) if heap.same(*tag, type_atoms.map()) => {
                self.fields(self.map(term, self.reading.closed), *fields)
            }
            Some([tag, fields]) if heap.same(*tag, type_atoms.closed_map) => {
                self.fields(self.map(term, true), *fields)
            }
            parts => self.other(term, parts),
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar) -> ReadStep<H::Term> {
        ReadStep::Complete(self.scalar_id(scalar))
    }

    #[inline]
    fn scalar_id(&mut self, scalar: Scalar) -> TypeId {
        let types = &mut self.read.types;
        let known = &mut self.scalars[scalar as usize];
        *known.get_or_insert_with(|| types.add(Type::Scalar(scalar)))
    }

    /// Reads a term as a simple type: a scalar of the grammar, or an optional one or a list of one; `None` if it is none, or may be
    /// known.
    #[inline]
    fn simple(&mut self, term: H::Term) -> Option<TypeId> {
        let (heap, type_atoms) = (self.heap, self.type_atoms);
        if let Some(scalar) = type_atoms.scalar(heap, term) {
            self.owed += 2 * STEP;
            return Some(self.scalar_id(scalar));
        }
        let [tag, inner] = heap.tuple(term)? else {
            return None;
        };
        let is_optional = heap.same(*tag, type_atoms.optional);
        let is_simple = is_optional || heap.same(*tag, type_atoms.list);
        if !is_simple || self.read.types.all().len() > FEW {
            return None;
        }
        let scalar = type_atoms.scalar(heap, *inner)?;
        self.owed += 4 * STEP;
        let inner = self.scalar_id(scalar);
        let of = match is_optional {
            true => Type::Optional(inner),
            false => Type::List(inner),
        };
        Some(self.add(term, of))
    }

    fn map(&self, term: H::Term, closed: bool) -> Map<H::Term> {
        let start = self.pending.len();
        Map {
            term,
            closed,
            start,
        }
    }

    /// Reads the next fields of a map, up to the first one whose type is not simple.
    fn fields(&mut self, map: Map<H::Term>, mut fields: H::Term) -> ReadStep<H::Term> {
        let (heap, mut read) = (self.heap, 0);
        while let Some((field, rest)) = heap.uncons(fields) {
            let Some([name, holds]) = heap.tuple(field) else {
                break;
            };
            let Some(bytes) = heap.bytes(*name) else {
                break;
            };
            self.name_bytes += BYTES_A_FIELD + bytes.len();
            read += 1;
            let simple = match read < FIELDS_AT_ONCE {
                true => self.simple(*holds),
                false => None,
            };
            let field = Field {
                name: bytes,
                holds: simple.unwrap_or(TypeId(0)),
            };
            self.pending.push((field, *name));
            if simple.is_none() {
                self.open.push(OpenType::Map(map, rest));
                return ReadStep::Read(*holds);
            }
            fields = rest;
        }
        if heap.is_empty_list(fields) {
            return ReadStep::Close(map);
        }
        self.pending.truncate(map.start);
        self.unknown(map.term)
    }

    /// Completes a map type.
    fn close(&mut self, map: Map<H::Term>) -> ReadStep<H::Term> {
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
    fn hand_over(&mut self, id: TypeId) -> Option<ReadStep<H::Term>> {
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
            other => self.hand_over_other(other, id),
        })
    }

    fn add(&mut self, term: H::Term, of: Type) -> TypeId {
        let id = self.read.types.add(of);
        if id.index() >= FEW {
            self.known.insert(self.heap.identity(term), id);
        }
        id
    }

    fn unknown(&mut self, term: H::Term) -> ReadStep<H::Term> {
        let number = self.read.unknown.len() as u32;
        self.read.unknown.push(term);
        ReadStep::Complete(self.add(term, Type::Unknown(number)))
    }
}
