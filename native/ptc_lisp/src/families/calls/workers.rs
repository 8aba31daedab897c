//! `pmap` and `pcalls` whose calls run side by side, each as a run of its own.

use super::accept::keep;
use super::rests::{store, Rests};
use super::Turn;
use crate::code::{Halt, Machine};
use crate::table::Builtin;
use ptc_kernels::Listing;
use ptc_term::heap::{Heap, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_vm::Next;

/// `pmap` or `pcalls` that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Workers<T> {
    form: Builtin,
    /// The function that is called with an item of each sequence.
    function: Option<T>,
    rests: Rests<T>,
    /// The functions that are called without arguments, where there is no such function.
    thunks: Roots<T>,
    /// Number of calls so far.
    at: usize,
    over: bool,
    awaits: bool,
    calls: Roots<T>,
    listing: Listing<T>,
}

rooted!(Workers {
    optional: function; states: rests, thunks, calls, listing; plain: form, at, over, awaits
});

impl<T: Copy> Workers<T> {
    /// The start of `pmap`.
    pub fn over(function: T, sources: &[T]) -> Self {
        Workers {
            form: Builtin::Pmap,
            function: Some(function),
            rests: Rests::of(sources),
            thunks: Roots::default(),
            at: 0,
            over: false,
            awaits: false,
            calls: Roots::default(),
            listing: Listing::default(),
        }
    }

    /// The start of `pcalls`.
    pub fn of_thunks(functions: &[T]) -> Self {
        Workers {
            form: Builtin::Pcalls,
            function: None,
            thunks: store(functions.iter().copied()),
            ..Workers::over(functions[0], &[])
        }
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(values) = returned.filter(|_| self.awaits) {
            return Ok(Turn::done(values));
        }
        self.rests.read(m)?;
        while !self.over {
            let parts = 1 + self.function.map_or(0, |_| self.rests.len());
            m.consume_fuel(parts)?;
            m.check_heap_limit(WORDS_OF_CELL * parts)?;
            let Some(call) = self.next(m) else {
                self.over = true;
                break;
            };
            // Only the heap limit stops it here, which ends the run.
            keep(m, &mut self.calls, call)?;
            self.at += 1;
            m.meter.advanced();
        }
        let calls = self.listing.all(m, &self.calls)?;
        if self.calls.is_empty() {
            return Ok(Turn::done(calls));
        }
        self.awaits = true;
        let name = self.form.name();
        Ok(Turn::Next(Next::Fork { name, calls }))
    }

    /// Takes the next call.
    fn next<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Option<T> {
        let Some(function) = self.function else {
            let function =
                (self.at < self.thunks.len()).then(|| self.thunks.get(m.heap, self.at))?;
            return Some(m.heap.make_list(&[function]));
        };
        let (mut call, tails) = self.rests.next(m)?;
        call.insert(0, function);
        self.rests.go_on(tails);
        Some(m.heap.make_list(&call))
    }
}
