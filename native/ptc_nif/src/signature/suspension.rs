//! A walk between two quanta: its plain part as a resource, its terms with the caller.

use super::read::Read;
use super::{meter, Pace};
use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use ptc_core::signature::coerce::{Coerce, Frozen, Mark};
use ptc_core::signature::walk::Suspended;
use ptc_core::signature::{Check, Stop, Walk};
use rustler::{Encoder, Resource, ResourceArc, Term};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A walk that was left.
pub enum Left {
    Check(Suspended<(), Check>),
    Coerce(Suspended<Mark, Frozen>),
}

/// A walk between two calls, and whether it takes all maps for closed; empty while it goes on, so that
/// it cannot be taken up twice.
pub struct Held(Mutex<Option<(Left, bool)>>);

#[rustler::resource_impl]
impl Resource for Held {}

impl Held {
    /// What was left, once.
    pub fn take(&self) -> Option<(Left, bool)> {
        self.0.try_lock().ok()?.take()
    }
}

/// A task that can be left.
pub trait Task<'a>: ptc_core::signature::walk::Task<Beam<'a>> {
    fn left(suspended: Suspended<Self::Mark, Self::Frozen>) -> Left;
}

impl<'a> Task<'a> for Check {
    fn left(suspended: Suspended<(), Check>) -> Left {
        Left::Check(suspended)
    }
}

impl<'a> Task<'a> for Coerce<Raw<'a>> {
    fn left(suspended: Suspended<Mark, Frozen>) -> Left {
        Left::Coerce(suspended)
    }
}

/// How long a call may go on with a walk.
pub struct Turn {
    pub pace: Pace,
    /// When a quantum began, and what reading the types took, which each call does anew.
    begun: Option<(Instant, Duration)>,
    /// The walk's fuel when the call began.
    fuel: usize,
}

impl Turn {
    /// The types were read since `begun`, if there is a clock: a slice has none.
    pub fn new(pace: Pace, begun: Option<Instant>, fuel: usize) -> Self {
        Turn {
            pace,
            begun: begun.map(|begun| (begun, begun.elapsed())),
            fuel,
        }
    }

    /// Runs a walk for a quantum. Two kinds of walk get more at once: where reading the types takes
    /// longer than that, and where what the walk remembers, which is lost when it is left, would not
    /// bring it to its end: it gets a quarter of what it had so far.
    pub fn run<'a, K: Task<'a>>(&self, walk: &mut Walk<Beam<'a>, K>) -> Result<K::Done, Stop> {
        loop {
            match walk.run() {
                Err(Stop::Over) if self.pace == Pace::Quantum && self.goes_on(walk) => {
                    walk.refuel(meter(self.pace));
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

/// `{:more, state, terms}`; the first of the terms is the value.
pub fn leave<'a, K: Task<'a>>(
    walk: Walk<'_, '_, Beam<'a>, K>,
    read: &Read<'a>,
    value: Term<'a>,
    reuse: Option<ResourceArc<Held>>,
) -> Term<'a> {
    let terms = walk.heap.terms;
    let (suspended, mut kept) = walk.suspend();
    kept.insert(0, value.into());
    let held = reuse.unwrap_or_else(|| ResourceArc::new(Held(Mutex::new(None))));
    if let Ok(mut place) = held.0.try_lock() {
        *place = Some((K::left(suspended), read.closed));
    }
    let kept = terms.make_tuple(&kept).term(terms.env);
    (atoms::more(), held, kept).encode(terms.env)
}
