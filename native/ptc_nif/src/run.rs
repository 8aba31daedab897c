//! The NIFs that start a run, and the pair that resumes any suspended work.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{Execution, RunArgs};
use crate::explain::Observed;
use crate::handle::{right_consts, Handle};
use crate::heap::Beam;
use crate::program::{from_node, from_text, CompileOptionsArg, Then};
use crate::raw::Raw;
use crate::schedule::{self, limits, nif_pair, Pace};
use crate::task::{Call, Left, Place, Waiting};
use crate::texts;
use ptc_program::ops::seems_to_call;
use ptc_run::{Asks, Data, Mode, Plain};
use ptc_term::meter::Limits;
use ptc_vm::ValueKind;
use rustler::{Atom, Decoder, Encoder, Env, Error, NifResult, ResourceArc, Term};

/// Prepares the parsing of a program that runs afterwards; without limits if they are not known yet.
fn begin<'a>(env: Env<'a>, given: &RunArgs<'a>) -> (Call<'a>, Data<Raw<'a>>) {
    let known = given.limits();
    let mut call = Call::first(env, known.unwrap_or(Limits::UNLIMITED), Pace::Slice);
    call.knows_limits = known.is_some();
    (call, given.data)
}

/// What suspended work is resumed with.
enum ResumeWith<'a> {
    /// `:more`: nothing; the slice or quantum of the work was over.
    Nothing,
    /// `{kind, term, words}`: a value, and the words of that value. The reply to an error is `:uncaught` if the program does not
    /// catch it, and `{:decode, state, terms, tool, text}` to a text that must be decoded.
    Value(ValueKind, Term<'a>, usize),
    /// `{:unanswered, _, _}`: nothing, because the call waits for somebody. What follows it goes on as a run of its own, as long as nothing reads the
    /// answer; the run stays at its call.
    Unanswered,
    /// `{:limits, timeout, max_heap}`: limits that were not known before.
    Limits(Limits),
}

impl<'a> Decoder<'a> for ResumeWith<'a> {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        if atoms::more() == term {
            return Ok(ResumeWith::Nothing);
        }
        let (tag, first, second): (Atom, Term, Term) = term.decode()?;
        let kind = match tag {
            tag if tag == atoms::answer() => ValueKind::Answer,
            tag if tag == atoms::moved() => ValueKind::Moved,
            tag if tag == atoms::moved_all() => ValueKind::MovedAll,
            tag if tag == atoms::answers() => ValueKind::Answers,
            tag if tag == atoms::failed() => ValueKind::Failed,
            tag if tag == atoms::failed_moved() => ValueKind::FailedMoved,
            tag if tag == atoms::joined() => ValueKind::Joined,
            tag if tag == atoms::in_turn() => ValueKind::InTurn,
            tag if tag == atoms::replayed() => ValueKind::Replayed,
            tag if tag == atoms::replayed_all() => ValueKind::ReplayedAll,
            tag if tag == atoms::unanswered() => return Ok(ResumeWith::Unanswered),
            tag if tag == atoms::text() => ValueKind::Text,
            tag if tag == atoms::text_moved() => ValueKind::TextMoved,
            tag if tag == atoms::limits() => {
                let limits = limits((first, second)).ok_or(Error::BadArg)?;
                return Ok(ResumeWith::Limits(limits));
            }
            _ => return Err(Error::BadArg),
        };
        Ok(ResumeWith::Value(kind, first, second.decode()?))
    }
}

/// Whether the caller of a run decides about each call: a boolean, or `:together`.
struct AsksArg(Asks);

impl<'a> Decoder<'a> for AsksArg {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        if atoms::together() == term {
            return Ok(AsksArg(Asks::Together));
        }
        let always: bool = term.decode()?;
        Ok(AsksArg(if always { Asks::Always } else { Asks::Never }))
    }
}

/// Resumes suspended work; `None` if it was resumed already, or if the terms belong to other work.
fn resumed<'a>(
    env: Env<'a>,
    state: Place<'a>,
    terms: Term<'a>,
    with: ResumeWith<'a>,
    pace: Pace,
) -> Option<Term<'a>> {
    if pace == Pace::Quantum && matches!(with, ResumeWith::Nothing) {
        state.age().into_iter().for_each(schedule::has_waited);
    }
    let mut held = state.lock()?;
    let Some((Left::Run(run), since)) = &mut *held else {
        let left = held.take();
        drop(held);
        return match left? {
            (Left::Work(waiting), _) => resume_work(waiting, env, state, terms, with, pace),
            (Left::Run(_), _) => None,
        };
    };
    let (value, words) = match with {
        ResumeWith::Value(kind, answer, words) if kind.is_text() => {
            let plain = run.plain_mut();
            if !texts::may_read(plain) {
                plain.words_built = plain.words_built.saturating_add(words);
                let (tool, text): (Term, Term) = answer.decode().ok()?;
                return Some((atoms::decode(), state.reference(), terms, tool, text).encode(env));
            }
            let Some((Left::Run(run), _)) = held.take() else {
                return None;
            };
            drop(held);
            let answer = (answer.into(), kind, words);
            return texts::answered((env, pace), state, (run, terms), answer);
        }
        ResumeWith::Value(kind, value, words) => (Some((kind, value.into())), words),
        ResumeWith::Unanswered => return Execution::unanswered(env, run.as_ref(), terms, pace),
        ResumeWith::Limits(limits) => {
            run.plain_mut().limits = limits;
            (None, 0)
        }
        ResumeWith::Nothing => (None, 0),
    };
    let run = (&mut **run, state.reference());
    let reply = Execution::resume(env, run, terms, (value, words), pace);
    match &reply {
        Some((_, Some(waits))) => *since = *waits,
        _ => *held = None,
    }
    reply.map(|(reply, _)| reply)
}

/// Resumes work other than a run. Not inlined, because a run is resumed at each of its calls, and should not
/// pay for the stack that other work needs.
#[inline(never)]
fn resume_work<'a>(
    waiting: Box<Waiting>,
    env: Env<'a>,
    state: Place<'a>,
    terms: Term<'a>,
    with: ResumeWith<'a>,
    pace: Pace,
) -> Option<Term<'a>> {
    let (limits, answer) = match with {
        ResumeWith::Nothing | ResumeWith::Unanswered => (None, None),
        ResumeWith::Limits(limits) => (Some(limits), None),
        ResumeWith::Value(kind, answer, words) => (None, Some((answer.into(), kind, words))),
    };
    waiting.resume(env, state, terms, (limits, answer), pace)
}

nif! {
    /// Parses, compiles and runs a program's text. With the timeout `:tools`, the reply to one that seems to call a tool is `:calls`.
    fn run_text<'a>(env, text: Term<'a>, reading: CompileOptionsArg, given: RunArgs<'a>)
        -> NifResult<Term<'a>> {
        let (call, data) = begin(env, &given);
        if given.waits_for_calls() && call.terms().bytes(text.into()).is_some_and(seems_to_call) {
            return Ok(atoms::calls().encode(env));
        }
        let reading = reading.reading(true);
        from_text(call, text.into(), reading, Then::Run, data).ok_or(Error::BadArg)
    }
}

nif! {
    /// Compiles and runs a program that is already decoded.
    fn run_node<'a>(env, node: Term<'a>, checked: bool, reading: CompileOptionsArg, given: RunArgs<'a>)
        -> Term<'a> {
        let (call, data) = begin(env, &given);
        let reading = reading.reading(checked);
        from_node(call, node.into(), reading, Then::Run, data)
    }
}

nif! {
    /// Runs a compiled program, or the observation of one; `consts` must be the constants it was compiled with. `forks`: its loops fork. At a loop
    /// that calls tools it returns `{:fork, state, terms, name of the loop, list, time left, names of its tools}`, and [`round`](crate::fork) starts each round.
    /// `asks`: its caller decides about each call. The run does not move, and the last element of a call is `{weight, address}`. With
    /// `:together` it is told of the calls that follow. With the timeout `:tools`, the reply to a program that may call a tool is `:calls`.
    fn run_compiled<'a>(env, program: Term<'a>, consts: Term<'a>, given: RunArgs<'a>, forks: bool, asks: AsksArg)
        -> NifResult<Term<'a>> {
        let limits = given.limits();
        let mut plain = Plain::new(limits);
        plain.mode = if forks { Mode::Forks } else { Mode::Asks };
        plain.asks = asks.0;
        let (program, count) = match program.decode::<ResourceArc<Handle>>() {
            Ok(handle) => (handle.program.clone(), handle.consts),
            Err(_) => {
                let observed: ResourceArc<Observed> = program.decode()?;
                limits.ok_or(Error::BadArg)?;
                plain.observation = Some(observed.counts.clone());
                (observed.program.clone(), observed.consts)
            }
        };
        let heap = Beam::new(env, 0);
        let consts = right_consts(&heap, consts, count)?;
        if given.waits_for_calls() && program.calls_tools() {
            return Ok(atoms::calls().encode(env));
        }
        let pace = limits.map_or(Pace::Probe, |_| Pace::Slice);
        Ok(Execution::new(heap, consts, given.data, pace).start(program, plain, None))
    }
}

nif_pair! {
    /// Resumes suspended work, for a slice or a quantum.
    fn resume, resume_dirty<'a>(env, pace, state: Place<'a>, terms: Term<'a>, with: ResumeWith<'a>)
        -> NifResult<Term<'a>> {
        resumed(env, state, terms, with, pace).ok_or(Error::BadArg)
    }
}
