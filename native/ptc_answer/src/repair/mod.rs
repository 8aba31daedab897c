//! Repair of answers that are almost correct.
//!
//! The text is read in all likely ways at the same time. Where it is correct there is one reading, at
//! no cost; around a fault there are several, each with its repairs and their cost. The search drops a
//! reading that does not give a value of the wanted type, or that costs much more than others at the
//! same offset. The cheapest reading wins; if two that give different values cost the same, none does.
//!
//! * [`policy`]: what is asked, and the faults with their costs
//! * [`text`]: bytes at an offset, and where an answer may begin
//! * [`readings`]: one reading, and the events of all of them; [`reader`]: the set of those that are alive
//! * [`places`]: the loop over the offsets where the answer may begin; [`search`]: the search from one of
//!   them, in strict steps while the text is correct
//! * [`keys`], [`values`], [`strings`], [`after`]: the repairs at each kind of position
//! * [`cut`]: texts that end too early; [`result`]: the value and the repairs of a reading
//!
//! The number of readings is bounded, and each one looks ahead a bounded distance or counts fuel for
//! it. Nothing recurses, and the total work is linear in the text.

mod after;
mod cut;
mod keys;
mod places;
mod policy;
mod reader;
mod readings;
mod result;
mod search;
mod strings;
mod text;
mod values;

#[cfg(test)]
mod tests;

pub use crate::PathPart;
pub use cut::Where;
pub use places::Repairing;
pub use policy::{AtEnd, Fault, Wanted};
pub use ptc_term::stop::Stop;
pub use result::{judged_value, AnswerOf, Repair, Repaired};
pub use text::line_and_column;

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
    text::is_part(text).is_some()
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
