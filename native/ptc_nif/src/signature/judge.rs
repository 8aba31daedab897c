//! Checks whether a value from an answer has the requested type.

use super::errors::errors;
use super::read::{read, Read, ReadOptions};
use super::type_atoms::TypeAtoms;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{settle, whole, Pace};
use ptc_core::answer::stream::AnswerType;
use ptc_core::meter::{Limits, Meter};
use ptc_core::repair::Wanted;
use ptc_core::signature::{Check, Scalar, Type, TypeId, Walk, WalkEnd};
use rustler::Env;

/// The result of the check.
pub enum Verdict<'a> {
    /// The value has the type.
    Right,
    /// The value does not have the type; the errors.
    Wrong(Raw<'a>),
    /// Only Elixir can decide: strings may have to become dates, keys may be atoms, or the type is invalid.
    Undecided,
    /// The check takes too long for a normal scheduler.
    Busy,
    /// The deadline has passed, or the caller has ended.
    Late,
}

impl Verdict<'_> {
    fn of_stop(stop: WalkEnd) -> Self {
        match stop {
            WalkEnd::Abandoned => Verdict::Late,
            _ => Verdict::Busy,
        }
    }
}

/// Checks a value whose keys are strings. A quantum continues to the end, or to the deadline, whose clock
/// is started in `limits`.
pub fn judge<'a>(
    env: Env<'a>,
    of: Raw<'a>,
    value: Raw<'a>,
    limits: &mut Limits,
    pace: Pace,
) -> Verdict<'a> {
    let mut heap = Beam::new(env, 0);
    let deadline = Limits {
        deadline: limits.deadline,
        ..Limits::UNLIMITED
    };
    let mut reader = whole(deadline, pace);
    if TypeAtoms::new(env).scalar(of) == Some(Scalar::Any) {
        return Verdict::Right;
    }
    let read = types(&heap, of, &mut reader);
    limits.deadline = reader.limits.deadline;
    let (read, id) = match read {
        Ok(read) => read,
        Err(stop) => return Verdict::of_stop(stop),
    };
    if read.types.all().contains(&Type::Scalar(Scalar::DateTime)) {
        return Verdict::Undecided;
    }
    let meters = (reader, pace);
    let mut walk = Walk::new(&mut heap, &read.types, (value, id), Check, meters);
    let outcome = walk.run();
    let meter = walk.meter();
    settle(env, meter);
    limits.deadline = meter.limits.deadline;
    match outcome {
        Err(WalkEnd::Unknown(_)) => Verdict::Undecided,
        Err(
            stop @ (WalkEnd::SliceOver | WalkEnd::TooLong | WalkEnd::Abandoned | WalkEnd::Failed),
        ) => Verdict::of_stop(stop),
        // If there are too many errors, the ones found so far are enough.
        Ok(()) | Err(WalkEnd::TooMuch) if walk.findings.need_values() => Verdict::Undecided,
        Ok(()) | Err(WalkEnd::TooMuch) => match walk.findings.count() {
            0 => Verdict::Right,
            _ => Verdict::Wrong(errors(walk.heap, &read, &mut walk.findings).0),
        },
    }
}

/// The types of an answer, for a stream; `None` if there are too many for a slice.
pub fn answer_type<'a>(env: Env<'a>, of: Raw<'a>, list: bool, pace: Pace) -> Option<AnswerType> {
    let (read, id) = types_now(env, of, pace)?;
    Some(AnswerType::new(&read.types, id, list))
}

/// The types of an answer, for a repair; `None` if there are too many for a slice.
pub fn wanted<'a>(env: Env<'a>, of: Raw<'a>, wrapped: bool, pace: Pace) -> Option<Wanted<'a>> {
    let (read, id) = types_now(env, of, pace)?;
    Some(Wanted::new(&read.types, id, wrapped))
}

fn types_now<'a>(env: Env<'a>, of: Raw<'a>, pace: Pace) -> Option<(Read<'a>, TypeId)> {
    let heap = Beam::new(env, 0);
    let mut meter = whole(Limits::UNLIMITED, pace);
    let read = types(&heap, of, &mut meter).ok()?;
    settle(env, &meter);
    Some(read)
}

fn types<'a>(
    heap: &Beam<'a>,
    of: Raw<'a>,
    meter: &mut Meter,
) -> Result<(Read<'a>, TypeId), WalkEnd> {
    let reading = ReadOptions {
        closed: false,
        once_optional: true,
    };
    read(heap, of, reading, meter)
}
