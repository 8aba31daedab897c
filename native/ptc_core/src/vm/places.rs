//! Which places of a list are looked at, once the constants of a demand are known.

use super::machine::Machine;
use crate::fault::Halt;
use crate::heap::Heap;
use crate::number::Number;
use crate::program::{ConstId, Demand};

/// The places of a list that are looked at, see [`Demand`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Places {
    /// All of them.
    All,
    /// None, only their number.
    Number,
    /// Only the last one.
    Last,
    /// Those from the first up to, but without, the second.
    Between(usize, usize),
}

impl Places {
    /// Nothing before this place is looked at.
    #[inline]
    pub fn start(self) -> usize {
        match self {
            Places::Between(start, _) => start,
            Places::All | Places::Number | Places::Last => 0,
        }
    }

    /// From this place on nothing need be there.
    #[inline]
    pub fn end(self) -> usize {
        match self {
            Places::Between(_, end) => end,
            Places::All | Places::Number | Places::Last => usize::MAX,
        }
    }

    /// Whether the place is looked at; `last` if no other comes after it.
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
    /// The places of a demand.
    pub(crate) fn places(&mut self, demand: Demand) -> Result<Places, Halt<H::Term>> {
        Ok(match demand {
            Demand::All => Places::All,
            Demand::Number => Places::Number,
            Demand::Last => Places::Last,
            Demand::One => Places::Between(0, 1),
            Demand::First(count) => match self.count(count)? {
                // The first item stays: a loop must see that there is one, as what fails for all of
                // them is found out with it.
                Some(count) => Places::Between(0, count.max(1)),
                None => Places::All,
            },
            Demand::At(index) => match self.count(index)? {
                Some(index) => Places::Between(index, index.saturating_add(1)),
                None => Places::All,
            },
        })
    }

    /// A constant that is an integer from 0; one beyond any list stands for all larger.
    pub(crate) fn count(&mut self, id: ConstId) -> Result<Option<usize>, Halt<H::Term>> {
        let term = self.constant(id);
        Ok(match self.number(term)? {
            Some(Number::Int(value)) if value >= 0 => Some(value as usize),
            Some(Number::Big(value)) if value.sign() == num_bigint::Sign::Plus => Some(usize::MAX),
            _ => None,
        })
    }
}
