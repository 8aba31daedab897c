//! The store of the terms that work in progress holds: a growable sequence, in native memory, and in tuples on the heap
//! after the work was suspended.
//!
//! A full tuple is written once and then read in place. So frequent suspension costs a long
//! evaluation little, and resuming costs nothing, however many terms there are.

use crate::heap::Heap;
use crate::suspend::{Exchange, Rooted};
use std::ops::Range;

/// Number of terms in one tuple.
const CHUNK: usize = 1024;
/// Initial capacity: growing from one term on takes as long as a small list.
const ROOM: usize = 16;

/// A sequence of terms that grows at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Roots<T> {
    /// Tuples of [`CHUNK`] terms each; they precede `live`.
    chunks: Vec<T>,
    live: Vec<T>,
}

impl<T> Default for Roots<T> {
    fn default() -> Self {
        Roots {
            chunks: Vec::new(),
            live: Vec::new(),
        }
    }
}

impl<T> Rooted for Roots<T> {
    type Term = T;
    type With<U> = Roots<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Roots<X::Into>, X::Lost> {
        let chunks = self.chunks.into_iter();
        let chunks = chunks.map(|chunk| by.chunk(chunk, CHUNK));
        let mut chunks = chunks.collect::<Result<Vec<_>, _>>()?;
        let (full, _) = self.live.as_chunks::<CHUNK>();
        for chunk in full {
            let tuple = by.tuple(chunk)?;
            chunks.push(by.chunk(tuple, CHUNK)?);
        }
        let in_chunks = full.len() * CHUNK;
        let mut live = self.live;
        live.drain(..in_chunks);
        Ok(Roots {
            chunks,
            live: by.all(live)?,
        })
    }
}

impl<T: Copy> Roots<T> {
    /// Returns the number of terms.
    #[inline]
    pub fn len(&self) -> usize {
        self.chunks.len() * CHUNK + self.live.len()
    }

    /// Returns whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a term at the end.
    #[inline]
    pub fn push(&mut self, term: T) {
        if self.live.len() == self.live.capacity() {
            self.live.reserve(ROOM);
        }
        self.live.push(term);
    }

    /// Removes the last term; `nil` if there is none.
    #[inline]
    pub fn pop<H: Heap<Term = T>>(&mut self, heap: &H) -> T {
        if self.live.is_empty() {
            if let Some(chunk) = self.chunks.pop() {
                let terms = (0..CHUNK).filter_map(|index| heap.element(chunk, index));
                self.live.extend(terms);
            }
        }
        self.live.pop().unwrap_or_else(|| heap.nil())
    }

    /// Returns all terms.
    pub fn into_vec<H: Heap<Term = T>>(self, heap: &H) -> Vec<T> {
        if self.chunks.is_empty() {
            return self.live;
        }
        (0..self.len()).map(|place| self.get(heap, place)).collect()
    }

    /// Reserves memory for this many more terms.
    pub fn reserve(&mut self, count: usize) {
        self.live.reserve(count);
    }

    /// Adds terms at the end.
    pub fn extend(&mut self, terms: impl IntoIterator<Item = T>) {
        self.live.extend(terms);
    }

    /// Returns the term at an index.
    #[inline]
    pub fn get<H: Heap<Term = T>>(&self, heap: &H, place: usize) -> T {
        match self.chunks.get(place / CHUNK) {
            None => self.live[place - self.chunks.len() * CHUNK],
            Some(chunk) => {
                let term = heap.element(*chunk, place % CHUNK);
                term.unwrap_or_else(|| heap.nil())
            }
        }
    }

    /// Returns the terms at these indices if none of them is in a tuple.
    pub fn live(&self, places: Range<usize>) -> Option<&[T]> {
        let frozen = self.chunks.len() * CHUNK;
        let start = places.start.checked_sub(frozen)?;
        self.live.get(start..places.end - frozen)
    }

    /// Adds the tuples to `out` and returns the number of terms.
    pub fn freeze<H: Heap<Term = T>>(self, heap: &mut H, out: &mut Vec<T>) -> usize {
        let length = self.len();
        out.extend(self.chunks);
        out.extend(self.live.chunks(CHUNK).map(|chunk| heap.make_tuple(chunk)));
        length
    }

    /// Rebuilds a store of `length` terms; `None` if the tuples do not fit.
    pub fn thaw<H: Heap<Term = T>>(
        heap: &H,
        length: usize,
        tuples: &mut impl Iterator<Item = T>,
    ) -> Option<Self> {
        let mut chunks = Vec::new();
        for _ in 0..length / CHUNK {
            let chunk = tuples.next()?;
            (heap.arity(chunk) == Some(CHUNK)).then(|| chunks.push(chunk))?;
        }
        let mut live = Vec::new();
        let rest = length % CHUNK;
        if rest > 0 {
            let chunk = tuples.next()?;
            (heap.arity(chunk) == Some(rest)).then_some(())?;
            live.extend((0..rest).filter_map(|index| heap.element(chunk, index)));
        }
        Some(Roots { chunks, live })
    }
}
