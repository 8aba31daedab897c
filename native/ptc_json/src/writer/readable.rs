//! The writer's interface to terms.

use num_bigint::BigInt;
use ptc_term::class::{Class, Classed};
use ptc_term::heap::Heap;
use ptc_term::number::Number;

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
    /// The heap of the terms.
    type Heap: Heap<Term = Self::Term>;

    /// Returns the heap.
    fn heap(&self) -> &Self::Heap;
    /// Returns the view of a term.
    fn view(&self, term: Self::Term) -> JsonView<'_, Self::Term>;
    /// Returns an atom's characters.
    fn name(&self, atom: Self::Term) -> String;
    /// Returns the head and tail of a non-empty list.
    fn uncons(&self, term: Self::Term) -> Option<(Self::Term, Self::Term)>;
    /// Returns whether this is the empty list.
    fn is_empty_list(&self, term: Self::Term) -> bool;
    /// Returns the keys and the values of a [`JsonView::Map`].
    fn flat(&self, map: Self::Term) -> (&[Self::Term], &[Self::Term]);
    /// Returns all entries of a map. Linear.
    fn entries(&self, map: Self::Term) -> Vec<(Self::Term, Self::Term)>;
    /// Returns an identity. Terms of the same identity are equal; equal terms may have
    /// different ones.
    fn identity(&self, term: Self::Term) -> usize;

    /// Returns the form of a string or an integer that is best kept between two calls.
    fn to_keep(&self, term: Self::Term) -> Self::Term {
        term
    }
}

/// In a slice, no integer with more limbs than this is decoded.
const LIMBS_IN_A_SLICE: usize = 500;
/// In a slice, no string is copied to be read if it has more bytes than this.
const COPIED_IN_A_SLICE: usize = 16_384;

/// The terms of a heap in the writer's view.
#[derive(Debug)]
pub struct OnHeap<'h, H> {
    /// The heap.
    pub heap: &'h H,
    /// Whether the work is in a slice, where no long integer is decoded and no long string is copied.
    pub in_slice: bool,
}

impl<H: Classed> OnHeap<'_, H> {
    fn is_copied_later(&self, string: H::Term) -> bool {
        self.in_slice && self.heap.bytes_to_copy(string) > COPIED_IN_A_SLICE
    }
}

impl<H: Classed> Readable for OnHeap<'_, H> {
    type Term = H::Term;
    type Heap = H;

    #[inline]
    fn heap(&self) -> &H {
        self.heap
    }

    #[inline]
    fn view(&self, term: H::Term) -> JsonView<'_, H::Term> {
        let heap = self.heap;
        match heap.class(term) {
            Class::Bitstring if self.is_copied_later(term) => JsonView::TooLong,
            Class::Bitstring => heap.bytes(term).map_or(JsonView::Foreign, JsonView::Text),
            Class::Atom if heap.is_nil(term) => JsonView::Null,
            Class::Atom if heap.is_bool(term) => JsonView::Bool(heap.truthy(term)),
            Class::Atom => JsonView::Name,
            Class::Float => heap.float(term).map_or(JsonView::Foreign, JsonView::Float),
            Class::Integer => match heap.small_integer(term) {
                Some(value) => JsonView::Int(value),
                None if self.in_slice && heap.limbs(term) > LIMBS_IN_A_SLICE => JsonView::TooLong,
                None => match heap.number(term) {
                    Some(Number::Big(big)) => JsonView::Big(big),
                    _ => JsonView::Foreign,
                },
            },
            Class::List => JsonView::List,
            Class::Map if heap.is_struct(term) => JsonView::Foreign,
            Class::Map => match heap.flat(term) {
                Some((keys, values)) => JsonView::Map(keys, values),
                None => JsonView::LargeMap(heap.map_size(term).unwrap_or(0)),
            },
            Class::Other => JsonView::Foreign,
        }
    }

    fn name(&self, atom: H::Term) -> String {
        let mut name = Vec::new();
        self.heap.put_atom_name(atom, &mut name);
        String::from_utf8(name).unwrap_or_default()
    }

    #[inline]
    fn uncons(&self, term: H::Term) -> Option<(H::Term, H::Term)> {
        self.heap.uncons(term)
    }

    #[inline]
    fn is_empty_list(&self, term: H::Term) -> bool {
        self.heap.is_empty_list(term)
    }

    #[inline]
    fn flat(&self, map: H::Term) -> (&[H::Term], &[H::Term]) {
        self.heap.flat(map).unwrap_or_default()
    }

    fn entries(&self, map: H::Term) -> Vec<(H::Term, H::Term)> {
        self.heap.entries(map)
    }

    #[inline]
    fn identity(&self, term: H::Term) -> usize {
        self.heap.identity(term)
    }

    /// A string that would be copied at each call is replaced by its copy; a long one by the quantum that
    /// resumes the work.
    fn to_keep(&self, term: H::Term) -> H::Term {
        match self.is_copied_later(term) {
            true => term,
            false => self.heap.aligned(term),
        }
    }
}
