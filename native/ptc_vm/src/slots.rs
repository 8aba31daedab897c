//! The slots of all activations: those of the current one are at the end.
//!
//! A call moves nothing: the slots of the caller stay where they are. When the run is suspended, the slots of the callers become
//! a [`Stack`], so that a deep recursion that is suspended often costs no more than one that is not.

use crate::stack::Stack;
use ptc_term::heap::Heap;
use std::ops::{Index, IndexMut};

/// The slots of all activations.
pub(crate) struct Slots<T> {
    /// The slots of the current activation, and of callers since the last suspension.
    all: Vec<T>,
    /// Where those of the current activation begin.
    base: usize,
    /// The slots of the callers before.
    below: Stack<T>,
}

impl<T> Index<usize> for Slots<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, slot: usize) -> &T {
        &self.all[self.base + slot]
    }
}

impl<T> IndexMut<usize> for Slots<T> {
    #[inline(always)]
    fn index_mut(&mut self, slot: usize) -> &mut T {
        &mut self.all[self.base + slot]
    }
}

impl<T: Copy> Slots<T> {
    /// Returns the slots of a run: those of the current activation, and of its callers.
    #[inline]
    pub fn new(current: Vec<T>, below: Stack<T>) -> Self {
        Slots {
            all: current,
            base: 0,
            below,
        }
    }

    /// Returns the slots of the current activation, and those of its callers.
    #[inline]
    pub fn into_parts(self) -> (Vec<T>, Stack<T>) {
        let Slots {
            mut all,
            base,
            mut below,
        } = self;
        if base > 0 {
            below.push_all(&all[..base]);
            all.drain(..base);
        }
        (all, below)
    }

    /// Returns the slots of the current activation.
    #[inline]
    pub fn current(&self) -> &[T] {
        &self.all[self.base..]
    }

    /// Returns the number of slots of the current activation.
    #[inline]
    pub fn len(&self) -> usize {
        self.all.len() - self.base
    }

    /// Begins an activation with these slots first; returns the number of the caller's.
    #[inline]
    pub fn enter(&mut self, first: &[T], function: T, count: usize, nil: T) -> u32 {
        let callers = self.len() as u32;
        self.base = self.all.len();
        self.all.extend_from_slice(first);
        self.all.push(function);
        let length = self.base + count.max(first.len() + 1);
        self.all.resize(length, nil);
        callers
    }

    /// Ends the current activation.
    #[inline]
    pub fn end(&mut self) {
        self.all.truncate(self.base);
    }

    /// Goes back to an activation that has so many slots, where the one that it called has ended.
    #[inline]
    pub fn leave<H: Heap<Term = T>>(&mut self, slots: u32, heap: &H) {
        let slots = slots as usize;
        if self.base >= slots {
            self.base -= slots;
            return;
        }
        self.all.extend_from_slice(self.below.top(slots, heap));
        self.below.drop_top(slots, heap);
        self.base = 0;
    }

    /// Leaves the current activation for what has no slots; returns the number of those that it has.
    #[inline]
    pub fn leave_for_none(&mut self) -> u32 {
        let callers = self.len() as u32;
        self.base = self.all.len();
        callers
    }

    /// Returns the words that the slots of the callers take.
    pub fn words(&self) -> usize {
        self.all.len() + self.below.words()
    }

    /// Replaces all by so many slots of one activation.
    pub fn reset(&mut self, count: usize, nil: T, nothing: T) {
        self.all.clear();
        self.all.resize(count, nil);
        self.base = 0;
        self.below = Stack::new(nothing);
    }

    /// Returns whether a missing slot was read.
    pub fn is_broken(&self) -> bool {
        self.below.is_broken()
    }
}
