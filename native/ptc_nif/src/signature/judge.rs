//! Checks whether a value from an answer has the requested type.

use super::errors::Listing;
use super::read::{read, Read, ReadOptions};
use super::suspension::{LeftAt, LeftWalk, QuantumClock, Task};
use super::type_atoms::TypeAtoms;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::rules;
use crate::schedule::{settle, whole, Pace};
use ptc_core::fault::Halt;
use ptc_core::meter::{Limits, Meter};
use ptc_core::signature::{
    AnswerType, Check, Findings, Scalar, Type, TypeId, Types, Walk, WalkEnd,
};
use ptc_core::stop::Stop;
use rustler::Env;
use std::time::Instant;

/// The result of the check.
pub enum Verdict<'a> {
    /// The value has the type.
    Right,
    /// The value does not have the type; the errors, and the number of those that are not listed.
    Wrong { errors: Raw<'a>, omitted: usize },
    /// Only Elixir can decide: strings may have to become dates, keys may be atoms, or the type is invalid.
    Undecided,
    /// The slice or the quantum is over; the check can be resumed in a quantum, with its terms.
    Left(Box<LeftWalk>, Vec<Raw<'a>>),
    /// The check takes too long for a normal scheduler, and must begin again.
    Busy,
    /// A limit was reached, or the caller has ended.
    Stopped(Stop),
}

/// A check of a value whose keys are strings.
pub struct Judge<'j, 'a> {
    pub heap: &'j mut Beam<'a>,
    pub value: Raw<'a>,
    /// The deadline, and the words that the list of errors may take. The deadline's clock is started.
    pub limits: &'j mut Limits,
    pub pace: Pace,
    /// Bytes of the text that shows the errors: errors that are certainly beyond it are only counted.
    pub text: Option<usize>,
}

impl<'a> Judge<'_, 'a> {
    /// Checks the value against a type.
    pub fn begin(self, of: Raw<'a>) -> Verdict<'a> {
        let begun = (self.pace == Pace::Quantum).then(Instant::now);
        if TypeAtoms::new(self.heap.terms.env).scalar(of) == Some(Scalar::Any) {
            return Verdict::Right;
        }
        let mut meter = whole(*self.limits, self.pace);
        let read = types(self.heap, of, &mut meter);
        self.limits.deadline = meter.limits.deadline;
        let (Read { types, .. }, id) = match read {
            Ok(read) => read,
            Err(WalkEnd::Abandoned) => return Verdict::Stopped(Stop::DeadlinePassed),
            Err(_) => return Verdict::Busy,
        };
        if types.all().contains(&Type::Scalar(Scalar::DateTime)) {
            return Verdict::Undecided;
        }
        if self.pace == Pace::Quantum {
            meter = Meter::new(*self.limits, self.pace);
        }
        let clock = QuantumClock::new(self.pace, begun, 0);
        let (value, meters) = ((self.value, id), (meter, self.pace));
        let check = Check::by(rules::current());
        let mut walk = Walk::new(self.heap, &types, value, check, meters);
        if let Some(bytes) = self.text {
            walk.findings = Findings::for_text(bytes);
        }
        end(walked(walk, &types, &clock, self.limits), types)
    }

    /// Resumes the check; `None` if the terms belong to other work.
    pub fn resume(self, left: LeftWalk, terms: Vec<Raw<'a>>) -> Option<Verdict<'a>> {
        let begun = Some(Instant::now());
        let LeftWalk { at, types } = left;
        let meter = Meter::new(*self.limits, self.pace);
        let step = match at {
            LeftAt::Check(left) => {
                let clock = QuantumClock::new(self.pace, begun, left.fuel());
                let meters = (meter, self.pace);
                let walk = Walk::resume(self.heap, &types, left, &terms, meters)?;
                walked(walk, &types, &clock, self.limits)
            }
            LeftAt::Errors(left) => {
                let listing = Listing::thaw(left, &terms)?;
                listed(listing, self.heap, &types, meter, self.limits)
            }
            LeftAt::Coerce(_) => return None,
        };
        Some(end(step, types))
    }
}

/// The result of a slice or a quantum.
enum Step<'a> {
    Verdict(Verdict<'a>),
    Left(LeftAt, Vec<Raw<'a>>),
}

fn end(step: Step, types: Types) -> Verdict {
    match step {
        Step::Verdict(verdict) => verdict,
        Step::Left(at, terms) => Verdict::Left(Box::new(LeftWalk { at, types }), terms),
    }
}

fn walked<'a>(
    mut walk: Walk<'_, Beam<'a>, Check>,
    types: &Types,
    clock: &QuantumClock,
    limits: &mut Limits,
) -> Step<'a> {
    let env = walk.heap.terms.env;
    let outcome = clock.run(&mut walk);
    settle(env, walk.meter());
    limits.deadline = walk.meter().limits.deadline;
    Step::Verdict(match outcome {
        Err(WalkEnd::SliceOver) => {
            let (suspended, terms) = walk.suspend();
            return Step::Left(Check::left(suspended), terms);
        }
        Err(WalkEnd::Unknown(_)) => Verdict::Undecided,
        Err(WalkEnd::Abandoned) => Verdict::Stopped(Stop::DeadlinePassed),
        Err(WalkEnd::TooLong | WalkEnd::Failed) => Verdict::Busy,
        // If there are too many errors, the ones found so far are enough.
        Ok(()) | Err(WalkEnd::TooMuch) if walk.findings.need_values() => Verdict::Undecided,
        Ok(()) | Err(WalkEnd::TooMuch) if walk.findings.count() == 0 => Verdict::Right,
        Ok(()) | Err(WalkEnd::TooMuch) => {
            let (heap, findings, meter) = walk.into_findings();
            return listed(
                Listing::new(findings, heap.terms),
                heap,
                types,
                meter,
                limits,
            );
        }
    })
}

fn listed<'a>(
    mut listing: Listing<'a>,
    heap: &mut Beam<'a>,
    types: &Types,
    mut meter: Meter,
    limits: &mut Limits,
) -> Step<'a> {
    let outcome = listing.run(heap, types, &mut meter);
    settle(heap.terms.env, &meter);
    limits.deadline = meter.limits.deadline;
    Step::Verdict(match outcome {
        Ok(()) => Verdict::Wrong {
            errors: listing.list,
            omitted: listing.omitted(),
        },
        Err(Halt::SliceOver) => {
            let (left, terms) = listing.freeze(heap);
            return Step::Left(LeftAt::Errors(left), terms);
        }
        Err(Halt::MemoryExceeded) => Verdict::Stopped(Stop::MemoryExceeded),
        Err(_) => Verdict::Stopped(Stop::DeadlinePassed),
    })
}

/// Checks a value in one go: in a quantum to the end or to the deadline. The errors are not listed.
pub fn judge_whole<'a>(
    env: Env<'a>,
    of: Raw<'a>,
    value: Raw<'a>,
    limits: Limits,
    pace: Pace,
) -> Verdict<'a> {
    let mut heap = Beam::new(env, 0);
    let mut limits = Limits {
        deadline: limits.deadline,
        ..Limits::UNLIMITED
    };
    let mut left = None;
    loop {
        let judge = Judge {
            heap: &mut heap,
            value,
            limits: &mut limits,
            pace,
            text: Some(0),
        };
        let verdict = match left.take() {
            None => Some(judge.begin(of)),
            Some((walk, terms)) => judge.resume(walk, terms),
        };
        match verdict.unwrap_or(Verdict::Busy) {
            Verdict::Left(walk, terms) if pace == Pace::Quantum => left = Some((*walk, terms)),
            Verdict::Left(..) => return Verdict::Busy,
            verdict => return verdict,
        }
    }
}

/// The type of an answer; `None` if it has too many parts for a slice.
pub fn answer_type<'a>(env: Env<'a>, of: Raw<'a>, list: bool, pace: Pace) -> Option<AnswerType> {
    let heap = Beam::new(env, 0);
    let mut meter = whole(Limits::UNLIMITED, pace);
    let (read, id) = types(&heap, of, &mut meter).ok()?;
    settle(env, &meter);
    Some(AnswerType::new(read.types, id, list))
}

fn types<'a>(
    heap: &Beam<'a>,
    of: Raw<'a>,
    meter: &mut Meter,
) -> Result<(Read<'a>, TypeId), WalkEnd> {
    let reading = ReadOptions {
        closed: false,
        once_optional: true,
        names: false,
    };
    read(heap, of, reading, meter)
}
