//! A sequence of terms that a walk collects: live in native memory, with the older ones possibly frozen
//! in a list on the heap while the walk is suspended.
//!
//! Freezing moves the live terms onto the list, so a term is frozen at most once, however often the
//! walk is suspended.

use crate::heap::Heap;

/// Terms by index, oldest first.
#[derive(Debug)]
pub struct Kept<T> {
    live: Vec<T>,
    /// The list of older terms, newest first, and their number.
    frozen: Option<T>,
    count: usize,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept {
            live: Vec::new(),
            frozen: None,
            count: 0,
        }
    }
}

impl<T: Copy> Kept<T> {
    /// Creates an empty sequence with capacity for this many live terms.
    pub fn with_capacity(terms: usize) -> Self {
        Kept {
            live: Vec::with_capacity(terms),
            ..Kept::default()
        }
    }

    /// Rebuilds the sequence from a [frozen](Kept::freeze) list and its length.
    pub fn thawed(list: T, count: usize) -> Self {
        Kept {
            live: Vec::new(),
            frozen: Some(list),
            count,
        }
    }

    /// Returns the number of terms.
    #[inline]
    pub fn len(&self) -> usize {
        self.count + self.live.len()
    }

    /// Returns whether the sequence is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a term.
    #[inline]
    pub fn push(&mut self, term: T) {
        self.live.push(term);
    }

    /// Takes the newest term.
    #[inline]
    pub fn pop<H: Heap<Term = T>>(&mut self, heap: &H) -> Option<T> {
        self.live.pop().or_else(|| self.pop_frozen(heap))
    }

    #[cold]
    fn pop_frozen<H: Heap<Term = T>>(&mut self, heap: &H) -> Option<T> {
        let (term, older) = heap.uncons(self.frozen?)?;
        self.frozen = Some(older);
        self.count = self.count.saturating_sub(1);
        Some(term)
    }

    /// Drops all but the oldest `len` terms.
    #[inline]
    pub fn truncate<H: Heap<Term = T>>(&mut self, len: usize, heap: &H) {
        self.live.truncate(len.saturating_sub(self.count));
        while self.count > len && self.pop_frozen(heap).is_some() {}
    }

    /// Returns the terms from index `start` on, oldest first.
    #[inline]
    pub fn since<H: Heap<Term = T>>(&mut self, start: usize, heap: &H) -> &mut [T] {
        if start < self.count {
            self.thaw(start, heap);
        }
        let start = start.saturating_sub(self.count).min(self.live.len());
        &mut self.live[start..]
    }

    #[cold]
    fn thaw<H: Heap<Term = T>>(&mut self, start: usize, heap: &H) {
        let missing = self.count - start;
        let mut older: Vec<T> = (0..missing).map_while(|_| self.pop_frozen(heap)).collect();
        older.reverse();
        older.append(&mut self.live);
        self.live = older;
    }

    /// Returns all terms as a list on the heap, oldest first.
    pub fn list<H: Heap<Term = T>>(&mut self, heap: &mut H) -> T {
        let mut list = heap.make_list(&self.live);
        while let Some((term, older)) = self.frozen.and_then(|frozen| heap.uncons(frozen)) {
            list = heap.cons(term, list);
            self.frozen = Some(older);
        }
        list
    }

    /// Moves all terms to the heap; returns the list, newest first.
    pub fn freeze<H: Heap<Term = T>>(mut self, heap: &mut H) -> T {
        let empty = match self.frozen {
            Some(frozen) => frozen,
            None => heap.make_list(&[]),
        };
        let cons = |list, term| heap.cons(term, list);
        self.live.drain(..).fold(empty, cons)
    }
}
