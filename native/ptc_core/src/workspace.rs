//! What work on a text is done with: a heap, and the meter of what is built on it.

use crate::fault::Halt;
use crate::heap::Heap;
use crate::meter::{Limits, Meter, Pace};
use crate::stop::Stop;
use std::time::Duration;

/// A meter for work that has no limits and is never suspended.
pub fn unlimited() -> Meter {
    Meter::new(Limits::UNLIMITED, Pace::Quantum)
}

/// A heap and the meter of what is built on it.
pub struct Workspace<'w, H: Heap> {
    /// Where the terms are.
    pub heap: &'w mut H,
    /// The limits.
    pub meter: &'w mut Meter,
    /// Whether a quantum may end within this work. If not, it ends at its deadline all the same.
    pub suspendable: bool,
}

impl<'w, H: Heap> Workspace<'w, H> {
    /// Work that can be suspended.
    pub fn new(heap: &'w mut H, meter: &'w mut Meter) -> Self {
        Workspace {
            heap,
            meter,
            suspendable: true,
        }
    }

    /// Work that cannot: in a quantum it goes on to its end or to a limit.
    pub fn in_one_go(heap: &'w mut H, meter: &'w mut Meter) -> Self {
        meter.begin_whole();
        Workspace {
            heap,
            meter,
            suspendable: false,
        }
    }

    /// Counts `cost` units before they are spent, where a quantum cannot end: what is done here is
    /// done to its end, or to the deadline. A slice can end, and the work begins again.
    #[inline]
    pub fn consume_fuel(&mut self, cost: usize) -> Result<(), Stop> {
        match self.meter.consume_fuel(cost, self.heap) {
            Err(Halt::SliceOver) if self.meter.pace() == Pace::Quantum => Ok(()),
            counted => Ok(counted?),
        }
    }

    /// The same where work can be suspended.
    #[inline]
    pub fn consume_fuel_or_suspend(&mut self, cost: usize) -> Result<(), Stop> {
        if !self.suspendable {
            return self.consume_fuel(cost);
        }
        Ok(self.meter.consume_fuel(cost, self.heap)?)
    }

    /// Whether `words` more may be built.
    #[inline]
    pub fn check_heap_limit(&self, words: usize) -> Result<(), Stop> {
        Ok(self.meter.check_heap_limit(words, self.heap)?)
    }

    /// Whether work of about this length can end before the deadline.
    pub fn check_time_left(&self, length: Duration) -> Result<(), Stop> {
        Ok(self.meter.check_time_left::<H::Term>(length)?)
    }
}
