//! The first few items of a sort, without sorting the rest.
//!
//! Candidates are collected. Once there are twice as many as wanted, they are sorted and the second
//! half is dropped. From then on a key is a candidate only if it precedes the last one of those.

use super::{Sorting, BATCH, FAR};
use crate::context::Context;
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;
use std::cmp::Ordering;

/// Minimum capacity for candidates, if a piece has that many.
const CANDIDATES: usize = 64;

/// The state of the search for the first ones; the sort's `places` are the candidates.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct First {
    /// Number of keys examined.
    seen: usize,
    /// Whether the candidates have been sorted, so that the last one wanted is at its index.
    sorted: bool,
    /// Whether the search is complete: repeated work does not count as progress.
    over: bool,
}

/// Returns the fuel of sorting this many keys, given the fuel of a comparison, 0 for one of numbers.
pub(super) fn cost_of_sort(length: usize, comparison: usize) -> usize {
    let rounds = length.max(1).ilog2() as usize + 1;
    match comparison {
        0 => length * rounds / 4,
        comparison => length * rounds * comparison * FAR,
    }
}

impl Sorting {
    /// Finds the first `wanted` (at least one) of `length` keys, in order; equal keys keep their order.
    /// At most a piece is sorted in one call; it must have room for twice the wanted number.
    pub(super) fn find_first<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        (length, wanted): (usize, usize),
        piece: usize,
        order: impl Fn(&H, u32, u32) -> Ordering,
        sort: impl Fn(&H, &mut [u32]),
    ) -> Result<(), Stop> {
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
                sort(heap, &mut self.places);
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
                // Of equal keys, the one seen first precedes.
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
