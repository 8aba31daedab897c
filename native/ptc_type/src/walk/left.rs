//! Walks of any task that were left between two quanta, and how long a quantum goes on.

use super::super::coerce::{Coerce, Frozen, Mark};
use super::super::listing::FrozenListing;
use super::super::values::Values;
use super::super::{Check, Types};
use super::{Suspended, Task, Walk, WalkEnd};
use ptc_term::meter::{Meter, Pace};
use std::time::{Duration, Instant};

/// A suspended walk with its types, which are read only once.
#[derive(Debug)]
pub struct LeftWalk {
    /// Where it was suspended.
    pub at: LeftAt,
    /// The types.
    pub types: Types,
}

/// Where a walk was suspended.
#[derive(Debug)]
pub enum LeftAt {
    /// In a check.
    Check(Suspended<(), Check>),
    /// In a coercion.
    Coerce(Suspended<Mark, Frozen>),
    /// After the walk, while its findings are listed.
    Errors(FrozenListing),
}

/// A task whose walk can be left.
pub trait Resumable<H: Values>: Task<H> {
    /// Returns the suspended walk as one of any task.
    fn left(suspended: Suspended<Self::Mark, Self::Frozen>) -> LeftAt;
}

impl<H: Values> Resumable<H> for Check {
    fn left(suspended: Suspended<(), Check>) -> LeftAt {
        LeftAt::Check(suspended)
    }
}

impl<H: Values> Resumable<H> for Coerce<H::Term> {
    fn left(suspended: Suspended<Mark, Frozen>) -> LeftAt {
        LeftAt::Coerce(suspended)
    }
}

/// Decides how long a call may continue a walk.
#[derive(Debug)]
pub struct QuantumClock {
    /// The pace of the call.
    pub pace: Pace,
    /// The start of a quantum, and the time to prepare the walk: to read the types, or to resume.
    begun: Option<(Instant, Duration)>,
    /// The walk's fuel at the start of the call.
    fuel: usize,
}

impl QuantumClock {
    /// The walk has been prepared since `begun`; `None` in a slice, which measures no time.
    pub fn new(pace: Pace, begun: Option<Instant>, fuel: usize) -> Self {
        QuantumClock {
            pace,
            begun: begun.map(|begun| (begun, begun.elapsed())),
            fuel,
        }
    }

    /// Runs a walk for a quantum. Two kinds of walk run longer. A walk that takes longer than a
    /// quantum to prepare runs for the time of that preparation. A walk with a memo loses the memo when it is
    /// suspended and might then never end, so it runs for a quarter of its fuel so far.
    pub fn run<H: Values, K: Task<H>>(&self, walk: &mut Walk<H, K>) -> Result<K::Done, WalkEnd> {
        loop {
            match walk.run() {
                Err(WalkEnd::SliceOver) if self.pace == Pace::Quantum && self.goes_on(walk) => {
                    walk.refuel(Meter::new(walk.meter().limits, self.pace));
                }
                outcome => return outcome,
            }
        }
    }

    fn goes_on<H: Values, K: Task<H>>(&self, walk: &Walk<H, K>) -> bool {
        let grows = walk.remembers() && walk.fuel() - self.fuel < self.fuel / 4;
        let prepares = |(begun, time): (Instant, Duration)| begun.elapsed() < 2 * time;
        grows || self.begun.is_some_and(prepares)
    }
}
