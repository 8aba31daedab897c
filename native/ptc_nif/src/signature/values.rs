//! Checks values against types: `signature_validate/3`, `signature_coerce/3`, `signature_input/3`; long walks
//! continue in further quanta.

use super::errors::errors;
use super::read::{read, Read, ReadOptions};
use super::suspension::{leave, LeftWalk, QuantumClock, Task};
use super::type_atoms::TypeAtoms;
use crate::atoms;
use crate::task::Suspension;

use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{nif_pair, settle, whole, Pace};
use ptc_core::meter::{Limits, Meter};
use ptc_core::signature::coerce::Question;
use ptc_core::signature::{
    Check, Coerce, Findings, PathStep, Purpose, Target, TypeId, Walk, WalkEnd, Wrong,
};
use rustler::{Atom, Encoder, Env, ResourceArc, Term};
use std::time::Instant;

/// Reads the type; `None` if that takes too long.
fn types<'a>(
    heap: &Beam<'a>,
    of: Term<'a>,
    closed: bool,
    pace: Pace,
) -> Option<(Read<'a>, TypeId)> {
    let reading = ReadOptions {
        closed,
        once_optional: true,
    };
    let mut meter = whole(Limits::UNLIMITED, pace);
    read(heap, of.into(), reading, &mut meter).ok()
}

/// Converts the end of a task's walk to a reply.
trait Outcome<'a>: Task<'a> {
    fn outcome(
        walk: &mut Walk<'_, '_, Beam<'a>, Self>,
        read: &Read<'a>,
        value: Term<'a>,
        end: Result<Self::Done, WalkEnd>,
    ) -> Term<'a>;
}

/// Runs a walk: `{:long, state, terms}` if a slice or a quantum is over, `:busy` if the work of the slice
/// cannot be kept, `{:unknown, term}` if the walk met an invalid type; otherwise the outcome of the task.
fn walk<'a, K: Outcome<'a>>(
    mut walk: Walk<'_, '_, Beam<'a>, K>,
    read: &Read<'a>,
    (of, value): (Term<'a>, Term<'a>),
    clock: &QuantumClock,
    reuse: Option<ResourceArc<Suspension>>,
) -> Term<'a> {
    let terms = walk.heap.terms;
    let end = clock.run(&mut walk);
    settle(terms.env, walk.meter());
    match end {
        Err(WalkEnd::SliceOver) => leave(walk, read, (of, value), reuse),
        Err(WalkEnd::TooLong | WalkEnd::Abandoned) => atoms::busy().encode(terms.env),
        Err(WalkEnd::Unknown(number)) => {
            let unknown = read.unknown[number as usize].term(terms.env);
            (atoms::unknown(), unknown).encode(terms.env)
        }
        end => K::outcome(&mut walk, read, value, end),
    }
}

/// Starts a walk.
fn begin<'a, K: Outcome<'a>>(
    env: Env<'a>,
    (of, closed): (Term<'a>, bool),
    value: Term<'a>,
    task: K,
    pace: Pace,
) -> Term<'a> {
    let begun = (pace == Pace::Quantum).then(Instant::now);
    let mut heap = Beam::new(env, 0);
    let Some((read, id)) = types(&heap, of, closed, pace) else {
        return atoms::busy().encode(env);
    };
    let clock = QuantumClock::new(pace, begun, 0);
    let meters = (Meter::new(Limits::UNLIMITED, pace), pace);
    let begun = Walk::new(&mut heap, &read.types, (value.into(), id), task, meters);
    walk(begun, &read, (of, value), &clock, None)
}

/// Resumes a walk for a quantum; `None` if the terms belong to another walk.
pub fn go_on<'a>(
    env: Env<'a>,
    left: LeftWalk,
    terms: Term<'a>,
    state: ResourceArc<Suspension>,
) -> Option<Term<'a>> {
    let begun = Some(Instant::now());
    let mut heap = Beam::new(env, 0);
    let [of, value, terms @ ..] = heap.terms.tuple(terms.into())? else {
        return None;
    };
    let (of, value) = (of.term(env), value.term(env));
    let Some((read, _)) = types(&heap, of, left.is_closed(), Pace::Quantum) else {
        return Some(atoms::busy().encode(env));
    };
    let meters = (Meter::new(Limits::UNLIMITED, Pace::Quantum), Pace::Quantum);
    let types = &read.types;
    Some(match left {
        LeftWalk::Check(left, _) => {
            let clock = QuantumClock::new(Pace::Quantum, begun, left.fuel());
            let resumed = Walk::<_, Check>::resume(&mut heap, types, left, terms, meters)?;
            walk(resumed, &read, (of, value), &clock, Some(state))
        }
        LeftWalk::Coerce(left, _) => {
            let clock = QuantumClock::new(Pace::Quantum, begun, left.fuel());
            let resumed = Walk::<_, Coerce<_>>::resume(&mut heap, types, left, terms, meters)?;
            walk(resumed, &read, (of, value), &clock, Some(state))
        }
    })
}

impl<'a> Outcome<'a> for Check {
    /// `:ok` or `{:error, errors, finished?}`.
    fn outcome(
        walk: &mut Walk<'_, '_, Beam<'a>, Self>,
        read: &Read<'a>,
        _value: Term<'a>,
        _end: Result<(), WalkEnd>,
    ) -> Term<'a> {
        // If there are too many errors, the ones found so far are enough.
        match walk.findings.count() {
            0 => atoms::ok().encode(walk.heap.terms.env),
            _ => found(walk.heap, read, &mut walk.findings),
        }
    }
}

impl<'a> Outcome<'a> for Coerce<Raw<'a>> {
    /// `{:ok, value, warnings}`, `{:ask, questions}`, `{:error, errors, finished?}`,
    /// `{:refused, failure, hidden?}` or `:too_much`.
    fn outcome(
        walk: &mut Walk<'_, '_, Beam<'a>, Self>,
        read: &Read<'a>,
        value: Term<'a>,
        end: Result<Option<Raw<'a>>, WalkEnd>,
    ) -> Term<'a> {
        let env = walk.heap.terms.env;
        let findings = walk.findings.count();
        match end {
            Ok(_) | Err(WalkEnd::Failed) if walk.task.asks() => {
                (atoms::ask(), questions(walk)).encode(env)
            }
            Ok(changed) if findings == 0 => {
                let value = changed.map_or(value, |changed| changed.term(env));
                let warnings = walk.task.warnings.list(walk.heap).term(env);
                (atoms::ok(), value, warnings).encode(env)
            }
            Err(WalkEnd::Failed) => {
                let hidden = walk
                    .findings
                    .all()
                    .last()
                    .is_none_or(|finding| finding.hidden);
                let failure = failure(walk.heap, read, &mut walk.findings);
                (atoms::refused(), failure, hidden).encode(env)
            }
            Err(_) if findings == 0 => atoms::too_much().encode(env),
            _ => found(walk.heap, read, &mut walk.findings),
        }
    }
}

fn found<'a>(heap: &Beam<'a>, read: &Read<'a>, findings: &mut Findings<Raw<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    let (list, finished) = errors(heap, read, findings);
    (atoms::error(), list.term(env), finished).encode(env)
}

/// Values that only Elixir can convert, as `{type, value, hidden?}`.
fn questions<'a>(walk: &mut Walk<'_, '_, Beam<'a>, Coerce<Raw<'a>>>) -> Term<'a> {
    let terms = walk.heap.terms;
    let type_atoms = TypeAtoms::new(terms.env);
    let (questions, values) = walk.task.questions(walk.heap);
    let question = |(question, value): (&Question, &Raw<'a>)| {
        let hidden = question.hidden.encode(terms.env).into();
        terms.make_tuple(&[type_atoms.scalar_atom(question.scalar), *value, hidden])
    };
    let asked: Vec<Raw<'a>> = questions.iter().zip(values).map(question).collect();
    terms.make_list(&asked).term(terms.env)
}

/// The reason why a value cannot be coerced.
fn failure<'a>(heap: &Beam<'a>, read: &Read<'a>, findings: &mut Findings<Raw<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    let Some(number) = findings.count().checked_sub(1) else {
        return atoms::unsupported().encode(env);
    };
    let last = findings.path(number).last().copied();
    let wrong = findings.all()[number].wrong;
    let at = findings.value_at(number);
    let value = at.and_then(|at| findings.values(heap).get(at).copied());
    let pair = |tag: Atom, value: Option<Raw<'a>>| {
        let value = value.map(|value| value.term(env));
        (tag, value).encode(env)
    };
    match wrong {
        Wrong::Mismatch(mismatch) => match mismatch.expected {
            Target::Scalar(scalar) => {
                let word = TypeAtoms::new(env).scalar_atom(scalar).term(env);
                (word, value.map(|value| value.term(env))).encode(env)
            }
            Target::List => pair(atoms::list(), value),
            Target::Map => pair(atoms::map(), value),
            Target::Field => {
                let name = last.and_then(|step| match step {
                    PathStep::Field(field) => read.names.get(field as usize).copied(),
                    PathStep::Index(_) => None,
                });
                pair(atoms::missing(), name)
            }
        },
        Wrong::Unexpected => pair(atoms::unexpected(), value),
        Wrong::Unsupported => atoms::unsupported().encode(env),
        Wrong::Answered => pair(atoms::answered(), value),
    }
}

/// See [`Outcome`] for [`Coerce`]. `answers` is nil in the first walk.
fn rebuild<'a>(
    env: Env<'a>,
    of: Term<'a>,
    value: Term<'a>,
    answers: Term<'a>,
    purpose: Purpose,
    pace: Pace,
) -> Term<'a> {
    let answers = (!(atoms::nil() == answers)).then(|| Raw::from(answers));
    begin(env, (of, false), value, Coerce::new(purpose, answers), pace)
}

nif_pair! {
    /// Validates a value; `closed`: treats all maps as closed.
    fn signature_validate, signature_validate_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>, closed: bool) -> Term<'a> {
        begin(env, (of, closed), value, Check, pace)
    }
}

nif_pair! {
    /// Coerces a value.
    fn signature_coerce, signature_coerce_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>, answers: Term<'a>) -> Term<'a> {
        rebuild(env, of, value, answers, Purpose::Coerce, pace)
    }
}

nif_pair! {
    /// Coerces and validates the arguments of a tool.
    fn signature_input, signature_input_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>, answers: Term<'a>) -> Term<'a> {
        rebuild(env, of, value, answers, Purpose::Input, pace)
    }
}
