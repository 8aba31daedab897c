//! What the writer asks of terms.

use num_bigint::BigInt;

/// One term as the writer sees it.
#[derive(Debug)]
pub enum JsonView<'s, T> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// Any other integer.
    Big(BigInt),
    /// A finite float.
    Float(f64),
    /// A string, whether it is UTF-8 or not.
    Text(&'s [u8]),
    /// An atom that is none of the above: a string, see [`Readable::name`].
    Name,
    /// A list, proper or not.
    List,
    /// A map whose keys and values stand side by side.
    Map(&'s [T], &'s [T]),
    /// Another map, with so many entries.
    LargeMap(usize),
    /// A struct, or anything that JSON has no form for.
    Foreign,
    /// Something that takes longer to look at than this slice allows.
    TooLong,
}

/// Terms that can be written.
pub trait Readable {
    /// A handle to a term.
    type Term: Copy;

    /// What a term is.
    fn view(&self, term: Self::Term) -> JsonView<'_, Self::Term>;
    /// An atom's characters.
    fn name(&self, atom: Self::Term) -> String;
    /// Head and tail of a non-empty list.
    fn uncons(&self, term: Self::Term) -> Option<(Self::Term, Self::Term)>;
    /// The empty list, and nothing else.
    fn is_empty_list(&self, term: Self::Term) -> bool;
    /// All entries of a map. Linear.
    fn entries(&self, map: Self::Term) -> Vec<(Self::Term, Self::Term)>;
    /// Terms of the same identity are equal; equal terms may differ in it. Never 0.
    fn identity(&self, term: Self::Term) -> usize;

    /// A string or an integer as it is best kept between two calls.
    fn to_keep(&self, term: Self::Term) -> Self::Term {
        term
    }
}
