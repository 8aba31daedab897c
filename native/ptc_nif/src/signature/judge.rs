//! Whether a value that was just read out of an answer is of the type that was asked for.

use super::errors::errors;
use super::read::{read, Reading};
use super::words::Words;
use super::{meter_of_whole, settle};
use crate::heap::Beam;
use crate::raw::Raw;
use ptc_core::answer::stream::Plan;
use ptc_core::meter::Pace;
use ptc_core::repair::Wanted;
use ptc_core::signature::{Check, Scalar, Stop, Type, Walk};
use rustler::Env;

/// What there is to say about the value.
pub enum Verdict<'a> {
    /// It is of the type.
    Right,
    /// It is not; the errors.
    Wrong(Raw<'a>),
    /// Only Elixir can say: strings may have to become dates, keys may be atoms, the type is none.
    Undecided,
    /// It takes too long for a scheduler's own thread.
    Busy,
}

/// Judges a value whose keys are strings.
pub fn judge<'a>(env: Env<'a>, of: Raw<'a>, value: Raw<'a>, pace: Pace) -> Verdict<'a> {
    let mut heap = Beam::new(env, 0);
    let (words, mut reader) = (Words::new(env), meter_of_whole(pace));
    if words.scalar(of) == Some(Scalar::Any) {
        return Verdict::Right;
    }
    let reading = Reading {
        closed: false,
        once_optional: true,
    };
    let Ok((read, id)) = read(&heap, &words, of, reading, &mut reader) else {
        return Verdict::Busy;
    };
    if read.types.all().contains(&Type::Scalar(Scalar::DateTime)) {
        return Verdict::Undecided;
    }
    let meters = (reader, pace);
    let mut walk = Walk::new(&mut heap, &read.types, (value, id), Check, meters);
    let outcome = walk.run();
    settle(env, pace, walk.percent_of_slice());
    match outcome {
        Err(Stop::Unknown(_)) => Verdict::Undecided,
        Err(Stop::Over | Stop::Abandoned | Stop::Failed) => Verdict::Busy,
        // So many errors are enough.
        Ok(()) | Err(Stop::TooMuch) if walk.findings.need_values() => Verdict::Undecided,
        Ok(()) | Err(Stop::TooMuch) => match walk.findings.count() {
            0 => Verdict::Right,
            _ => Verdict::Wrong(errors(walk.heap, &read, &mut walk.findings).0),
        },
    }
}

/// The types of an answer, for a stream; nothing if there are too many for a slice.
pub fn plan<'a>(env: Env<'a>, of: Raw<'a>, list: bool, pace: Pace) -> Option<Plan> {
    let heap = Beam::new(env, 0);
    let (words, mut meter) = (Words::new(env), meter_of_whole(pace));
    let reading = Reading {
        closed: false,
        once_optional: true,
    };
    let (read, id) = read(&heap, &words, of, reading, &mut meter).ok()?;
    settle(env, pace, meter.percent_of_slice());
    Some(Plan::new(&read.types, id, list))
}

/// The types of an answer that is to be repaired; nothing if there are too many for a slice.
pub fn wanted<'a>(env: Env<'a>, of: Raw<'a>, wrapped: bool, pace: Pace) -> Option<Wanted<'a>> {
    let heap = Beam::new(env, 0);
    let (words, mut meter) = (Words::new(env), meter_of_whole(pace));
    let reading = Reading {
        closed: false,
        once_optional: true,
    };
    let (read, id) = read(&heap, &words, of, reading, &mut meter).ok()?;
    settle(env, pace, meter.percent_of_slice());
    Some(Wanted::new(&read.types, id, wrapped))
}
