//! `map` over several sequences: it ends with the shortest one.

use super::accept::keep;
use super::function::{Applied, FunctionLike};
use super::rests::Rests;
use super::Turn;
use crate::code::{Halt, Machine};
use crate::exec::checks::invalid_types;
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
    rests: Rests<T>,
    awaits: bool,
    over: bool,
    kept: Roots<T>,
    listing: Listing<T>,
}

rooted!(Several {
    states: function, rests, kept, listing; plain: builtin, awaits, over
});

impl<T: Copy> Several<T> {
    /// The start.
    pub fn over(builtin: Builtin, function: FunctionLike<T>, sources: &[T]) -> Self {
        Several {
            builtin,
            function,
            rests: Rests::of(sources),
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
        self.rests.read(m)?;
        while !self.over {
            m.consume_fuel(self.rests.len())?;
            let Some((items, tails)) = self.rests.next(m) else {
                self.over = true;
                break;
            };
            match self.function.apply_to(m, &items)? {
                Applied::Value(value) => {
                    keep(m, &mut self.kept, value)?;
                    self.rests.go_on(tails);
                    m.meter.advanced();
                }
                Applied::Called => {
                    let next = self.function.call(m, &items)?;
                    self.rests.go_on(tails);
                    self.awaits = true;
                    return Ok(Turn::Next(next));
                }
                Applied::Refused => {
                    let mut given = vec![self.function.term];
                    given.extend(self.rests.all(m));
                    return Err(invalid_types(self.builtin, &given));
                }
            }
        }
        Ok(Turn::done(self.listing.all(m, &self.kept)?))
    }
}
