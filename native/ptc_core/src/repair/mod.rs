//! Answers that are almost right, repaired.
//!
//! A text is read in all likely ways at once. Where it is right there is one, and it costs nothing;
//! around a fault there are several, each with the repairs it needs and what they cost. Those that
//! do not give a value of the wanted type are given up, and so are those that cost too much more
//! than others that have come as far. The cheapest one counts; where two that give different
//! values cost the same, none does.
//!
//! * [`wanted`], [`shape`]: the types, as the search needs them
//! * [`fault`]: what can be wrong, and what it costs
//! * [`branch`]: one reading; [`log`]: what all of them have found
//! * [`reader`]: the readings that are alive; [`search`]: how they go on
//! * [`strict`], [`look`]: a step where the text is right
//! * [`keys`], [`colons`], [`values`], [`quotes`], [`strings`], [`bare`], [`after`]: the ways to go on
//!   where it is not; [`leftover`]: the end
//! * [`start`]: where in a text the answer may begin; [`places`]: one such place after the other
//! * [`replay`]: the value and the repairs of a reading; [`lines`]: lines and columns
//!
//! The number of readings is bounded, each looks ahead a bounded way or is charged for it, nothing
//! recurses, and everything is linear in the text.

mod after;
mod bare;
mod branch;
mod colons;
mod fault;
mod fits;
mod keys;
mod leftover;
mod lines;
mod log;
mod look;
mod numbers;
mod places;
mod quotes;
mod reader;
mod replay;
mod same;
mod scan;
mod search;
mod shape;
mod start;
mod strict;
mod strings;
mod unescape;
mod values;
mod wanted;

#[cfg(test)]
mod tests;

pub use crate::stop::Stop;
pub use fault::Fault;
pub use fits::Fits;
pub use lines::line_and_column;
pub use places::Repairing;
pub use replay::{Repair, Repaired, Step};
pub use wanted::Wanted;

use crate::heap::Heap;
use crate::meter::{Meter, Pace};

/// Why a text is not repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No reading gives a value of the type.
    NoReading,
    /// Different values are as likely; the offsets where they part.
    Ambiguous(Vec<usize>),
    /// The meter has stopped it.
    Stopped(Stop),
}

/// Whether the JSON that stands in a text is only a part of an answer whose first bracket is missing.
pub fn is_part(text: &[u8]) -> bool {
    start::is_part(text).is_some()
}

/// Reads a text that is no JSON, or not of the type, in one go.
pub fn repair<'r, 'w, H: Heap>(
    text: &'r [u8],
    wanted: &'r Wanted<'w>,
    meter: &mut Meter,
    heap: &H,
) -> Result<Repaired<'r, 'w>, Refusal> {
    let mut repairing = Repairing::new(text.len());
    loop {
        match repairing.go_on(text, wanted, meter, heap) {
            Err(Refusal::Stopped(Stop::SliceOver)) if meter.pace() == Pace::Quantum => {
                meter.renew();
            }
            outcome => return outcome,
        }
    }
}
