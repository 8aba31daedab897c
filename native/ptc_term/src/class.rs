//! The classes of terms, for work on values of any kind.

use crate::heap::Heap;

/// The classes of terms that types distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// An atom, `nil`, `true` and `false` included.
    Atom,
    /// A binary, or another bitstring: see [`Classed::is_binary`].
    Bitstring,
    /// A float.
    Float,
    /// An integer of any size.
    Integer,
    /// A list, proper or not, empty or not.
    List,
    /// A map; structs are maps.
    Map,
    /// Tuples, pids, references, funs, …
    Other,
}

/// A heap that tells the classes of its terms.
pub trait Classed: Heap {
    /// Returns the class of a term.
    fn class(&self, term: Self::Term) -> Class;
    /// Returns whether a bitstring is a binary.
    fn is_binary(&self, term: Self::Term) -> bool;
    /// Returns whether both are the same term in memory.
    fn same(&self, a: Self::Term, b: Self::Term) -> bool;
    /// Returns whether this is the atom `nil`.
    fn is_nil(&self, term: Self::Term) -> bool;
    /// Returns whether this is `true` or `false`.
    fn is_bool(&self, term: Self::Term) -> bool;
    /// Returns whether a map has an atom under the key `:__struct__`.
    fn is_struct(&self, map: Self::Term) -> bool;
    /// Returns the elements of a tuple.
    fn tuple(&self, term: Self::Term) -> Option<&[Self::Term]>;
    /// Returns the atom of this name, if it already exists.
    fn existing_atom(&self, name: &[u8]) -> Option<Self::Term>;
    /// Appends the name of an atom, in UTF-8.
    fn put_atom_name(&self, atom: Self::Term, out: &mut Vec<u8>);
}
