//! The first few of a sort: what comes behind them is never put in order.
//!
//! Candidates are kept, and once there are twice as many as wanted they are sorted and the second
//! half is dropped. From then on a key counts only if it comes before the last one of those.

use super::{Sorting, BATCH, FAR};
use crate::fault::Halt;
use crate::heap::Heap;
use crate::vm::Machine;
use std::cmp::Ordering;

/// So many candidates there may be at least, if a piece holds so many.
const CANDIDATES: usize = 64;

/// How far the search for the first ones has come; the candidates are the sort's places.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct First {
    /// How many of the keys were looked at.
    seen: usize,
    /// Whether the candidates have been sorted, so that the last one wanted is in its place.
    sorted: bool,
    /// Whether it is over: what is done once more does not count as progress.
    over: bool,
}

/// What a sort of so many places counts, where a comparison counts so much, 0 for one of numbers.
pub(super) fn cost_of_sort(length: usize, comparison: usize) -> usize {
    let rounds = length.max(1).ilog2() as usize + 1;
    match comparison {
        0 => length * rounds / 4,
        comparison => length * rounds * comparison * FAR,
    }
}

impl Sorting {
    /// Finds the first `wanted` places (not none) of `length`, in order; equal keys keep theirs. No more
    /// than a piece is sorted in one go; twice as many as are wanted must fit into it.
    pub(super) fn find_first<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        (length, wanted): (usize, usize),
        piece: usize,
        order: impl Fn(&H, u32, u32) -> Ordering,
    ) -> Result<(), Halt<H::Term>> {
        let most = (2 * wanted).max(CANDIDATES.min(piece));
        let batch = match self.comparison {
            0 => BATCH,
            comparison => (BATCH / comparison).max(1),
        };
        while !self.first.over {
            let over = self.first.seen == length;
            if self.places.len() >= most || over {
                machine.consume_fuel(cost_of_sort(self.places.len(), self.comparison))?;
                let heap = &*machine.heap;
                self.places.sort_by(|a, b| order(heap, *a, *b));
                self.places.truncate(wanted);
                self.first.sorted = true;
                self.first.over = over;
                machine.meter.advanced();
            }
            if over {
                break;
            }
            let end = length.min(self.first.seen + batch);
            machine.consume_fuel((end - self.first.seen) * self.comparison * FAR + batch / 4)?;
            let heap = &*machine.heap;
            while self.first.seen < end && self.places.len() < most {
                let place = self.first.seen as u32;
                // Of equals the one that was seen first comes first.
                let beyond = self.first.sorted
                    && (self.places.get(wanted - 1))
                        .is_some_and(|last| order(heap, *last, place).is_le());
                if !beyond {
                    self.places.push(place);
                }
                self.first.seen += 1;
            }
            machine.meter.advanced();
        }
        Ok(())
    }
}
