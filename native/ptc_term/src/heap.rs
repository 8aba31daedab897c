//! The VM's interface to the heap of its terms: the BEAM's in production, plain Rust in tests.

use crate::named::Named;
use crate::number::Number;
use crate::value::{Form, Value};
use std::cmp::Ordering;

/// The kinds of term that operations distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The atom `nil`.
    Nil,
    /// `true` or `false`.
    Bool,
    /// An integer of any size, or a float.
    Number,
    /// A binary, valid UTF-8 or not.
    String,
    /// A list, proper or not, empty or not.
    List,
    /// A map; structs are maps.
    Map,
    /// Other atoms, tuples, pids, references, funs, bitstrings, …
    Other,
}

/// The result of a look-up in a term.
#[derive(Debug, Clone, Copy)]
pub enum Lookup<T> {
    /// The term is a map and has the key.
    Found(T),
    /// The term is a map without the key.
    Missing,
    /// The term is not a map.
    NotAMap,
}

/// The content of a term of [`Kind::Other`].
#[derive(Debug, Clone, Copy)]
pub enum Inside<'h, T> {
    /// The elements of a tuple.
    Elements(&'h [T]),
    /// No content: an atom, a pid, a port or a reference.
    Nothing,
    /// Content that the heap cannot read: the environment of a function, the length of a bitstring.
    Unknown,
}

/// Maximum number of entries of a map that is a flat array; a larger one is a tree.
pub const FLAT_MAP: usize = 32;

/// The keys and the values of a map, in the same order.
pub type Flat<'h, T> = (&'h [T], &'h [T]);

/// Returns the words of a new map, the nodes of its tree included.
#[inline]
pub fn words_of_map(entries: usize) -> usize {
    match entries {
        ..=FLAT_MAP => 4 + 2 * entries,
        _ => 6 * entries,
    }
}

/// Returns the words of a map that differs from another one of so many entries in one: of a large map, the nodes on the way to
/// that entry.
#[inline]
pub fn words_of_put(entries: usize) -> usize {
    /// The words of a full node of a tree.
    const NODE: usize = 17;
    match entries {
        ..=FLAT_MAP => words_of_map(entries + 1),
        _ => NODE * (1 + entries.ilog2() as usize / 4),
    }
}

/// The words of a number of up to 64 bits.
pub const WORDS_OF_NUMBER: usize = 2;
/// The words of a list's cell.
pub const WORDS_OF_CELL: usize = 2;

/// Returns the words of a new string of so many bytes.
#[inline]
pub fn words_of_string(bytes: usize) -> usize {
    2 + bytes.div_ceil(8)
}

/// A heap of immutable terms.
///
/// All methods take constant time unless documented otherwise; the caller divides longer work into
/// steps and counts fuel.
pub trait Heap {
    /// A handle to a term.
    type Term: Copy;
    /// The cache of one key in a program, for look-ups in one map after another.
    type KeyCache: Copy + Default;

    /// Returns the kind of `term`.
    fn kind(&self, term: Self::Term) -> Kind;
    /// Returns false for `nil` and `false` only.
    fn truthy(&self, term: Self::Term) -> bool;
    /// Strict equality, `===`.
    fn identical(&self, a: Self::Term, b: Self::Term) -> bool;
    /// Term order; `Equal` is `==`.
    fn compare(&self, a: Self::Term, b: Self::Term) -> Ordering;
    /// `==`
    fn equal(&self, a: Self::Term, b: Self::Term) -> bool {
        self.compare(a, b).is_eq()
    }
    /// Returns a number that is equal for two handles of the same term in memory, and guarantees no more.
    fn identity(&self, term: Self::Term) -> usize;
    /// Returns a hash that is equal for identical terms; `seed` makes it unpredictable.
    fn hash(&self, term: Self::Term, seed: u64) -> u64;

    /// Returns the content of a term of [`Kind::Other`].
    fn inside(&self, term: Self::Term) -> Inside<'_, Self::Term>;

    /// Returns the number of 64-bit limbs of an integer beyond 64 bits; 0 for every other term. Reads
    /// no limb.
    fn limbs(&self, term: Self::Term) -> usize;
    /// Returns the number if the term is one. Linear in the limbs.
    fn number(&self, term: Self::Term) -> Option<Number>;
    /// Returns whether this is an atom, a number or a string.
    fn is_scalar(&self, term: Self::Term) -> bool {
        !matches!(self.kind(term), Kind::List | Kind::Map | Kind::Other) || self.is_name(term)
    }
    /// Returns the integer if the term is a 64-bit integer.
    fn small_integer(&self, term: Self::Term) -> Option<i64>;
    /// Returns the float if the term is one.
    fn float(&self, term: Self::Term) -> Option<f64>;
    /// Returns whether this is an atom other than `nil`, `true` and `false`.
    fn is_name(&self, term: Self::Term) -> bool;
    /// Calls `read` with the name of an atom, in UTF-8.
    fn with_name<R>(&self, atom: Self::Term, read: impl FnOnce(&[u8]) -> R) -> R;
    /// Returns the order of a string of these bytes and a term.
    fn compare_text(&self, text: &[u8], term: Self::Term) -> Ordering {
        self.bytes(term)
            .map_or(Ordering::Greater, |bytes| text.cmp(bytes))
    }
    /// Returns the existing atom of this name; never creates an atom.
    fn atom_of(&self, name: &[u8]) -> Option<Self::Term>;
    /// Returns the existing atom whose name is the text of this term; never creates an atom.
    fn atom_named(&self, name: Self::Term) -> Option<Self::Term> {
        self.atom_of(self.bytes(name)?)
    }
    /// Makes a string that is only compared with other terms, and whose words do not count; `None` if the heap cannot
    /// make one while it is only read. Linear.
    fn string_for_lookup(&self, _bytes: &[u8]) -> Option<Self::Term> {
        None
    }
    /// Returns the length of a binary without reading its bytes.
    fn byte_length(&self, term: Self::Term) -> Option<usize> {
        self.bytes(term).map(<[u8]>::len)
    }
    /// Returns how many bytes [`Heap::bytes`] would copy: those of a binary that is not byte-aligned,
    /// unless it was the last one read.
    fn bytes_to_copy(&self, _term: Self::Term) -> usize {
        0
    }
    /// Returns a binary that can be read without a copy: the same one or its copy. Linear.
    fn aligned(&self, binary: Self::Term) -> Self::Term {
        binary
    }
    /// Returns the content of a binary. Constant time, except for [`Heap::bytes_to_copy`].
    fn bytes(&self, term: Self::Term) -> Option<&[u8]>;
    /// Returns the head and tail of a non-empty list.
    fn uncons(&self, term: Self::Term) -> Option<(Self::Term, Self::Term)>;
    /// Returns whether this is the empty list.
    fn is_empty_list(&self, term: Self::Term) -> bool;
    /// Returns the number of entries of a map.
    fn map_size(&self, term: Self::Term) -> Option<usize>;
    /// Returns the value at `key`.
    fn lookup(
        &self,
        map: Self::Term,
        key: Self::Term,
        cache: &mut Self::KeyCache,
    ) -> Lookup<Self::Term>;
    /// Returns the value at a key that is an atom, which may be quicker.
    fn lookup_atom(
        &self,
        map: Self::Term,
        atom: Self::Term,
        cache: &mut Self::KeyCache,
    ) -> Lookup<Self::Term> {
        self.lookup(map, atom, cache)
    }
    /// Returns the value at the key of the last look-up with this cache, if the cache is valid for the
    /// map.
    #[inline]
    fn quick_lookup(&self, _map: Self::Term, _cache: &Self::KeyCache) -> Option<Self::Term> {
        None
    }
    /// Returns what a map is where structs are read as values. Linear in the entries of a small map.
    fn form(&self, map: Self::Term) -> Form;
    /// Returns whether this key of a struct is not one of its fields: `__struct__`, `__meta__`.
    fn is_hidden(&self, key: Self::Term) -> bool;
    /// Returns the parts of a term whose form is [`Form::Value`].
    fn value(&self, term: Self::Term) -> Value<Self::Term>;
    /// Returns all entries of a map, in unspecified order. Linear.
    fn entries(&self, map: Self::Term) -> Vec<(Self::Term, Self::Term)>;

    /// Returns the content of a map of at most [`FLAT_MAP`] entries, if the heap can read it in place.
    fn flat(&self, _map: Self::Term) -> Option<Flat<'_, Self::Term>> {
        None
    }

    /// `nil`
    fn nil(&self) -> Self::Term;
    /// `true` or `false`
    fn boolean(&self, value: bool) -> Self::Term;
    /// Makes a number; `None` for a float that is not finite.
    fn make_number(&mut self, number: Number) -> Option<Self::Term>;
    /// Makes a number of a program that counts in a loop: an integer that is part of its term takes no words.
    fn make_counter(&mut self, number: Number) -> Option<Self::Term> {
        self.make_number(number)
    }
    /// Makes a decimal of a coefficient that is an integer and not negative; `None` if the heap cannot make it.
    fn make_decimal(
        &mut self,
        negative: bool,
        coefficient: Number,
        exponent: i64,
    ) -> Option<Self::Term> {
        let sign = if negative { -1 } else { 1 };
        let mut values = vec![self.atom_of(b"Elixir.Decimal")?];
        for number in [coefficient, Number::Int(exponent), Number::Int(sign)] {
            values.push(self.make_number(number)?);
        }
        let names: [&[u8]; 4] = [b"__struct__", b"coef", b"exp", b"sign"];
        let keys: Option<Vec<_>> = names.iter().map(|name| self.atom_of(name)).collect();
        Some(self.make_map(&keys?, &values))
    }
    /// Makes a binary. Linear.
    fn make_string(&mut self, bytes: &[u8]) -> Self::Term;
    /// Makes a proper list. Linear.
    fn make_list(&mut self, items: &[Self::Term]) -> Self::Term;
    /// Makes a list of these items followed by `tail`. Linear in the items.
    fn make_list_onto(&mut self, items: &[Self::Term], tail: Self::Term) -> Self::Term;
    /// Makes a list cell.
    fn cons(&mut self, head: Self::Term, tail: Self::Term) -> Self::Term;
    /// Makes a map; of equal keys the first one counts. Linear in the fields.
    fn make_map(&mut self, keys: &[Self::Term], values: &[Self::Term]) -> Self::Term;

    /// Makes a map with these values at these keys of `map`; the other keys are dropped. If there are no others,
    /// `old` are its own values. Linear.
    fn remake_map(
        &mut self,
        _map: Self::Term,
        keys: &[Self::Term],
        _old: &[Self::Term],
        values: &[Self::Term],
    ) -> Self::Term {
        self.make_map(keys, values)
    }

    /// Makes a map with this value at this key of `map`, and its other entries. Linear in a map of at most [`FLAT_MAP`] entries.
    /// A heap that has trees shares the parts of a larger one: then the time is constant, see [`words_of_put`].
    fn put(&mut self, map: Self::Term, key: Self::Term, value: Self::Term) -> Self::Term {
        let (mut keys, mut values) = (vec![key], vec![value]);
        for (other, value) in self.entries(map) {
            if !self.identical(other, key) {
                keys.push(other);
                values.push(value);
            }
        }
        self.make_map(&keys, &values)
    }

    /// Makes a map of the entries of `map` but for this key, in the time of [`Heap::put`].
    fn without(&mut self, map: Self::Term, key: Self::Term) -> Self::Term {
        let entries = self.entries(map).into_iter();
        let others = entries.filter(|(other, _)| !self.identical(*other, key));
        let (keys, values): (Vec<_>, Vec<_>) = others.unzip();
        self.make_map(&keys, &values)
    }

    /// Makes a tuple. Linear.
    fn make_tuple(&mut self, elements: &[Self::Term]) -> Self::Term;
    /// Makes a tuple that is a value of the program: its words count. Linear.
    fn make_tuple_value(&mut self, elements: &[Self::Term]) -> Self::Term;
    /// Returns the elements of a tuple; `None` for any other term.
    fn elements(&self, term: Self::Term) -> Option<&[Self::Term]>;
    /// Returns the arity of a tuple; `None` for any other term.
    fn arity(&self, term: Self::Term) -> Option<usize> {
        self.elements(term).map(<[_]>::len)
    }
    /// Returns an element of a tuple, counted from 0.
    fn element(&self, tuple: Self::Term, index: usize) -> Option<Self::Term> {
        self.elements(tuple)?.get(index).copied()
    }
    /// Returns the atom of a variant's name.
    fn word<N: Named>(&mut self, variant: N) -> Self::Term;

    /// Returns the words of a reference to bytes that are not copied with a term.
    fn words_of_reference(&self) -> usize;
    /// Returns the words of a term of [`Kind::Other`] that is no tuple, without what is inside it.
    fn words_of_opaque(&self, term: Self::Term) -> usize;

    /// Returns the number of words built. [`Heap::cons`] and [`Heap::make_tuple`] do not count: they
    /// suspend the machine, which must not affect the heap limit.
    fn words_built(&self) -> usize;
    /// Counts words that were built without this heap.
    fn built(&mut self, words: usize);
    /// Returns whether no process waits for the result any more.
    fn abandoned(&self) -> bool;
}
