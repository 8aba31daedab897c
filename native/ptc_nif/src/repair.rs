//! Repairs answers that are almost valid: returns the value as terms, and the list of repairs.

use crate::atoms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::{is_too_long, limits, nif_pair, Pace, REPAIRS, REPAIR_BYTES};
use crate::signature::answer_type;
use crate::task::{run, Call, Task};
use ptc_answer::repair::{
    is_part, judged_value, line_and_column, AnswerOf, AtEnd, Fault, PathPart, Refusal, Repair,
    Repaired, Repairing, Stop, Wanted, Where,
};
use ptc_term::meter::Meter;
use ptc_term::named::Named;
use ptc_term::rooted;
use ptc_type::{AnswerType, Rules};
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, Term};
use std::sync::OnceLock;

rustler::atoms! { ambiguous, no_reading, truncated }

/// Words that the readings may take for each byte of the text, and the minimum for short texts.
const WORDS_A_BYTE: usize = 64;
const WORDS: usize = 1_250_000;

/// What the caller wants from a text: its value, or, for an answer of an LLM, also a check against the type,
/// with normalized keys. `list`: the type is that of a list, which may be wrapped in an object.
#[derive(Clone, Copy)]
enum Ask {
    Value,
    Answer { list: bool },
}

/// A text that is being repaired.
struct Mending<T> {
    text: T,
    /// The type, or nil.
    of: T,
    repairing: Repairing,
    ask: Ask,
    /// Numbers keep their digits.
    exact: bool,
    wanted: Wanted,
}

rooted!(Mending { terms: text, of; plain: repairing, ask, exact, wanted });

/// `{:ok, value, repairs}`, each repair is `{kind, start, end, line, column, path}`;
/// `{:undecided, value, repairs}` if only Elixir can judge the answer;
/// `{:error, {:ambiguous, [{line, column}]}}`, `{:error, {:truncated, path, items | nil, after?}}`,
/// `{:error, :no_reading}`, `{:error, :timeout | :memory_exceeded}`, `:busy` or
/// `{:long, state, terms}`. `at_end`: 0 closes what is open at the end of the text, 1 only objects, 2
/// nothing. `exact`: numbers that are not the value of their double are tuples. `given` is `{timeout, max_heap}`.
fn repair<'a>(
    env: Env<'a>,
    source: Term<'a>,
    (of, ask): (Term<'a>, Ask),
    (at_end, exact): (i64, bool),
    given: (Term<'a>, Term<'a>),
    pace: Pace,
) -> NifResult<Term<'a>> {
    let limits = limits(given).ok_or(Error::BadArg)?;
    let call = Call::first(env, limits, pace);
    let text = call.terms().bytes(source.into()).ok_or(Error::BadArg)?;
    if is_too_long(pace, text.len(), REPAIR_BYTES) {
        return Ok(atoms::busy().encode(env));
    }
    let list = matches!(ask, Ask::Answer { list: true });
    let of_answer = match atoms::nil() == of {
        true => Some(AnswerType::anything()),
        false => answer_type(env, of.into(), list, pace),
    };
    let Some(of_answer) = of_answer else {
        return Ok(atoms::busy().encode(env));
    };
    let wanted = Wanted {
        answer_type: of_answer,
        hyphens: matches!(ask, Ask::Answer { .. }),
        at_end: match at_end {
            0 => AtEnd::CloseAll,
            1 => AtEnd::CloseObjects,
            _ => AtEnd::CloseNothing,
        },
    };
    let repairing = Repairing::new(text.len());
    let mending = Mending {
        text: source.into(),
        of: of.into(),
        repairing,
        ask,
        exact,
        wanted,
    };
    Ok(run::<Mending<()>>(call, mending))
}

impl<'a> Task<'a> for Mending<Raw<'a>> {
    /// The reply.
    type Out = Term<'a>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Term<'a>, Stop> {
        let (env, limits) = (heap.terms.env, meter.limits);
        let text = heap.terms.bytes(self.text).unwrap_or_default();
        let words = text.len().saturating_mul(WORDS_A_BYTE).max(WORDS);
        meter.limits.words = words.min(limits.words);
        let of = self.of.term(env);
        let outcome = self
            .repairing
            .resume(text, &self.wanted, meter, heap)
            .and_then(|repaired| outcome(env, repaired, of, (self.ask, self.exact), meter));
        meter.limits.words = limits.words;
        match outcome {
            Ok(reply) => Ok(reply),
            Err(Refusal::Stopped(Stop::SliceOver)) if meter.pace() != Pace::Quantum => {
                Ok(atoms::busy().encode(env))
            }
            Err(Refusal::Stopped(stop)) => Err(stop),
            Err(Refusal::Truncated(cut)) => Ok(cut_off(env, cut)),
            Err(refusal) => Ok(refused(env, text, refusal)),
        }
    }

    fn reply(self, _call: Call<'a>, _heap: Beam<'a>, reply: Term<'a>) -> Term<'a> {
        reply
    }

    fn needs_quantum(&self) -> bool {
        true
    }
}

/// Builds the reply from the repaired text.
fn outcome<'a>(
    env: Env<'a>,
    repaired: Repaired,
    of: Term<'a>,
    (ask, exact): (Ask, bool),
    meter: &mut Meter,
) -> Result<Term<'a>, Refusal> {
    // Each is listed with its path.
    if is_too_long(meter.pace(), repaired.count(), REPAIRS) {
        return Err(Refusal::Stopped(Stop::SliceOver));
    }
    let answer = match ask {
        Ask::Value => None,
        Ask::Answer { list } => Some(AnswerOf {
            list,
            of: (!(atoms::nil() == of)).then(|| (of.into(), Rules::current())),
        }),
    };
    let heap = &mut Beam::new(env, 0);
    let (value, is_valid) = judged_value((heap, meter), &repaired, answer, exact)?;
    let tag = [atoms::undecided(), atoms::ok()][usize::from(is_valid)];
    let terms = Terms { env };
    let repairs = repaired.repairs();
    let repairs: Vec<Raw<'a>> = repairs.iter().map(|repair| told(terms, repair)).collect();
    Ok((tag, value.term(env), terms.make_list(&repairs).term(env)).encode(env))
}

fn refused<'a>(env: Env<'a>, text: &[u8], refusal: Refusal) -> Term<'a> {
    let error = |reason: Atom| (atoms::error(), reason).encode(env);
    match refusal {
        Refusal::Ambiguous(offsets) => {
            // Ten positions are enough.
            let offsets = offsets.iter().take(10);
            let places = offsets.map(|at| line_and_column(text, *at));
            (atoms::error(), (ambiguous(), places.collect::<Vec<_>>())).encode(env)
        }
        Refusal::NoReading | Refusal::Truncated(_) | Refusal::Stopped(_) => error(no_reading()),
    }
}

fn cut_off<'a>(env: Env<'a>, cut: Where) -> Term<'a> {
    let path = path(Terms { env }, &cut.path);
    let place = (truncated(), path, cut.items, cut.after);
    (atoms::error(), place).encode(env)
}

/// A path as a list of keys and indices.
pub fn path<'a>(terms: Terms<'a>, path: &[PathPart]) -> Term<'a> {
    let step = |step: &PathPart| match step {
        PathPart::Name(name) => terms.make_binary(name),
        PathPart::Index(index) => terms.make_integer(*index as i64),
    };
    let path: Vec<Raw<'a>> = path.iter().map(step).collect();
    terms.make_list(&path).term(terms.env)
}

fn told<'a>(terms: Terms<'a>, repair: &Repair) -> Raw<'a> {
    let path = path(terms, &repair.path);
    let kind = kind(terms.env, repair.fault);
    let (start, end, line, column) = (repair.start, repair.end, repair.line, repair.column);
    let told = (kind, start, end, line, column, path);
    told.encode(terms.env).into()
}

/// The atom of a fault. Looking one up by its name takes ten times as long.
fn kind(env: Env, fault: Fault) -> Atom {
    static KINDS: OnceLock<Vec<Atom>> = OnceLock::new();
    let all = || Fault::ALL.iter().map(|fault| atoms::named(env, *fault));
    KINDS.get_or_init(|| all().collect())[fault as usize]
}

nif_pair! {
    /// Repairs a text; `of` is a type, or nil for any.
    fn repair_value, repair_value_dirty<'a>(env, pace, text: Term<'a>, of: Term<'a>, at_end: i64, exact: bool, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        repair(env, text, (of, Ask::Value), (at_end, exact), given, pace)
    }
}

nif_pair! {
    /// Repairs an answer and judges it; `list`: the type is that of a list.
    fn repair_answer, repair_answer_dirty<'a>(env, pace, text: Term<'a>, of: Term<'a>, list: bool, at_end: i64, exact: bool, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        repair(env, text, (of, Ask::Answer { list }), (at_end, exact), given, pace)
    }
}

nif! {
    /// Whether the JSON found in a text is part of an answer whose first bracket is missing.
    fn answer_is_part(text: Binary) -> bool {
        is_part(text.as_slice())
    }
}
