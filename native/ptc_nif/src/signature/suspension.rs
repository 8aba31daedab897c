//! Walks that are suspended between two quanta: a resource holds the plain data, the caller holds the terms.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::Pace;
use crate::task::{suspend, Left, Place};
use ptc_core::meter::Meter;
use ptc_core::signature::coerce::{Coerce, Frozen, Mark};
use ptc_core::signature::walk::Suspended;
use ptc_core::signature::{Check, FrozenFindings, Types, Walk, WalkEnd};
use rustler::{Encoder, Env, Term};
use std::time::{Duration, Instant};

/// A suspended walk with its types, which are read only once.
pub struct LeftWalk {
    pub at: LeftAt,
    pub types: Types,
}

/// Where a walk was suspended.
pub enum LeftAt {
    Check(Suspended<(), Check>),
    Coerce(Suspended<Mark, Frozen>),
    /// After the walk, while its findings are listed.
    Errors(FrozenFindings),
}

/// A task whose walk can be suspended.
pub trait Task<'a>: ptc_core::signature::walk::Task<Beam<'a>> {
    fn left(suspended: Suspended<Self::Mark, Self::Frozen>) -> LeftAt;
}

impl<'a> Task<'a> for Check {
    fn left(suspended: Suspended<(), Check>) -> LeftAt {
        LeftAt::Check(suspended)
    }
}

impl<'a> Task<'a> for Coerce<Raw<'a>> {
    fn left(suspended: Suspended<Mark, Frozen>) -> LeftAt {
        LeftAt::Coerce(suspended)
    }
}

/// Decides how long a call may continue a walk.
pub struct QuantumClock {
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
    pub fn run<'a, K: Task<'a>>(&self, walk: &mut Walk<Beam<'a>, K>) -> Result<K::Done, WalkEnd> {
        loop {
            match walk.run() {
                Err(WalkEnd::SliceOver) if self.pace == Pace::Quantum && self.goes_on(walk) => {
                    walk.refuel(Meter::new(walk.meter().limits, self.pace));
                }
                outcome => return outcome,
            }
        }
    }

    fn goes_on<'a, K: Task<'a>>(&self, walk: &Walk<Beam<'a>, K>) -> bool {
        let grows = walk.remembers() && walk.fuel() - self.fuel < self.fuel / 4;
        let prepares = |(begun, time): (Instant, Duration)| begun.elapsed() < 2 * time;
        grows || self.begun.is_some_and(prepares)
    }
}

/// Suspends the walk: `{:long, state, terms}`; the first two terms are the type and the value.
pub fn leave<'a>(
    env: Env<'a>,
    left: LeftWalk,
    (of, value): (Term<'a>, Term<'a>),
    kept: Vec<Raw<'a>>,
    reuse: Option<Place<'a>>,
) -> Term<'a> {
    let mut held = vec![of.into(), value.into()];
    held.extend(kept);
    let state = suspend(env, Left::Walk(Box::new(left)), Some(Instant::now()), reuse);
    let held = Terms { env }.make_tuple(&held).term(env);
    (atoms::long(), state, held).encode(env)
}
