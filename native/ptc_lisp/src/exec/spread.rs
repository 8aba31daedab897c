//! The arguments that the collection of an `apply` gives.

use super::enter::IN_A_SLICE;
use super::states::Spreading;
use crate::code::{Halt, Machine};
use ptc_term::heap::Heap;

/// Items between two counts of fuel.
const BATCH: usize = 64;

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
                    if state.pushed > IN_A_SLICE as usize {
                        m.meter.leave_to_quantum()?;
                    }
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
