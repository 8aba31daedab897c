//! Reads type terms into a table.

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

/// A type that is incomplete, with the term it is read from.
enum OpenType<T> {
    Optional(T),
    List(T),
    /// The remaining fields follow.
    Map(Map<T>, T),
    /// A type with rules: its term, and the rules.
    Where(T, T),
    MapOf(T),
    /// The types of a union; the remaining ones follow.
    OneOf(Box<OneOf<T>>, T),
    /// The types of names, of which the next one is read, or the type around which they are.
    Defs(Box<Defs<T>>),
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
#[derive(Default)]
struct Inner<'h> {
    members: Vec<TypeId>,
    /// The names that are defined here, innermost last.
    scopes: Vec<(&'h [u8], u32)>,
}

struct Reader<'h, H: Values> {
    heap: &'h H,
    type_atoms: TypeAtoms<H::Term>,
    reading: ReadOptions,
    read: Read<H::Term>,
    open: Vec<OpenType<H::Term>>,
    pending: Vec<(Field<'h>, H::Term)>,
    inner: Option<Box<Inner<'h>>>,
    /// The types by the identity of their terms.
    known: HashMap<usize, TypeId>,
    /// The scalars that were read, by number.
    scalars: [Option<TypeId>; Scalar::ALL.len()],
    /// Bytes of names for which no fuel was consumed yet.
    name_bytes: usize,
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
            ReadStep::Rules(term, id, rules) => reader.rules(term, id, rules, meter)?,
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
            Some([tag, inner, rules]) if self.is_word(*tag, b"where") => {
                self.open.push(OpenType::Where(term, *rules));
                ReadStep::Read(*inner)
            }
            Some([tag, holds]) if self.is_word(*tag, b"map_of") => {
                self.open.push(OpenType::MapOf(term));
                ReadStep::Read(*holds)
            }
            Some([tag, module, of]) if self.is_word(*tag, b"struct") => match heap.tuple(*of) {
                Some([map, fields])
                    if heap.same(*map, type_atoms.map()) && heap.is_name(*module) =>
                {
                    self.open.push(OpenType::Struct(*module));
                    self.fields(self.map(term, self.reading.closed), *fields)
                }
                _ => self.unknown(term),
            },
            Some([tag, types, field]) if self.is_word(*tag, b"one_of") => {
                let discriminator = match heap.is_nil(*field) {
                    true => None,
                    false => match heap.bytes(*field) {
                        Some(name) => Some(name.into()),
                        None => return self.unknown(term),
                    },
                };
                let open = OneOf {
                    term,
                    list: *types,
                    start: self.inner().members.len(),
                    discriminator,
                };
                self.one_of(Box::new(open), *types)
            }
            Some([tag, names, around]) if self.is_word(*tag, b"defs") => {
                self.defs(term, *names, *around)
            }
            Some([tag, name]) if self.is_word(*tag, b"ref") => {
                let name = heap.bytes(*name);
                let mut scopes = self.inner().scopes.iter().rev();
                let known = scopes.find(|(known, _)| Some(*known) == name).copied();
                match known {
                    Some((_, name)) => ReadStep::Complete(self.read.types.add(Type::Ref(name))),
                    None => self.unknown(term),
                }
            }
            _ if self.is_word(term, b"date") => self.scalar(Scalar::Date),
            _ if self.is_word(term, b"decimal") => self.scalar(Scalar::Decimal),
            _ => self.unknown(term),
        }
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar) -> ReadStep<H::Term> {
        let types = &mut self.read.types;
        let known = &mut self.scalars[scalar as usize];
        ReadStep::Complete(*known.get_or_insert_with(|| types.add(Type::Scalar(scalar))))
    }

    fn inner(&mut self) -> &mut Inner<'h> {
        self.inner.get_or_insert_default()
    }

    /// Reads the next type of a union.
    fn one_of(&mut self, open: Box<OneOf<H::Term>>, rest: H::Term) -> ReadStep<H::Term> {
        if let Some((first, rest)) = self.heap.uncons(rest) {
            self.open.push(OpenType::OneOf(open, rest));
            return ReadStep::Read(first);
        }
        let members = self.inner().members.split_off(open.start);
        if members.is_empty() || !self.heap.is_empty_list(rest) {
            return self.unknown(open.term);
        }
        self.read.rules.push(open.list);
        ReadStep::Complete(self.read.types.add_union(members, open.discriminator))
    }

    /// Begins the definition of names.
    fn defs(&mut self, term: H::Term, names: H::Term, around: H::Term) -> ReadStep<H::Term> {
        let heap = self.heap;
        if heap.class(names) != Class::Map {
            return self.unknown(term);
        }
        let (mut rest, mut all) = (Vec::new(), Vec::new());
        for (name, of) in heap.entries(names) {
            let Some(bytes) = heap.bytes(name) else {
                return self.unknown(term);
            };
            all.push((name, bytes));
            rest.push(of);
        }
        let first = self.read.types.add_names(all.len() as u32);
        for (number, (name, bytes)) in (first..).zip(all) {
            self.read.rules.push(name);
            self.inner().scopes.push((bytes, number));
        }
        rest.reverse();
        let names = first..first + rest.len() as u32;
        let next = first;
        // The same term may mean another type where names are defined.
        self.known.clear();
        self.next_def(Box::new(Defs {
            rest,
            names,
            next,
            around,
        }))
    }

    /// Reads the type of the next name, or the type around which the names are defined.
    fn next_def(&mut self, mut defs: Box<Defs<H::Term>>) -> ReadStep<H::Term> {
        let next = defs.rest.pop().unwrap_or(defs.around);
        self.open.push(OpenType::Defs(defs));
        ReadStep::Read(next)
    }

    #[cold]
    fn is_word(&self, tag: H::Term, word: &[u8]) -> bool {
        self.heap.is_name(tag) && self.heap.with_name(tag, |name| name == word)
    }

    /// Completes a type with rules. The rules of an optional type are those of the type in it.
    #[cold]
    fn rules(
        &mut self,
        term: H::Term,
        id: TypeId,
        rules: H::Term,
        meter: &mut Meter,
    ) -> Result<ReadStep<H::Term>, WalkEnd> {
        let (of, is_optional) = match self.read.types.get(id) {
            Type::Optional(inner) => (inner, true),
            _ => (id, false),
        };
        let read = Constraints::read(self.heap, rules, meter)?;
        let (Some(read), false) = (read, matches!(self.read.types.get(of), Type::Where(..))) else {
            return Ok(self.unknown(term));
        };
        let decimals = self.read.types.get(of) == Type::Scalar(Scalar::Decimal);
        self.read.rules.push(rules);
        let read = Constraints { decimals, ..read };
        let id = self.read.types.add_where(of, read);
        let of = Type::Optional(id);
        if is_optional {
            return Ok(ReadStep::Complete(self.add(term, of)));
        }
        if id.index() >= FEW {
            self.known.insert(self.heap.identity(term), id);
        }
        Ok(ReadStep::Complete(id))
    }

    fn map(&self, term: H::Term, closed: bool) -> Map<H::Term> {
        let start = self.pending.len();
        Map {
            term,
            closed,
            start,
        }
    }

    /// Reads the next field of a map.
    fn fields(&mut self, map: Map<H::Term>, fields: H::Term) -> ReadStep<H::Term> {
        if let Some((field, rest)) = self.heap.uncons(fields) {
            let heap = self.heap;
            if let Some([name, holds]) = heap.tuple(field) {
                if let Some(bytes) = heap.bytes(*name) {
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
        } else if self.heap.is_empty_list(fields) {
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
            OpenType::Where(term, rules) => ReadStep::Rules(term, id, rules),
            OpenType::Struct(module) => {
                if matches!(self.read.types.get(id), Type::Map { .. }) {
                    self.read.types.add_struct(id);
                    self.read.rules.push(module);
                }
                ReadStep::Complete(id)
            }
            OpenType::OneOf(open, rest) => {
                self.inner().members.push(id);
                self.one_of(open, rest)
            }
            OpenType::Defs(mut defs) if defs.next < defs.names.end => {
                self.read.types.define(defs.next, id);
                defs.next += 1;
                self.next_def(defs)
            }
            OpenType::Defs(defs) => {
                let scopes = self.inner().scopes.len() - defs.names.len();
                self.inner().scopes.truncate(scopes);
                self.known.clear();
                ReadStep::Complete(self.read.types.add_defs(id, defs.names))
            }
            OpenType::MapOf(term) => {
                let id = self.read.types.add_map_of(id);
                if id.index() >= FEW {
                    self.known.insert(self.heap.identity(term), id);
                }
                ReadStep::Complete(id)
            }
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
