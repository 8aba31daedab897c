//! Answers of LLMs: the NIFs that find the JSON in a text, build its terms and validate them against a type.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::task::{run, Call, Task};
use crate::wire;
use ptc_answer::{Ask, Errors, NoAnswer, Reading, Reply, Report, Unfit};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_type::Rules;
use rustler::{Encoder, Env, NifResult, Term};

/// An answer that is being read, with its text.
struct Answer<T> {
    text: T,
    reading: Reading<T>,
}

rooted!(Answer { terms: text; states: reading; });

impl<'a> Task<'a> for Answer<Raw<'a>> {
    type Out = Reply<Raw<'a>>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        self.reading.step(text, heap, meter)
    }

    fn reply(self, call: Call<'a>, _heap: Beam<'a>, reply: Self::Out) -> Term<'a> {
        said(call.env, reply)
    }

    fn needs_quantum(&self) -> bool {
        self.reading.needs_quantum()
    }
}

fn said<'a>(env: Env<'a>, reply: Reply<Raw<'a>>) -> Term<'a> {
    match reply {
        Reply::Range(start, end) => (atoms::ok(), start, end - start).encode(env),
        Reply::Value(value) => (atoms::ok(), value.term(env)).encode(env),
        Reply::Right { value, found } => {
            (atoms::ok(), value.term(env), found.term(env)).encode(env)
        }
        Reply::Hyphens(found) => (atoms::hyphens(), found.term(env)).encode(env),
        Reply::Wrong {
            errors: Errors { list, line },
            found,
        } => {
            let (list, found) = (list.term(env), found.term(env));
            let line = line.map(|(line, more)| (line.term(env), more));
            (atoms::invalid(), list, line, found).encode(env)
        }
        Reply::Undecided(found) => (atoms::undecided(), found.term(env)).encode(env),
        Reply::Unfit(unfit, found) => {
            let reason = match unfit {
                Unfit::NotAnObject => atoms::not_an_object(),
                Unfit::NotWrapped => atoms::not_wrapped(),
            };
            (atoms::unfit(), reason, found.term(env)).encode(env)
        }
        Reply::None(error) => {
            let (reason, place) = match error {
                NoAnswer::NotFound(place) => (atoms::no_json_found(), place),
                NoAnswer::Invalid(place) => (atoms::invalid_json(), Some(place)),
            };
            let place = place.map(|place| wire::json_error_detail(env, place));
            (atoms::error(), (reason, place)).encode(env)
        }
    }
}

nif! {
    /// Finds the JSON and builds nothing: `{:ok, start, length}`, or what `answer_parse/2` returns.
    fn answer_find<'a>(env, text: Term<'a>, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        first(env, text, atoms::nil().encode(env), Ask::Range, given)
    }
}

nif! {
    /// Finds and decodes the JSON: `{:ok, value}` with its original keys. `given` is `{timeout, max_heap}`.
    /// Without an answer: `{:error, {reason, position}}`, `{:error, :timeout | :memory_exceeded}`,
    /// `{:more, state, terms}` or `{:long, state, terms}`.
    fn answer_parse<'a>(env, text: Term<'a>, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        first(env, text, atoms::nil().encode(env), Ask::Value, given)
    }
}

nif! {
    /// Finds, decodes and validates the JSON; `list`: the type is that of a list; `all`: all errors are wanted,
    /// and no line of them; `exact`: numbers that are not the value of their double are tuples. `found` is the value with its original keys. `{:ok, value, found}` with normalized
    /// keys; `{:hyphens, found}` for a valid value in which two keys would become equal;
    /// `{:undecided, found}` if it could not be judged; `{:unfit, reason, found}` if it has no form of an answer;
    /// `{:invalid, errors, {line, more} | nil, found}`, where `more` errors are not listed.
    fn answer_read<'a>(env, text: Term<'a>, of: Term<'a>, list: bool, all: bool, exact: bool, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let report = if all { Report::All } else { Report::Line };
        let rules = Rules::current();
        first(env, text, of, Ask::Type { list, report, rules, exact }, given)
    }
}

fn first<'a>(
    env: Env<'a>,
    text: Term<'a>,
    of: Term<'a>,
    ask: Ask,
    given: (Term<'a>, Term<'a>),
) -> NifResult<Term<'a>> {
    let call = Call::begin(env, given)?;
    call.terms()
        .bytes(text.into())
        .ok_or(rustler::Error::BadArg)?;
    let answer = Answer {
        text: text.into(),
        reading: Reading::new(ask, of.into()),
    };
    Ok(run::<Answer<()>>(call, answer))
}
