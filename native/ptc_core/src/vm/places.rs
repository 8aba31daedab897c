//! The indices of a list that the program reads, computed from a demand and its constants.

use super::machine::Machine;
use crate::fault::Halt;
use crate::heap::Heap;
use crate::number::Number;
use crate::program::{ConstId, Demand};

/// The indices of a list that the program reads, see [`Demand`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Places {
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

impl Places {
    /// Returns the first index that may be read.
    #[inline]
    pub fn start(self) -> usize {
        match self {
            Places::Between(start, _) => start,
            Places::All | Places::Number | Places::Last => 0,
        }
    }

    /// Returns the index from which on items may be missing.
    #[inline]
    pub fn end(self) -> usize {
        match self {
            Places::Between(_, end) => end,
            Places::All | Places::Number | Places::Last => usize::MAX,
        }
    }

    /// Returns whether the index is read; `last` if it is the last one.
    #[inline]
    pub fn hold(self, place: usize, last: bool) -> bool {
        match self {
            Places::All => true,
            Places::Number => false,
            Places::Last => last,
            Places::Between(start, end) => (start..end).contains(&place),
        }
    }
}

impl<H: Heap> Machine<'_, H> {
    /// Computes the indices of a demand.
    pub(crate) fn places(&mut self, demand: Demand) -> Result<Places, Halt<H::Term>> {
        Ok(match demand {
            Demand::All => Places::All,
            Demand::Number => Places::Number,
            Demand::Last => Places::Last,
            Demand::One => Places::Between(0, 1),
            Demand::First(count) => match self.count(count)? {
                // Keeps the first item: a loop must find out that it has one, because it detects
                // the errors that do not depend on the item with that one.
                Some(count) => Places::Between(0, count.max(1)),
                None => Places::All,
            },
            Demand::At(index) => match self.count(index)? {
                Some(index) => Places::Between(index, index.saturating_add(1)),
                None => Places::All,
            },
        })
    }

    /// Returns a constant that is a non-negative integer; the result saturates.
    pub(crate) fn count(&mut self, id: ConstId) -> Result<Option<usize>, Halt<H::Term>> {
        let term = self.constant(id);
        Ok(match self.number(term)? {
            Some(Number::Int(value)) if value >= 0 => Some(value as usize),
            Some(Number::Big(value)) if value.sign() == num_bigint::Sign::Plus => Some(usize::MAX),
            _ => None,
        })
    }
}
