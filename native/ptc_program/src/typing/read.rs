//! Types from terms: those of signatures, with unions and literals.
//!
//! The terms are read with a stack of open types, which can be suspended between two of them.

mod objects;

use super::sources::Sources;
use super::terms::TypeTerms;
use super::ty::{FieldTy, TyId, Types};
use super::type_words::{literal, TypeWord, WordCache, LONGEST_NAME};
use ptc_term::heap::{Heap, Kind};
use ptc_term::meter::Meter;
use ptc_term::stop::Stop;
use ptc_term::suspend::{Exchange, Rooted};

/// Maximum number of fields of one object, and of members of a union. Of a larger one nothing is known.
const MOST_FIELDS: usize = 4_096;
/// Maximum number of fields of all types: a small term whose parts are shared can stand for a huge type. Nothing is known of
/// the objects after that.
const MOST_READ: usize = 100_000;
/// Maximum nesting depth; of what is deeper nothing is known.
const DEEPEST: usize = 10_000;
/// Bytes of a name that are read for one unit of fuel.
const BYTES_A_UNIT: usize = 8;
/// Fuel for a field, and for any other part.
const FUEL: usize = 4;
/// The fuel is counted when it is at least so much.
const FUEL_BETWEEN_COUNTS: usize = 128;

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
        /// Whether its term is a type by itself, and how many odd parts preceded it.
        whole: bool,
        odd: usize,
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
    /// The terms of the objects and unions that are open, each followed by the rest of its list.
    rests: Vec<T>,
    state: ReadState,
}

#[derive(Debug, Default)]
struct ReadState {
    open: Vec<Open>,
    fields: Vec<FieldTy>,
    members: Vec<TyId>,
    /// Where the type that is read next comes from.
    from: u32,
    words: WordCache,
    /// The number of fields so far.
    read: usize,
    /// The number of parts that are not written as the types of a reply are.
    odd: usize,
    /// The fuel that is not counted yet.
    fuel: usize,
}

impl<T> Rooted for TypeReader<T> {
    type Term = T;
    type With<U> = TypeReader<U>;

    fn exchange<X: Exchange<T>>(mut self, by: &mut X) -> Result<TypeReader<X::Into>, X::Lost> {
        self.state.words = WordCache::default();
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
            state: ReadState::default(),
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
pub struct Target<'t, T> {
    /// The table.
    pub types: &'t mut Types,
    /// Where fields come from, if that is noted.
    pub sources: Option<&'t mut Sources>,
    /// The terms of the types of objects.
    pub terms: &'t mut TypeTerms<T>,
    /// Whether structs count as values: then nothing is known of a map without fields.
    pub values: bool,
}

impl<T: Copy> TypeReader<T> {
    /// Reads a type, or goes on with it: then the term is not read again. `from`: where it comes from.
    pub fn read<H: Heap<Term = T>>(
        &mut self,
        term: T,
        from: u32,
        into: &mut Target<T>,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<TyId, Stop> {
        let first = match self.state.open.is_empty() {
            false => ReadStep::Next,
            true => {
                self.state.from = from;
                ReadStep::Read(term)
            }
        };
        self.run(first, into, heap, meter)
    }

    /// Reads the object type that has the fields of this list and no others.
    pub fn read_fields<H: Heap<Term = T>>(
        &mut self,
        list: T,
        into: &mut Target<T>,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<TyId, Stop> {
        if self.state.open.is_empty() {
            self.begin(list, list, (false, false), 0);
        }
        self.run(ReadStep::Next, into, heap, meter)
    }

    fn begin(&mut self, term: T, list: T, (open, whole): (bool, bool), from: u32) {
        let state = &mut self.state;
        if state.fields.is_empty() {
            state.fields.reserve(32);
        }
        state.open.push(Open::Object {
            first: state.fields.len(),
            open,
            from,
            whole,
            odd: state.odd,
        });
        self.rests.extend([term, list]);
    }

    fn run<H: Heap<Term = T>>(
        &mut self,
        mut next: ReadStep<T>,
        into: &mut Target<T>,
        heap: &H,
        meter: &mut Meter,
    ) -> Result<TyId, Stop> {
        loop {
            next = match next {
                ReadStep::Read(term) => self.step(term, into, heap),
                ReadStep::Complete(id) => match self.hand_over(id, into.types) {
                    None => ReadStep::Next,
                    Some(outermost) => return Ok(outermost),
                },
                ReadStep::Next => {
                    // Here the stack has all that is needed to go on.
                    if self.state.fuel >= FUEL_BETWEEN_COUNTS {
                        let fuel = std::mem::take(&mut self.state.fuel);
                        meter.check_heap_limit(into.types.words(), heap)?;
                        meter.consume_fuel(fuel, heap)?;
                    }
                    self.state.fuel += FUEL;
                    self.next(into, heap)
                }
            };
        }
    }

    /// Notes a part that the types of a reply are not written with.
    fn odd(&mut self, id: TyId) -> ReadStep<T> {
        self.state.odd += 1;
        ReadStep::Complete(id)
    }

    fn step<H: Heap<Term = T>>(&mut self, term: T, into: &mut Target<T>, heap: &H) -> ReadStep<T> {
        let Some(elements) = heap.elements(term) else {
            return match heap.kind(term) {
                Kind::Nil => self.odd(TyId::NULL),
                _ if heap.is_name(term) => ReadStep::Complete(self.atom(term, into, heap)),
                _ => self.odd(TyId::UNKNOWN),
            };
        };
        let &[tag, inner] = elements else {
            return self.odd(TyId::UNKNOWN);
        };
        if !heap.is_name(tag) || self.state.open.len() >= DEEPEST {
            return self.odd(TyId::UNKNOWN);
        }
        let word = self.word(tag, heap);
        let is_object = matches!(
            word,
            TypeWord::Map | TypeWord::ClosedMap | TypeWord::OpenMap
        );
        if is_object && self.state.read >= MOST_READ {
            return self.odd(TyId::OBJECT);
        }
        match word {
            TypeWord::Optional => {
                self.state.open.push(Open::Optional);
                ReadStep::Read(inner)
            }
            TypeWord::List => {
                self.state.open.push(Open::List);
                ReadStep::Read(inner)
            }
            TypeWord::Map | TypeWord::ClosedMap => {
                self.begin(term, inner, (false, true), self.state.from);
                ReadStep::Next
            }
            TypeWord::OpenMap => {
                self.begin(term, inner, (true, true), self.state.from);
                ReadStep::Next
            }
            TypeWord::Union => {
                let (first, from) = (self.state.members.len(), self.state.from);
                self.state.open.push(Open::Union { first, from });
                self.rests.extend([term, inner]);
                self.state.odd += 1;
                ReadStep::Next
            }
            TypeWord::Literal => {
                let id = literal(inner, into.types, heap);
                self.odd(id)
            }
            TypeWord::Ty(_) | TypeWord::Unknown => self.odd(TyId::UNKNOWN),
        }
    }

    /// Returns the word that an atom is.
    #[inline]
    fn word<H: Heap<Term = T>>(&mut self, atom: T, heap: &H) -> TypeWord {
        let (word, usual) = self.state.words.of(atom, heap);
        self.state.odd += usize::from(!usual);
        word
    }

    /// Returns the type that an atom is.
    fn atom<H: Heap<Term = T>>(&mut self, atom: T, into: &Target<T>, heap: &H) -> TyId {
        match self.word(atom, heap) {
            TypeWord::Ty(id) => id,
            TypeWord::Map if !into.values => TyId::OBJECT,
            word => {
                self.state.odd += 1;
                match word {
                    TypeWord::OpenMap if !into.values => TyId::OBJECT,
                    TypeWord::List => TyId::LIST,
                    _ => TyId::UNKNOWN,
                }
            }
        }
    }

    /// Reads the next part of what is open.
    fn next<H: Heap<Term = T>>(&mut self, into: &mut Target<T>, heap: &H) -> ReadStep<T> {
        let rest = self.rests.last().copied().unwrap_or(heap.nil());
        match self.state.open.last().copied() {
            Some(Open::Object { first, from, .. }) => {
                let rest = self.words(rest, first, from, into, heap);
                let too_many = self.state.fields.len() - first >= MOST_FIELDS;
                match heap.uncons(rest).filter(|_| !too_many) {
                    None => self.end_object(too_many, into),
                    Some((field, rest)) => {
                        self.set_rest(rest);
                        self.field(field, first, from, into, heap)
                    }
                }
            }
            Some(Open::Union { first, from }) => {
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
                self.set_rest(rest);
                self.state.from = from;
                ReadStep::Read(member)
            }
            _ => ReadStep::Complete(TyId::UNKNOWN),
        }
    }

    fn set_rest(&mut self, rest: T) {
        if let Some(place) = self.rests.last_mut() {
            *place = rest;
        }
    }

    /// Closes what is open; returns it with its term.
    fn close(&mut self) -> Option<(Open, Option<T>)> {
        let open = self.state.open.pop()?;
        self.rests.pop();
        Some((open, self.rests.pop()))
    }

    /// Passes a type to the one that contains it; returns the outermost one when it is complete.
    fn hand_over(&mut self, mut id: TyId, types: &mut Types) -> Option<TyId> {
        let mut optional = false;
        loop {
            match self.state.open.last().copied() {
                None => return Some(id),
                Some(Open::List) => {
                    self.state.odd += usize::from(optional);
                    id = types.list(id);
                    optional = false;
                    self.state.open.pop();
                }
                Some(Open::Optional) => {
                    self.state.odd += usize::from(optional);
                    id = types.or_null(id);
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
