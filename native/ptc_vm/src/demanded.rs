//! The indices of a list that the program reads, computed from a demand and its constants.

use crate::program::Demand;
use ptc_kernels::Context;
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;

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

impl Demanded {
    /// Computes the indices of a demand.
    pub fn of<H: Heap>(demand: Demand, context: &mut Context<'_, H>) -> Result<Self, Stop> {
        Ok(match demand {
            Demand::All => Demanded::All,
            Demand::Number => Demanded::Number,
            Demand::Last => Demanded::Last,
            Demand::One => Demanded::Between(0, 1),
            Demand::First(count) => match context.count(count)? {
                // Keeps the first item: a loop must find out that it has one, because it detects
                // the errors that do not depend on the item with that one.
                Some(count) => Demanded::Between(0, count.max(1)),
                None => Demanded::All,
            },
            Demand::At(index) => match context.count(index)? {
                Some(index) => Demanded::Between(index, index.saturating_add(1)),
                None => Demanded::All,
            },
        })
    }
}
