//! The arguments that the collection of an `apply` gives.

use crate::code::{Halt, Machine};
use ptc_term::heap::Heap;
use ptc_term::suspend::{Exchange, Rooted};

/// Items between two counts of fuel.
const BATCH: usize = 64;

/// A list whose items are being pushed.
#[derive(Debug, Clone, PartialEq)]
pub struct Spreading<T> {
    rest: T,
    pushed: usize,
}

impl<T> Rooted for Spreading<T> {
    type Term = T;
    type With<U> = Spreading<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Spreading<X::Into>, X::Lost> {
        Ok(Spreading {
            rest: by.term(self.rest)?,
            pushed: self.pushed,
        })
    }
}

/// Pops a list and pushes its items; returns their number. Can be suspended and resumed.
pub fn spread<H: Heap>(m: &mut Machine<'_, H>) -> Result<usize, Halt<H>> {
    m.resumable(
        |m| Spreading {
            rest: m.pop(),
            pushed: 0,
        },
        |m, state| {
            while let Some((item, rest)) = m.heap.uncons(state.rest) {
                if state.pushed % BATCH == 0 {
                    m.consume_fuel(BATCH)?;
                    m.check_heap_limit(state.pushed)?;
                }
                m.push(item);
                state.rest = rest;
                state.pushed += 1;
                m.meter.advanced();
            }
            Ok(state.pushed)
        },
    )
}
