//! A heap and the meter of what is built on it, for work on a text.

use crate::heap::Heap;
use crate::meter::{Limits, Meter, Pace};
use crate::stop::Stop;
use std::time::Duration;

/// Returns a meter for work that has no limits and is never suspended.
pub fn unlimited() -> Meter {
    Meter::new(Limits::UNLIMITED, Pace::Quantum)
}

/// A heap and the meter of what is built on it.
pub struct Workspace<'w, H: Heap> {
    /// Where the terms are.
    pub heap: &'w mut H,
    /// The fuel and the limits.
    pub meter: &'w mut Meter,
    /// Whether a quantum may end within this work. If not, the work still ends at its deadline.
    pub suspendable: bool,
}

impl<'w, H: Heap> Workspace<'w, H> {
    /// For work that can be suspended.
    pub fn new(heap: &'w mut H, meter: &'w mut Meter) -> Self {
        Workspace {
            heap,
            meter,
            suspendable: true,
        }
    }

    /// For work that cannot be suspended: in a quantum it runs to its end or to a limit.
    pub fn in_one_go(heap: &'w mut H, meter: &'w mut Meter) -> Self {
        meter.begin_whole();
        Workspace {
            heap,
            meter,
            suspendable: false,
        }
    }

    /// Counts `cost` units before they are spent, where a quantum cannot end: the work here runs
    /// to its end, or to the deadline. A slice can end; then the work begins again.
    #[inline]
    pub fn consume_fuel(&mut self, cost: usize) -> Result<(), Stop> {
        match self.meter.consume_fuel(cost, self.heap) {
            Err(Stop::SliceOver) if self.meter.pace() == Pace::Quantum => Ok(()),
            counted => counted,
        }
    }

    /// Counts `cost` units before they are spent, where work that can be suspended stops at the end of a quantum, too.
    #[inline]
    pub fn consume_fuel_or_suspend(&mut self, cost: usize) -> Result<(), Stop> {
        if !self.suspendable {
            return self.consume_fuel(cost);
        }
        self.meter.consume_fuel(cost, self.heap)
    }

    /// Checks that `words` more may be built.
    #[inline]
    pub fn check_heap_limit(&self, words: usize) -> Result<(), Stop> {
        self.meter.check_heap_limit(words, self.heap)
    }

    /// Checks that work of about this length can end before the deadline.
    pub fn check_time_left(&self, length: Duration) -> Result<(), Stop> {
        self.meter.check_time_left(length)
    }
}
