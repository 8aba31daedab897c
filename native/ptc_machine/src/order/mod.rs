//! Merge sort in pieces; it can be suspended.
//!
//! It sorts the indices of the keys, not the keys: indices are plain numbers, which need not be frozen
//! when the run is suspended. Keys that are all 64-bit integers, or all floats, are first copied out of
//! their terms.

mod first;
mod meanings;

use super::cost::cost;
use super::machine::Machine;
use crate::fault::Halt;
use first::{cost_of_sort, First};
use meanings::Meanings;
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use std::cmp::Ordering;

/// Maximum fuel for a piece of terms.
const PIECE: usize = 16_384;
/// Factor of the cost of comparing terms: each one is a cache miss.
const FAR: usize = 2;
/// Number of numeric keys in a piece.
const NUMBERS: usize = 16_384;
/// Number of keys examined, or indices merged, between two checks of the limits.
const BATCH: usize = 512;

/// The state of a sort.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sorting {
    keys: SortKeys,
    /// Number of keys measured, and the fuel of the longest comparison.
    measured: usize,
    comparison: usize,
    /// What the keys are compared by, if some of them are values or contain one.
    meanings: Meanings,
    /// The indices of the keys; those in a piece are sorted.
    places: Vec<u32>,
    /// The search for the first ones, if only those are wanted.
    first: First,
    /// The length of the sorted runs.
    width: usize,
    /// The result of merging pairs of runs, so far.
    merged: Vec<u32>,
    /// The next index in each of the two runs that are being merged.
    left: usize,
    right: usize,
}

/// The keys, copied out of their terms if that makes comparisons quicker.
#[derive(Debug, Clone, PartialEq)]
enum SortKeys {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Terms,
}

impl Default for SortKeys {
    fn default() -> Self {
        SortKeys::Integers(Vec::new())
    }
}

impl Sorting {
    /// Returns the indices in order, once the sort is complete.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Sorts the keys, in term order or in reverse; equal keys keep their order. Resumes where it was
    /// suspended. Finds at least the indices of the first `wanted` keys.
    pub fn sort<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        terms: &Roots<H::Term>,
        wanted: usize,
        descending: bool,
    ) -> Result<(), Halt<H::Term>> {
        self.copy_numbers(machine, terms)?;
        let keys = std::mem::replace(&mut self.keys, SortKeys::Terms);
        let ordered = |order: Ordering| match descending {
            true => order.reverse(),
            false => order,
        };
        let sorted = match &keys {
            SortKeys::Integers(keys) => {
                self.arrange(machine, (keys.len(), wanted), NUMBERS, |_, a, b| {
                    ordered(keys[a as usize].cmp(&keys[b as usize]))
                })
            }
            SortKeys::Floats(keys) => {
                self.arrange(machine, (keys.len(), wanted), NUMBERS, |_, a, b| {
                    ordered(compare_finite(keys[a as usize], keys[b as usize]))
                })
            }
            SortKeys::Terms => self.measure(machine, terms).and_then(|()| {
                let piece = (PIECE / (16 * self.comparison)).clamp(2, 4096);
                let meanings = std::mem::take(&mut self.meanings);
                let sorted = self.arrange(machine, (terms.len(), wanted), piece, |heap, a, b| {
                    let places = (a as usize, b as usize);
                    let terms = (terms.get(heap, places.0), terms.get(heap, places.1));
                    ordered(match meanings.is_empty() {
                        true => heap.compare(terms.0, terms.1),
                        false => meanings.order(heap, places, terms),
                    })
                });
                self.meanings = meanings;
                sorted
            }),
        };
        self.keys = keys;
        sorted
    }

    fn copy_numbers<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        terms: &Roots<H::Term>,
    ) -> Result<(), Halt<H::Term>> {
        loop {
            let start = match &self.keys {
                SortKeys::Integers(keys) => keys.len(),
                SortKeys::Floats(keys) => keys.len(),
                SortKeys::Terms => return Ok(()),
            };
            if start == terms.len() {
                return Ok(());
            }
            let mut batch = (start..terms.len()).take(BATCH);
            let room = batch.len();
            machine.consume_fuel(room / 4)?;
            let heap = &*machine.heap;
            let numbers = match &mut self.keys {
                SortKeys::Integers(keys) => batch.all(|place| {
                    let key = heap.small_integer(terms.get(heap, place));
                    key.map(|key| push(keys, key, room)).is_some()
                }),
                SortKeys::Floats(keys) => batch.all(|place| {
                    let key = heap.float(terms.get(heap, place));
                    key.map(|key| push(keys, key, room)).is_some()
                }),
                SortKeys::Terms => true,
            };
            if !numbers {
                self.keys = match &self.keys {
                    SortKeys::Integers(keys) if keys.is_empty() => SortKeys::Floats(Vec::new()),
                    _ => SortKeys::Terms,
                };
            }
            machine.meter.advanced();
        }
    }

    /// Computes the fuel of the longest comparison.
    fn measure<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        terms: &Roots<H::Term>,
    ) -> Result<(), Halt<H::Term>> {
        self.comparison = self.comparison.max(1);
        while self.measured < terms.len() {
            let term = terms.get(machine.heap, self.measured);
            machine.consume_fuel_to_hash(term)?;
            if machine.values() {
                self.meanings.search(machine, term)?;
            }
            self.comparison = self.comparison.max(cost(machine.heap, term));
            self.measured += 1;
            machine.meter.advanced();
        }
        let costliest = self.meanings.read(machine, terms)?;
        self.comparison = self.comparison.max(costliest);
        Ok(())
    }

    /// Sorts this many keys, or finds the first ones if that is less work.
    fn arrange<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        (length, wanted): (usize, usize),
        piece: usize,
        order: impl Fn(&H, u32, u32) -> Ordering,
    ) -> Result<(), Halt<H::Term>> {
        match wanted {
            0 => Ok(()),
            _ if wanted <= piece.min(length) / 2 => {
                self.find_first(machine, (length, wanted), piece, order)
            }
            _ => self.in_pieces(machine, length, piece, order),
        }
    }

    /// Sorts this many keys: first each piece, then by merging the pieces.
    fn in_pieces<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        length: usize,
        piece: usize,
        order: impl Fn(&H, u32, u32) -> Ordering,
    ) -> Result<(), Halt<H::Term>> {
        while self.places.len() < length {
            let start = self.places.len();
            let end = length.min(start + piece);
            machine.consume_fuel(cost_of_sort(end - start, self.comparison))?;
            let heap = &*machine.heap;
            self.places.extend(start as u32..end as u32);
            self.places[start..].sort_by(|a, b| order(heap, *a, *b));
            machine.meter.advanced();
        }
        self.width = self.width.max(piece);
        while self.width < length {
            self.merge_runs(machine, &order)?;
            std::mem::swap(&mut self.places, &mut self.merged);
            self.merged.clear();
            self.width *= 2;
        }
        Ok(())
    }

    /// Merges each pair of sorted runs.
    fn merge_runs<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        order: &impl Fn(&H, u32, u32) -> Ordering,
    ) -> Result<(), Halt<H::Term>> {
        let (length, width) = (self.places.len(), self.width);
        // A comparison of numbers is less than a unit.
        let batch = match self.comparison {
            0 => BATCH,
            comparison => (BATCH / comparison).max(1),
        };
        while self.merged.len() < length {
            let start = self.merged.len() / (2 * width) * (2 * width);
            let middle = length.min(start + width);
            let end = length.min(start + 2 * width);
            if self.merged.len() == start {
                (self.left, self.right) = (start, middle);
            }
            let batch = batch.min(end - self.merged.len());
            machine.consume_fuel(batch * self.comparison * FAR + batch / 2)?;
            let heap = &*machine.heap;
            let (left, right) = (&self.places[..middle], &self.places[..end]);
            for _ in 0..batch {
                // Of equal keys the left one comes first.
                let from_left = match (left.get(self.left), right.get(self.right)) {
                    (Some(a), Some(b)) => order(heap, *a, *b).is_le(),
                    (first, _) => first.is_some(),
                };
                let from = match from_left {
                    true => &mut self.left,
                    false => &mut self.right,
                };
                self.merged.push(self.places[*from]);
                *from += 1;
            }
            machine.meter.advanced();
        }
        Ok(())
    }
}

/// Adds a key to those of a batch; reserves memory for `room` keys at once.
fn push<K>(keys: &mut Vec<K>, key: K, room: usize) {
    if keys.len() == keys.capacity() {
        keys.reserve(room);
    }
    keys.push(key);
}

fn compare_finite(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}
