//! The wrapper as a heap.

use crate::source::Shape;
use crate::term::Term;
use crate::wrapper::{Cache, Lazy};
use ptc_term::heap::{Heap, Inside, Kind, Lookup};
use ptc_term::named::Named;
use ptc_term::number::Number;
use ptc_term::value::{Form, Value};
use std::cmp::Ordering;

impl<H: Heap> Heap for Lazy<'_, H> {
    type Term = Term<H::Term>;
    type KeyCache = Cache<H::KeyCache>;

    #[inline]
    fn kind(&self, term: Self::Term) -> Kind {
        match term {
            Term::Real(term) => self.inner.kind(term),
            Term::Rest(_) => Kind::List,
            Term::Node(place) => match self.source(place.text).map(|text| text.shape(place.at)) {
                Some(Shape::Other(kind)) => kind,
                Some(Shape::Bool(_)) => Kind::Bool,
                Some(Shape::Null) | None => Kind::Nil,
            },
        }
    }

    #[inline]
    fn truthy(&self, term: Self::Term) -> bool {
        match term {
            Term::Real(term) => self.inner.truthy(term),
            Term::Node(_) | Term::Rest(_) => true,
        }
    }

    #[inline]
    fn identical(&self, a: Self::Term, b: Self::Term) -> bool {
        self.order(a, b, true).is_eq()
    }

    #[inline]
    fn compare(&self, a: Self::Term, b: Self::Term) -> Ordering {
        self.order(a, b, false)
    }

    fn identity(&self, term: Self::Term) -> usize {
        match term {
            Term::Real(term) => self.inner.identity(term),
            // No identity of an inner heap looks like this.
            term => (1 << 63) | (term.packed().unwrap_or_default() as usize) << 2,
        }
    }

    fn hash(&self, term: Self::Term, seed: u64) -> u64 {
        self.hash_of(term, seed)
    }

    fn elements(&self, tuple: Self::Term) -> Option<&[Self::Term]> {
        match tuple {
            Term::Real(tuple) => Some(self.wrapped(self.inner.elements(tuple)?)),
            Term::Node(_) | Term::Rest(_) => None,
        }
    }

    fn word<N: Named>(&mut self, name: N) -> Self::Term {
        Term::Real(self.inner.word(name))
    }

    fn inside(&self, term: Self::Term) -> Inside<'_, Self::Term> {
        let Term::Real(term) = term else {
            return Inside::Nothing;
        };
        match self.inner.inside(term) {
            Inside::Elements(elements) => Inside::Elements(self.wrapped(elements)),
            Inside::Nothing => Inside::Nothing,
            Inside::Unknown => Inside::Unknown,
        }
    }

    fn limbs(&self, term: Self::Term) -> usize {
        match term {
            Term::Real(term) => self.inner.limbs(term),
            term => match self.number(term) {
                Some(number @ Number::Big(_)) => number.limbs(),
                _ => 0,
            },
        }
    }

    #[inline]
    fn number(&self, term: Self::Term) -> Option<Number> {
        match term {
            Term::Real(term) => self.inner.number(term),
            Term::Rest(_) => None,
            Term::Node(place) => match self.kind(term) {
                Kind::Number => self.source(place.text)?.number(place.at),
                _ => None,
            },
        }
    }

    #[inline]
    fn small_integer(&self, term: Self::Term) -> Option<i64> {
        match term {
            Term::Real(term) => self.inner.small_integer(term),
            term => match self.number(term)? {
                Number::Int(value) => Some(value),
                _ => None,
            },
        }
    }

    #[inline]
    fn float(&self, term: Self::Term) -> Option<f64> {
        match term {
            Term::Real(term) => self.inner.float(term),
            term => match self.number(term)? {
                Number::Float(value) => Some(value),
                _ => None,
            },
        }
    }

    #[inline]
    fn is_name(&self, term: Self::Term) -> bool {
        matches!(term, Term::Real(term) if self.inner.is_name(term))
    }

    fn with_name<R>(&self, atom: Self::Term, read: impl FnOnce(&[u8]) -> R) -> R {
        match atom {
            Term::Real(atom) => self.inner.with_name(atom, read),
            _ => read(b""),
        }
    }

    fn compare_text(&self, text: &[u8], term: Self::Term) -> Ordering {
        match (term, self.bytes(term)) {
            (Term::Real(term), _) => self.inner.compare_text(text, term),
            (_, Some(bytes)) => text.cmp(bytes),
            // A string comes after all other values of a text.
            (_, None) => Ordering::Greater,
        }
    }

    fn atom_of(&self, name: &[u8]) -> Option<Self::Term> {
        self.inner.atom_of(name).map(Term::Real)
    }

    fn atom_named(&self, name: Self::Term) -> Option<Self::Term> {
        match name {
            Term::Real(name) => self.inner.atom_named(name).map(Term::Real),
            name => self.atom_of(self.bytes(name)?),
        }
    }

    fn string_for_lookup(&self, bytes: &[u8]) -> Option<Self::Term> {
        self.inner.string_for_lookup(bytes).map(Term::Real)
    }

    #[inline]
    fn byte_length(&self, term: Self::Term) -> Option<usize> {
        match term {
            Term::Real(term) => self.inner.byte_length(term),
            term => self.bytes(term).map(<[u8]>::len),
        }
    }

    #[inline]
    fn bytes_to_copy(&self, term: Self::Term) -> usize {
        match term {
            Term::Real(term) => self.inner.bytes_to_copy(term),
            Term::Node(place) if self.kind(term) == Kind::String => self.bytes_to_unescape(place),
            _ => 0,
        }
    }

    fn aligned(&self, binary: Self::Term) -> Self::Term {
        match binary {
            Term::Real(binary) => Term::Real(self.inner.aligned(binary)),
            node => node,
        }
    }

    #[inline]
    fn bytes(&self, term: Self::Term) -> Option<&[u8]> {
        match term {
            Term::Real(term) => self.inner.bytes(term),
            Term::Rest(_) => None,
            Term::Node(place) => self.content(place),
        }
    }

    #[inline]
    fn uncons(&self, term: Self::Term) -> Option<(Self::Term, Self::Term)> {
        match term {
            Term::Real(term) => {
                let (head, tail) = self.inner.uncons(term)?;
                Some((self.wrap(head), self.wrap(tail)))
            }
            Term::Rest(place) => self.cell(place),
            Term::Node(place) => self.cell(self.first_item(place)?),
        }
    }

    #[inline]
    fn is_empty_list(&self, term: Self::Term) -> bool {
        match term {
            Term::Real(term) => self.inner.is_empty_list(term),
            Term::Rest(_) => false,
            Term::Node(place) => self.kind(term) == Kind::List && self.first_item(place).is_none(),
        }
    }

    fn map_size(&self, term: Self::Term) -> Option<usize> {
        match term {
            Term::Real(term) => self.inner.map_size(term),
            Term::Node(place) if self.kind(term) == Kind::Map => Some(self.members(place).len()),
            _ => None,
        }
    }

    #[inline]
    fn lookup(
        &self,
        map: Self::Term,
        key: Self::Term,
        cache: &mut Self::KeyCache,
    ) -> Lookup<Self::Term> {
        match (map, key) {
            (Term::Real(map), Term::Real(key)) => {
                self.wrap_found(self.inner.lookup(map, key, &mut cache.inner))
            }
            (Term::Real(map), key) => self.lookup_node(map, key),
            (Term::Node(place), key) => self.field(place, key, &mut cache.hint),
            (Term::Rest(_), _) => Lookup::NotAMap,
        }
    }

    fn lookup_atom(
        &self,
        map: Self::Term,
        atom: Self::Term,
        cache: &mut Self::KeyCache,
    ) -> Lookup<Self::Term> {
        match (map, atom) {
            (Term::Real(map), Term::Real(atom)) => {
                self.wrap_found(self.inner.lookup_atom(map, atom, &mut cache.inner))
            }
            (map, atom) => self.lookup(map, atom, cache),
        }
    }

    #[inline]
    fn quick_lookup(&self, map: Self::Term, cache: &Self::KeyCache) -> Option<Self::Term> {
        match map {
            Term::Real(map) => {
                let value = self.inner.quick_lookup(map, &cache.inner)?;
                Some(self.wrap(value))
            }
            Term::Node(_) | Term::Rest(_) => None,
        }
    }

    fn form(&self, map: Self::Term) -> Form {
        match map {
            Term::Real(map) => self.inner.form(map),
            Term::Node(_) | Term::Rest(_) => Form::Plain,
        }
    }

    fn is_hidden(&self, key: Self::Term) -> bool {
        matches!(key, Term::Real(key) if self.inner.is_hidden(key))
    }

    fn value(&self, term: Self::Term) -> Value<Self::Term> {
        let Term::Real(term) = term else {
            return Value::Opaque;
        };
        self.wrap_value(self.inner.value(term))
    }

    fn entries(&self, map: Self::Term) -> Vec<(Self::Term, Self::Term)> {
        match map {
            Term::Real(map) => {
                let entries = self.inner.entries(map).into_iter();
                let entries = entries.map(|(key, value)| (Term::Real(key), self.wrap(value)));
                entries.collect()
            }
            Term::Node(place) => self.members(place),
            Term::Rest(_) => Vec::new(),
        }
    }

    #[inline]
    fn nil(&self) -> Self::Term {
        Term::Real(self.inner.nil())
    }

    #[inline]
    fn boolean(&self, value: bool) -> Self::Term {
        Term::Real(self.inner.boolean(value))
    }

    #[inline]
    fn make_number(&mut self, number: Number) -> Option<Self::Term> {
        self.inner.make_number(number).map(Term::Real)
    }

    fn make_string(&mut self, bytes: &[u8]) -> Self::Term {
        Term::Real(self.inner.make_string(bytes))
    }

    fn make_list(&mut self, items: &[Self::Term]) -> Self::Term {
        let items = self.store_all(items);
        Term::Real(self.inner.make_list(&items))
    }

    fn make_list_onto(&mut self, items: &[Self::Term], tail: Self::Term) -> Self::Term {
        if items.is_empty() {
            return tail;
        }
        let (items, tail) = (self.store_all(items), self.store(tail));
        Term::Real(self.inner.make_list_onto(&items, tail))
    }

    fn cons(&mut self, head: Self::Term, tail: Self::Term) -> Self::Term {
        self.holds_watched |= self.is_watched(head) || self.is_watched(tail);
        let (head, tail) = (self.pack(head), self.pack(tail));
        Term::Real(self.inner.cons(head, tail))
    }

    fn make_map(&mut self, keys: &[Self::Term], values: &[Self::Term]) -> Self::Term {
        let keys: Vec<_> = keys.iter().map(|key| self.key(*key)).collect();
        let values = self.store_all(values);
        Term::Real(self.inner.make_map(&keys, &values))
    }

    fn make_tuple_value(&mut self, elements: &[Self::Term]) -> Self::Term {
        let is_node = |element: &Self::Term| !matches!(element, Term::Real(_));
        self.stored |= elements.iter().any(is_node);
        self.holds_watched |= elements.iter().any(|element| self.is_watched(*element));
        let elements: Vec<_> = elements.iter().map(|element| self.pack(*element)).collect();
        Term::Real(self.inner.make_tuple_value(&elements))
    }

    fn make_tuple(&mut self, elements: &[Self::Term]) -> Self::Term {
        let is_node = |element: &Self::Term| !matches!(element, Term::Real(_));
        self.stored |= elements.iter().any(is_node);
        self.holds_watched |= elements.iter().any(|element| self.is_watched(*element));
        let elements: Vec<_> = elements.iter().map(|element| self.pack(*element)).collect();
        Term::Real(self.inner.make_tuple(&elements))
    }

    fn arity(&self, term: Self::Term) -> Option<usize> {
        match term {
            Term::Real(term) => self.inner.arity(term),
            Term::Node(_) | Term::Rest(_) => None,
        }
    }

    #[inline]
    fn element(&self, tuple: Self::Term, index: usize) -> Option<Self::Term> {
        match tuple {
            Term::Real(tuple) => Some(self.wrap(self.inner.element(tuple, index)?)),
            Term::Node(_) | Term::Rest(_) => None,
        }
    }

    fn words_of_reference(&self) -> usize {
        self.inner.words_of_reference()
    }

    fn words_of_opaque(&self, term: Self::Term) -> usize {
        match term {
            Term::Real(term) => self.inner.words_of_opaque(term),
            Term::Node(_) | Term::Rest(_) => 0,
        }
    }

    #[inline]
    fn words_built(&self) -> usize {
        self.inner.words_built().saturating_add_signed(self.words)
    }

    fn built(&mut self, words: usize) {
        self.inner.built(words);
    }

    fn abandoned(&self) -> bool {
        self.inner.abandoned()
    }
}
