//! The state of a text that is being written: all of it that outlives a call.

use super::Gap;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// A text that is being written.
#[derive(Debug)]
pub struct Draft<T> {
    /// The text so far.
    pub text: Vec<u8>,
    /// Cost beyond the length of the text, in bytes of text that take as long.
    pub(super) toll: usize,
    /// Number of lists and maps opened.
    pub(super) opened: usize,
    /// Total cost at the last check of the limits.
    pub(super) asked: usize,
    /// The offsets of the foreign terms, in order.
    pub(super) gaps: Vec<usize>,
    pub(super) foreign: Roots<T>,
    /// The open containers and values, innermost last.
    pub(super) open: Vec<OpenContainer>,
    /// Their terms, in the same order.
    pub(super) terms: Roots<T>,
}

rooted!(Draft { states: foreign, terms; plain: text, toll, opened, asked, gaps, open });

impl<T> Draft<T> {
    /// Creates an empty draft that reuses the memory of `text`.
    pub fn new(mut text: Vec<u8>) -> Self {
        text.clear();
        Draft {
            text,
            toll: 0,
            opened: 0,
            asked: 0,
            gaps: Vec::new(),
            foreign: Roots::default(),
            open: Vec::new(),
            terms: Roots::default(),
        }
    }

    /// Returns whether the text has gaps.
    pub fn has_gaps(&self) -> bool {
        !self.gaps.is_empty()
    }
}

impl<T: Copy> Draft<T> {
    /// Returns the gaps, in order.
    pub fn gaps<H: Heap<Term = T>>(&mut self, heap: &H) -> Vec<Gap<T>> {
        let foreign = self.foreign.since(0, heap).iter().copied();
        self.gaps.iter().copied().zip(foreign).collect()
    }

    /// Returns the text as a list: split at the gaps, with the foreign terms between.
    pub fn pieces<H: Heap<Term = T>>(&mut self, heap: &mut H) -> T {
        let gaps = self.gaps(heap);
        let mut pieces = Vec::with_capacity(2 * gaps.len() + 1);
        let mut from = 0;
        for (at, foreign) in gaps {
            pieces.push(heap.make_string(&self.text[from..at]));
            pieces.push(foreign);
            from = at;
        }
        pieces.push(heap.make_string(&self.text[from..]));
        heap.make_list(&pieces)
    }

    /// Opens a container or value that has one term.
    #[inline]
    pub(super) fn push(&mut self, open: OpenContainer, term: T) {
        self.open.push(open);
        self.terms.push(term);
    }

    /// Closes the innermost container or value, which has one term, and returns this.
    #[inline]
    pub(super) fn pop<H: Heap<Term = T>>(&mut self, heap: &H) -> T {
        self.open.pop();
        self.terms.pop(heap)
    }

    /// Replaces the innermost container or value by another state of it.
    #[inline]
    pub(super) fn set(&mut self, open: OpenContainer) {
        if let Some(last) = self.open.last_mut() {
            *last = open;
        }
    }
}

/// An open container or value, without its terms.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpenContainer {
    /// The list, for the error if it turns out to be improper, and its rest.
    List { first: bool },
    /// A map that is read in place.
    Map { at: usize },
    /// The last `left` entries of another map, the next one last: of each the value, then the key.
    Entries { left: usize, first: bool },
    /// A map so large that the limits are checked before its entries are fetched.
    Unopened,
    /// A long string or integer, of which `at` bytes are written.
    Long { at: usize, is_key: bool },
    /// The value after a long key, or one that takes longer to read than a slice allows.
    Value,
}
