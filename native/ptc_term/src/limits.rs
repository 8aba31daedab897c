//! The limits of a run, and how long one of its executions may occupy its thread.

use std::time::{Duration, Instant};

/// When a run must be over. Short runs never read a clock: theirs starts with the first read.
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
    /// Returns the remaining time at `now`; `None` for [`Deadline::Never`].
    pub fn left(self, now: Instant) -> Option<Duration> {
        match self {
            Deadline::Never => None,
            Deadline::After(length) => Some(length),
            Deadline::At(end) => Some(end.saturating_duration_since(now)),
        }
    }

    /// Returns whether the deadline has passed. Reads the clock only if the deadline's clock
    /// runs.
    pub fn has_passed(self) -> bool {
        matches!(self, Deadline::At(end) if Instant::now() >= end)
    }

    /// Returns the same deadline with its clock running.
    pub fn started(self, now: Instant) -> Self {
        match self {
            // A time that the clock cannot represent counts as never.
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
    /// Maximum number of words that it may build.
    pub words: usize,
}

impl Limits {
    /// For work without limits, apart from its pace.
    pub const UNLIMITED: Limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };

    /// Stands in for limits that are not known yet.
    pub const PROBE: Limits = Limits {
        deadline: Deadline::Never,
        words: PROBE_WORDS,
    };
}

/// How long one execution of a run may occupy its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A few steps, too few to reach any limit: for runs whose limits are not known yet.
    Probe,
    /// A time slice on a normal scheduler: less than a millisecond.
    Slice,
    /// A time slice on a dirty scheduler. Steps that cannot be interrupted are completed here.
    Quantum,
}

/// The words of a probe: the smallest heap limit possible.
const PROBE_WORDS: usize = 233;
