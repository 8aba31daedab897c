//! Values against types: `signature_validate/3`, `signature_coerce/3`, `signature_input/3`.

use super::budget::{Budget, Pace, Stop};
use super::errors::{Errors, Wanted};
use super::read::{read, Read, Reading};
use super::rebuild::{Failure, Purpose, Rebuild};
use super::validate::Validation;
use super::words::Words;
use crate::atoms;
use crate::raw::{Raw, Terms};
use ptc_core::signature::TypeId;
use rustler::{Atom, Encoder, Env, Term};

/// Reads the type and walks the value; says `:busy` if either takes too long, `{:unknown, term}` if
/// the walk came to what is no type.
fn walk<'a>(
    env: Env<'a>,
    of: Term<'a>,
    closed: bool,
    pace: Pace,
    walk: impl FnOnce(Terms<'a>, &Words<'a>, &Read<'a>, TypeId, &mut Budget) -> Result<Term<'a>, Stop>,
) -> Term<'a> {
    let terms = Terms { env };
    let (words, mut budget) = (Words::new(env), Budget::new(pace));
    let reading = Reading {
        closed,
        once_optional: true,
    };
    let Ok((read, id)) = read(terms, &words, of.into(), reading, &mut budget) else {
        return atoms::busy().encode(env);
    };
    let answer = match walk(terms, &words, &read, id, &mut budget) {
        Ok(answer) => answer,
        Err(Stop::Unknown(number)) => {
            let unknown = read.unknown[number as usize].term(env);
            (atoms::unknown(), unknown).encode(env)
        }
        Err(Stop::TooMuch) => atoms::too_much().encode(env),
        Err(Stop::Busy | Stop::Failed) => atoms::busy().encode(env),
    };
    budget.settle(terms);
    answer
}

/// `:ok` or `{:error, errors, finished?}`.
fn validate<'a>(env: Env<'a>, of: Term<'a>, value: Term<'a>, closed: bool, pace: Pace) -> Term<'a> {
    walk(env, of, closed, pace, |terms, words, read, id, budget| {
        let mut validation = Validation::new(terms, words, read, budget);
        match validation.run(value.into(), id) {
            // So many errors are enough.
            Ok(()) | Err(Stop::TooMuch) => {}
            Err(stop) => return Err(stop),
        }
        Ok(match validation.errors.count() {
            0 => atoms::ok().encode(env),
            _ => errors(env, &validation.errors),
        })
    })
}

/// `{:ok, value, warnings}`, `{:ask, questions}`, `{:error, errors, finished?}` or
/// `{:refused, failure}`. `answers` is nil in the first walk.
fn rebuild<'a>(
    env: Env<'a>,
    of: Term<'a>,
    value: Term<'a>,
    answers: Term<'a>,
    purpose: Purpose,
    pace: Pace,
) -> Term<'a> {
    let answers = (!(atoms::nil() == answers)).then(|| Raw::from(answers));
    walk(env, of, false, pace, |terms, words, read, id, budget| {
        let mut rebuild = Rebuild::new(terms, words, read, budget, purpose, answers);
        let outcome = rebuild.run(value.into(), id);
        let list = |items: &[Raw<'a>]| terms.make_list(items).term(env);
        let asks = answers.is_none() && !rebuild.asked.is_empty();
        match outcome {
            Ok(_) | Err(Stop::Failed) if asks => {
                Ok((atoms::ask(), list(&rebuild.asked)).encode(env))
            }
            Ok(value) if rebuild.errors.count() == 0 => {
                let warnings = list(&rebuild.converter.warnings);
                Ok((atoms::ok(), value.term(env), warnings).encode(env))
            }
            Err(Stop::TooMuch) if rebuild.errors.count() == 0 => Err(Stop::TooMuch),
            Ok(_) | Err(Stop::TooMuch) => Ok(errors(env, &rebuild.errors)),
            Err(Stop::Failed) => {
                let failure = failure(env, rebuild.failure.unwrap_or(Failure::Unsupported));
                Ok((atoms::refused(), failure).encode(env))
            }
            Err(stop) => Err(stop),
        }
    })
}

fn errors<'a>(env: Env<'a>, errors: &Errors<'a>) -> Term<'a> {
    let (list, finished) = errors.finish();
    (atoms::error(), list.term(env), finished).encode(env)
}

fn failure<'a>(env: Env<'a>, failure: Failure<'a>) -> Term<'a> {
    let pair = |tag: Atom, term: Raw<'a>| (tag, term.term(env)).encode(env);
    match failure {
        Failure::Refused(Wanted::Scalar(scalar), value) => {
            let wanted = Words::new(env).scalar_word(scalar).term(env);
            (wanted, value.term(env)).encode(env)
        }
        Failure::Refused(Wanted::List, value) => pair(atoms::list(), value),
        Failure::Refused(Wanted::Map, value) => pair(atoms::map(), value),
        Failure::Missing(name) => pair(atoms::missing(), name),
        Failure::Unexpected(keys) => pair(atoms::unexpected(), keys),
        Failure::Unsupported => atoms::unsupported().encode(env),
        Failure::Answered(reason) => pair(atoms::answered(), reason),
    }
}

macro_rules! value_nifs {
    ($validate:ident, $coerce:ident, $input:ident, $schedule:literal, $pace:expr) => {
        /// Validates a value; `closed`: as if all maps were.
        #[rustler::nif(schedule = $schedule)]
        fn $validate<'a>(env: Env<'a>, of: Term<'a>, value: Term<'a>, closed: bool) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($validate));
            validate(env, of, value, closed, $pace)
        }

        /// Coerces a value.
        #[rustler::nif(schedule = $schedule)]
        fn $coerce<'a>(env: Env<'a>, of: Term<'a>, value: Term<'a>, answers: Term<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($coerce));
            rebuild(env, of, value, answers, Purpose::Coerce, $pace)
        }

        /// Coerces and validates the arguments of a tool.
        #[rustler::nif(schedule = $schedule)]
        fn $input<'a>(env: Env<'a>, of: Term<'a>, value: Term<'a>, answers: Term<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($input));
            rebuild(env, of, value, answers, Purpose::Input, $pace)
        }
    };
}

value_nifs!(
    signature_validate,
    signature_coerce,
    signature_input,
    "Normal",
    Pace::Slice
);
value_nifs!(
    signature_validate_dirty,
    signature_coerce_dirty,
    signature_input_dirty,
    "DirtyCpu",
    Pace::Whole
);
