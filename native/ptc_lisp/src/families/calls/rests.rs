//! What is left of several sequences that are visited side by side.

use crate::code::{Halt, Machine};
use crate::families::seqs;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// The sequences. They are in a store, so that a suspension does not exchange all of many.
#[derive(Debug, Clone, PartialEq)]
pub struct Rests<T> {
    /// What is not visited yet of each. Until all are read, those that are read stand behind all.
    rests: Roots<T>,
    /// Number of sequences that are read.
    read: usize,
}

rooted!(Rests { states: rests; plain: read });

impl<T: Copy> Rests<T> {
    /// The start.
    pub fn of(sources: &[T]) -> Self {
        Rests {
            rests: store(sources.iter().copied()),
            read: 0,
        }
    }

    /// Makes lists of the sequences.
    pub fn read<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        while self.read < self.len() {
            m.consume_fuel(1)?;
            let items = seqs::items(m, self.rests.get(m.heap, self.read))?;
            self.rests.push(items);
            self.read += 1;
            m.meter.advanced();
        }
        if self.rests.len() > self.read {
            m.consume_fuel_at_once(self.read / 4)?;
            let lists = self.read..self.rests.len();
            self.rests = store(lists.map(|at| self.rests.get(m.heap, at)));
        }
        Ok(())
    }

    /// Returns their number.
    pub fn len(&self) -> usize {
        match self.rests.len() == self.read {
            true => self.read,
            false => self.rests.len() - self.read,
        }
    }

    /// Returns the next items of sequences that are read, and what follows them; `None` if one has no more.
    pub fn next<H: Heap<Term = T>>(&self, m: &Machine<'_, H>) -> Option<(Vec<T>, Roots<T>)> {
        let mut items = Vec::with_capacity(self.rests.len());
        let mut tails = Roots::default();
        tails.reserve(self.rests.len());
        for at in 0..self.rests.len() {
            let (item, tail) = m.heap.uncons(self.rests.get(m.heap, at))?;
            items.push(item);
            tails.push(tail);
        }
        Some((items, tails))
    }

    /// Goes on behind the items.
    pub fn go_on(&mut self, tails: Roots<T>) {
        self.rests = tails;
    }

    /// Returns what is left of each.
    pub fn all<H: Heap<Term = T>>(&self, m: &Machine<'_, H>) -> Vec<T> {
        let places = 0..self.len();
        places.map(|at| self.rests.get(m.heap, at)).collect()
    }
}

/// A store of these terms.
pub fn store<T: Copy>(terms: impl ExactSizeIterator<Item = T>) -> Roots<T> {
    let mut store = Roots::default();
    store.reserve(terms.len());
    store.extend(terms);
    store
}
