//! The NIFs that start a run, and those that go on with whatever was left.

use crate::atoms;
use crate::execution::{Consts, Entry, Execution, Mode, Suspension};
use crate::heap::Beam;
use crate::program::{from_node, from_text, Handle, Reading, Then};
use crate::raw::Raw;
use crate::task::{Call, Left, Work};
use crate::{answer, decode, program};
use ptc_core::meter::{Deadline, Limits, Pace};
use ptc_core::program::Program;
use rustler::{Atom, Encoder, Env, NifResult, NifTuple, NifUntaggedEnum, ResourceArc, Term};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// What a run is given besides its program, as the Elixir side sends it.
#[derive(NifTuple)]
struct RunArgs<'a> {
    context: Term<'a>,
    memory: Term<'a>,
    /// See [`limits`].
    timeout: Term<'a>,
    /// See [`limits`].
    max_heap: Term<'a>,
}

/// The limits, out of milliseconds or `:infinity` and words or 0 for no limit; nothing if either
/// is nil, which stands for "not known yet".
pub fn limits(timeout: Term, max_heap: Term) -> Option<Limits> {
    let deadline = match timeout.decode() {
        Ok(length) => Deadline::After(Duration::from_millis(length)),
        Err(_) if atoms::infinity() == timeout => Deadline::Never,
        Err(_) => return None,
    };
    let words = match max_heap.decode().ok()? {
        0 => usize::MAX,
        words => words,
    };
    Some(Limits { deadline, words })
}

/// Begins to read a program that is run then; without limits at first, if it does not know them.
fn reading<'a>(env: Env<'a>, given: &RunArgs<'a>) -> (Call<'a>, Then, [Raw<'a>; 2]) {
    let known = limits(given.timeout, given.max_heap);
    let then = match known {
        Some(_) => Then::Run,
        None => Then::RunWithoutLimits,
    };
    let unlimited = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    let call = Call::first(env, known.unwrap_or(unlimited), Pace::Slice);
    (call, then, [given.context.into(), given.memory.into()])
}

/// Starts a compiled program. Without limits it is tried for a few steps, which most small programs
/// end in.
fn start<'a>(
    heap: Beam<'a>,
    program: Arc<Program>,
    consts: Consts<'a>,
    given: RunArgs<'a>,
    mode: Mode,
) -> Term<'a> {
    let limits = limits(given.timeout, given.max_heap);
    let execution = Execution {
        heap,
        program,
        consts,
        context: given.context.into(),
        memory: given.memory.into(),
        limits: limits.unwrap_or(Limits::PROBE),
        pace: limits.map_or(Pace::Probe, |_| Pace::Slice),
        slices: 0,
        mode,
        together: None,
    };
    let env = execution.heap.terms.env;
    let reply = execution.run(Entry::Start, None);
    reply.unwrap_or_else(|| (atoms::error(), atoms::timeout()).encode(env))
}

/// How a run that was left goes on.
#[derive(NifUntaggedEnum)]
enum ResumeWith<'a> {
    /// `{:answer, term, words}`: with the answer to its call, and what that takes. With `:moved` in
    /// place of `:answer` it has moved to the process of its tools; with `:joined` the term is the
    /// value of the loop at whose start it was left.
    Answer((Atom, Term<'a>, usize)),
    /// `{timeout, max_heap}`: with the limits it did not know.
    Limits((Term<'a>, Term<'a>)),
    /// Anything else: as it was left.
    More(Term<'a>),
}

/// Takes up a run; nothing if it is none that was left, or is taken up already.
fn take_up<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    terms: Term<'a>,
    on: ResumeWith<'a>,
    pace: Pace,
) -> Option<Term<'a>> {
    let suspended = match state.take()? {
        Left::Run(suspended) => suspended,
        Left::Work {
            work,
            limits,
            words,
            slices,
        } => {
            let call = Call {
                env,
                pace,
                limits,
                words,
                slices,
                state: Some(state),
            };
            return go_on(call, *work, terms, on);
        }
    };
    let (how, answered) = match on {
        ResumeWith::Answer((how, _, words)) => (Some(how), words),
        _ => (None, 0),
    };
    let together = suspended.together.as_ref();
    let built = together.map_or(suspended.words, |words| words.load(Ordering::Relaxed));
    let heap = Beam::new(env, built.saturating_add(answered));
    let held = suspended.held(&heap, terms)?;
    let (answer, limits) = match on {
        ResumeWith::Answer((_, answer, _)) => (Some(Raw::from(answer)), suspended.limits),
        ResumeWith::Limits((timeout, max_heap)) => (None, limits(timeout, max_heap)?),
        ResumeWith::More(_) => (None, suspended.limits),
    };
    let execution = Execution {
        consts: held.consts,
        heap,
        program: suspended.program,
        context: held.context,
        memory: held.memory,
        limits,
        pace,
        slices: suspended.slices,
        mode: match how {
            Some(how) if atoms::moved() == how => Mode::Moved,
            _ => suspended.mode,
        },
        together: suspended.together,
    };
    let checkpoint = match how {
        Some(how) if atoms::joined() == how => {
            suspended.checkpoint.behind_loop(&execution.program)?
        }
        _ => suspended.checkpoint,
    };
    let begin = Entry::Resume(checkpoint, held.frozen, answer);
    execution.run(begin, Some(state))
}

/// Goes on with work other than a run.
fn go_on<'a>(call: Call<'a>, work: Work, terms: Term<'a>, on: ResumeWith<'a>) -> Option<Term<'a>> {
    let terms = call.terms().tuple(terms.into())?;
    match work {
        Work::Load(loading) => {
            let given = match on {
                ResumeWith::Limits((timeout, max_heap)) => Some(limits(timeout, max_heap)?),
                _ => None,
            };
            program::go_on(call, loading, terms, given)
        }
        Work::Decode(decoding) => decode::go_on(call, decoding, terms),
        Work::Answer(answering) => answer::go_on(call, answering, terms),
    }
}

/// Compiles and runs a program's text.
#[rustler::nif]
fn run_text<'a>(
    env: Env<'a>,
    text: Term<'a>,
    depth: u32,
    given: RunArgs<'a>,
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("run_text");
    let (call, then, surroundings) = reading(env, &given);
    from_text(call, text.into(), depth, then, surroundings).ok_or(rustler::Error::BadArg)
}

/// Compiles and runs a program that is already parsed.
#[rustler::nif]
fn run_node<'a>(
    env: Env<'a>,
    node: Term<'a>,
    strict: bool,
    depth: u32,
    given: RunArgs<'a>,
) -> Term<'a> {
    let _clock = crate::clock::start("run_node");
    let (call, then, surroundings) = reading(env, &given);
    let reading = Reading { strict, depth };
    from_node(call, node.into(), reading, then, surroundings)
}

/// Runs a compiled program; `consts` must be those it was compiled with.
#[rustler::nif]
fn run_compiled<'a>(
    env: Env<'a>,
    handle: ResourceArc<Handle>,
    consts: Term<'a>,
    given: RunArgs<'a>,
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("run_compiled");
    start_compiled(env, handle, consts, given, Mode::Asks)
}

/// The same for a run whose loops fork: `{:fork, state, terms, name of the loop, list, time left}`
/// stands for a loop that calls tools. [`round`](crate::fork) starts each of its rounds.
#[rustler::nif]
fn run_forking<'a>(
    env: Env<'a>,
    handle: ResourceArc<Handle>,
    consts: Term<'a>,
    given: RunArgs<'a>,
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("run_forking");
    start_compiled(env, handle, consts, given, Mode::Forks)
}

fn start_compiled<'a>(
    env: Env<'a>,
    handle: ResourceArc<Handle>,
    consts: Term<'a>,
    given: RunArgs<'a>,
    mode: Mode,
) -> NifResult<Term<'a>> {
    let heap = Beam::new(env, 0);
    let consts = Consts::of_tuple(&heap, consts).ok_or(rustler::Error::BadArg)?;
    if consts.slice().len() != handle.consts {
        return Err(rustler::Error::BadArg);
    }
    Ok(start(heap, handle.program.clone(), consts, given, mode))
}

/// Goes on with a run, see [`ResumeWith`], or with other work that was left.
#[rustler::nif]
fn resume<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    terms: Term<'a>,
    on: ResumeWith<'a>,
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("resume");
    take_up(env, state, terms, on, Pace::Slice).ok_or(rustler::Error::BadArg)
}

/// The same for a quantum.
#[rustler::nif(schedule = "DirtyCpu")]
fn resume_dirty<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    terms: Term<'a>,
    on: ResumeWith<'a>,
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("resume_dirty");
    take_up(env, state, terms, on, Pace::Quantum).ok_or(rustler::Error::BadArg)
}
