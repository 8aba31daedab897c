//! Fuel, the clock and the word count: what keeps a run short, in time and small.

use crate::fault::Halt;
use crate::heap::Heap;
use std::time::{Duration, Instant};

/// Units of work between two looks at the clock; a unit is about as long as a map look-up.
const FUEL_BETWEEN_LOOKS: i64 = 4096;
/// How long one slice may hold its thread.
const SLICE: Duration = Duration::from_micros(900);
/// How long one quantum may take.
const QUANTUM: Duration = Duration::from_millis(25);
/// Work that is known to take longer than a slice, in units.
const MORE_THAN_A_SLICE: i64 = 100_000;

/// When a run must be over. Short runs never look at a clock: theirs starts with the first look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// Never.
    Never,
    /// This long after the clock starts.
    After(Duration),
    /// At this time.
    At(Instant),
}

impl Deadline {
    /// What is left, at `now`; nothing for [`Deadline::Never`].
    pub fn left(self, now: Instant) -> Option<Duration> {
        match self {
            Deadline::Never => None,
            Deadline::After(length) => Some(length),
            Deadline::At(end) => Some(end.saturating_duration_since(now)),
        }
    }

    /// Whether its clock has run out. Looks at no clock where none is running.
    pub fn has_passed(self) -> bool {
        matches!(self, Deadline::At(end) if Instant::now() >= end)
    }

    /// The same deadline with its clock running.
    pub fn started(self, now: Instant) -> Self {
        match self {
            // Beyond what a clock can show is never.
            Deadline::After(length) => now.checked_add(length).map_or(Self::Never, Self::At),
            other => other,
        }
    }
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// When the run must be over.
    pub deadline: Deadline,
    /// How many words it may build.
    pub words: usize,
}

impl Limits {
    /// Stands for limits that are not known yet.
    pub const PROBE: Limits = Limits {
        deadline: Deadline::Never,
        words: PROBE_WORDS,
    };
}

/// How long an execution of a run may hold its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A few steps, so few that no limit matters: for runs whose limits are not known yet.
    Probe,
    /// Less than a millisecond.
    Slice,
    /// A quantum of some milliseconds, and to the end of the instruction that it ends in: what cannot
    /// be done in a slice is done here.
    Quantum,
}

/// The units of a probe.
const PROBE_FUEL: i64 = 256;
/// The words of a probe: the least that a heap can be limited to.
const PROBE_WORDS: usize = 233;

/// Counts one execution.
#[derive(Debug)]
pub struct Meter {
    /// The limits; the deadline's clock runs as soon as a clock was looked at.
    pub limits: Limits,
    pace: Pace,
    end: Option<Instant>,
    over: bool,
    left: i64,
    refills: u32,
}

impl Meter {
    /// A meter for an execution.
    pub fn new(limits: Limits, pace: Pace) -> Self {
        Meter {
            limits,
            pace,
            end: None,
            over: false,
            left: match pace {
                Pace::Probe => PROBE_FUEL,
                Pace::Slice | Pace::Quantum => FUEL_BETWEEN_LOOKS,
            },
            refills: 0,
        }
    }

    /// Where it counts.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Ends a probe before something that must not happen in one.
    pub fn leave_probe<T>(&self) -> Result<(), Halt<T>> {
        match self.pace {
            Pace::Probe => Err(Halt::SliceOver),
            Pace::Slice | Pace::Quantum => Ok(()),
        }
    }

    /// Counts `cost` units before they are spent.
    #[inline]
    pub fn consume_fuel<H: Heap>(&mut self, cost: usize, heap: &H) -> Result<(), Halt<H::Term>> {
        self.left -= cost as i64;
        match self.left < 0 {
            true => self.refill(cost as i64, heap),
            false => Ok(()),
        }
    }

    /// Ends a quantum between two instructions.
    #[inline]
    pub fn between_instructions<T>(&self) -> Result<(), Halt<T>> {
        match self.over {
            true => Err(Halt::SliceOver),
            false => Ok(()),
        }
    }

    #[cold]
    fn refill<H: Heap>(&mut self, cost: i64, heap: &H) -> Result<(), Halt<H::Term>> {
        self.leave_probe()?;
        let now = Instant::now();
        self.limits.deadline = self.limits.deadline.started(now);
        if self.limits.deadline.left(now) == Some(Duration::ZERO) {
            return Err(Halt::DeadlinePassed);
        }
        if heap.abandoned() {
            return Err(Halt::Abandoned);
        }
        self.check_heap_limit(0, heap)?;
        let length = match self.pace {
            Pace::Quantum => QUANTUM,
            Pace::Probe | Pace::Slice => SLICE,
        };
        self.over = now >= *self.end.get_or_insert(now + length);
        if self.pace == Pace::Slice && (self.over || cost >= MORE_THAN_A_SLICE) {
            return Err(Halt::SliceOver);
        }
        self.left = FUEL_BETWEEN_LOOKS;
        self.refills += 1;
        Ok(())
    }

    /// How much of a scheduler's time slice (1 ms) has been used, in per cent, roughly.
    pub fn percent_of_slice(&self) -> i32 {
        (self.refills as i32).saturating_mul(4).min(100)
    }

    /// Whether `words` more may be built.
    #[inline]
    pub fn check_heap_limit<H: Heap>(&self, words: usize, heap: &H) -> Result<(), Halt<H::Term>> {
        match heap.words_built().saturating_add(words) > self.limits.words {
            true => Err(Halt::MemoryExceeded),
            false => Ok(()),
        }
    }

    /// Whether work of about this length can end before the deadline. For the few steps that
    /// cannot be cut up; assumes a fast machine, so that what could end is never refused.
    pub fn check_time_left<T>(&self, length: Duration) -> Result<(), Halt<T>> {
        match self.limits.deadline.left(Instant::now()) {
            Some(left) if left < length => Err(Halt::DeadlinePassed),
            _ => Ok(()),
        }
    }
}
