//! Types from terms: those of signatures, with unions and literals.
//!
//! The terms are read with a stack of open types, which can be suspended between two of them.

use super::names::NameId;
use super::sources::Sources;
use super::ty::{FieldTy, TyId, Types};
use ptc_term::heap::{Heap, Kind};
use ptc_term::meter::Meter;
use ptc_term::stop::Stop;

/// Maximum number of fields of one object, and of members of a union. Of a larger one nothing is known.
const MOST_FIELDS: usize = 4_096;
/// Maximum number of fields of all types: a small term whose parts are shared can stand for a huge type. Nothing is known of
/// the objects after that.
const MOST_READ: usize = 100_000;
/// Maximum nesting depth; of what is deeper nothing is known.
const DEEPEST: usize = 10_000;
/// Bytes of a name that are read for one unit of fuel.
const BYTES_A_UNIT: usize = 8;

/// The words of type terms.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    Ty(TyId),
    Optional,
    List,
    Map,
    ClosedMap,
    OpenMap,
    Union,
    Literal,
    Unknown,
}

const WORDS: [(&[u8], Word); 19] = [
    (b"string", Word::Ty(TyId::TEXT)),
    (b"int", Word::Ty(TyId::INT)),
    (b"float", Word::Ty(TyId::NUMBER)),
    (b"number", Word::Ty(TyId::NUMBER)),
    (b"bool", Word::Ty(TyId::BOOL)),
    (b"boolean", Word::Ty(TyId::BOOL)),
    (b"keyword", Word::Ty(TyId::KEYWORD)),
    (b"any", Word::Ty(TyId::UNKNOWN)),
    (b"datetime", Word::Ty(TyId::MOMENT)),
    (b"null", Word::Ty(TyId::NULL)),
    (b"nil", Word::Ty(TyId::NULL)),
    (b"never", Word::Ty(TyId::NEVER)),
    (b"optional", Word::Optional),
    (b"list", Word::List),
    (b"map", Word::Map),
    (b"closed_map", Word::ClosedMap),
    (b"open_map", Word::OpenMap),
    (b"union", Word::Union),
    (b"literal", Word::Literal),
];

/// A type whose parts are being read.
#[derive(Debug, Clone, Copy)]
enum Open {
    Optional,
    List,
    /// An object; its fields from this place on, and where it comes from.
    Object {
        first: usize,
        open: bool,
        from: u32,
    },
    /// A union; its members from this place on.
    Union {
        first: usize,
        from: u32,
    },
}

/// Types that are being read.
#[derive(Debug)]
pub struct TypeReader<T> {
    /// The rests of the lists of the objects and unions that are open.
    rests: Vec<T>,
    state: State,
}

#[derive(Debug, Default)]
struct State {
    open: Vec<Open>,
    fields: Vec<FieldTy>,
    members: Vec<TyId>,
    /// Where the type that is read next comes from.
    from: u32,
    /// The words by the identity of their atoms, within one call.
    words: Vec<(usize, Word)>,
    /// The number of fields so far.
    read: usize,
    bytes: usize,
    counted: bool,
}

impl<T> ptc_term::suspend::Rooted for TypeReader<T> {
    type Term = T;
    type With<U> = TypeReader<U>;

    fn exchange<X: ptc_term::suspend::Exchange<T>>(
        self,
        by: &mut X,
    ) -> Result<TypeReader<X::Into>, X::Lost> {
        Ok(TypeReader {
            rests: by.all(self.rests)?,
            state: self.state,
        })
    }
}

impl<T> Default for TypeReader<T> {
    fn default() -> Self {
        TypeReader {
            rests: Vec::new(),
            state: State::default(),
        }
    }
}

/// What is read next.
enum ReadStep<T> {
    Read(T),
    Next,
    Complete(TyId),
}

/// What types are read into.
pub struct Target<'t> {
    /// The table.
    pub types: &'t mut Types,
    /// Where fields come from, if that is noted.
    pub sources: Option<&'t mut Sources>,
    /// Whether structs count as values: then nothing is known of a map without fields.
    pub values: bool,
}

impl<T: Copy> TypeReader<T> {
    /// Reads a type, or goes on with it: then the term is not read again. `from`: where it comes from.
    pub fn read<H: Heap<Term = T>>(
        &mut self,
        term: T,
        from: u32,
        into: &mut Target,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<TyId, Stop> {
        let goes_on = !self.state.open.is_empty();
        self.state.words.clear();
        let first = match goes_on {
            true => ReadStep::Next,
            false => {
                self.state.from = from;
                ReadStep::Read(term)
            }
        };
        self.run(first, into, heap, meter)
    }

    /// The same for the list of the fields of an object that has no others.
    pub fn read_fields<H: Heap<Term = T>>(
        &mut self,
        list: T,
        into: &mut Target,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<TyId, Stop> {
        self.state.words.clear();
        if self.state.open.is_empty() {
            self.begin(list, false, 0);
        }
        self.run(ReadStep::Next, into, heap, meter)
    }

    fn begin(&mut self, list: T, open: bool, from: u32) {
        let first = self.state.fields.len();
        self.state.open.push(Open::Object { first, open, from });
        self.rests.push(list);
    }

    fn run<H: Heap<Term = T>>(
        &mut self,
        mut next: ReadStep<T>,
        into: &mut Target,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<TyId, Stop> {
        loop {
            next = match next {
                ReadStep::Read(term) => self.step(term, into, heap),
                ReadStep::Complete(id) => match self.hand_over(id, into) {
                    None => ReadStep::Next,
                    Some(outermost) => return Ok(outermost),
                },
                ReadStep::Next => {
                    // Here the stack has all that is needed to go on.
                    // What is counted is not counted again after a suspension.
                    if !std::mem::replace(&mut self.state.counted, true) {
                        let bytes = std::mem::take(&mut self.state.bytes);
                        meter.check_heap_limit(into.types.words(), heap)?;
                        meter.consume_fuel(4 + bytes / BYTES_A_UNIT, heap)?;
                    }
                    self.state.counted = false;
                    self.next(into, heap)
                }
            };
        }
    }

    fn step<H: Heap<Term = T>>(&mut self, term: T, into: &mut Target, heap: &H) -> ReadStep<T> {
        if heap.is_name(term) {
            return ReadStep::Complete(match self.word(term, heap) {
                Word::Ty(id) => id,
                Word::Map | Word::OpenMap if !into.values => TyId::OBJECT,
                Word::List => TyId::LIST,
                _ => TyId::UNKNOWN,
            });
        }
        if heap.kind(term) == Kind::Nil {
            return ReadStep::Complete(TyId::NULL);
        }
        let unknown = ReadStep::Complete(TyId::UNKNOWN);
        if heap.arity(term) != Some(2) || self.state.open.len() >= DEEPEST {
            return unknown;
        }
        let (Some(tag), Some(inner)) = (heap.element(term, 0), heap.element(term, 1)) else {
            return unknown;
        };
        if !heap.is_name(tag) {
            return unknown;
        }
        let word = self.word(tag, heap);
        let is_object = matches!(word, Word::Map | Word::ClosedMap | Word::OpenMap);
        if is_object && self.state.read >= MOST_READ {
            return ReadStep::Complete(TyId::OBJECT);
        }
        match word {
            Word::Optional => {
                self.state.open.push(Open::Optional);
                ReadStep::Read(inner)
            }
            Word::List => {
                self.state.open.push(Open::List);
                ReadStep::Read(inner)
            }
            Word::Map | Word::ClosedMap => {
                self.begin(inner, false, self.state.from);
                ReadStep::Next
            }
            Word::OpenMap => {
                self.begin(inner, true, self.state.from);
                ReadStep::Next
            }
            Word::Union => {
                let (first, from) = (self.state.members.len(), self.state.from);
                self.state.open.push(Open::Union { first, from });
                self.rests.push(inner);
                ReadStep::Next
            }
            Word::Literal => ReadStep::Complete(literal(inner, into.types, heap)),
            Word::Ty(_) | Word::Unknown => unknown,
        }
    }

    /// Returns the word that an atom is.
    fn word<H: Heap<Term = T>>(&mut self, atom: T, heap: &H) -> Word {
        let identity = heap.identity(atom);
        if let Some((_, word)) = self.state.words.iter().find(|(it, _)| *it == identity) {
            return *word;
        }
        let word = heap.with_name(atom, |name| {
            let found = WORDS.iter().find(|(word, _)| *word == name);
            found.map_or(Word::Unknown, |(_, word)| *word)
        });
        if self.state.words.len() < WORDS.len() {
            self.state.words.push((identity, word));
        }
        word
    }

    /// Reads the next part of what is open.
    fn next<H: Heap<Term = T>>(&mut self, into: &mut Target, heap: &H) -> ReadStep<T> {
        match self.state.open.last().copied() {
            Some(Open::Object { first, open, from }) => {
                let rest = self.rests.last().copied().unwrap_or(heap.nil());
                let too_many = self.state.fields.len() - first >= MOST_FIELDS;
                let Some((field, rest)) = heap.uncons(rest).filter(|_| !too_many) else {
                    let mut fields = self.state.fields.split_off(first);
                    self.close();
                    return ReadStep::Complete(match too_many {
                        true => TyId::OBJECT,
                        false => into.types.object(&mut fields, open),
                    });
                };
                if let Some(place) = self.rests.last_mut() {
                    *place = rest;
                }
                let name = heap.element(field, 0).and_then(|name| heap.bytes(name));
                match (heap.arity(field), name, heap.element(field, 1)) {
                    (Some(2), Some(name), Some(holds)) => {
                        self.state.bytes += name.len();
                        self.state.read += 1;
                        let name = into.types.names.id(name);
                        let from = match &mut into.sources {
                            Some(sources) => sources.add(from, name),
                            None => 0,
                        };
                        self.state.from = from;
                        self.state.fields.push(FieldTy {
                            name,
                            ty: TyId::UNKNOWN,
                            optional: false,
                            from,
                        });
                        ReadStep::Read(holds)
                    }
                    _ => {
                        self.state.fields.truncate(first);
                        self.close();
                        ReadStep::Complete(TyId::UNKNOWN)
                    }
                }
            }
            Some(Open::Union { first, from }) => {
                let rest = self.rests.last().copied().unwrap_or(heap.nil());
                let too_many = self.state.members.len() - first >= MOST_FIELDS;
                let Some((member, rest)) = heap.uncons(rest).filter(|_| !too_many) else {
                    let members = self.state.members.split_off(first);
                    self.close();
                    let mut all = TyId::NEVER;
                    for member in members {
                        all = into.types.union(all, member);
                    }
                    return ReadStep::Complete(if too_many { TyId::UNKNOWN } else { all });
                };
                if let Some(place) = self.rests.last_mut() {
                    *place = rest;
                }
                self.state.from = from;
                ReadStep::Read(member)
            }
            _ => ReadStep::Complete(TyId::UNKNOWN),
        }
    }

    fn close(&mut self) {
        self.state.open.pop();
        self.rests.pop();
    }

    /// Passes a type to the one that contains it; returns the outermost one when it is complete.
    fn hand_over(&mut self, mut id: TyId, into: &mut Target) -> Option<TyId> {
        let mut optional = false;
        loop {
            match self.state.open.last().copied() {
                None => return Some(id),
                Some(Open::List) => {
                    id = into.types.list(id);
                    optional = false;
                    self.state.open.pop();
                }
                Some(Open::Optional) => {
                    id = into.types.or_null(id);
                    optional = true;
                    self.state.open.pop();
                }
                Some(Open::Object { .. }) => {
                    if let Some(field) = self.state.fields.last_mut() {
                        (field.ty, field.optional) = (id, optional);
                    }
                    return None;
                }
                Some(Open::Union { .. }) => {
                    self.state.members.push(id);
                    return None;
                }
            }
        }
    }
}

/// Returns the type of a constant.
fn literal<H: Heap>(term: H::Term, types: &mut Types, heap: &H) -> TyId {
    match heap.kind(term) {
        Kind::Nil => TyId::NULL,
        Kind::Bool if heap.truthy(term) => TyId::TRUE,
        Kind::Bool => TyId::FALSE,
        Kind::String => types.text(heap.bytes(term).unwrap_or_default()),
        Kind::Number => match (heap.small_integer(term), heap.float(term)) {
            (Some(value), _) => types.int(value),
            (_, Some(value)) => types.float(value),
            _ => TyId::INT,
        },
        _ => TyId::UNKNOWN,
    }
}

/// Returns the name that a key is.
pub fn name_of<H: Heap>(key: H::Term, types: &mut Types, heap: &H) -> Option<NameId> {
    match heap.is_name(key) {
        true => Some(heap.with_name(key, |name| types.names.id(name))),
        false => heap.bytes(key).map(|name| types.names.id(name)),
    }
}
