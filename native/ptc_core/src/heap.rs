//! What the VM asks of the heap its terms live on: the BEAM's in production, plain Rust in tests.

use crate::number::Number;
use std::cmp::Ordering;

/// The kinds of term that operations tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The atom `nil`.
    Nil,
    /// `true` or `false`.
    Bool,
    /// An integer of any size, or a float.
    Number,
    /// A binary; whether it is UTF-8 or not.
    String,
    /// A list, proper or not, empty or not.
    List,
    /// A map; structs are maps.
    Map,
    /// Other atoms, tuples, pids, references, funs, bitstrings, …
    Other,
}

/// What a look-up in a term found.
#[derive(Debug, Clone, Copy)]
pub enum Lookup<T> {
    /// The term is a map and has the key.
    Found(T),
    /// The term is a map without the key.
    Missing,
    /// The term is no map.
    NotAMap,
}

/// What stands inside a term of [`Kind::Other`].
#[derive(Debug, Clone, Copy)]
pub enum Inside<'h, T> {
    /// The elements of a tuple.
    Elements(&'h [T]),
    /// Nothing that takes long to look at: it is an atom, a pid, a port or a reference.
    Nothing,
    /// What the heap cannot tell: the environment of a function, the length of a bitstring.
    Unknown,
}

/// A heap of immutable terms.
///
/// Everything here takes constant time unless it says otherwise; whatever is longer is cut up by
/// the caller, who counts fuel.
pub trait Heap {
    /// A handle to a term.
    type Term: Copy;
    /// What one place in a program remembers between look-ups of its key in one map after another.
    type KeyCache: Copy + Default;

    /// The kind of `term`.
    fn kind(&self, term: Self::Term) -> Kind;
    /// False for `nil` and `false` only.
    fn truthy(&self, term: Self::Term) -> bool;
    /// Strict equality, `===`.
    fn identical(&self, a: Self::Term, b: Self::Term) -> bool;
    /// Term order; `Equal` is `==`.
    fn compare(&self, a: Self::Term, b: Self::Term) -> Ordering;
    /// `==`
    fn equal(&self, a: Self::Term, b: Self::Term) -> bool {
        self.compare(a, b).is_eq()
    }
    /// The same for two handles of one term in memory; nothing more than that.
    fn identity(&self, term: Self::Term) -> usize;
    /// Equal for identical terms; `seed` keeps the values from being foreseen.
    fn hash(&self, term: Self::Term, seed: u64) -> u64;

    /// What stands inside a term of [`Kind::Other`].
    fn inside(&self, term: Self::Term) -> Inside<'_, Self::Term>;

    /// The 64-bit limbs of an integer that is none of 64 bits; 0 for every other term. Reads no
    /// limb.
    fn limbs(&self, term: Self::Term) -> usize;
    /// The number, if it is one. Linear in the limbs.
    fn number(&self, term: Self::Term) -> Option<Number>;
    /// The integer, if it is one of 64 bits.
    fn small_integer(&self, term: Self::Term) -> Option<i64>;
    /// The float, if it is one.
    fn float(&self, term: Self::Term) -> Option<f64>;
    /// The atom that has a string's name, if there is one already; no atom is ever made.
    fn atom_named(&self, name: Self::Term) -> Option<Self::Term>;
    /// The length of a binary. Looks at none of its bytes.
    fn byte_length(&self, term: Self::Term) -> Option<usize> {
        self.bytes(term).map(<[u8]>::len)
    }
    /// How many bytes [`Heap::bytes`] would copy first: those of a binary that does not start at a
    /// byte, unless it was the last one that was looked at.
    fn bytes_to_copy(&self, _term: Self::Term) -> usize {
        0
    }
    /// The content of a binary. Constant time, but for [`Heap::bytes_to_copy`].
    fn bytes(&self, term: Self::Term) -> Option<&[u8]>;
    /// Head and tail of a non-empty list.
    fn uncons(&self, term: Self::Term) -> Option<(Self::Term, Self::Term)>;
    /// The empty list, and nothing else.
    fn is_empty_list(&self, term: Self::Term) -> bool;
    /// The number of entries of a map.
    fn map_size(&self, term: Self::Term) -> Option<usize>;
    /// The value at `key`.
    fn lookup(
        &self,
        map: Self::Term,
        key: Self::Term,
        cache: &mut Self::KeyCache,
    ) -> Lookup<Self::Term>;
    /// The same where the key is an atom, which may be quicker to find.
    fn lookup_atom(
        &self,
        map: Self::Term,
        atom: Self::Term,
        cache: &mut Self::KeyCache,
    ) -> Lookup<Self::Term> {
        self.lookup(map, atom, cache)
    }
    /// The value at the key that was looked up with this cache before, if that can be told at a look.
    #[inline]
    fn quick_lookup(&self, _map: Self::Term, _cache: &Self::KeyCache) -> Option<Self::Term> {
        None
    }
    /// All entries of a map, in no order that means anything. Linear.
    fn entries(&self, map: Self::Term) -> Vec<(Self::Term, Self::Term)>;

    /// `nil`
    fn nil(&self) -> Self::Term;
    /// `true` or `false`
    fn boolean(&self, value: bool) -> Self::Term;
    /// A new number; `None` for a float that is not finite.
    fn make_number(&mut self, number: Number) -> Option<Self::Term>;
    /// A new binary. Linear.
    fn make_string(&mut self, bytes: &[u8]) -> Self::Term;
    /// A new proper list. Linear.
    fn make_list(&mut self, items: &[Self::Term]) -> Self::Term;
    /// A new list of these items in front of another one. Linear in the items.
    fn make_list_onto(&mut self, items: &[Self::Term], tail: Self::Term) -> Self::Term;
    /// A new list cell.
    fn cons(&mut self, head: Self::Term, tail: Self::Term) -> Self::Term;
    /// A new map; of equal keys the first one counts. Linear in the fields.
    fn make_map(&mut self, keys: &[Self::Term], values: &[Self::Term]) -> Self::Term;

    /// A new tuple. Linear.
    fn make_tuple(&mut self, elements: &[Self::Term]) -> Self::Term;
    /// How many elements a tuple has; `None` for anything else.
    fn arity(&self, term: Self::Term) -> Option<usize>;
    /// An element of a tuple, counted from 0.
    fn element(&self, tuple: Self::Term, index: usize) -> Option<Self::Term>;

    /// Words built so far. [`Heap::cons`] and [`Heap::make_tuple`] do not count: they are for leaving
    /// the machine, which must not decide about memory.
    fn words_built(&self) -> usize;
    /// The process that asked is gone, and with it every use of an answer.
    fn abandoned(&self) -> bool;
}
