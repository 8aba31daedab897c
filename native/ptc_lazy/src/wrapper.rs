//! The wrapper: the heap inside it, the texts, and how their values stand in lists, tuples and maps of that heap.

use crate::arena::Arena;
use crate::source::Source;
use crate::term::{Place, Term, WHOLE};
use ptc_index::{Hint, Members};
use ptc_term::heap::{Heap, Lookup};
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::value::{Coefficient, Value};
use std::cell::RefCell;
use std::collections::HashMap;

/// Strings of up to this many bytes are built when they are put into a list or a map: their place would take as much memory.
pub(crate) const SHORT: usize = 64;
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
    pub(crate) marker: i64,
    pub(crate) marker_term: H::Term,
    pub(crate) stored: bool,
    /// Terms that values of texts are compared with in the place of their kinds.
    pub(crate) empty_list: H::Term,
    pub(crate) empty_map: H::Term,
    /// Whether 0.0 and -0.0 are not identical.
    pub(crate) signed_zeros: bool,
    /// Words that the inner heap has not counted, or has counted too much.
    pub(crate) words: isize,
    pub(crate) rows: RefCell<Rows>,
    pub(crate) unescaped: RefCell<HashMap<Place, usize>>,
    pub(crate) strings: Arena<Box<[u8]>>,
    /// The keys of objects that were built, so that equal ones are one term.
    pub(crate) keys: HashMap<Box<[u8]>, H::Term>,
    pub(crate) tuples: Arena<Box<[Term<H::Term>]>>,
    /// The first text whose values are looked for in what is built, and whether there is one.
    pub(crate) watched: u32,
    pub(crate) holds_watched: bool,
}

/// The object that was read last.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) text: u32,
    pub(crate) members: Members,
}

/// The cache of one key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cache<C> {
    pub(crate) inner: C,
    pub(crate) hint: Hint,
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
            watched: u32::MAX,
            holds_watched: false,
        }
    }

    /// Looks for values of the texts from this one on in the lists, tuples and maps that are built. `holds`: there is one.
    pub fn watch(&mut self, first: u32, holds: bool) {
        self.watched = first;
        self.holds_watched = holds;
    }

    /// Whether a list, a tuple or a map may have a value of these texts.
    pub fn holds_watched(&self) -> bool {
        self.holds_watched
    }

    /// Whether this is a value of these texts.
    #[inline]
    pub fn is_watched(&self, term: Term<H::Term>) -> bool {
        matches!(term, Term::Node(place) | Term::Rest(place) if place.text >= self.watched)
    }

    /// Returns the inner heap.
    pub fn into_inner(self) -> H {
        self.inner
    }

    /// The inner heap.
    pub fn inner(&mut self) -> &mut H {
        &mut self.inner
    }

    /// Works on the inner heap. What it has not counted, or has counted too much, counts here, too.
    pub(crate) fn on_inner<R>(
        &mut self,
        meter: &mut Meter,
        work: impl FnOnce(&mut H, &mut Meter) -> R,
    ) -> R {
        let words = meter.limits.words;
        meter.limits.words = words.saturating_add_signed(-self.words);
        let done = work(&mut self.inner, meter);
        meter.limits.words = words;
        done
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

    /// Reads a term of the inner heap: it may stand for a value of a text.
    #[inline]
    pub fn wrap(&self, term: H::Term) -> Term<H::Term> {
        match self.inner.arity(term) {
            Some(2) => self.unpacked(term).unwrap_or(Term::Real(term)),
            _ => Term::Real(term),
        }
    }

    pub(crate) fn unpacked(&self, pair: H::Term) -> Option<Term<H::Term>> {
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

    pub(crate) fn pair(&mut self, number: i64) -> H::Term {
        let nil = self.inner.nil();
        let number = self.inner.make_number(Number::Int(number)).unwrap_or(nil);
        self.inner.make_tuple(&[self.marker_term, number])
    }

    /// Returns the term of the inner heap that stands for this one in a list, a tuple or a map.
    pub(crate) fn store(&mut self, term: Term<H::Term>) -> H::Term {
        let number = match term {
            Term::Real(term) => return term,
            Term::Node(place) => match self.scalar(place, SHORT) {
                Some(term) => return term,
                None => term.packed(),
            },
            Term::Rest(_) => term.packed(),
        };
        self.stored = true;
        self.holds_watched |= self.is_watched(term);
        self.words += WORDS_OF_PLACE - WORDS_OF_NUMBER;
        self.pair(number.unwrap_or_default())
    }

    pub(crate) fn store_all(&mut self, terms: &[Term<H::Term>]) -> Vec<H::Term> {
        terms.iter().map(|term| self.store(*term)).collect()
    }

    #[inline]
    pub(crate) fn wrap_found(&self, found: Lookup<H::Term>) -> Lookup<Term<H::Term>> {
        match found {
            Lookup::Found(value) => Lookup::Found(self.wrap(value)),
            Lookup::Missing => Lookup::Missing,
            Lookup::NotAMap => Lookup::NotAMap,
        }
    }

    /// Reads a value of the inner heap.
    pub(crate) fn wrap_value(&self, value: Value<H::Term>) -> Value<Term<H::Term>> {
        match value {
            Value::Iso(iso) => Value::Iso(iso),
            Value::Opaque => Value::Opaque,
            Value::Decimal {
                negative,
                coefficient,
                exponent,
            } => Value::Decimal {
                negative,
                coefficient: match coefficient {
                    Coefficient::Integer(term) => Coefficient::Integer(self.wrap(term)),
                    Coefficient::Infinite => Coefficient::Infinite,
                    Coefficient::NotANumber => Coefficient::NotANumber,
                },
                exponent,
            },
        }
    }

    /// Reads the elements of a tuple of the inner heap.
    pub(crate) fn wrapped(&self, elements: &[H::Term]) -> &[Term<H::Term>] {
        let elements = elements.iter().map(|element| self.wrap(*element));
        let index = self.tuples.push(elements.collect());
        let elements = self.tuples.get(index).map(|elements| &**elements);
        elements.unwrap_or_default()
    }
}
