//! The rules of lists: numbers of items, and items that are different.

use super::super::constraint::{Constraints, Rule};
use super::super::values::{Class, Values};
use super::ruled::COUNTED;
use super::{Task, Walk, WalkEnd};
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::stop::Stop;
use ptc_term::weight::Weighing;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Units of fuel that are consumed at once where the items of a list are counted and hashed.
const OWED: usize = 256;
/// Up to this many items are compared each with each.
const FEW: usize = 8;

/// An item of a list, and the fuel to compare it.
type Item<H> = (<H as Heap>::Term, usize);

impl<H: Values, K: Task<H>> Walk<'_, H, K> {
    pub(super) fn broken_list(
        &mut self,
        constraints: &Constraints,
        value: H::Term,
    ) -> Result<Option<Rule>, WalkEnd> {
        if constraints.items.is_none() && !constraints.unique {
            return Ok(None);
        }
        let (mut rest, mut items) = (value, Vec::new());
        let (mut count, mut owed) = (0, 0);
        while let Some((item, tail)) = self.heap.uncons(rest) {
            owed = self.owe(owed, 1)?;
            (rest, count) = (tail, count + 1);
            if constraints.unique {
                let weighed = self.weighed(item)?;
                owed = self.owe(owed, 1 + weighed.1)?;
                items.push(weighed);
            }
        }
        self.consume_fuel(owed)?;
        if let Some((least, most)) = constraints.items {
            if count < least {
                return Ok(Some(Rule::MinItems));
            }
            if count > most {
                return Ok(Some(Rule::MaxItems));
            }
        }
        if !constraints.unique {
            return Ok(None);
        }
        let repeats = match items.len() > FEW && items.iter().all(|(item, _)| self.is_exact(*item))
        {
            true => self.repeats_exactly(&items)?,
            false => None,
        };
        let repeats = match repeats {
            Some(repeats) => repeats,
            None => self.repeats(items)?,
        };
        match repeats {
            true => Ok(Some(Rule::Unique)),
            false => Ok(None),
        }
    }

    /// Returns whether a value is equal only to identical ones.
    fn is_exact(&self, item: H::Term) -> bool {
        matches!(
            self.heap.class(item),
            Class::Bitstring | Class::Integer | Class::Atom
        )
    }

    /// Returns whether two items are identical, by their hashes; `None` if two different ones have the same hash.
    fn repeats_exactly(&mut self, items: &[Item<H>]) -> Result<Option<bool>, WalkEnd> {
        let seed = RandomState::new().hash_one(items.len());
        let mut seen = HashMap::with_capacity(items.len());
        let mut owed = 0;
        for (item, weight) in items {
            owed = self.owe(owed, 2 + weight)?;
            let hash = self.heap.hash(*item, seed);
            if let Some(other) = seen.insert(hash, *item) {
                let is_same = self.heap.identical(other, *item);
                return Ok(is_same.then_some(true));
            }
        }
        self.consume_fuel(owed)?;
        Ok(Some(false))
    }

    /// Adds units to those that are not consumed yet, and consumes them once they are worth a look at the clock. Returns what
    /// is left. After the end of a quantum, each consumption looks at the clock.
    fn owe(&mut self, owed: usize, units: usize) -> Result<usize, WalkEnd> {
        match owed + units {
            all if all < OWED => Ok(all),
            all => self.consume_fuel(all).map(|()| 0),
        }
    }

    /// Returns whether two items are equal, as `==` compares them.
    fn repeats(&mut self, items: Vec<Item<H>>) -> Result<bool, WalkEnd> {
        let mut owed = 0;
        let repeats = self.repeats_sorted(items, &mut owed)?;
        self.consume_fuel(owed)?;
        Ok(repeats)
    }

    fn repeats_sorted(
        &mut self,
        mut items: Vec<Item<H>>,
        owed: &mut usize,
    ) -> Result<bool, WalkEnd> {
        if items.len() <= FEW {
            for (index, item) in items.iter().enumerate() {
                for other in &items[..index] {
                    if self.order(*item, *other, owed)?.is_eq() {
                        return Ok(true);
                    }
                }
            }
            return Ok(false);
        }
        // A comparison can take long, so the work can end between two of them.
        let mut sorted = Vec::with_capacity(items.len());
        let mut run = 1;
        while run < items.len() {
            sorted.clear();
            for pair in items.chunks(2 * run) {
                let (mut left, mut right) = pair.split_at(run.min(pair.len()));
                while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
                    match self.order(*a, *b, owed)? {
                        Ordering::Equal => return Ok(true),
                        Ordering::Less => {
                            sorted.push(*a);
                            left = left_rest;
                        }
                        Ordering::Greater => {
                            sorted.push(*b);
                            right = right_rest;
                        }
                    }
                }
                sorted.extend_from_slice(left);
                sorted.extend_from_slice(right);
            }
            std::mem::swap(&mut items, &mut sorted);
            run *= 2;
        }
        Ok(false)
    }

    /// Compares two items; the fuel is that of their size.
    fn order(
        &mut self,
        (a, weight): Item<H>,
        (b, other): Item<H>,
        owed: &mut usize,
    ) -> Result<Ordering, WalkEnd> {
        *owed = self.owe(*owed, 4 + weight.min(other))?;
        Ok(self.heap.compare(a, b))
    }

    /// Returns an item with the fuel to compare it.
    fn weighed(&mut self, term: H::Term) -> Result<Item<H>, WalkEnd> {
        let heap = &*self.heap;
        let weight = match heap.class(term) {
            Class::Bitstring => heap.byte_length(term).unwrap_or(0) / COUNTED,
            Class::Integer => heap.limbs(term),
            Class::Atom | Class::Float => 0,
            Class::List | Class::Map | Class::Other => {
                let mut weighing = Weighing::new([term], 0, usize::MAX);
                loop {
                    let mut meter = Meter::whole(self.meter.limits, self.pace);
                    match weighing.run(heap, &mut meter) {
                        Ok(()) => break weighing.words(),
                        Err(Stop::SliceOver) if self.pace == Pace::Quantum => {}
                        Err(Stop::SliceOver) => return Err(WalkEnd::TooLong),
                        Err(_) => return Err(WalkEnd::Abandoned),
                    }
                }
            }
        };
        Ok((term, weight))
    }
}
