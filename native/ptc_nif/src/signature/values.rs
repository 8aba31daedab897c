//! Checks values against types: `signature_validate/3`, `signature_coerce/4`, `signature_spelled/2`,
//! `signature_input/4`, `signature_data/3`, `signature_exact/2`; long walks continue in further quanta.

use crate::atoms;
use crate::task::{Call, Work};

use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{nif_pair, settle, Pace};
use ptc_term::meter::{Limits, Meter};
use ptc_term::names::Matching;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};
use ptc_type::failure::failure;
use ptc_type::walk::{StateOf, Task};
use ptc_type::{
    read, Check, Coerce, LeftAt, LeftWalk, Listing, Purpose, QuantumClock, Read, ReadOptions,
    Rules, State, TypeId, Types, Walk, WalkEnd,
};
use rustler::{Encoder, Env, Term};
use std::time::Instant;

/// Reads the type; `None` if that takes too long.
fn types<'a>(
    heap: &Beam<'a>,
    of: Term<'a>,
    closed: bool,
    pace: Pace,
) -> Option<(Read<Raw<'a>>, TypeId)> {
    let reading = ReadOptions {
        closed,
        ..ReadOptions::VALUES
    };
    let mut meter = Meter::whole(Limits::UNLIMITED, pace);
    read(heap, of.into(), reading, &mut meter).ok()
}

/// The result of a slice or a quantum.
enum Step<'a> {
    Reply(Term<'a>),
    Left(Box<LeftAt<Raw<'a>>>),
}

/// What follows a walk.
enum AfterWalk<'a> {
    Reply(Term<'a>),
    /// The findings are listed.
    List,
}

/// Converts the end of a task's walk to a reply.
trait Outcome<'a>: Task<Beam<'a>> {
    /// The walk as one of any task.
    fn left(state: StateOf<Beam<'a>, Self>) -> LeftAt<Raw<'a>>;

    fn outcome(
        walk: &mut Walk<'_, Beam<'a>, Self>,
        types: &Types,
        value: Term<'a>,
        end: Result<Self::Done, WalkEnd>,
    ) -> AfterWalk<'a>;
}

/// Runs a walk: `:busy` if the work of the slice cannot be kept, `{:unknown, term}` if the walk met an
/// invalid type; otherwise the outcome of the task.
fn walk<'a, K: Outcome<'a>>(
    mut walk: Walk<'_, Beam<'a>, K>,
    types: &Types,
    (of, value): (Term<'a>, Term<'a>),
    clock: &QuantumClock,
) -> Step<'a> {
    let env = walk.heap.terms.env;
    let end = clock.run(&mut walk);
    settle(env, walk.meter());
    match end {
        Err(WalkEnd::SliceOver) => Step::Left(Box::new(K::left(walk.into_state().0))),
        Err(WalkEnd::TooLong | WalkEnd::Abandoned) => Step::Reply(atoms::busy().encode(env)),
        Err(WalkEnd::Unknown(number)) => Step::Reply(unknown(walk.heap, of, number)),
        end => match K::outcome(&mut walk, types, value, end) {
            AfterWalk::Reply(reply) => Step::Reply(reply),
            AfterWalk::List => {
                let (State { findings, .. }, heap, meter) = walk.into_state();
                list(Listing::new(findings, heap), heap, types, meter)
            }
        },
    }
}

/// `{:unknown, term}`. A suspended walk does not keep these terms, so the type is read again.
#[cold]
fn unknown<'a>(heap: &Beam<'a>, of: Term<'a>, number: u32) -> Term<'a> {
    let read = types(heap, of, false, Pace::Quantum);
    let term = read.and_then(|(read, _)| read.unknown.get(number as usize).copied());
    let term = term.map_or(of, |term| term.term(heap.terms.env));
    (atoms::unknown(), term).encode(heap.terms.env)
}

/// Lists the findings of a walk: `{:error, errors, finished?}`.
fn list<'a>(
    mut listing: Listing<Raw<'a>>,
    heap: &mut Beam<'a>,
    types: &Types,
    mut meter: Meter,
) -> Step<'a> {
    let env = heap.terms.env;
    let listed = listing.run(heap, types, &mut meter);
    settle(env, &meter);
    match listed {
        Ok(()) => {
            let (list, finished) = (listing.list.term(env), listing.is_complete());
            Step::Reply((atoms::error(), list, finished).encode(env))
        }
        Err(Stop::SliceOver) => Step::Left(Box::new(LeftAt::Errors(listing))),
        Err(_) => Step::Reply(atoms::busy().encode(env)),
    }
}

/// Starts a walk: `{:long, state, terms}` if a slice or a quantum is over; see [`walk`].
fn begin<'a, K: Outcome<'a>>(
    env: Env<'a>,
    (of, closed): (Term<'a>, bool),
    value: Term<'a>,
    task: K,
    pace: Pace,
) -> Term<'a> {
    let begun = (pace == Pace::Quantum).then(Instant::now);
    let mut heap = Beam::new(env, 0);
    let Some((Read { types, rules, .. }, id)) = types(&heap, of, closed, pace) else {
        return atoms::busy().encode(env);
    };
    let clock = QuantumClock::new(pace, begun, 0);
    let meters = (Meter::new(Limits::UNLIMITED, pace), pace);
    let state = State::new((value.into(), id), task).ruled(rules);
    let begun = Walk::new(&mut heap, &types, state, meters);
    let step = walk(begun, &types, (of, value), &clock);
    let call = Call::first(env, Limits::UNLIMITED, pace);
    reply(call, &mut heap, step, types, (of, value))
}

/// The reply, or `{:long, state, terms}`; the first two terms are the type and the value.
fn reply<'a>(
    call: Call<'a>,
    heap: &mut Beam<'a>,
    step: Step<'a>,
    types: Types,
    (of, value): (Term<'a>, Term<'a>),
) -> Term<'a> {
    match step {
        Step::Reply(reply) => reply,
        Step::Left(at) => {
            let mut held = vec![of.into(), value.into()];
            let left = freeze(LeftWalk { at: *at, types }, heap, &mut held);
            call.leave(left, &held, atoms::long())
                .encode(heap.terms.env)
        }
    }
}

impl Work for LeftWalk<()> {
    fn resume<'a>(self: Box<Self>, call: Call<'a>, terms: &[Raw<'a>]) -> Option<Term<'a>> {
        let begun = Instant::now();
        let mut heap = Beam::new(call.env, 0);
        let [of, value, terms @ ..] = terms else {
            return None;
        };
        let of_value = (of.term(call.env), value.term(call.env));
        let LeftWalk { at, types } = thaw(*self, &heap, &mut terms.iter().copied())?;
        let meter = Meter::new(Limits::UNLIMITED, Pace::Quantum);
        let step = match at {
            LeftAt::Check(state) => resume(&mut heap, &types, state, of_value, (meter, begun)),
            LeftAt::Coerce(state) => resume(&mut heap, &types, state, of_value, (meter, begun)),
            LeftAt::Errors(listing) => list(listing, &mut heap, &types, meter),
        };
        Some(reply(call, &mut heap, step, types, of_value))
    }

    fn needs_quantum(&self) -> bool {
        true
    }
}

fn resume<'a, K: Outcome<'a>>(
    heap: &mut Beam<'a>,
    types: &Types,
    state: StateOf<Beam<'a>, K>,
    of_value: (Term<'a>, Term<'a>),
    (meter, begun): (Meter, Instant),
) -> Step<'a> {
    let clock = QuantumClock::new(Pace::Quantum, Some(begun), state.fuel());
    let resumed = Walk::new(heap, types, state, (meter, Pace::Quantum));
    walk(resumed, types, of_value, &clock)
}

impl<'a> Outcome<'a> for Check<Raw<'a>> {
    fn left(state: StateOf<Beam<'a>, Self>) -> LeftAt<Raw<'a>> {
        LeftAt::Check(state)
    }

    /// `:ok`, or the list of errors.
    fn outcome(
        walk: &mut Walk<'_, Beam<'a>, Self>,
        _types: &Types,
        _value: Term<'a>,
        _end: Result<(), WalkEnd>,
    ) -> AfterWalk<'a> {
        // If there are too many errors, the ones found so far are enough.
        match walk.state.findings.count() {
            0 => AfterWalk::Reply(atoms::ok().encode(walk.heap.terms.env)),
            _ => AfterWalk::List,
        }
    }
}

impl<'a> Outcome<'a> for Coerce<Raw<'a>> {
    fn left(state: StateOf<Beam<'a>, Self>) -> LeftAt<Raw<'a>> {
        LeftAt::Coerce(state)
    }

    /// `{:ok, value, warnings}`, `{:ask, questions}`, `{:refused, failure, hidden?}`, `:too_much`, or
    /// the list of errors. `{:doubled, value, warnings}` if the value changed and may not be valid although it was:
    /// one key may name two fields of a type, and what the one requires can be wrong for the other; or of
    /// two spellings of a key the one has a struct for a `:map`.
    fn outcome(
        walk: &mut Walk<'_, Beam<'a>, Self>,
        types: &Types,
        value: Term<'a>,
        end: Result<Option<Raw<'a>>, WalkEnd>,
    ) -> AfterWalk<'a> {
        let env = walk.heap.terms.env;
        let findings = walk.state.findings.count();
        AfterWalk::Reply(match end {
            Ok(_) | Err(WalkEnd::Failed) if walk.state.task.asks() => {
                let asked = walk.state.task.asked(walk.heap).term(env);
                (atoms::ask(), asked).encode(env)
            }
            Ok(changed) if findings == 0 => {
                let is_exact = walk.state.task.purpose() == Purpose::Data;
                let unsure = !is_exact && (types.has_doubles() || walk.state.task.took_struct());
                let tag = match changed.is_some() && unsure {
                    true => atoms::doubled(),
                    false => atoms::ok(),
                };
                let value = changed.map_or(value, |changed| changed.term(env));
                let warnings = walk.state.task.warnings.list(walk.heap).term(env);
                (tag, value, warnings).encode(env)
            }
            Err(WalkEnd::Failed) => {
                let hidden = walk
                    .state
                    .findings
                    .all()
                    .last()
                    .is_none_or(|finding| finding.hidden);
                let failure = failure(walk.heap, types, &mut walk.state.findings);
                (atoms::refused(), failure.term(env), hidden).encode(env)
            }
            Err(_) if findings == 0 => atoms::too_much().encode(env),
            _ => return AfterWalk::List,
        })
    }
}

/// Returns a coercion; `answers` is nil in the first walk.
fn coercion<'a>(purpose: Purpose, answers: Term<'a>, of_json: bool) -> Coerce<Raw<'a>> {
    let answers = (!(atoms::nil() == answers)).then(|| Raw::from(answers));
    match of_json {
        true => Coerce::new(purpose, answers).of_json(),
        false => Coerce::new(purpose, answers),
    }
}

nif_pair! {
    /// Validates a value; `closed`: treats all maps as closed.
    fn signature_validate, signature_validate_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>, closed: bool) -> Term<'a> {
        begin(env, (of, closed), value, Check::by(Rules::current()), pace)
    }
}

nif_pair! {
    /// Coerces a value; `of_json`: null, true and false are no texts.
    fn signature_coerce, signature_coerce_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>, answers: Term<'a>, of_json: bool) -> Term<'a> {
        begin(env, (of, false), value, coercion(Purpose::Coerce, answers, of_json), pace)
    }
}

nif_pair! {
    /// Coerces a value that is valid, but was refused by `signature_coerce`.
    fn signature_spelled, signature_spelled_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>) -> Term<'a> {
        begin(env, (of, false), value, Coerce::new(Purpose::Spelled, None), pace)
    }
}

nif_pair! {
    /// Coerces and validates the arguments of a tool; `of_json`: null, true and false are no texts.
    fn signature_input, signature_input_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>, answers: Term<'a>, of_json: bool) -> Term<'a> {
        begin(env, (of, false), value, coercion(Purpose::Input, answers, of_json), pace)
    }
}

nif_pair! {
    /// Coerces and validates data of a JSON Schema: keys are as declared, and other keys of open maps stay.
    fn signature_data, signature_data_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>, answers: Term<'a>) -> Term<'a> {
        begin(env, (of, false), value, coercion(Purpose::Data, answers, true), pace)
    }
}

nif_pair! {
    /// Validates data of a JSON Schema: keys are as declared.
    fn signature_exact, signature_exact_dirty<'a>(env, pace, of: Term<'a>, value: Term<'a>) -> Term<'a> {
        let rules = Rules { matching: Matching::Exact, ..Rules::current() };
        begin(env, (of, false), value, Check::by(rules), pace)
    }
}
