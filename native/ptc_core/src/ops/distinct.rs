//! Each item once: `distinct`, and the set it is made with.

use super::{Checked, Field, Operation};
use crate::compile::Plan;
use crate::fault::Halt;
use crate::heap::Heap;
use crate::program::{Apply, NO_CONST};
use crate::source::Source;
use crate::vm::{Eval, Machine};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

pub(super) struct Distinct;

impl Operation for Distinct {
    const NAME: &'static str = "distinct";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items without repetitions; 1 and 1.0 are two.";
    const FIELDS: &'static [Field] = &[];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.apply_to_input(NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let mut seen = TermSet::new();
        let mut kept = Vec::new();
        machine.each_item(apply, |machine, item| {
            machine.consume_fuel_for_depth(item)?;
            if seen.insert(machine, item) {
                kept.push(item);
            }
            Ok(())
        })?;
        machine.make_list(&kept)
    }
}

/// A set of terms by strict equality: the terms in order, and an open table of their places.
pub(super) struct TermSet<T> {
    terms: Vec<(u64, T)>,
    /// Places in `terms` plus one; 0 is free. A power of two, at most half full.
    table: Vec<u32>,
    /// Unknown to whoever chose the terms, so that hashes cannot be made to collide.
    seed: u64,
}

/// Up to here a look at every term is quicker than a hash.
const FEW: usize = 8;

impl<T: Copy> TermSet<T> {
    pub fn new() -> Self {
        TermSet {
            terms: Vec::new(),
            table: Vec::new(),
            seed: 0,
        }
    }

    /// The members of a list; an improper list's tail is none.
    pub fn of_list<H: Heap<Term = T>>(
        machine: &mut Machine<'_, H>,
        list: T,
    ) -> Result<Self, Halt<T>> {
        let (mut set, mut rest) = (TermSet::new(), list);
        while let Some((member, tail)) = machine.heap.uncons(rest) {
            machine.consume_fuel_for_depth(member)?;
            set.insert(machine, member);
            rest = tail;
        }
        Ok(set)
    }

    pub fn contains<H: Heap<Term = T>>(&self, machine: &Machine<'_, H>, term: T) -> bool {
        self.find(machine.heap, self.hash(machine.heap, term), term)
            .is_ok()
    }

    /// Adds the term; false if it was there.
    pub fn insert<H: Heap<Term = T>>(&mut self, machine: &Machine<'_, H>, term: T) -> bool {
        let heap = &*machine.heap;
        let hash = self.hash(heap, term);
        let Err(free) = self.find(heap, hash, term) else {
            return false;
        };
        self.terms.push((hash, term));
        if self.terms.len() * 2 > self.table.len() {
            self.grow(heap);
        } else if let Some(place) = self.table.get_mut(free) {
            *place = self.terms.len() as u32;
        }
        true
    }

    fn hash<H: Heap<Term = T>>(&self, heap: &H, term: T) -> u64 {
        match self.table.is_empty() {
            true => 0,
            false => heap.hash(term, self.seed),
        }
    }

    /// `Ok` if the term is there, else the place in the table where it belongs.
    fn find<H: Heap<Term = T>>(&self, heap: &H, hash: u64, term: T) -> Result<(), usize> {
        if self.table.is_empty() {
            let found = self
                .terms
                .iter()
                .any(|(_, member)| heap.identical(*member, term));
            return if found { Ok(()) } else { Err(0) };
        }
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        while let Some(place) = self.table[at].checked_sub(1) {
            let (other, member) = self.terms[place as usize];
            if other == hash && heap.identical(member, term) {
                return Ok(());
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    fn grow<H: Heap<Term = T>>(&mut self, heap: &H) {
        if self.terms.len() <= FEW {
            return;
        }
        if self.table.is_empty() {
            self.seed = RandomState::new().build_hasher().finish();
            for (hash, term) in &mut self.terms {
                *hash = heap.hash(*term, self.seed);
            }
        }
        let size = (self.terms.len() * 4).next_power_of_two();
        self.table = vec![0; size];
        for (place, (hash, _)) in self.terms.iter().enumerate() {
            let mut at = *hash as usize & (size - 1);
            while self.table[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.table[at] = place as u32 + 1;
        }
    }
}
