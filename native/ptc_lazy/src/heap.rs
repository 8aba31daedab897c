//! A heap whose terms are those of another heap, and the values of texts that are not decoded.

mod terms;

use crate::arena::Arena;
use crate::source::{Shape, Source};
use crate::term::{Pair, Place, Term, WHOLE};
use ptc_index::{Hint, Members};
use ptc_json::{Decoding, JsonLimits};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::job::Job;
use ptc_term::number::Number;
use ptc_term::workspace::unlimited;
use std::cell::RefCell;
use std::collections::HashMap;

/// Strings of up to this many bytes are built when they are put into a list or a map: their place would take as much memory.
const SHORT: usize = 64;
/// Longer lists and objects are read again when they are built.
const LARGE: usize = 4_096;
/// Maximum number of keys that are known.
const MOST_KEYS: usize = 1_024;
/// Words of a value of a text in a list, a tuple or a map.
const WORDS_OF_PLACE: isize = 3;
/// Words that the inner heap counts for the number in it.
const WORDS_OF_NUMBER: isize = 2;

/// What a lazy heap is given besides the inner one.
pub struct Given<'t> {
    /// The texts; a [`Place`] has the index of one of them.
    pub texts: Vec<Source<'t>>,
    /// A number of up to 59 bits that marks the values of texts in lists, tuples and maps: random, so that no other tuple
    /// has it.
    pub marker: i64,
    /// Whether a value of a text may stand in a list, a tuple or a map already.
    pub stored: bool,
    /// Words that count besides those of the inner heap.
    pub words: usize,
}

/// A heap whose terms are those of another heap, and the values of texts.
pub struct Lazy<'t, H: Heap> {
    pub(crate) inner: H,
    pub(crate) texts: Vec<Source<'t>>,
    marker: i64,
    marker_term: H::Term,
    stored: bool,
    /// Terms that values of texts are compared with in the place of their kinds.
    pub(crate) empty_list: H::Term,
    pub(crate) empty_map: H::Term,
    /// Whether 0.0 and -0.0 are not identical.
    pub(crate) signed_zeros: bool,
    /// Words that the inner heap has not counted, or has counted too much.
    words: isize,
    rows: RefCell<Rows>,
    unescaped: RefCell<HashMap<Place, usize>>,
    strings: Arena<Box<[u8]>>,
    /// The keys of objects that were built, so that equal ones are one term.
    keys: HashMap<Box<[u8]>, H::Term>,
    tuples: Arena<Box<[Term<H::Term>]>>,
}

/// The object that was read last.
#[derive(Default)]
struct Rows {
    text: u32,
    members: Members,
}

/// The cache of one key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cache<C> {
    inner: C,
    hint: Hint,
}

impl<'t, H: Heap> Lazy<'t, H> {
    /// Wraps a heap.
    pub fn new(mut inner: H, given: Given<'t>) -> Self {
        let before = inner.words_built();
        let nil = inner.nil();
        let mut number = |number| inner.make_number(number).unwrap_or(nil);
        let marker_term = number(Number::Int(given.marker));
        let (zero, minus) = (number(Number::Float(0.0)), number(Number::Float(-0.0)));
        let (empty_list, empty_map) = (inner.make_list(&[]), inner.make_map(&[], &[]));
        Lazy {
            signed_zeros: !inner.identical(zero, minus),
            words: (before + given.words) as isize - inner.words_built() as isize,
            inner,
            texts: given.texts,
            marker: given.marker,
            marker_term,
            stored: given.stored,
            empty_list,
            empty_map,
            rows: RefCell::default(),
            unescaped: RefCell::default(),
            strings: Arena::default(),
            keys: HashMap::new(),
            tuples: Arena::default(),
        }
    }

    /// Returns the inner heap.
    pub fn into_inner(self) -> H {
        self.inner
    }

    /// The inner heap.
    pub fn inner(&mut self) -> &mut H {
        &mut self.inner
    }

    /// Whether a value of a text may stand in a list, a tuple or a map: see [`Given::stored`].
    pub fn has_stored(&self) -> bool {
        self.stored
    }

    /// Returns the whole value of a text.
    pub fn root(&self, text: u32) -> Term<H::Term> {
        let at = self.source(text).map_or(0, |source| source.root());
        self.node(text, at)
    }

    #[inline]
    pub(crate) fn source(&self, text: u32) -> Option<&Source<'t>> {
        self.texts.get(text as usize)
    }

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
    fn rest(&self, text: u32, at: Option<u32>) -> Term<H::Term> {
        match at {
            Some(at) => Term::Rest(Place { text, at }),
            None => Term::Real(self.empty_list),
        }
    }

    /// Reads a term of the inner heap: it may stand for a value of a text.
    #[inline]
    pub fn wrap(&self, term: H::Term) -> Term<H::Term> {
        match self.inner.arity(term) {
            Some(2) => self.unpacked(term).unwrap_or(Term::Real(term)),
            _ => Term::Real(term),
        }
    }

    fn unpacked(&self, pair: H::Term) -> Option<Term<H::Term>> {
        let marker = self.inner.small_integer(self.inner.element(pair, 0)?)?;
        let number = self.inner.small_integer(self.inner.element(pair, 1)?)?;
        let term = Term::unpacked(number).filter(|_| marker == self.marker)?;
        let (Term::Node(place) | Term::Rest(place)) = term else {
            return None;
        };
        self.source(place.text)?;
        match place.at {
            WHOLE => Some(self.root(place.text)),
            _ => Some(term),
        }
    }

    /// Returns the term of the inner heap that stands for this one while work is suspended. No words count for it.
    pub fn pack(&mut self, term: Term<H::Term>) -> H::Term {
        match (term, term.packed()) {
            (Term::Real(term), _) => term,
            (_, number) => {
                self.words -= WORDS_OF_NUMBER;
                self.pair(number.unwrap_or_default())
            }
        }
    }

    fn pair(&mut self, number: i64) -> H::Term {
        let nil = self.inner.nil();
        let number = self.inner.make_number(Number::Int(number)).unwrap_or(nil);
        self.inner.make_tuple(&[self.marker_term, number])
    }

    /// Returns the term of the inner heap that stands for this one in a list, a tuple or a map.
    fn store(&mut self, term: Term<H::Term>) -> H::Term {
        let number = match term {
            Term::Real(term) => return term,
            Term::Node(place) => match self.scalar(place, SHORT) {
                Some(term) => return term,
                None => term.packed(),
            },
            Term::Rest(_) => term.packed(),
        };
        self.stored = true;
        self.words += WORDS_OF_PLACE - WORDS_OF_NUMBER;
        self.pair(number.unwrap_or_default())
    }

    fn store_all(&mut self, terms: &[Term<H::Term>]) -> Vec<H::Term> {
        terms.iter().map(|term| self.store(*term)).collect()
    }

    /// Whether a list or an object is so long that reading it again, from its text, is quicker than walking over it.
    pub(crate) fn is_large(&self, place: Place) -> bool {
        let source = self.source(place.text);
        source.is_some_and(|source| source.raw(place.at).len() > LARGE)
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
    fn key(&mut self, term: Term<H::Term>) -> H::Term {
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
    fn built(&mut self, term: Term<H::Term>) -> H::Term {
        let mut settle = crate::settle::Settle::new([term]);
        match settle.run(self, &mut unlimited()) {
            Ok(()) => match settle.take_last(self) {
                Some(Term::Real(term)) => term,
                _ => self.inner.nil(),
            },
            Err(_) => self.inner.nil(),
        }
    }

    /// Returns the entries of an object, each key once, in ascending order of the keys.
    fn members(&self, place: Place) -> Vec<Pair<H::Term>> {
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

    fn field(&self, place: Place, key: Term<H::Term>, hint: &mut Hint) -> Lookup<Term<H::Term>> {
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
    fn lookup_node(&self, map: H::Term, key: Term<H::Term>) -> Lookup<Term<H::Term>> {
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

    #[inline]
    fn wrap_found(&self, found: Lookup<H::Term>) -> Lookup<Term<H::Term>> {
        match found {
            Lookup::Found(value) => Lookup::Found(self.wrap(value)),
            Lookup::Missing => Lookup::Missing,
            Lookup::NotAMap => Lookup::NotAMap,
        }
    }

    /// Reads the elements of a tuple of the inner heap.
    fn wrapped(&self, elements: &[H::Term]) -> &[Term<H::Term>] {
        let elements = elements.iter().map(|element| self.wrap(*element));
        let index = self.tuples.push(elements.collect());
        let elements = self.tuples.get(index).map(|elements| &**elements);
        elements.unwrap_or_default()
    }

    /// Whether the bytes of a string are decoded already.
    fn is_unescaped(&self, place: Place) -> bool {
        self.unescaped.borrow().contains_key(&place)
    }
}
