//! Sort keys some of which are dates, times or decimals, or contain one.

use super::column::KeyTerms;
use crate::context::Context;
use crate::kinds::Kinds;
use crate::meaning::order;
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;
use ptc_term::value::Meaning;
use std::cmp::Ordering;

/// Factor of the cost of comparing terms by their meaning: they are read part by part.
const SLOWER: usize = 8;

/// What the keys are compared by.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Meanings {
    /// The kinds of values among the keys; if there are none, the keys are compared as terms.
    kinds: Kinds,
    /// The meanings of the keys, as far as they have been read.
    read: Vec<Option<Meaning>>,
    /// The cost of the costliest comparison.
    comparison: usize,
}

impl Meanings {
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Searches a key for values.
    pub fn search<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        term: H::Term,
    ) -> Result<(), Stop> {
        machine.search(&mut self.kinds, term)
    }

    /// Reads the meaning of each key, once all have been searched, if there are values; resumes where
    /// it was suspended. Returns the cost of the costliest comparison.
    pub fn read<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        terms: KeyTerms<'_, H::Term>,
    ) -> Result<usize, Stop> {
        while !self.is_empty() && self.read.len() < terms.count {
            let term = terms.get(machine.heap, self.read.len());
            let meaning = machine.meaning_at_top(&self.kinds, term)?;
            let cost = match &meaning {
                Some(meaning) => meaning.cost(),
                None => SLOWER * machine.weigh(term)?,
            };
            self.comparison = self.comparison.max(cost);
            self.read.push(meaning);
            machine.meter.advanced();
        }
        Ok(self.comparison)
    }

    /// Returns the order of two keys, given their places.
    pub fn order<H: Heap>(
        &self,
        heap: &H,
        places: (usize, usize),
        terms: (H::Term, H::Term),
    ) -> Ordering {
        let side = |place: usize, term| (self.read[place].as_ref(), heap.kind(term));
        let (a, b) = (side(places.0, terms.0), side(places.1, terms.1));
        Meaning::order_of(a, b).unwrap_or_else(|| order(heap, &self.kinds, terms.0, terms.1, false))
    }
}
