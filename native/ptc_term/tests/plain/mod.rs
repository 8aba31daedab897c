//! A heap of plain Rust values: everything that the VM needs of terms, without a BEAM.
//!
//! Tests and fuzzers run programs on it, and it documents what a [`Heap`] must do. The values are in
//! one vector, a [`Term`] is an index into it, and no value is ever removed. Values can be nested
//! deeper than any call stack, so no function here recurses over them.
//!
//! * this file: the values, and how terms are made and read
//! * `classes`: the classes of terms
//! * `order`: term order, `==`, `===` and hashes
//! * `show`: terms as text, for readable assertions
//! * `structs`: dates, times and decimals
//!
//! ```
//! use ptc_term::heap::Heap;
//! use ptc_term::number::Number;
//! use ptc_term::plain::PlainHeap;
//!
//! let mut heap = PlainHeap::new();
//! let (ok, one) = (heap.atom("ok"), heap.make_number(Number::Int(1)).unwrap());
//! let pair = heap.tuple(&[ok, one]);
//! let list = heap.make_list(&[pair, heap.nil()]);
//! assert_eq!(heap.show(list), "[{:ok, 1}, nil]");
//! ```

mod classes;
mod order;
mod show;
mod structs;

use crate::heap::{words_of_string, Heap, Inside, Kind, Lookup, FLAT_MAP};
use crate::named::Named;
use crate::number::Number;
use crate::value::Form;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The index of a value in its heap. Equal indices are the same value, but equal values may have
/// several indices: terms are compared with [`Heap::identical`] and [`Heap::compare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term(usize);

/// Terms without content that programs can read, in term order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Opaque {
    /// A result of `make_ref/0`.
    Reference,
    /// A function.
    Fun,
    /// A port.
    Port,
    /// A process.
    Pid,
}

/// A value of the heap.
#[derive(Debug)]
enum Value {
    Atom(Box<str>),
    /// Integers in their smallest form, floats finite.
    Number(Number),
    Binary(Box<[u8]>),
    EmptyList,
    /// Head and tail; the tail of an improper list's last cell is not a list.
    Cons(Term, Term),
    Tuple(Box<[Term]>),
    /// In exact order of the keys, each key once.
    Map(Box<[(Term, Term)]>),
    /// Distinguished by a number.
    Opaque(Opaque, u64),
}

/// The values that every heap starts with.
const NIL: Term = Term(0);
const FALSE: Term = Term(1);
const TRUE: Term = Term(2);
const EMPTY_LIST: Term = Term(3);

/// An arena of immutable values.
#[derive(Debug)]
pub struct PlainHeap {
    values: Vec<Value>,
    /// The atoms by name.
    atoms: HashMap<Box<[u8]>, Term>,
    /// The keys and the values of small maps.
    flat: HashMap<usize, [Box<[Term]>; 2]>,
    words: usize,
    conses: usize,
    abandoned: bool,
}

impl Default for PlainHeap {
    fn default() -> Self {
        PlainHeap::new()
    }
}

impl PlainHeap {
    /// Creates an empty heap.
    pub fn new() -> Self {
        let mut heap = PlainHeap {
            values: Vec::new(),
            atoms: HashMap::new(),
            flat: HashMap::new(),
            words: 0,
            conses: 0,
            abandoned: false,
        };
        for name in ["nil", "false", "true"] {
            heap.atom(name);
        }
        heap.push(Value::EmptyList);
        heap
    }

    /// Starts the count of words anew: the terms made so far are given to the next run.
    pub fn give(&mut self) {
        self.words = 0;
    }

    /// Makes an atom, or returns the one that has this name.
    pub fn atom(&mut self, name: &str) -> Term {
        if let Some(atom) = self.atoms.get(name.as_bytes()) {
            return *atom;
        }
        let atom = self.push(Value::Atom(name.into()));
        self.atoms.insert(name.as_bytes().into(), atom);
        atom
    }

    /// Makes a tuple.
    pub fn tuple(&mut self, elements: &[Term]) -> Term {
        self.push(Value::Tuple(elements.into()))
    }

    /// Makes an opaque term; those of one kind with one number are equal.
    pub fn opaque(&mut self, kind: Opaque, number: u64) -> Term {
        self.push(Value::Opaque(kind, number))
    }

    /// Returns how often [`Heap::cons`] was called: the cost of suspending the machine.
    pub fn conses(&self) -> usize {
        self.conses
    }

    /// From now on [`Heap::abandoned`] returns true.
    pub fn abandon(&mut self) {
        self.abandoned = true;
    }

    fn push(&mut self, value: Value) -> Term {
        self.values.push(value);
        Term(self.values.len() - 1)
    }

    fn value(&self, term: Term) -> &Value {
        &self.values[term.0]
    }

    /// Returns the entries of a map.
    pub fn map(&self, term: Term) -> Option<&[(Term, Term)]> {
        match self.value(term) {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }
}

impl Heap for PlainHeap {
    type Term = Term;
    /// The index of the key in the last map: the next map often has it at the same index.
    type KeyCache = usize;

    fn kind(&self, term: Term) -> Kind {
        match self.value(term) {
            Value::Atom(_) if term == NIL => Kind::Nil,
            Value::Atom(_) if term == TRUE || term == FALSE => Kind::Bool,
            Value::Number(_) => Kind::Number,
            Value::Binary(_) => Kind::String,
            Value::EmptyList | Value::Cons(..) => Kind::List,
            Value::Map(_) => Kind::Map,
            Value::Atom(_) | Value::Tuple(_) | Value::Opaque(..) => Kind::Other,
        }
    }

    fn truthy(&self, term: Term) -> bool {
        term != NIL && term != FALSE
    }

    fn identical(&self, a: Term, b: Term) -> bool {
        self.exact_order(a, b).is_eq()
    }

    fn compare(&self, a: Term, b: Term) -> Ordering {
        self.term_order(a, b)
    }

    fn identity(&self, term: Term) -> usize {
        term.0
    }

    fn hash(&self, term: Term, seed: u64) -> u64 {
        self.hash_of(term, seed)
    }

    fn inside(&self, term: Term) -> Inside<'_, Term> {
        match self.value(term) {
            Value::Tuple(elements) => Inside::Elements(elements),
            Value::Opaque(Opaque::Fun, _) => Inside::Unknown,
            _ => Inside::Nothing,
        }
    }

    fn limbs(&self, term: Term) -> usize {
        match self.value(term) {
            Value::Number(number @ Number::Big(_)) => number.limbs(),
            _ => 0,
        }
    }

    fn number(&self, term: Term) -> Option<Number> {
        match self.value(term) {
            Value::Number(number) => Some(number.clone()),
            _ => None,
        }
    }

    fn small_integer(&self, term: Term) -> Option<i64> {
        match self.value(term) {
            Value::Number(Number::Int(value)) => Some(*value),
            _ => None,
        }
    }

    fn float(&self, term: Term) -> Option<f64> {
        match self.value(term) {
            Value::Number(Number::Float(value)) => Some(*value),
            _ => None,
        }
    }

    fn is_name(&self, term: Term) -> bool {
        self.kind(term) == Kind::Other && self.atom_name(term).is_some()
    }

    fn with_name<R>(&self, atom: Term, read: impl FnOnce(&[u8]) -> R) -> R {
        read(self.atom_name(atom).unwrap_or_default().as_bytes())
    }

    fn atom_of(&self, name: &[u8]) -> Option<Term> {
        self.atoms.get(name).copied()
    }

    fn bytes(&self, term: Term) -> Option<&[u8]> {
        match self.value(term) {
            Value::Binary(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn uncons(&self, term: Term) -> Option<(Term, Term)> {
        match self.value(term) {
            Value::Cons(head, tail) => Some((*head, *tail)),
            _ => None,
        }
    }

    fn is_empty_list(&self, term: Term) -> bool {
        matches!(self.value(term), Value::EmptyList)
    }

    fn map_size(&self, term: Term) -> Option<usize> {
        self.map(term).map(<[_]>::len)
    }

    fn lookup(&self, map: Term, key: Term, cache: &mut usize) -> Lookup<Term> {
        let Some(entries) = self.map(map) else {
            return Lookup::NotAMap;
        };
        match entries.get(*cache) {
            Some((at_cache, value)) if self.identical(*at_cache, key) => Lookup::Found(*value),
            _ => match entries.binary_search_by(|(other, _)| self.exact_order(*other, key)) {
                Ok(place) => {
                    *cache = place;
                    Lookup::Found(entries[place].1)
                }
                Err(_) => Lookup::Missing,
            },
        }
    }

    fn form(&self, map: Term) -> Form {
        self.form_of(map)
    }

    fn is_hidden(&self, key: Term) -> bool {
        matches!(self.atom_name(key), Some("__struct__" | "__meta__"))
    }

    fn value(&self, term: Term) -> crate::value::Value<Term> {
        self.value_of(term)
    }

    fn entries(&self, map: Term) -> Vec<(Term, Term)> {
        self.map(map).unwrap_or_default().to_vec()
    }

    fn flat(&self, map: Term) -> Option<(&[Term], &[Term])> {
        let [keys, values] = self.flat.get(&map.0)?;
        Some((keys, values))
    }

    fn nil(&self) -> Term {
        NIL
    }

    fn boolean(&self, value: bool) -> Term {
        match value {
            true => TRUE,
            false => FALSE,
        }
    }

    fn make_number(&mut self, number: Number) -> Option<Term> {
        let number = match number {
            Number::Float(value) if !value.is_finite() => return None,
            Number::Big(value) => Number::from_big(value),
            small => small,
        };
        self.words += 1 + number.limbs();
        Some(self.push(Value::Number(number)))
    }

    fn make_counter(&mut self, number: Number) -> Option<Term> {
        match number {
            Number::Int(value) if (-(1 << 59)..1 << 59).contains(&value) => {
                Some(self.push(Value::Number(number)))
            }
            number => self.make_number(number),
        }
    }

    fn make_string(&mut self, bytes: &[u8]) -> Term {
        self.words += words_of_string(bytes.len());
        self.push(Value::Binary(bytes.into()))
    }

    fn make_list(&mut self, items: &[Term]) -> Term {
        self.make_list_onto(items, EMPTY_LIST)
    }

    fn make_list_onto(&mut self, items: &[Term], tail: Term) -> Term {
        self.words += 2 * items.len();
        let cell = |tail, item: &Term| self.push(Value::Cons(*item, tail));
        items.iter().rev().fold(tail, cell)
    }

    fn make_tuple(&mut self, elements: &[Term]) -> Term {
        self.tuple(elements)
    }

    fn elements(&self, term: Term) -> Option<&[Term]> {
        match self.value(term) {
            Value::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    fn word<N: Named>(&mut self, variant: N) -> Term {
        self.atom(variant.name())
    }

    /// Not counted in words: suspending a run must not affect its heap limit.
    fn cons(&mut self, head: Term, tail: Term) -> Term {
        self.conses += 1;
        self.push(Value::Cons(head, tail))
    }

    fn make_tuple_value(&mut self, elements: &[Term]) -> Term {
        self.words += 1 + elements.len();
        self.make_tuple(elements)
    }

    fn make_map(&mut self, keys: &[Term], values: &[Term]) -> Term {
        self.words += 4 + 2 * keys.len();
        let mut entries: Vec<_> = keys.iter().copied().zip(values.iter().copied()).collect();
        // The sort is stable: of equal keys the first one stays in front.
        entries.sort_by(|(a, _), (b, _)| self.exact_order(*a, *b));
        entries.dedup_by(|(later, _), (first, _)| self.identical(*later, *first));
        if entries.len() <= FLAT_MAP {
            let (keys, values): (Vec<_>, Vec<_>) = entries.iter().copied().unzip();
            let flat = [keys.into(), values.into()];
            self.flat.insert(self.values.len(), flat);
        }
        self.push(Value::Map(entries.into()))
    }

    fn words_of_reference(&self) -> usize {
        6
    }

    fn words_of_opaque(&self, term: Term) -> usize {
        match self.value(term) {
            Value::Opaque(Opaque::Fun | Opaque::Reference, _) => 5,
            _ => 0,
        }
    }

    fn words_built(&self) -> usize {
        self.words
    }

    fn built(&mut self, words: usize) {
        self.words += words;
    }

    fn abandoned(&self) -> bool {
        self.abandoned
    }
}
