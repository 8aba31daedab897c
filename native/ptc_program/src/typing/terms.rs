//! Types as terms. What was given as a term is returned as that term; other types are made part by part.

use super::ty::{FieldTy, Span, Ty, TyId, Types};
use super::words::Word;
use crate::analysis::names::{ByNumber, NameId};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Maximum number of parts of a type's term; a larger one is `:any`. A field has two parts at least.
const MOST_PARTS: usize = 2_000;
/// Bytes that are copied for one unit of fuel.
pub(super) const BYTES_A_UNIT: usize = 64;

/// The terms of types that were given or made.
#[derive(Debug)]
pub struct TypeTerms<T> {
    terms: Roots<T>,
    state: TermState,
}

rooted!(TypeTerms { states: terms; plain: state });

#[derive(Debug, Default)]
struct TermState {
    /// The places of the terms, and the numbers of their parts.
    made: HashMap<TyId, Made, ByNumber>,
    /// The types that are looked at next, and those that were looked at.
    open: Vec<TyId>,
    seen: HashSet<TyId, ByNumber>,
    /// The parts that are made next, the last one first.
    parts: Vec<TyId>,
}

#[derive(Debug, Clone, Copy)]
struct Made {
    place: u32,
    parts: usize,
}

impl<T> Default for TypeTerms<T> {
    fn default() -> Self {
        TypeTerms {
            terms: Roots::default(),
            state: TermState::default(),
        }
    }
}

impl<T: Copy> TypeTerms<T> {
    /// Notes the term that a type was given as.
    pub fn given(&mut self, ty: TyId, term: T) {
        self.keep(ty, term, 1);
    }

    fn keep(&mut self, ty: TyId, term: T, parts: usize) {
        if let Entry::Vacant(free) = self.state.made.entry(ty) {
            let place = self.terms.len() as u32;
            free.insert(Made { place, parts });
            self.terms.push(term);
        }
    }

    /// Returns the term of a type. Where this is suspended, it goes on with the same type.
    pub fn make<H: Heap<Term = T>>(
        &mut self,
        ty: TyId,
        types: &Types,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        let is_begun = !self.state.seen.is_empty() || !self.state.parts.is_empty();
        if !is_begun && !self.state.made.contains_key(&ty) {
            self.state.open.push(ty);
        }
        while let Some(next) = self.state.open.pop() {
            let cost = self.look_at(next, types);
            if self.state.open.is_empty() {
                self.sort(ty, heap);
            }
            meter.consume_fuel(cost, heap)?;
        }
        while let Some(next) = self.state.parts.pop() {
            let cost = match types.get(next) {
                Ty::Object(span, _) => 2 + 8 * span.count(),
                _ => 2 + 2 * types.members(&next).len(),
            };
            let (term, parts) = self.part(next, types, heap);
            self.keep(next, term, parts);
            meter.check_heap_limit(0, heap)?;
            meter.consume_fuel(cost, heap)?;
        }
        Ok(self.term(ty, heap).0)
    }

    /// Notes a type and finds its parts; returns the fuel.
    fn look_at(&mut self, ty: TyId, types: &Types) -> usize {
        let state = &mut self.state;
        if state.made.contains_key(&ty) || !state.seen.insert(ty) {
            return 1;
        }
        if state.seen.len() > MOST_PARTS {
            let left = state.open.len();
            state.open.clear();
            return 1 + left / 8;
        }
        match types.get(ty) {
            Ty::List(item) => state.open.push(item),
            Ty::Union(_) => state.open.extend_from_slice(types.members(&ty)),
            Ty::Object(span, _) if !is_large(span) => {
                let fields = types.fields(span).iter();
                state.open.extend(fields.map(|field| field.ty));
                return 2 + span.count() / 4;
            }
            _ => {}
        }
        2
    }

    /// Puts the parts in the order in which they are made: they have smaller numbers than what contains them.
    fn sort<H: Heap<Term = T>>(&mut self, whole: TyId, heap: &mut H) {
        let seen = std::mem::take(&mut self.state.seen);
        if seen.len() > MOST_PARTS {
            let any = heap.word(Word::Any);
            return self.keep(whole, any, 1);
        }
        let parts = &mut self.state.parts;
        parts.extend(seen);
        parts.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// The term of a type, and the number of its parts.
    fn term<H: Heap<Term = T>>(&self, ty: TyId, heap: &mut H) -> (T, usize) {
        let made = self.state.made.get(&ty);
        match made.filter(|made| made.parts <= MOST_PARTS) {
            Some(made) => (self.terms.get(heap, made.place as usize), made.parts),
            None => (heap.word(Word::Any), 1),
        }
    }

    fn part<H: Heap<Term = T>>(&self, ty: TyId, types: &Types, heap: &mut H) -> (T, usize) {
        let word = match types.get(ty) {
            Ty::Unknown | Ty::NoInput => Word::Any,
            Ty::Never => Word::Never,
            Ty::Bool => Word::Bool,
            Ty::Int | Ty::Whole => Word::Int,
            Ty::Number | Ty::Plain | Ty::Float => Word::Float,
            Ty::Text => Word::String,
            Ty::Moment => Word::Datetime,
            Ty::Keyword => Word::Keyword,
            Ty::Null => return literal(heap.nil(), heap),
            Ty::BoolOf(value) => return literal(heap.boolean(value), heap),
            Ty::IntOf(value) => match heap.make_number(Number::Int(value)) {
                Some(term) => return literal(term, heap),
                None => Word::Int,
            },
            Ty::FloatOf(bits) => match heap.make_number(Number::Float(f64::from_bits(bits))) {
                Some(term) => return literal(term, heap),
                None => Word::Float,
            },
            Ty::TextOf(name) => {
                let text = heap.make_string(types.names.get(name));
                return literal(text, heap);
            }
            Ty::List(item) => {
                let (term, parts) = self.term(item, heap);
                return (tagged(Word::List, term, heap), parts + 1);
            }
            Ty::Union(_) => return self.union(types.members(&ty), heap),
            Ty::Object(span, true) if span.count() == 0 => Word::Map,
            Ty::Object(span, _) if is_large(span) => return (heap.nil(), MOST_PARTS + 1),
            Ty::Object(span, open) => {
                let word = if open { Word::OpenMap } else { Word::Map };
                return self.object(word, span, types, heap);
            }
        };
        (heap.word(word), 1)
    }

    fn union<H: Heap<Term = T>>(&self, members: &[TyId], heap: &mut H) -> (T, usize) {
        let (mut terms, mut count) = (Vec::with_capacity(members.len()), 1);
        for member in members {
            let (term, parts) = self.term(*member, heap);
            terms.push(term);
            count += parts;
        }
        let list = heap.make_list(&terms);
        (tagged(Word::Union, list, heap), count)
    }

    /// An object, its fields in the order of their names.
    fn object<H: Heap<Term = T>>(
        &self,
        word: Word,
        span: Span,
        types: &Types,
        heap: &mut H,
    ) -> (T, usize) {
        let name = |field: &FieldTy| types.names.get(field.name);
        let mut fields = types.fields(span).to_vec();
        fields.sort_by(|a, b| name(a).cmp(name(b)));
        let (mut all, mut count) = (Vec::with_capacity(fields.len()), 1);
        for field in fields {
            let (mut term, parts) = match field.optional {
                true => self.not_null(field.ty, types, heap),
                false => self.term(field.ty, heap),
            };
            if field.optional {
                term = tagged(Word::Optional, term, heap);
            }
            let name = heap.make_string(name(&field));
            all.push(heap.make_tuple(&[name, term]));
            count += parts + 1;
        }
        let list = heap.make_list(&all);
        (tagged(word, list, heap), count)
    }

    /// The type of an optional field, where null is not mentioned.
    fn not_null<H: Heap<Term = T>>(&self, ty: TyId, types: &Types, heap: &mut H) -> (T, usize) {
        let members = types.members(&ty).iter();
        let others: Vec<TyId> = members.copied().filter(|it| *it != TyId::NULL).collect();
        match others.as_slice() {
            [] => self.term(ty, heap),
            [only] => self.term(*only, heap),
            others => self.union(others, heap),
        }
    }
}

fn is_large(span: Span) -> bool {
    span.count() > MOST_PARTS / 2
}

fn tagged<H: Heap>(tag: Word, of: H::Term, heap: &mut H) -> H::Term {
    let tag = heap.word(tag);
    heap.make_tuple(&[tag, of])
}

fn literal<H: Heap>(value: H::Term, heap: &mut H) -> (H::Term, usize) {
    (tagged(Word::Literal, value, heap), 1)
}

/// Returns a pair of a word and a name.
pub(super) fn named<H: Heap>(tag: Word, name: NameId, types: &Types, heap: &mut H) -> H::Term {
    let name = heap.make_string(types.names.get(name));
    tagged(tag, name, heap)
}
