//! Walks that are suspended between two quanta: a resource holds the plain data, the caller holds the terms.

use super::read::Read;
use crate::atoms;

use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::Pace;
use crate::task::{suspend, Left, Suspension};
use ptc_core::meter::{Limits, Meter};
use ptc_core::signature::coerce::{Coerce, Frozen, Mark};
use ptc_core::signature::walk::Suspended;
use ptc_core::signature::{Check, Walk, WalkEnd};
use rustler::{Encoder, ResourceArc, Term};
use std::time::{Duration, Instant};

/// A suspended walk, and whether it treats all maps as closed.
pub enum LeftWalk {
    Check(Suspended<(), Check>, bool),
    Coerce(Suspended<Mark, Frozen>, bool),
}

impl LeftWalk {
    pub fn is_closed(&self) -> bool {
        let (LeftWalk::Check(_, closed) | LeftWalk::Coerce(_, closed)) = self;
        *closed
    }
}

/// A task whose walk can be suspended.
pub trait Task<'a>: ptc_core::signature::walk::Task<Beam<'a>> {
    fn left(suspended: Suspended<Self::Mark, Self::Frozen>, closed: bool) -> LeftWalk;
}

impl<'a> Task<'a> for Check {
    fn left(suspended: Suspended<(), Check>, closed: bool) -> LeftWalk {
        LeftWalk::Check(suspended, closed)
    }
}

impl<'a> Task<'a> for Coerce<Raw<'a>> {
    fn left(suspended: Suspended<Mark, Frozen>, closed: bool) -> LeftWalk {
        LeftWalk::Coerce(suspended, closed)
    }
}

/// Decides how long a call may continue a walk.
pub struct QuantumClock {
    pub pace: Pace,
    /// The start of a quantum, and the time to read the types, which each call does again.
    begun: Option<(Instant, Duration)>,
    /// The walk's fuel at the start of the call.
    fuel: usize,
}

impl QuantumClock {
    /// The types have been read since `begun`; `None` in a slice, which measures no time.
    pub fn new(pace: Pace, begun: Option<Instant>, fuel: usize) -> Self {
        QuantumClock {
            pace,
            begun: begun.map(|begun| (begun, begun.elapsed())),
            fuel,
        }
    }

    /// Runs a walk for a quantum. Two kinds of walk run longer. A walk whose types take longer than a
    /// quantum to read runs for the time of that reading. A walk with a memo loses the memo when it is
    /// suspended and might then never end, so it runs for a quarter of its fuel so far.
    pub fn run<'a, K: Task<'a>>(&self, walk: &mut Walk<Beam<'a>, K>) -> Result<K::Done, WalkEnd> {
        loop {
            match walk.run() {
                Err(WalkEnd::SliceOver) if self.pace == Pace::Quantum && self.goes_on(walk) => {
                    walk.refuel(Meter::new(Limits::UNLIMITED, self.pace));
                }
                outcome => return outcome,
            }
        }
    }

    fn goes_on<'a, K: Task<'a>>(&self, walk: &Walk<Beam<'a>, K>) -> bool {
        let grows = walk.remembers() && walk.fuel() - self.fuel < self.fuel / 4;
        let reads = |(begun, reading): (Instant, Duration)| begun.elapsed() < 2 * reading;
        grows || self.begun.is_some_and(reads)
    }
}

/// Suspends the walk: `{:long, state, terms}`; the first two terms are the type and the value.
pub fn leave<'a, K: Task<'a>>(
    walk: Walk<'_, '_, Beam<'a>, K>,
    read: &Read<'a>,
    (of, value): (Term<'a>, Term<'a>),
    reuse: Option<ResourceArc<Suspension>>,
) -> Term<'a> {
    let terms = walk.heap.terms;
    let (suspended, kept) = walk.suspend();
    let mut held = vec![of.into(), value.into()];
    held.extend(kept);
    let left = Left::Walk(Box::new(K::left(suspended, read.closed)));
    let state = suspend(left, reuse);
    let held = terms.make_tuple(&held).term(terms.env);
    (atoms::long(), state, held).encode(terms.env)
}
