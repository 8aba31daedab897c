//! A walk of any task between two quanta, and how long a quantum goes on.

use super::super::coerce::{Coerce, Mark};
use super::super::values::Values;
use super::super::{Check, Listing, Types};
use super::{State, Task, Walk, WalkEnd};
use ptc_term::meter::{Meter, Pace};
use ptc_term::suspend::{Exchange, Rooted};
use std::time::{Duration, Instant};

/// A walk with its types, which are read only once.
#[derive(Debug)]
pub struct LeftWalk<T> {
    /// Where it is.
    pub at: LeftAt<T>,
    /// The types.
    pub types: Types,
}

/// Where a walk is.
#[derive(Debug)]
pub enum LeftAt<T> {
    /// In a check.
    Check(State<T, Check<T>, usize>),
    /// In a coercion.
    Coerce(State<T, Coerce<T>, Mark>),
    /// After the walk, while its findings are listed.
    Errors(Listing<T>),
}

impl<T> Rooted for LeftWalk<T> {
    type Term = T;
    type With<U> = LeftWalk<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<LeftWalk<X::Into>, X::Lost> {
        let at = match self.at {
            LeftAt::Check(state) => LeftAt::Check(state.exchange(by)?),
            LeftAt::Coerce(state) => LeftAt::Coerce(state.exchange(by)?),
            LeftAt::Errors(listing) => LeftAt::Errors(listing.exchange(by)?),
        };
        let types = self.types;
        Ok(LeftWalk { at, types })
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
