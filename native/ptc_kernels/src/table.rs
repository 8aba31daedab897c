//! A hash set of terms, for `distinct`, groups and their like; it grows in pieces and can be suspended.

use crate::context::Context;
use crate::kinds::Kinds;
use crate::meaning::{hash, order};
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::value::mix;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Counts hashing and comparing a term by its meaning, beyond what each term costs: up to [`FEW`]
/// terms, it is compared with every one.
fn count_meanings<H: Heap>(machine: &mut Context<'_, H>, term: H::Term) -> Result<(), Stop> {
    let cost = machine.weigh(term)?;
    machine.consume_fuel_at_once(FEW * cost)
}

/// A set of terms by strict equality, or by meaning if there are values; it refers to the terms in a separate buffer by index.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The hashes of the terms.
    hashes: Vec<u64>,
    /// What each term stands under, in a table of several sets; else empty.
    under: Vec<u32>,
    /// Whether it is a table of several sets.
    nested: bool,
    /// Indices of terms plus one; 0 is free. Its size is a power of two, at most half full, or 0.
    places: Vec<u32>,
    /// Number of terms in `places`: all terms, except while the table grows.
    placed: usize,
    /// Random, so that the hashes of chosen terms cannot be made to collide.
    seed: u64,
}

/// Up to this size, comparing with every term is quicker than hashing.
const FEW: usize = 8;
/// Number of terms that are placed between two checks of the limits.
const BATCH: usize = 512;
/// Fuel to place a term: mostly for a cache miss.
const FUEL_A_PLACE: usize = 8;

/// Returns the size of the table of indices for so many terms.
fn size_for(terms: usize) -> usize {
    (terms * 2).next_power_of_two().max(2 * FEW)
}

impl Table {
    /// Creates a table of several sets: each term stands under a number, and equal terms under different numbers are
    /// different.
    pub fn nested() -> Self {
        Table {
            nested: true,
            places: vec![0; size_for(0)],
            seed: RandomState::new().build_hasher().finish(),
            ..Table::default()
        }
    }

    /// Returns the words of native memory of the set and its terms.
    pub fn words(&self) -> usize {
        2 * self.hashes.len() + self.under.len() / 2 + self.places.len() / 2
    }

    /// Returns whether the set contains the term.
    pub fn contains<H: Heap>(
        &self,
        machine: &Context<'_, H>,
        kinds: &Kinds,
        terms: &Roots<H::Term>,
        term: H::Term,
    ) -> bool {
        self.position(machine, kinds, terms, term).is_some()
    }

    /// Returns the index of the term if the set contains it.
    #[inline]
    pub fn position<H: Heap>(
        &self,
        machine: &Context<'_, H>,
        kinds: &Kinds,
        terms: &Roots<H::Term>,
        term: H::Term,
    ) -> Option<usize> {
        let hash = self.hash(machine.heap, kinds, term, 0);
        self.find(machine.heap, kinds, terms, hash, (term, 0)).ok()
    }

    /// Adds the term if it is missing; returns its index.
    #[inline]
    pub fn insert<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        kinds: &Kinds,
        terms: &mut Roots<H::Term>,
        term: H::Term,
    ) -> Result<usize, Stop> {
        self.insert_under(machine, kinds, terms, (term, 0))
    }

    /// Adds a term that stands under a number, in a table of several sets, if it is missing; returns its index.
    #[inline]
    pub fn insert_under<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        kinds: &Kinds,
        terms: &mut Roots<H::Term>,
        (term, under): (H::Term, u32),
    ) -> Result<usize, Stop> {
        if !kinds.is_empty() {
            count_meanings(machine, term)?;
        }
        if self.placed < self.hashes.len() {
            self.settle(machine, terms)?;
        }
        let hash = self.hash(machine.heap, kinds, term, under);
        let free = match self.find(machine.heap, kinds, terms, hash, (term, under)) {
            Ok(place) => return Ok(place),
            Err(free) => free,
        };
        let length = self.hashes.len() + 1;
        if length > FEW.max(self.places.len() / 2) {
            machine.check_heap_limit(self.words() + size_for(length) / 2)?;
        } else if length.is_multiple_of(BATCH) {
            machine.check_heap_limit(self.words())?;
        }
        terms.push(term);
        self.hashes.push(hash);
        if self.nested {
            self.under.push(under);
        }
        if self.hashes.len() > FEW.max(self.places.len() / 2) {
            self.grow(machine.heap, kinds, terms);
        } else {
            if let Some(place) = self.places.get_mut(free) {
                *place = self.hashes.len() as u32;
            }
            self.placed = self.hashes.len();
        }
        Ok(length - 1)
    }

    fn hash<H: Heap>(&self, heap: &H, kinds: &Kinds, term: H::Term, under: u32) -> u64 {
        let hash = match (self.places.is_empty(), kinds.is_empty()) {
            (true, _) => 0,
            (false, true) => heap.hash(term, self.seed),
            (false, false) => hash(heap, kinds, term, self.seed),
        };
        match under {
            0 => hash,
            _ => mix(hash, u64::from(under)),
        }
    }

    /// Returns the number that a term stands under.
    #[inline]
    pub fn above(&self, place: usize) -> u32 {
        self.under.get(place).copied().unwrap_or(0)
    }

    /// Returns the index of the term if the set contains it, else the free slot of the table for it.
    fn find<H: Heap>(
        &self,
        heap: &H,
        kinds: &Kinds,
        terms: &Roots<H::Term>,
        hash: u64,
        (term, under): (H::Term, u32),
    ) -> Result<usize, usize> {
        let same = |other: H::Term| match kinds.is_empty() {
            true => heap.identical(other, term),
            false => order(heap, kinds, other, term, true).is_eq(),
        };
        if self.places.is_empty() {
            let mut places = 0..terms.len();
            return places.find(|at| same(terms.get(heap, *at))).ok_or(0);
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(place) = self.places[at].checked_sub(1) {
            let place = place as usize;
            let is_it = self.hashes[place] == hash && self.above(place) == under;
            if is_it && same(terms.get(heap, place)) {
                return Ok(place);
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    /// Enlarges the table; all terms must be placed again.
    fn grow<H: Heap>(&mut self, heap: &H, kinds: &Kinds, terms: &Roots<H::Term>) {
        if self.places.is_empty() {
            self.seed = RandomState::new().build_hasher().finish();
            for (place, hash) in self.hashes.iter_mut().enumerate() {
                let term = terms.get(heap, place);
                *hash = match kinds.is_empty() {
                    true => heap.hash(term, self.seed),
                    false => self::hash(heap, kinds, term, self.seed),
                };
            }
        }
        self.places = vec![0; size_for(self.hashes.len())];
        self.placed = 0;
    }

    /// Places the terms that are not placed yet; needed before [`Table::contains`].
    pub fn settle<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        terms: &Roots<H::Term>,
    ) -> Result<(), Stop> {
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
