//! Fuel, the clock and the word count: what keeps a run short, in time and small.

use crate::fault::Halt;
use crate::heap::Heap;
use std::time::{Duration, Instant};

/// Units of work between two looks at the clock; a unit is about as long as a map look-up.
const QUANTUM: i64 = 4096;
/// How long one slice may hold its thread.
const SLICE: Duration = Duration::from_micros(700);
/// Work that is known to take longer than a slice, in units.
const MORE_THAN_A_SLICE: i64 = 100_000;

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// When the run must be over.
    pub deadline: Option<Instant>,
    /// How many words it may build.
    pub words: usize,
}

/// Counts one slice (or one unsliced stretch) of a run.
#[derive(Debug)]
pub struct Meter {
    limits: Limits,
    slice_end: Option<Instant>,
    left: i64,
    refills: u32,
}

impl Meter {
    /// A meter that starts now; `sliced` gives the thread back after [`SLICE`].
    pub fn start(limits: Limits, sliced: bool) -> Self {
        Meter {
            limits,
            slice_end: sliced.then(|| Instant::now() + SLICE),
            left: QUANTUM,
            refills: 0,
        }
    }

    /// Counts `cost` units before they are spent.
    #[inline]
    pub fn tick<H: Heap>(&mut self, cost: usize, heap: &H) -> Result<(), Halt<H::Term>> {
        self.left -= cost as i64;
        match self.left < 0 {
            true => self.refill(cost as i64, heap),
            false => Ok(()),
        }
    }

    #[cold]
    fn refill<H: Heap>(&mut self, cost: i64, heap: &H) -> Result<(), Halt<H::Term>> {
        let now = Instant::now();
        if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(Halt::DeadlinePassed);
        }
        if heap.abandoned() {
            return Err(Halt::Abandoned);
        }
        self.room_for(0, heap)?;
        let too_long = |end| now >= end || cost >= MORE_THAN_A_SLICE;
        if self.slice_end.is_some_and(too_long) {
            return Err(Halt::SliceOver);
        }
        self.left = QUANTUM;
        self.refills += 1;
        Ok(())
    }

    /// How much of a scheduler's time slice (1 ms) has been used, in per cent, roughly.
    pub fn percent_of_slice(&self) -> i32 {
        (self.refills as i32).saturating_mul(4).min(100)
    }

    /// Whether `words` more may be built.
    #[inline]
    pub fn room_for<H: Heap>(&self, words: usize, heap: &H) -> Result<(), Halt<H::Term>> {
        match heap.words_built().saturating_add(words) > self.limits.words {
            true => Err(Halt::MemoryExceeded),
            false => Ok(()),
        }
    }

    /// Whether work of about this length can end before the deadline. For the few steps that
    /// cannot be cut up; assumes a fast machine, so that what could end is never refused.
    pub fn time_for<T>(&self, length: Duration) -> Result<(), Halt<T>> {
        let Some(deadline) = self.limits.deadline else {
            return Ok(());
        };
        match Instant::now() + length > deadline {
            true => Err(Halt::DeadlinePassed),
            false => Ok(()),
        }
    }
}
