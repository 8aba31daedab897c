//! Merge sort in pieces; it can be suspended.
//!
//! It sorts the indices of the keys, not the keys: indices are plain numbers, which need not be frozen
//! when the run is suspended. Keys that are all 64-bit integers, or all floats, are first copied out of
//! their terms; a piece of one such column is sorted as pairs of a key and its index.

mod column;
mod first;
mod meanings;
mod numbers;

use crate::context::Context;
use column::{Column, KeyTerms};
use first::{cost_of_sort, First};
use numbers::Numbers;
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use std::cmp::Ordering;

/// Words of native memory for an item that is sorted: the item and two indices, and for each key the key and a copy of
/// it.
pub const WORDS_OF_ITEM: usize = 2;
/// Words for each key of it.
pub const WORDS_OF_KEY: usize = 2;
/// Words for an item with one key.
pub const WORDS_OF_SORTED: usize = WORDS_OF_ITEM + WORDS_OF_KEY;
/// Maximum fuel for a piece of terms.
const PIECE: usize = 16_384;
/// Factor of the cost of comparing terms: each one is a cache miss.
const FAR: usize = 2;
/// Number of numeric keys in a piece: their pairs take 256 KB, while the piece is sorted.
const NUMBERS: usize = 16_384;
/// Number of keys examined, or indices merged, between two checks of the limits.
const BATCH: usize = 512;

/// The state of a sort.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sorting {
    /// The columns of keys, as far as they are prepared; the last one may not be.
    columns: Vec<Column>,
    /// The fuel of the longest comparison; 0 if all keys are numbers.
    comparison: usize,
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

impl Sorting {
    /// Returns the indices in order, once the sort is complete.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// Sorts the keys, in term order or in reverse; equal keys keep their order. An item has as many keys as there
    /// are orders in `descending`; they follow each other in `terms`. Resumes where it was suspended. Finds at least the indices of the first `wanted` keys.
    pub fn sort<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        terms: &Roots<H::Term>,
        wanted: usize,
        descending: &[bool],
    ) -> Result<(), Stop> {
        let columns = descending.len().max(1);
        let count = terms.len() / columns;
        let column = |column: usize| KeyTerms {
            terms,
            column,
            columns,
            count,
        };
        self.prepare(machine, descending.len(), column)?;
        let columns = std::mem::take(&mut self.columns);
        let size = (count, wanted);
        let piece = match self.comparison {
            0 => NUMBERS,
            comparison => (PIECE / (16 * comparison)).clamp(2, 4096),
        };
        let sorted = match (&columns[..], descending) {
            ([only], &[descending]) => match only.numbers() {
                Some(keys) => {
                    let numbers = Numbers { keys, descending };
                    let (order, sort) = (
                        |_: &H, a, b| numbers.order(a, b),
                        |_: &H, places: &mut [u32]| numbers.sort(places),
                    );
                    self.arrange(machine, size, piece, order, sort)
                }
                None => {
                    let order = |heap: &H, a, b| match descending {
                        true => only.order(heap, column(0), a, b).reverse(),
                        false => only.order(heap, column(0), a, b),
                    };
                    self.arrange(machine, size, piece, order, by(order))
                }
            },
            _ => {
                let order = |heap: &H, a, b| {
                    for (index, (keys, descending)) in columns.iter().zip(descending).enumerate() {
                        let order = keys.order(heap, column(index), a, b);
                        match (order, descending) {
                            (Ordering::Equal, _) => {}
                            (order, true) => return order.reverse(),
                            (order, false) => return order,
                        }
                    }
                    Ordering::Equal
                };
                self.arrange(machine, size, piece, order, by(order))
            }
        };
        self.columns = columns;
        sorted
    }

    /// Prepares the columns, one after the other.
    fn prepare<'k, H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        count: usize,
        terms: impl Fn(usize) -> KeyTerms<'k, H::Term>,
    ) -> Result<(), Stop>
    where
        H::Term: 'k,
    {
        // The last one may have been left in the middle.
        for index in self.columns.len().saturating_sub(1)..count {
            if self.columns.len() == index {
                self.columns.push(Column::default());
            }
            self.columns[index].prepare(machine, terms(index))?;
        }
        self.comparison = self.columns.iter().map(|column| column.comparison).sum();
        Ok(())
    }

    /// Sorts this many keys, or finds the first ones if that is less work. `sort` sorts some of them at once, as `order`
    /// says; equal keys in the order of their indices, which is the one they are given in.
    fn arrange<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        (length, wanted): (usize, usize),
        piece: usize,
        order: impl Fn(&H, u32, u32) -> Ordering,
        sort: impl Fn(&H, &mut [u32]),
    ) -> Result<(), Stop> {
        match wanted {
            0 => Ok(()),
            _ if wanted <= piece.min(length) / 2 => {
                self.find_first(machine, (length, wanted), piece, order, sort)
            }
            _ => self.in_pieces(machine, length, piece, order, sort),
        }
    }

    /// Sorts this many keys: first each piece, then by merging the pieces.
    fn in_pieces<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        length: usize,
        piece: usize,
        order: impl Fn(&H, u32, u32) -> Ordering,
        sort: impl Fn(&H, &mut [u32]),
    ) -> Result<(), Stop> {
        while self.places.len() < length {
            let start = self.places.len();
            let end = length.min(start + piece);
            machine.consume_fuel(cost_of_sort(end - start, self.comparison))?;
            let heap = &*machine.heap;
            self.places.extend(start as u32..end as u32);
            sort(heap, &mut self.places[start..]);
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
        machine: &mut Context<'_, H>,
        order: &impl Fn(&H, u32, u32) -> Ordering,
    ) -> Result<(), Stop> {
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

/// Sorts indices by the order of their keys.
fn by<H>(order: impl Fn(&H, u32, u32) -> Ordering) -> impl Fn(&H, &mut [u32]) {
    move |heap, places| places.sort_by(|a, b| order(heap, *a, *b))
}
