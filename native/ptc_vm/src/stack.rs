//! The stack of values: live in native memory, with its lower part possibly frozen in a list on
//! the heap.
//!
//! Only the top is read. Freezing moves the live values onto the frozen list, so a value is frozen
//! at most once as long as it stays on the stack, and the list is one term however many values it has. So suspending a
//! long loop after every item costs no more than the loop itself; in [`Roots`](ptc_term::roots::Roots) it would cost up
//! to a thousand terms each time.

use ptc_term::heap::Heap;
use ptc_term::suspend::{Exchange, Rooted};

/// From this many values on, they are frozen as one tuple and not one by one.
const MANY: usize = 16;

/// From this many values on, growing the stack takes long enough to be counted.
const MUCH_ROOM: usize = 4_096;

/// A part of the frozen list.
#[derive(Debug, Clone, PartialEq)]
enum Segment {
    /// This many values, one by one.
    Values(usize),
    /// A tuple, with the number of values at its start that are still on the stack.
    Tuple(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stack<T> {
    live: Vec<T>,
    /// The frozen values, topmost first.
    frozen: T,
    /// The layout of the frozen list, topmost last.
    segments: Vec<Segment>,
    /// A missing value was read: the frozen list is not the one that was frozen.
    broken: bool,
}

impl<T: Copy> Rooted for Stack<T> {
    type Term = T;
    type With<U> = Stack<U>;

    #[inline]
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Stack<X::Into>, X::Lost> {
        let (live, mut frozen, mut segments) = (self.live, self.frozen, self.segments);
        if live.len() >= MANY {
            let tuple = by.tuple(&live)?;
            frozen = by.cons(tuple, frozen)?;
            segments.push(Segment::Tuple(live.len()));
        } else if !live.is_empty() {
            for value in &live {
                frozen = by.cons(*value, frozen)?;
            }
            match segments.last_mut() {
                Some(Segment::Values(count)) => *count += live.len(),
                _ => segments.push(Segment::Values(live.len())),
            }
        }
        Ok(Stack {
            live: Vec::new(),
            frozen: by.term(frozen)?,
            segments,
            broken: self.broken,
        })
    }
}

impl<T: Copy> Stack<T> {
    /// Creates an empty stack; `nothing` is the empty list.
    pub fn new(nothing: T) -> Self {
        Stack {
            live: Vec::new(),
            frozen: nothing,
            segments: Vec::new(),
            broken: false,
        }
    }

    /// Returns whether a missing value was read.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Returns whether the stack is empty.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty() && self.segments.is_empty()
    }

    /// Returns the number of its values.
    pub fn len(&self) -> usize {
        let frozen = self.segments.iter().map(|segment| match segment {
            Segment::Values(count) | Segment::Tuple(count) => count,
        });
        self.live.len() + frozen.sum::<usize>()
    }

    /// Returns the words that its values take.
    pub fn words(&self) -> usize {
        let frozen = self.segments.iter().map(|segment| match segment {
            Segment::Values(count) => 2 * count,
            Segment::Tuple(count) => *count,
        });
        self.live.len() + frozen.sum::<usize>()
    }

    #[inline]
    pub fn push(&mut self, value: T) {
        self.live.push(value);
    }

    /// Pushes these values.
    pub fn push_all(&mut self, values: &[T]) {
        self.live.extend_from_slice(values);
    }

    /// Returns the next capacity if the next push makes a large stack grow. The memory is then fresh
    /// from the system, page by page, which takes as long as filling it.
    #[inline]
    pub fn needs_room(&self) -> Option<usize> {
        let full = self.live.len() == self.live.capacity() && self.live.len() >= MUCH_ROOM;
        full.then(|| 2 * self.live.len())
    }

    /// Returns the values that were pushed last, if none of them is frozen.
    #[inline(always)]
    pub fn at_hand(&self, count: usize) -> Option<&[T]> {
        self.live.get(self.live.len().checked_sub(count)?..)
    }

    #[inline]
    pub fn pop<H: Heap<Term = T>>(&mut self, heap: &H) -> T {
        match self.live.pop() {
            Some(value) => value,
            None => self.pop_frozen(heap),
        }
    }

    #[cold]
    fn pop_frozen<H: Heap<Term = T>>(&mut self, heap: &H) -> T {
        match self.take_frozen(heap) {
            Some(value) => value,
            None => {
                self.broken = true;
                heap.nil()
            }
        }
    }

    fn take_frozen<H: Heap<Term = T>>(&mut self, heap: &H) -> Option<T> {
        let segment = self.segments.last_mut()?;
        let (first, rest) = heap.uncons(self.frozen)?;
        let (Segment::Values(left) | Segment::Tuple(left)) = segment;
        *left -= 1;
        let (left, value) = match segment {
            Segment::Values(left) => {
                self.frozen = rest;
                (*left, first)
            }
            Segment::Tuple(left) => {
                if *left == 0 {
                    self.frozen = rest;
                }
                (*left, heap.element(first, *left)?)
            }
        };
        if left == 0 {
            self.segments.pop();
        }
        Some(value)
    }

    /// Returns the top `count` values, lowest first.
    #[inline]
    pub fn top<H: Heap<Term = T>>(&mut self, count: usize, heap: &H) -> &[T] {
        if self.live.len() < count {
            self.thaw(count, heap);
        }
        &self.live[self.live.len() - count..]
    }

    /// Returns the same, where they stand: values that are frozen together stay so. Otherwise many operands would be thawed and frozen again with
    /// each suspension.
    #[inline]
    pub fn top_in_place<'s, H: Heap<Term = T>>(&'s mut self, count: usize, heap: &'s H) -> &'s [T] {
        if self.live.len() < count {
            if let Some(values) = self.frozen_together(count, heap) {
                return values;
            }
            self.thaw(count, heap);
        }
        &self.live[self.live.len() - count..]
    }

    /// Returns the top `count` values if all of them are frozen in one tuple.
    #[cold]
    fn frozen_together<'h, H: Heap<Term = T>>(&self, count: usize, heap: &'h H) -> Option<&'h [T]> {
        let &Segment::Tuple(left) = self.segments.last()? else {
            return None;
        };
        if !self.live.is_empty() {
            return None;
        }
        let (tuple, _) = heap.uncons(self.frozen)?;
        heap.elements(tuple)?.get(left.checked_sub(count)?..left)
    }

    /// Puts a value below the top `count` values.
    #[inline]
    pub fn insert_below<H: Heap<Term = T>>(&mut self, count: usize, value: T, heap: &H) {
        if self.live.len() < count {
            self.thaw(count, heap);
        }
        self.live.insert(self.live.len() - count, value);
    }

    #[cold]
    fn thaw<H: Heap<Term = T>>(&mut self, count: usize, heap: &H) {
        let mut missing = count - self.live.len();
        // From the top down, so each part is turned around.
        let mut lower = Vec::with_capacity(count);
        while missing > 0 {
            missing -= match self.top_tuple(missing, heap) {
                Some(part) => {
                    lower.extend(part.iter().rev());
                    part.len()
                }
                None => {
                    lower.push(self.pop_frozen(heap));
                    1
                }
            };
        }
        lower.reverse();
        lower.append(&mut self.live);
        self.live = lower;
    }

    /// Takes at most so many values at once, lowest first, if the topmost ones are in a tuple.
    fn top_tuple<'h, H: Heap<Term = T>>(&mut self, most: usize, heap: &'h H) -> Option<&'h [T]> {
        let Some(Segment::Tuple(left)) = self.segments.last_mut() else {
            return None;
        };
        let (tuple, rest) = heap.uncons(self.frozen)?;
        let below = left.saturating_sub(most);
        let part = heap.elements(tuple)?.get(below..*left)?;
        *left = below;
        if below == 0 {
            self.frozen = rest;
            self.segments.pop();
        }
        Some(part)
    }

    /// Drops the top `count` values.
    #[inline]
    pub fn drop_top<H: Heap<Term = T>>(&mut self, count: usize, heap: &H) {
        match self.live.len().checked_sub(count) {
            Some(below) => self.live.truncate(below),
            None => {
                let mut missing = count - self.live.len();
                self.live.clear();
                while missing > 0 {
                    missing -= match self.top_tuple(missing, heap) {
                        Some(part) => part.len(),
                        None => {
                            self.pop_frozen(heap);
                            1
                        }
                    };
                }
            }
        }
    }
}
