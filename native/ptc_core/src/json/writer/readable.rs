//! The writer's interface to terms.

use num_bigint::BigInt;

/// A term in the writer's view.
#[derive(Debug)]
pub enum JsonView<'s, T> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// Any other integer.
    Big(BigInt),
    /// A finite float.
    Float(f64),
    /// A binary, valid UTF-8 or not.
    Text(&'s [u8]),
    /// Another atom, written as a string, see [`Readable::name`].
    Name,
    /// A list, proper or not.
    List,
    /// A map whose keys and values are stored as two slices.
    Map(&'s [T], &'s [T]),
    /// Another map, with its number of entries.
    LargeMap(usize),
    /// A struct, or any other term without a JSON form.
    Foreign,
    /// A term that takes longer to read than this slice allows.
    TooLong,
}

/// Terms that can be written.
pub trait Readable {
    /// A handle to a term.
    type Term: Copy;

    /// Returns the view of a term.
    fn view(&self, term: Self::Term) -> JsonView<'_, Self::Term>;
    /// Returns an atom's characters.
    fn name(&self, atom: Self::Term) -> String;
    /// Returns the head and tail of a non-empty list.
    fn uncons(&self, term: Self::Term) -> Option<(Self::Term, Self::Term)>;
    /// Returns whether this is the empty list.
    fn is_empty_list(&self, term: Self::Term) -> bool;
    /// Returns all entries of a map. Linear.
    fn entries(&self, map: Self::Term) -> Vec<(Self::Term, Self::Term)>;
    /// Returns an identity, never 0. Terms of the same identity are equal; equal terms may have
    /// different ones.
    fn identity(&self, term: Self::Term) -> usize;

    /// Returns the form of a string or an integer that is best kept between two calls.
    fn to_keep(&self, term: Self::Term) -> Self::Term {
        term
    }
}
