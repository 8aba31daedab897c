//! Whether a value that was just read out of an answer is of the type that was asked for.

use super::budget::{Budget, Pace, Stop};
use super::read::{read, Reading};
use super::validate::Validation;
use super::words::Words;
use crate::raw::{Raw, Terms};
use ptc_core::answer::stream::Plan;
use ptc_core::repair::Wanted;
use ptc_core::signature::{Scalar, Type};
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
    let terms = Terms { env };
    let (words, mut budget) = (Words::new(env), Budget::new(pace));
    if words.scalar(of) == Some(Scalar::Any) {
        return Verdict::Right;
    }
    let reading = Reading {
        closed: false,
        once_optional: true,
    };
    let Ok((read, id)) = read(terms, &words, of, reading, &mut budget) else {
        return Verdict::Busy;
    };
    if read.types.all().contains(&Type::Scalar(Scalar::DateTime)) {
        return Verdict::Undecided;
    }
    let mut validation = Validation::new(terms, &words, &read, &mut budget);
    let outcome = validation.run(value, id);
    let (errors, finished) = validation.errors.finish();
    let verdict = match outcome {
        Err(Stop::Unknown(_)) => Verdict::Undecided,
        Err(Stop::Busy | Stop::Failed) => Verdict::Busy,
        // So many errors are enough.
        Ok(()) | Err(Stop::TooMuch) if !finished => Verdict::Undecided,
        Ok(()) | Err(Stop::TooMuch) => match validation.errors.count() {
            0 => Verdict::Right,
            _ => Verdict::Wrong(errors),
        },
    };
    budget.settle(terms);
    verdict
}

/// The types of an answer, for a stream; nothing if there are too many for a slice.
pub fn plan<'a>(env: Env<'a>, of: Raw<'a>, list: bool, pace: Pace) -> Option<Plan> {
    let terms = Terms { env };
    let (words, mut budget) = (Words::new(env), Budget::new(pace));
    let reading = Reading {
        closed: false,
        once_optional: true,
    };
    let (read, id) = read(terms, &words, of, reading, &mut budget).ok()?;
    budget.settle(terms);
    Some(Plan::new(&read.types, id, list))
}

/// The types of an answer that is to be repaired; nothing if there are too many for a slice.
pub fn wanted<'a>(env: Env<'a>, of: Raw<'a>, wrapped: bool, pace: Pace) -> Option<Wanted<'a>> {
    let terms = Terms { env };
    let (words, mut budget) = (Words::new(env), Budget::new(pace));
    let reading = Reading {
        closed: false,
        once_optional: true,
    };
    let (read, id) = read(terms, &words, of, reading, &mut budget).ok()?;
    budget.settle(terms);
    Some(Wanted::new(&read.types, id, wrapped))
}
