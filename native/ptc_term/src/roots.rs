//! The store of the terms that work in progress holds: a growable sequence, in native memory, and in tuples on the heap
//! after the work was suspended.
//!
//! A full tuple is written once and then read in place. So frequent suspension costs a long
//! evaluation little, and resuming costs nothing, however many terms there are.

use crate::heap::Heap;
use crate::suspend::{Exchange, Rooted, CHUNK};
use std::ops::Range;

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

/// Returns for how many items a buffer has taken memory. A short one counts as its items.
pub fn room<T>(items: &Vec<T>) -> usize {
    match items.len() > CHUNK {
        true => items.capacity(),
        false => items.len(),
    }
}

impl<T> Roots<T> {
    /// Returns the words of memory that the terms take, the room for more terms included.
    pub fn words(&self) -> usize {
        self.chunks.len() * (CHUNK + 1) + room(&self.live)
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
        self.take_last(heap).unwrap_or_else(|| heap.nil())
    }

    /// Removes the last term; `None` if there is none.
    #[inline]
    pub fn take_last<H: Heap<Term = T>>(&mut self, heap: &H) -> Option<T> {
        self.last_mut(heap)?;
        self.live.pop()
    }

    /// Returns the place of the last term.
    #[inline]
    pub fn last_mut<H: Heap<Term = T>>(&mut self, heap: &H) -> Option<&mut T> {
        if self.live.is_empty() && !self.chunks.is_empty() {
            self.unpack(self.chunks.len() - 1, heap);
        }
        self.live.last_mut()
    }

    /// Keeps the first `length` terms.
    #[inline]
    pub fn truncate<H: Heap<Term = T>>(&mut self, length: usize, heap: &H) {
        if length < self.chunks.len() * CHUNK {
            self.live.clear();
            self.chunks.truncate(length / CHUNK + 1);
            self.unpack(length / CHUNK, heap);
        }
        self.live.truncate(length - self.chunks.len() * CHUNK);
    }

    /// Returns the places of the terms from index `start` on.
    #[inline]
    pub fn since<H: Heap<Term = T>>(&mut self, start: usize, heap: &H) -> &mut [T] {
        if start < self.chunks.len() * CHUNK {
            self.unpack(start / CHUNK, heap);
        }
        let start = (start - self.chunks.len() * CHUNK).min(self.live.len());
        &mut self.live[start..]
    }

    /// Moves the chunks from number `first` on into native memory.
    #[cold]
    fn unpack<H: Heap<Term = T>>(&mut self, first: usize, heap: &H) {
        let chunks = self.chunks.split_off(first);
        let mut terms = Vec::with_capacity(chunks.len() * CHUNK + self.live.len() + ROOM);
        for chunk in chunks {
            terms.extend(elements(heap, chunk));
        }
        terms.append(&mut self.live);
        self.live = terms;
    }

    /// Returns all terms as a list on the heap.
    pub fn list<H: Heap<Term = T>>(&self, heap: &mut H) -> T {
        let mut list = heap.make_list(&self.live);
        for chunk in self.chunks.iter().rev() {
            let terms: Vec<T> = elements(heap, *chunk).collect();
            list = heap.make_list_onto(&terms, list);
        }
        list
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
}

/// The terms of a chunk.
fn elements<H: Heap>(heap: &H, chunk: H::Term) -> impl Iterator<Item = H::Term> + '_ {
    (0..CHUNK).map(move |index| heap.element(chunk, index).unwrap_or_else(|| heap.nil()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;
    use crate::plain::{PlainHeap, Term};
    use crate::suspend::{freeze, thaw};

    /// Compares a store with a `Vec`, and suspends it after each change.
    struct Pair {
        heap: PlainHeap,
        roots: Roots<Term>,
        model: Vec<Term>,
    }

    impl Pair {
        fn new() -> Self {
            Pair {
                heap: PlainHeap::new(),
                roots: Roots::default(),
                model: Vec::new(),
            }
        }

        fn push(&mut self, count: i64) {
            for _ in 0..count {
                let next = Number::Int(self.model.len() as i64);
                let term = self.heap.make_number(next).expect("an integer");
                self.roots.push(term);
                self.model.push(term);
            }
            self.check();
        }

        fn check(&mut self) {
            let (mut terms, roots) = (Vec::new(), std::mem::take(&mut self.roots));
            let frozen = freeze(roots, &mut self.heap, &mut terms);
            self.roots = thaw(frozen, &self.heap, &mut terms.into_iter()).expect("its terms");
            assert_eq!(self.roots.len(), self.model.len());
            let got: Vec<_> = (0..self.model.len())
                .map(|at| self.roots.get(&self.heap, at))
                .collect();
            assert_eq!(got, self.model);
            let mut list = self.roots.list(&mut self.heap);
            for term in &self.model {
                let (head, tail) = self.heap.uncons(list).expect("a cell");
                assert_eq!(head, *term);
                list = tail;
            }
            assert!(self.heap.is_empty_list(list));
        }
    }

    #[test]
    fn each_change_is_that_of_a_vec() {
        for length in [0, 1, 1023, 1024, 1025, 3000] {
            for kept in [0, 1, 1000, 1023, 1024, 1025, 2048, 2999] {
                let mut pair = Pair::new();
                pair.push(length);
                pair.roots.truncate(kept, &pair.heap);
                pair.model.truncate(kept);
                pair.check();
                pair.push(30);
                let from = kept.min(pair.model.len() - 1);
                let (heap, first) = (&pair.heap, pair.model[0]);
                pair.roots.since(from, heap)[0] = first;
                assert_eq!(pair.roots.since(from, heap).len(), pair.model.len() - from);
                pair.model[from] = first;
                pair.check();
                for _ in 0..20 {
                    let last = pair.roots.last_mut(&pair.heap).copied();
                    assert_eq!(last, pair.model.last().copied());
                    assert_eq!(pair.roots.take_last(&pair.heap), pair.model.pop());
                    pair.check();
                }
            }
        }
    }

    #[test]
    fn an_empty_store_has_no_last_term() {
        let (heap, mut roots) = (PlainHeap::new(), Roots::default());
        assert_eq!(roots.take_last(&heap), None);
        assert_eq!(roots.pop(&heap), heap.nil());
        assert!(roots.since(0, &heap).is_empty());
    }
}
