//! Answers of LLMs: finds the JSON in a text, builds its terms and validates them against a type.

use crate::atoms;
use crate::clock::nif;
use crate::decode::{frozen, thawed};
use crate::error_line::error_text;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{self, Pace};
use crate::signature::{Judge, LeftWalk, Verdict};
use crate::task::{Call, Print, Work};
use crate::wire;
use ptc_core::answer::{read_underscored, Answer, NoAnswer, Search};
use ptc_core::error_line::LONGEST_LINE;
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
    /// Its value, if it has the type, or its errors.
    Type {
        /// The type is that of a list.
        list: bool,
        /// All errors are wanted. Otherwise a line of them, and the errors that it shows.
        all: bool,
    },
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
    /// Validating the value, which is the only term; with its offset, if its keys have hyphens, and the
    /// suspended walk.
    Judge(Option<usize>, Option<Box<LeftWalk>>),
    /// Writing the line of the errors, which are the only term; with the number of those not listed.
    Line(usize),
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
    /// The terms of the suspended walk, as a tuple.
    walk: Raw<'a>,
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
/// `{:invalid, errors, omitted, line}`, or `{:invalid, errors}` if all are wanted; `{:error, {reason, position}}`,
/// `{:error, :timeout | :memory_exceeded}`, `{:more, state, terms}` or `{:long, state, terms}`. If only the value is wanted, `{:ok, value}` has its original keys.
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
        walk: values,
    };
    read(call, text, answering, terms)
}

/// Resumes the reading; `None` if the terms belong to other work.
pub fn go_on<'a>(call: Call<'a>, answering: Answering, terms: &[Raw<'a>]) -> Option<Term<'a>> {
    let [text, of, values, tail, walk] = *terms else {
        return None;
    };
    // A walk is resumed in quanta only.
    if call.pace != Pace::Quantum && matches!(answering.stage, Stage::Judge(_, Some(_))) {
        return Some(call.leave(
            Work::Answer(answering),
            &[text, of, values, tail, walk],
            atoms::long(),
        ));
    }
    let terms = AnswerTerms {
        text,
        of,
        frozen: thawed(&call, values, tail),
        walk,
    };
    let text = call.terms().bytes(terms.text)?;
    answering
        .knows(text)
        .then(|| read(call, text, answering, terms))
}

fn leave<'a>(call: Call<'a>, answering: Answering, terms: AnswerTerms<'a>) -> Term<'a> {
    let [values, tail] = frozen(&call, terms.frozen);
    let terms = [terms.text, terms.of, values, tail, terms.walk];
    // Only the search goes on in a slice: a walk is resumed in quanta, and the other stages begin again.
    let needs_quantum = !matches!(answering.stage, Stage::Search(_));
    let next = schedule::next(call.pace, call.quarters + 1, needs_quantum);
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
        walk: terms.walk,
        ask: answering.ask,
        pace: match call.pace {
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
                (terms.frozen, terms.walk) = (frozen, reading.walk);
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
    /// The terms of the suspended walk.
    walk: Raw<'a>,
    ask: Ask,
    pace: Pace,
}

impl<'a> AnswerReader<'a, '_> {
    fn step(&mut self, stage: Stage, terms: FrozenTerms<Raw<'a>>) -> Next<'a> {
        match (stage, self.ask) {
            (Stage::Search(search), _) => self.search(*search, terms),
            (Stage::Judge(hyphens, left), Ask::Type { list, all }) => {
                self.judge(hyphens, left, terms.values, list, all)
            }
            (Stage::Line(omitted), _) => self.line(omitted, terms),
            (Stage::Rename(start), Ask::Type { list, .. }) => self.rename(start, terms, list),
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
            Ask::Type { list, .. } => match wanted(&mut self.heap, value, list) {
                Ok(value) => Next::Stage(Stage::Judge(hyphens.then_some(start), None), value),
                Err(reason) => Next::Reply((atoms::error(), (reason, atoms::nil())).encode(env)),
            },
        }
    }

    fn judge(
        &mut self,
        hyphens: Option<usize>,
        left: Option<Box<LeftWalk>>,
        value: Raw<'a>,
        list: bool,
        all: bool,
    ) -> Next<'a> {
        let terms = self.heap.terms;
        let (mut limits, walk) = (self.meter.limits, self.walk);
        if !all {
            // The errors of a line are few.
            limits.words = usize::MAX;
        }
        let judge = Judge {
            heap: &mut self.heap,
            value,
            limits: &mut limits,
            pace: self.pace,
            text: (!all).then_some(LONGEST_LINE),
        };
        let verdict = match left {
            None => Some(judge.begin(self.of)),
            Some(left) => terms
                .tuple(walk)
                .and_then(|walk| judge.resume(*left, walk.to_vec())),
        };
        self.meter.limits.deadline = limits.deadline;
        let stopped = |stop, left| {
            let frozen = FrozenTerms {
                values: value,
                tail: None,
            };
            Next::Stopped(stop, Stage::Judge(hyphens, left), frozen)
        };
        match verdict {
            Some(Verdict::Right) => match hyphens {
                Some(start) => Next::Stage(Stage::Rename(start), value),
                None => Next::Reply(self.say(atoms::ok(), value)),
            },
            Some(Verdict::Wrong { errors, .. }) if all => {
                Next::Reply(self.say(atoms::invalid(), errors))
            }
            Some(Verdict::Wrong { errors, omitted }) => Next::Stage(Stage::Line(omitted), errors),
            Some(Verdict::Undecided) => {
                let tag = if list { atoms::list() } else { atoms::map() };
                Next::Reply(self.say(tag, value))
            }
            Some(Verdict::Left(left, kept)) => {
                self.walk = terms.make_tuple(&kept);
                stopped(Stop::SliceOver, Some(left))
            }
            Some(Verdict::Busy) => stopped(Stop::SliceOver, None),
            Some(Verdict::Stopped(stop)) => stopped(stop, None),
            None => stopped(Stop::Abandoned, None),
        }
    }

    /// Writes the line of the errors.
    fn line(&mut self, omitted: usize, terms: FrozenTerms<Raw<'a>>) -> Next<'a> {
        let env = self.heap.terms.env;
        match error_text(env, terms.values, omitted, self.pace) {
            Some(text) => {
                let (errors, text) = (terms.values.term(env), text.term(env));
                Next::Reply((atoms::invalid(), errors, omitted, text).encode(env))
            }
            None => Next::Stopped(Stop::SliceOver, Stage::Line(omitted), terms),
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
    /// Finds, decodes and validates the JSON; `list`: the type is that of a list; `all`: all errors are wanted.
    fn answer_read<'a>(env, text: Term<'a>, of: Term<'a>, list: bool, all: bool, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        first(env, text, of, Ask::Type { list, all }, given)
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
