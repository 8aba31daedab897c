//! `map` over several sequences: it ends with the shortest one.

use super::accept::keep;
use super::function::{Applied, FunctionLike};
use super::Turn;
use crate::code::{Halt, Machine};
use crate::exec::checks::invalid_types;
use crate::families::seqs;
use crate::table::Builtin;
use ptc_kernels::Listing;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// `map` that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Several<T> {
    builtin: Builtin,
    function: FunctionLike<T>,
    /// The sequences: what is not visited yet of those that are read.
    rests: Vec<T>,
    /// Number of sequences that are read.
    read: usize,
    awaits: bool,
    over: bool,
    kept: Roots<T>,
    listing: Listing<T>,
}

rooted!(Several {
    lists: rests; states: function, kept, listing; plain: builtin, read, awaits, over
});

impl<T: Copy> Several<T> {
    /// The start.
    pub fn over(builtin: Builtin, function: FunctionLike<T>, sources: &[T]) -> Self {
        Several {
            builtin,
            function,
            rests: sources.to_vec(),
            read: 0,
            awaits: false,
            over: false,
            kept: Roots::default(),
            listing: Listing::default(),
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(value) = returned.filter(|_| self.awaits) {
            keep(m, &mut self.kept, value)?;
        }
        self.awaits = false;
        while self.read < self.rests.len() {
            self.rests[self.read] = seqs::items(m, self.rests[self.read])?;
            self.read += 1;
            m.meter.advanced();
        }
        while !self.over {
            m.consume_fuel(self.rests.len())?;
            let Some((items, tails)) = self.next(m) else {
                self.over = true;
                break;
            };
            match self.function.apply_to(m, &items)? {
                Applied::Value(value) => {
                    keep(m, &mut self.kept, value)?;
                    self.rests = tails;
                    m.meter.advanced();
                }
                Applied::Called => {
                    let next = self.function.call(m, &items)?;
                    (self.rests, self.awaits) = (tails, true);
                    return Ok(Turn::Next(next));
                }
                Applied::Refused => {
                    let mut given = vec![self.function.term];
                    given.extend(&self.rests);
                    return Err(invalid_types(self.builtin, &given));
                }
            }
        }
        Ok(Turn::done(self.listing.all(m, &self.kept)?))
    }

    /// Returns the next items, and what follows them.
    fn next<H: Heap<Term = T>>(&self, m: &Machine<'_, H>) -> Option<(Vec<T>, Vec<T>)> {
        let nexts = self.rests.iter().map(|rest| m.heap.uncons(*rest));
        nexts
            .collect::<Option<Vec<_>>>()
            .map(|all| all.into_iter().unzip())
    }
}
