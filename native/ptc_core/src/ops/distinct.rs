//! Each item once: `distinct`, and the set it is made with.

use super::{Field, Operation};
use crate::fault::Halt;
use crate::heap::Heap;
use crate::program::Apply;
use crate::vm::{Buffer, Eval, Machine};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

pub(super) struct Distinct;

impl Operation for Distinct {
    const NAME: &'static str = "distinct";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items without repetitions; 1 and 1.0 are two.";
    const FIELDS: &'static [Field] = &[];

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(apply, |machine, work| {
            let (items, table) = (&mut work.items, &mut work.progress.table);
            machine.each_item(apply, &mut work.walk, |machine, item| {
                machine.consume_fuel_for_depth(item)?;
                table.insert(machine, items, item)?;
                Ok(())
            })?;
            machine.list_of(work)
        })
    }
}

/// A set of terms by strict equality: where they stand in a buffer, which is kept beside it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The hashes of the terms.
    hashes: Vec<u64>,
    /// Places of terms plus one; 0 is free. A power of two, at most half full, or empty.
    places: Vec<u32>,
    /// How many of the terms stand in `places`: all, but while it grows.
    placed: usize,
    /// Unknown to whoever chose the terms, so that hashes cannot be made to collide.
    seed: u64,
}

/// Up to here a look at every term is quicker than a hash.
const FEW: usize = 8;
/// So many terms are placed between two counts.
const BATCH: usize = 512;
/// What it takes to place one: mostly a look at memory that nobody looked at lately.
const FUEL_A_PLACE: usize = 8;

impl Table {
    /// Whether the term is one of these.
    pub(crate) fn contains<H: Heap>(
        &self,
        machine: &Machine<'_, H>,
        terms: &Buffer<H::Term>,
        term: H::Term,
    ) -> bool {
        self.find(machine.heap, terms, self.hash(machine.heap, term), term)
            .is_ok()
    }

    /// Adds the term if it is not there.
    #[inline]
    pub(crate) fn insert<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        terms: &mut Buffer<H::Term>,
        term: H::Term,
    ) -> Result<(), Halt<H::Term>> {
        if self.placed < self.hashes.len() {
            self.settle(machine, terms)?;
        }
        let hash = self.hash(machine.heap, term);
        let Err(free) = self.find(machine.heap, terms, hash, term) else {
            return Ok(());
        };
        terms.push(term);
        self.hashes.push(hash);
        if self.hashes.len() > FEW.max(self.places.len() / 2) {
            self.grow(machine.heap, terms);
        } else {
            if let Some(place) = self.places.get_mut(free) {
                *place = self.hashes.len() as u32;
            }
            self.placed = self.hashes.len();
        }
        Ok(())
    }

    fn hash<H: Heap>(&self, heap: &H, term: H::Term) -> u64 {
        match self.places.is_empty() {
            true => 0,
            false => heap.hash(term, self.seed),
        }
    }

    /// `Ok` if the term is there, else the place in the table where it belongs.
    fn find<H: Heap>(
        &self,
        heap: &H,
        terms: &Buffer<H::Term>,
        hash: u64,
        term: H::Term,
    ) -> Result<(), usize> {
        if self.places.is_empty() {
            let found = (0..terms.len()).any(|at| heap.identical(terms.get(heap, at), term));
            return if found { Ok(()) } else { Err(0) };
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(place) = self.places[at].checked_sub(1) {
            let place = place as usize;
            if self.hashes[place] == hash && heap.identical(terms.get(heap, place), term) {
                return Ok(());
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    /// Makes more room, with all terms still to be placed.
    fn grow<H: Heap>(&mut self, heap: &H, terms: &Buffer<H::Term>) {
        if self.places.is_empty() {
            self.seed = RandomState::new().build_hasher().finish();
            for (place, hash) in self.hashes.iter_mut().enumerate() {
                *hash = heap.hash(terms.get(heap, place), self.seed);
            }
        }
        self.places = vec![0; (self.hashes.len() * 4).next_power_of_two()];
        self.placed = 0;
    }

    /// Places the terms that are not placed yet; needed before [`Table::contains`].
    pub(crate) fn settle<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        terms: &Buffer<H::Term>,
    ) -> Result<(), Halt<H::Term>> {
        debug_assert_eq!(self.hashes.len(), terms.len());
        while self.placed < self.hashes.len() {
            let end = self.hashes.len().min(self.placed + BATCH);
            machine.consume_fuel(FUEL_A_PLACE * (end - self.placed))?;
            let mask = self.places.len() - 1;
            for place in self.placed..end {
                let mut at = self.hashes[place] as usize & mask;
                while self.places[at] != 0 {
                    at = (at + 1) & mask;
                }
                self.places[at] = place as u32 + 1;
            }
            self.placed = end;
            machine.meter.advanced();
        }
        Ok(())
    }
}
