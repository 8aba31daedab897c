//! Answers of LLMs: the NIFs that find the JSON in a text, build its terms and validate them against a type.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::task::{run, Call, Task};
use crate::wire;
use ptc_answer::{Ask, Errors, Found, Keys, NoAnswer, Reading, Reply, Report, Unfit};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_type::Rules;
use rustler::{Atom, Encoder, Env, NifResult, Term};

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
            let (form, found) = seen(env, found);
            (atoms::ok(), value.term(env), form, found).encode(env)
        }
        Reply::Coerced {
            value,
            warnings,
            found,
        } => {
            let (form, found) = seen(env, found);
            let (value, warnings) = (value.term(env), warnings.term(env));
            (atoms::coerced(), value, warnings, form, found).encode(env)
        }
        Reply::Hyphens(found) => {
            let (form, found) = seen(env, found);
            (atoms::hyphens(), form, found).encode(env)
        }
        Reply::Wrong {
            errors: Errors { list, line },
            found,
        } => {
            let (form, found) = seen(env, found);
            let line = line.map(|(line, more)| (line.term(env), more));
            (atoms::invalid(), list.term(env), line, form, found).encode(env)
        }
        Reply::Undecided(found) => {
            let (form, found) = seen(env, found);
            (atoms::undecided(), form, found).encode(env)
        }
        Reply::Unfit(unfit, found) => {
            let reason = match unfit {
                Unfit::NotAnObject => atoms::not_an_object(),
                Unfit::NotWrapped => atoms::not_wrapped(),
            };
            let (form, found) = seen(env, found);
            (atoms::unfit(), reason, form, found).encode(env)
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

/// `{keys, start, length}`, and the value.
fn seen<'a>(env: Env<'a>, found: Found<Raw<'a>>) -> ((Atom, usize, usize), Term<'a>) {
    let keys = match found.keys {
        Keys::Declared => atoms::declared(),
        Keys::Plain => atoms::plain(),
        Keys::Hyphens => atoms::hyphens(),
    };
    let (start, end) = found.range;
    ((keys, start, end - start), found.value.term(env))
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
    /// and no line of them; `exact`: numbers that are not the value of their double are tuples; `coerce`: a value of another type is
    /// coerced, if its keys are the declared ones. `found` is the value with its original keys, and `form` is `{keys, start, length}`:
    /// where it is, and whether a key has a hyphen (`:hyphens`), none has one (`:plain`), or each object has, moreover, its declared
    /// keys only (`:declared`). `{:ok, value, form, found}` with normalized
    /// keys; `{:coerced, value, warnings, form, found}`; `{:hyphens, form, found}` for a valid value in which two keys would become equal;
    /// `{:undecided, form, found}` if it could not be judged; `{:unfit, reason, form, found}` if it has no form of an answer;
    /// `{:invalid, errors, {line, more} | nil, form, found}`, where `more` errors are not listed.
    fn answer_read<'a>(
        env, text: Term<'a>, of: Term<'a>, list: bool, all: bool, exact: bool, coerce: bool, given: (Term<'a>, Term<'a>)
    ) -> NifResult<Term<'a>> {
        let report = if all { Report::All } else { Report::Line };
        let rules = Rules::current();
        first(env, text, of, Ask::Type { list, report, rules, exact, coerce }, given)
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
