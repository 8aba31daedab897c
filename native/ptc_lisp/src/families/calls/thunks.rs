//! `pcalls`: functions without parameters are called, one after the other.

use super::accept::keep;
use super::rests::store;
use super::Turn;
use crate::code::{Halt, Machine};
use ptc_kernels::Listing;
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_vm::Next;

/// `pcalls` that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Thunks<T> {
    functions: Roots<T>,
    /// Number of functions that are called.
    at: usize,
    awaits: bool,
    kept: Roots<T>,
    listing: Listing<T>,
}

rooted!(Thunks { states: functions, kept, listing; plain: at, awaits });

impl<T: Copy> Thunks<T> {
    /// The start.
    pub fn of(functions: &[T]) -> Self {
        Thunks {
            functions: store(functions.iter().copied()),
            at: 0,
            awaits: false,
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
        if self.at == self.functions.len() {
            return Ok(Turn::done(self.listing.all(m, &self.kept)?));
        }
        let function = self.functions.get(m.heap, self.at);
        (self.at, self.awaits) = (self.at + 1, true);
        Ok(Turn::Next(Next::Call(function, 0)))
    }
}
