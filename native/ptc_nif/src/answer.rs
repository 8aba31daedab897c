//! Answers of LLMs: finds the JSON in a text, builds its terms and validates them against a type.

use crate::atoms;
use crate::clock::nif;
use crate::decode::{frozen, thawed};
use crate::error_line::error_text;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{self, Pace};
use crate::signature::{judge, Verdict};
use crate::task::{Call, Print, Work};
use crate::wire;
use ptc_core::answer::{read_underscored, Answer, NoAnswer, Search};
use ptc_core::heap::{Heap, Kind};
use ptc_core::json::{FrozenTerms, Parts, TermBuilder};
use ptc_core::meter::Meter;
use ptc_core::stop::Stop;
use ptc_core::workspace::Workspace;
use rustler::{Atom, Encoder, Env, NifResult, Term};

/// What the caller wants from an answer.
#[derive(Clone, Copy)]
pub enum Ask {
    /// Its value.
    Value,
    /// Its value, if it has the type; whether the type is that of a list.
    Type { list: bool },
}

/// An answer that is being read.
pub struct Answering {
    stage: Stage,
    ask: Ask,
    /// Set when the work is suspended.
    print: Option<Print>,
}

// One exists at a time, and a box would cost each small answer an allocation.
#[allow(clippy::large_enum_variant)]
enum Stage {
    /// Finding and building the value.
    Search(Box<(Search, Parts)>),
    /// Validating the value, which is the only term; with its offset, if its keys have hyphens.
    Judge(Option<usize>),
    /// The value is valid; its keys are rebuilt with underscores.
    Rename(usize),
}

impl Answering {
    fn knows(&self, text: &[u8]) -> bool {
        self.print == Some(Print::of(text))
    }
}

/// The terms of an answer that is being read.
#[derive(Clone, Copy)]
struct AnswerTerms<'a> {
    text: Raw<'a>,
    /// The type, as a term.
    of: Raw<'a>,
    frozen: FrozenTerms<Raw<'a>>,
}

fn no_answer<'a>(env: Env<'a>, error: NoAnswer) -> Term<'a> {
    let (reason, place) = match error {
        NoAnswer::NotFound(place) => (atoms::no_json_found(), place),
        NoAnswer::Invalid(place) => (atoms::invalid_json(), Some(place)),
    };
    let place = place.map(|place| wire::json_error_detail(env, place));
    (atoms::error(), (reason, place)).encode(env)
}

/// Reads an answer: `{:ok, value}` with normalized keys; `{:hyphens, value}` for a valid value in which two
/// keys would become equal; `{:map, value}` and `{:list, value}` if it could not be judged;
/// `{:invalid, errors, line}`, `{:error, {reason, position}}`, `{:error, :timeout | :memory_exceeded}` or
/// `{:more, state, terms}`. If only the value is wanted, `{:ok, value}` has its original keys.
pub fn answer<'a>(
    call: Call<'a>,
    source: Term<'a>,
    text: &[u8],
    of: Term<'a>,
    ask: Ask,
) -> Term<'a> {
    let answering = Answering {
        stage: Stage::Search(Box::default()),
        ask,
        print: None,
    };
    let values = Raw::from(atoms::nil().encode(call.env));
    let terms = AnswerTerms {
        text: source.into(),
        of: of.into(),
        frozen: FrozenTerms { values, tail: None },
    };
    read(call, text, answering, terms)
}

/// Resumes the reading; `None` if the terms belong to other work.
pub fn go_on<'a>(call: Call<'a>, answering: Answering, terms: &[Raw<'a>]) -> Option<Term<'a>> {
    let [text, of, values, tail] = *terms else {
        return None;
    };
    let terms = AnswerTerms {
        text,
        of,
        frozen: thawed(&call, values, tail),
    };
    let text = call.terms().bytes(terms.text)?;
    answering
        .knows(text)
        .then(|| read(call, text, answering, terms))
}

fn leave<'a>(call: Call<'a>, answering: Answering, terms: AnswerTerms<'a>) -> Term<'a> {
    let [values, tail] = frozen(&call, terms.frozen);
    let terms = [terms.text, terms.of, values, tail];
    // Only the search keeps its progress; the other stages begin again, so they continue in a quantum.
    let begins_again = !matches!(answering.stage, Stage::Search(_));
    let next = schedule::next(call.pace, call.quarters + 1, begins_again);
    call.leave(Work::Answer(answering), &terms, next)
}

/// The result of a step.
enum Next<'a> {
    Stage(Stage, Raw<'a>),
    Reply(Term<'a>),
    Stopped(Stop, Stage, FrozenTerms<Raw<'a>>),
}

fn read<'a>(
    mut call: Call<'a>,
    text: &[u8],
    answering: Answering,
    mut terms: AnswerTerms<'a>,
) -> Term<'a> {
    let mut reading = AnswerReader {
        heap: Beam::new(call.env, call.words),
        meter: call.meter(),
        text,
        of: terms.of,
        ask: answering.ask,
        walk: match call.pace {
            Pace::Quantum => Pace::Quantum,
            Pace::Slice | Pace::Probe => Pace::Slice,
        },
    };
    let mut stage = answering.stage;
    loop {
        match reading.step(stage, terms.frozen) {
            Next::Stage(next, value) => {
                stage = next;
                terms.frozen.values = value;
            }
            Next::Reply(reply) => {
                call.settle(&reading.meter);
                return reply;
            }
            Next::Stopped(Stop::SliceOver, stage, frozen) => {
                call.settle(&reading.meter);
                call.words = reading.heap.words_built();
                terms.frozen = frozen;
                let left = Answering {
                    stage,
                    print: Some(Print::of(text)),
                    ..answering
                };
                return leave(call, left, terms);
            }
            Next::Stopped(stop, ..) => return call.stopped(stop),
        }
    }
}

struct AnswerReader<'a, 't> {
    heap: Beam<'a>,
    meter: Meter,
    text: &'t [u8],
    of: Raw<'a>,
    ask: Ask,
    walk: Pace,
}

impl<'a> AnswerReader<'a, '_> {
    fn step(&mut self, stage: Stage, terms: FrozenTerms<Raw<'a>>) -> Next<'a> {
        match (stage, self.ask) {
            (Stage::Search(search), _) => self.search(*search, terms),
            (Stage::Judge(hyphens), Ask::Type { list }) => self.judge(hyphens, terms.values, list),
            (Stage::Rename(start), Ask::Type { list }) => self.rename(start, terms, list),
            (_, Ask::Value) => Next::Reply(self.say(atoms::ok(), terms.values)),
        }
    }

    fn say(&self, tag: Atom, term: Raw<'a>) -> Term<'a> {
        let env = self.heap.terms.env;
        (tag, term.term(env)).encode(env)
    }

    fn search(
        &mut self,
        (mut search, parts): (Search, Parts),
        terms: FrozenTerms<Raw<'a>>,
    ) -> Next<'a> {
        let env = self.heap.terms.env;
        let work = Workspace::new(&mut self.heap, &mut self.meter);
        let mut builder = TermBuilder::thaw(work, parts, terms);
        let found = search.go_on(self.text, &mut builder);
        if let Err(stop) = builder.check_heap_limit() {
            let (parts, terms) = builder.freeze();
            return Next::Stopped(stop, Stage::Search(Box::new((search, parts))), terms);
        }
        let Answer {
            value,
            hyphens,
            start,
        } = match found {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Next::Reply(no_answer(env, error)),
            Err(stop) => {
                let (parts, terms) = builder.freeze();
                return Next::Stopped(stop, Stage::Search(Box::new((search, parts))), terms);
            }
        };
        drop(builder);
        match self.ask {
            Ask::Value => Next::Reply(self.say(atoms::ok(), value)),
            Ask::Type { list } => match wanted(&mut self.heap, value, list) {
                Ok(value) => Next::Stage(Stage::Judge(hyphens.then_some(start)), value),
                Err(reason) => Next::Reply((atoms::error(), (reason, atoms::nil())).encode(env)),
            },
        }
    }

    fn judge(&mut self, hyphens: Option<usize>, value: Raw<'a>, list: bool) -> Next<'a> {
        let env = self.heap.terms.env;
        let frozen = FrozenTerms {
            values: value,
            tail: None,
        };
        let busy = Next::Stopped(Stop::SliceOver, Stage::Judge(hyphens), frozen);
        let undecided = self.say(if list { atoms::list() } else { atoms::map() }, value);
        let late = Next::Stopped(Stop::DeadlinePassed, Stage::Judge(hyphens), frozen);
        match judge(env, self.of, value, &mut self.meter.limits, self.walk) {
            Verdict::Right => match hyphens {
                Some(start) => Next::Stage(Stage::Rename(start), value),
                None => Next::Reply(self.say(atoms::ok(), value)),
            },
            Verdict::Wrong(errors) => match error_text(env, errors, self.walk) {
                Some(text) => {
                    let (errors, text) = (errors.term(env), text.term(env));
                    Next::Reply((atoms::invalid(), errors, text).encode(env))
                }
                None if self.walk == Pace::Slice => busy,
                None => Next::Reply(undecided),
            },
            Verdict::Undecided => Next::Reply(undecided),
            Verdict::Busy => busy,
            Verdict::Late => late,
        }
    }

    fn rename(&mut self, start: usize, terms: FrozenTerms<Raw<'a>>, list: bool) -> Next<'a> {
        let value = terms.values;
        let work = Workspace::in_one_go(&mut self.heap, &mut self.meter);
        match read_underscored(self.text, start, work) {
            Err(stop) => Next::Stopped(stop, Stage::Rename(start), terms),
            Ok(None) => Next::Reply(self.say(atoms::hyphens(), value)),
            Ok(Some(whole)) => {
                let value = wanted(&mut self.heap, whole, list).unwrap_or(value);
                Next::Reply(self.say(atoms::ok(), value))
            }
        }
    }
}

/// The object, or the list, which may be wrapped in an object, since some LLM interfaces allow
/// only objects.
pub fn wanted<'a>(heap: &mut Beam<'a>, value: Raw<'a>, list: bool) -> Result<Raw<'a>, Atom> {
    match (heap.kind(value), list) {
        (Kind::Map, false) | (Kind::List, true) => Ok(value),
        (Kind::Map, true) => {
            let key = heap.make_string(b"items");
            let items = heap.terms.map_get(value, key);
            let is_list = |items: &Raw<'a>| heap.kind(*items) == Kind::List;
            items.filter(is_list).ok_or(atoms::not_wrapped())
        }
        _ => Err(atoms::not_an_object()),
    }
}

nif! {
    /// Finds and decodes the JSON; `given` is `{timeout, max_heap}`.
    fn answer_parse<'a>(env, text: Term<'a>, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        first(env, text, atoms::nil().encode(env), Ask::Value, given)
    }
}

nif! {
    /// Finds, decodes and validates the JSON; `list`: the type is that of a list.
    fn answer_read<'a>(env, text: Term<'a>, of: Term<'a>, list: bool, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        first(env, text, of, Ask::Type { list }, given)
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
    let bytes = call.terms().bytes(text.into());
    let bytes = bytes.ok_or(rustler::Error::BadArg)?;
    Ok(answer(call, text, bytes, of, ask))
}
