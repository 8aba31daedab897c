//! The keys of a sort: one column of keys, or several, of which each decides between keys that are equal in those
//! before it.

use super::meanings::Meanings;
use super::numbers::{of_float, of_integer};
use super::BATCH;
use crate::context::Context;
use crate::cost::cost;
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use std::cmp::Ordering;

/// The terms of a column's keys.
#[derive(Clone, Copy)]
pub(super) struct KeyTerms<'k, T> {
    pub terms: &'k Roots<T>,
    /// The number of the column, and of all columns: the keys of one item follow each other.
    pub column: usize,
    pub columns: usize,
    /// The number of the column's keys.
    pub count: usize,
}

impl<T: Copy> KeyTerms<'_, T> {
    /// Returns a key.
    #[inline]
    pub fn get<H: Heap<Term = T>>(&self, heap: &H, place: usize) -> T {
        self.terms.get(heap, place * self.columns + self.column)
    }
}

/// One column of keys.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Column {
    pub keys: SortKeys,
    /// Number of keys measured.
    measured: usize,
    /// The fuel of the longest comparison; 0 for numbers.
    pub comparison: usize,
    /// What the keys are compared by, if some of them are values or contain one.
    pub meanings: Meanings,
}

/// The keys; numbers are copied out of their terms, as integers that compare as they do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SortKeys {
    Integers(Vec<u64>),
    Floats(Vec<u64>),
    Terms,
}

impl Default for SortKeys {
    fn default() -> Self {
        SortKeys::Integers(Vec::new())
    }
}

impl Column {
    /// Copies the keys if they are numbers, else computes the fuel of the longest comparison. Resumes where it was
    /// suspended.
    pub fn prepare<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        terms: KeyTerms<'_, H::Term>,
    ) -> Result<(), Stop> {
        self.copy_numbers(machine, terms)?;
        match self.numbers() {
            Some(_) => Ok(()),
            None => self.measure(machine, terms),
        }
    }

    /// Returns the keys if all are numbers, once the column is prepared.
    pub fn numbers(&self) -> Option<&[u64]> {
        match &self.keys {
            SortKeys::Integers(keys) | SortKeys::Floats(keys) => Some(keys),
            SortKeys::Terms => None,
        }
    }

    fn copy_numbers<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        terms: KeyTerms<'_, H::Term>,
    ) -> Result<(), Stop> {
        loop {
            let Some(start) = self.numbers().map(<[u64]>::len) else {
                return Ok(());
            };
            if start == terms.count {
                return Ok(());
            }
            let mut batch = (start..terms.count).take(BATCH);
            let room = batch.len();
            machine.consume_fuel(room / 4)?;
            let heap = &*machine.heap;
            let numbers = match &mut self.keys {
                SortKeys::Integers(keys) => batch.all(|place| {
                    let key = heap.small_integer(terms.get(heap, place));
                    key.map(|key| push(keys, of_integer(key), room)).is_some()
                }),
                SortKeys::Floats(keys) => batch.all(|place| {
                    let key = heap.float(terms.get(heap, place));
                    key.map(|key| push(keys, of_float(key), room)).is_some()
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
        machine: &mut Context<'_, H>,
        terms: KeyTerms<'_, H::Term>,
    ) -> Result<(), Stop> {
        self.comparison = self.comparison.max(1);
        while self.measured < terms.count {
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

    /// Returns the order of two keys, once the column is prepared.
    #[inline]
    pub fn order<H: Heap>(
        &self,
        heap: &H,
        terms: KeyTerms<'_, H::Term>,
        a: u32,
        b: u32,
    ) -> Ordering {
        let (a, b) = (a as usize, b as usize);
        match self.numbers() {
            Some(keys) => keys[a].cmp(&keys[b]),
            None => {
                let pair = (terms.get(heap, a), terms.get(heap, b));
                match self.meanings.is_empty() {
                    true => heap.compare(pair.0, pair.1),
                    false => self.meanings.order(heap, (a, b), pair),
                }
            }
        }
    }
}

/// Adds a key to those of a batch; reserves memory for `room` keys at once.
fn push<K>(keys: &mut Vec<K>, key: K, room: usize) {
    if keys.len() == keys.capacity() {
        keys.reserve(room);
    }
    keys.push(key);
}
