//! Repair of answers that are almost correct.
//!
//! The text is read in all likely ways at the same time. Where it is correct there is one reading, at
//! no cost; around a fault there are several, each with its repairs and their cost. The search drops a
//! reading that does not give a value of the wanted type, or that costs much more than others at the
//! same offset. The cheapest reading wins; if two that give different values cost the same, none does.
//!
//! * [`wanted`]: the type, and what is done with a text that was cut off
//! * [`fault`]: the faults, and their costs
//! * [`branch`]: one reading; [`log`]: the events of all readings
//! * [`reader`]: the readings that are alive; [`search`]: the search that advances them
//! * [`strict`], [`lookahead`]: a step where the text is correct
//! * [`keys`], [`colons`], [`values`], [`quotes`], [`strings`], [`bare`], [`after`]: the repairs at
//!   each kind of position; [`leftover`]: the end; [`cut`]: texts that end too early
//! * [`start`]: offsets where the answer may begin; [`places`]: the loop over these offsets
//! * [`valid`]: text that is valid JSON, of which nothing but values and keys is converted
//! * [`replay`]: the value and the repairs of a reading; [`judged`]: the value, built and judged; [`lines`]: lines and columns
//!
//! The number of readings is bounded, and each one looks ahead a bounded distance or counts fuel for
//! it. Nothing recurses, and the total work is linear in the text.

mod after;
mod bare;
mod branch;
mod colons;
mod cut;
mod fault;
mod judged;
mod keys;
mod leftover;
mod lines;
mod log;
mod lookahead;
mod numbers;
mod places;
mod quotes;
mod reader;
mod replay;
mod same;
mod scan;
mod search;
mod start;
mod strict;
mod strings;
mod unescape;
mod valid;
mod values;
mod wanted;

#[cfg(test)]
mod tests;

pub use crate::PathPart;
pub use cut::{AtEnd, Where};
pub use fault::Fault;
pub use judged::{judged_value, AnswerOf};
pub use lines::line_and_column;
pub use places::Repairing;
pub use ptc_term::stop::Stop;
pub use replay::{Repair, Repaired};
pub use wanted::Wanted;

use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};

/// Why a text is not repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No reading gives a value of the type.
    NoReading,
    /// Different values are equally likely; the offsets where they diverge.
    Ambiguous(Vec<usize>),
    /// The text ends before the answer is complete.
    Truncated(Where),
    /// The meter stopped the search.
    Stopped(Stop),
}

impl From<Stop> for Refusal {
    fn from(stop: Stop) -> Self {
        Refusal::Stopped(stop)
    }
}

/// Returns whether the JSON in a text is only a part of an answer whose first bracket is missing.
pub fn is_part(text: &[u8]) -> bool {
    start::is_part(text).is_some()
}

/// Repairs a text that is not JSON, or not of the type, without suspending.
pub fn repair<'r, H: Heap>(
    text: &'r [u8],
    wanted: &'r Wanted,
    meter: &mut Meter,
    heap: &H,
) -> Result<Repaired<'r>, Refusal> {
    let mut repairing = Repairing::new(text.len());
    loop {
        match repairing.resume(text, wanted, meter, heap) {
            Err(Refusal::Stopped(Stop::SliceOver)) if meter.pace() == Pace::Quantum => {
                meter.renew();
            }
            outcome => return outcome,
        }
    }
}
