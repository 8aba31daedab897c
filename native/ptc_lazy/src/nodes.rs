//! Values of texts: what they contain, and terms that are built of them.

use crate::settle::Settle;
use crate::source::Shape;
use crate::term::{Pair, Place, Term};
use crate::wrapper::{Lazy, SHORT};
use ptc_index::Hint;
use ptc_json::{Decoding, JsonLimits};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::job::Job;
use ptc_term::workspace::unlimited;

/// Longer lists and objects are read again when they are built.
const LARGE: usize = 4_096;
/// Objects and lists of up to this many bytes are read without a look at the limits in between.
const SHORT_TEXT: usize = 1_000;
/// Maximum number of keys that are known.
const MOST_KEYS: usize = 1_024;

impl<'t, H: Heap> Lazy<'t, H> {
    /// Returns the value of a text at an offset.
    #[inline]
    pub(crate) fn node(&self, text: u32, at: u32) -> Term<H::Term> {
        match self.source(text).map(|source| source.shape(at)) {
            Some(Shape::Other(_)) => Term::Node(Place { text, at }),
            Some(Shape::Bool(value)) => Term::Real(self.inner.boolean(value)),
            Some(Shape::Null) | None => Term::Real(self.inner.nil()),
        }
    }

    /// Returns the rest of a list of a text.
    #[inline]
    pub(crate) fn rest(&self, text: u32, at: Option<u32>) -> Term<H::Term> {
        match at {
            Some(at) => Term::Rest(Place { text, at }),
            None => Term::Real(self.empty_list),
        }
    }

    /// Whether a list or an object is so long that reading it again, from its text, is quicker than walking over it.
    pub(crate) fn is_large(&self, place: Place) -> bool {
        let source = self.source(place.text);
        source.is_some_and(|source| source.raw(place.at).len() > LARGE)
    }

    /// The text of an object or a list, if it is short.
    pub(crate) fn short_text(&self, term: Term<H::Term>) -> Option<&'t [u8]> {
        let Term::Node(place) = term else {
            return None;
        };
        let source = self.source(place.text)?;
        let text = match source.shape(place.at) {
            Shape::Other(Kind::Map | Kind::List) => source.raw(place.at),
            _ => return None,
        };
        (text.len() <= SHORT_TEXT).then_some(text)
    }

    /// Builds the key of an object; equal keys are one term.
    pub(crate) fn shared_key(&mut self, key: Term<H::Term>) -> Term<H::Term> {
        let Term::Node(place) = key else {
            return key;
        };
        let known = self.bytes(key).and_then(|bytes| self.keys.get(bytes));
        if let Some(known) = known {
            return Term::Real(*known);
        }
        let built = self.scalar(place, usize::MAX);
        let built = built.unwrap_or_else(|| self.inner.nil());
        if self.keys.len() < MOST_KEYS {
            let bytes = self.bytes(key).filter(|bytes| bytes.len() <= SHORT);
            if let Some(bytes) = bytes.map(Box::from) {
                self.keys.insert(bytes, built);
            }
        }
        Term::Real(built)
    }

    /// Builds a number, or a string of at most `most` bytes in the text.
    pub(crate) fn scalar(&mut self, place: Place, most: usize) -> Option<H::Term> {
        match self.kind(Term::Node(place)) {
            Kind::Number => {
                let number = self.source(place.text)?.number(place.at)?;
                self.inner.make_number(number)
            }
            Kind::String => {
                let source = *self.source(place.text)?;
                let content = source.content(place.at);
                if content.range.len() > most {
                    return None;
                }
                Some(match content.escaped {
                    false => self.inner.make_string(source.bytes(content.range)),
                    true => self.inner.make_string(&source.unescaped(&content)),
                })
            }
            _ => None,
        }
    }

    /// Builds a term as the key of a map. The heap cannot suspend this; keys are short.
    pub(crate) fn key(&mut self, term: Term<H::Term>) -> H::Term {
        let place = match term {
            Term::Real(term) if !self.stored => return term,
            Term::Node(place) => place,
            Term::Real(_) | Term::Rest(_) => return self.built(term),
        };
        if let Some(key) = self.scalar(place, usize::MAX) {
            return key;
        }
        let Some(source) = self.source(place.text) else {
            return self.inner.nil();
        };
        let text = source.raw(place.at);
        let mut decoding = Decoding::new(JsonLimits::depth(usize::MAX));
        match decoding.step(text, &mut self.inner, &mut unlimited()) {
            Ok(Ok(term)) => term,
            _ => self.inner.nil(),
        }
    }

    /// Builds all values of texts in a term, in one go.
    pub(crate) fn built(&mut self, term: Term<H::Term>) -> H::Term {
        let mut settle = Settle::new([term]);
        match settle.run(self, &mut unlimited()) {
            Ok(()) => match settle.take_last(self) {
                Some(Term::Real(term)) => term,
                _ => self.inner.nil(),
            },
            Err(_) => self.inner.nil(),
        }
    }

    /// Returns the entries of an object, each key once, in ascending order of the keys.
    pub(crate) fn members(&self, place: Place) -> Vec<Pair<H::Term>> {
        let Some(source) = self.source(place.text) else {
            return Vec::new();
        };
        let text = place.text;
        let key = |at| Term::Node(Place { text, at });
        let mut all: Vec<_> = (source.members(place.at))
            .map(|(at, value)| (self.bytes(key(at)).unwrap_or_default(), at, value))
            .collect();
        // Of equal keys the first one counts, as in the decoder.
        all.sort_by_key(|(bytes, ..)| *bytes);
        all.dedup_by_key(|(bytes, ..)| *bytes);
        let entry = |(_, at, value): (_, _, _)| (key(at), self.node(text, value));
        all.into_iter().map(entry).collect()
    }

    pub(crate) fn field(
        &self,
        place: Place,
        key: Term<H::Term>,
        hint: &mut Hint,
    ) -> Lookup<Term<H::Term>> {
        let Some(source) = self.source(place.text) else {
            return Lookup::NotAMap;
        };
        if source.shape(place.at) != Shape::Other(Kind::Map) {
            return Lookup::NotAMap;
        }
        let Some(name) = self.bytes(key) else {
            return Lookup::Missing;
        };
        let mut rows = self.rows.borrow_mut();
        if rows.text != place.text {
            rows.text = place.text;
            rows.members.forget();
        }
        match rows.members.field(source.tree(), place.at, name, hint) {
            Some(value) => Lookup::Found(self.node(place.text, value)),
            None => Lookup::Missing,
        }
    }

    /// Looks up a value of a text in a map of the inner heap.
    #[cold]
    pub(crate) fn lookup_node(&self, map: H::Term, key: Term<H::Term>) -> Lookup<Term<H::Term>> {
        if self.inner.map_size(map).is_none() {
            return Lookup::NotAMap;
        }
        let string = self.bytes(key);
        if let Some(key) = string.and_then(|bytes| self.inner.string_for_lookup(bytes)) {
            let found = self.inner.lookup(map, key, &mut H::KeyCache::default());
            return self.wrap_found(found);
        }
        let entries = self.inner.entries(map).into_iter();
        let mut entries = entries.map(|(other, value)| (Term::Real(other), value));
        match entries.find(|(other, _)| self.identical(*other, key)) {
            Some((_, value)) => Lookup::Found(self.wrap(value)),
            None => Lookup::Missing,
        }
    }

    /// Returns the bytes that are decoded when a string is read; 0 if none have to be.
    #[inline]
    pub(crate) fn bytes_to_unescape(&self, place: Place) -> usize {
        let content = self.source(place.text).map(|text| text.content(place.at));
        match content {
            Some(content) if content.escaped && !self.unescaped.borrow().contains_key(&place) => {
                content.range.len()
            }
            _ => 0,
        }
    }

    /// Returns the bytes of a string of a text.
    #[inline]
    pub(crate) fn content(&self, place: Place) -> Option<&[u8]> {
        let source = self.source(place.text)?;
        if source.shape(place.at) != Shape::Other(Kind::String) {
            return None;
        }
        let content = source.content(place.at);
        if !content.escaped {
            return Some(source.bytes(content.range));
        }
        let known = self.unescaped.borrow().get(&place).copied();
        let index = known.unwrap_or_else(|| {
            let index = self.strings.push(source.unescaped(&content).into());
            self.unescaped.borrow_mut().insert(place, index);
            index
        });
        self.strings.get(index).map(|bytes| &**bytes)
    }

    /// Returns the place of a list's first item; `None` if it is empty or no list.
    #[inline]
    pub(crate) fn first_item(&self, Place { text, at }: Place) -> Option<Place> {
        let source = self.source(text)?;
        if source.shape(at) != Shape::Other(Kind::List) {
            return None;
        }
        let at = source.tree().first_child(at)?;
        Some(Place { text, at })
    }

    /// Returns the item of a list at a place, and the rest of the list after it.
    #[inline]
    pub(crate) fn cell(&self, Place { text, at }: Place) -> Option<Pair<H::Term>> {
        let next = self.source(text)?.tree().next_sibling(at);
        Some((self.node(text, at), self.rest(text, next)))
    }
}
