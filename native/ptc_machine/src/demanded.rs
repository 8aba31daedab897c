//! The indices of a list that the program reads, computed from a demand and its constants.

use super::machine::Machine;
use crate::fault::Halt;
use crate::program::{ConstId, Demand};
use ptc_term::heap::Heap;
use ptc_term::number::Number;

/// The indices of a list that the program reads, see [`Demand`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Demanded {
    /// All of them.
    #[default]
    All,
    /// None; only the length.
    Number,
    /// Only the last one.
    Last,
    /// From the first index up to, but without, the second.
    Between(usize, usize),
}

impl Demanded {
    /// Returns the first index that may be read.
    #[inline]
    pub fn start(self) -> usize {
        match self {
            Demanded::Between(start, _) => start,
            Demanded::All | Demanded::Number | Demanded::Last => 0,
        }
    }

    /// Returns the index from which on items may be missing.
    #[inline]
    pub fn end(self) -> usize {
        match self {
            Demanded::Between(_, end) => end,
            Demanded::All | Demanded::Number | Demanded::Last => usize::MAX,
        }
    }

    /// Returns whether the index is read; `last` if it is the last one.
    #[inline]
    pub fn holds(self, index: usize, last: bool) -> bool {
        match self {
            Demanded::All => true,
            Demanded::Number => false,
            Demanded::Last => last,
            Demanded::Between(start, end) => (start..end).contains(&index),
        }
    }
}

impl<H: Heap> Machine<'_, H> {
    /// Computes the indices of a demand.
    pub fn demanded(&mut self, demand: Demand) -> Result<Demanded, Halt<H::Term>> {
        Ok(match demand {
            Demand::All => Demanded::All,
            Demand::Number => Demanded::Number,
            Demand::Last => Demanded::Last,
            Demand::One => Demanded::Between(0, 1),
            Demand::First(count) => match self.count(count)? {
                // Keeps the first item: a loop must find out that it has one, because it detects
                // the errors that do not depend on the item with that one.
                Some(count) => Demanded::Between(0, count.max(1)),
                None => Demanded::All,
            },
            Demand::At(index) => match self.count(index)? {
                Some(index) => Demanded::Between(index, index.saturating_add(1)),
                None => Demanded::All,
            },
        })
    }

    /// Returns a constant that is a non-negative integer; the result saturates.
    pub fn count(&mut self, id: ConstId) -> Result<Option<usize>, Halt<H::Term>> {
        let term = self.constant(id);
        Ok(match self.number(term)? {
            Some(Number::Int(value)) if value >= 0 => Some(value as usize),
            Some(Number::Big(value)) if value.sign() == num_bigint::Sign::Plus => Some(usize::MAX),
            _ => None,
        })
    }
}
