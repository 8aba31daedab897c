//! The NIFs that start a run and take it up again.

use crate::atoms;
use crate::execution::{Consts, Entry, Execution, Suspension};
use crate::heap::Beam;
use crate::program::{from_node, from_text, Handle, Loaded, Reading, Reply};
use crate::raw::Raw;
use ptc_core::meter::{Deadline, Limits, Pace};
use ptc_core::program::Program;
use ptc_core::vm::Frozen;
use rustler::{Atom, Binary, Env, NifTuple, NifUntaggedEnum, ResourceArc, Term};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
fn limits(timeout: Term, max_heap: Term) -> Option<Limits> {
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

/// When the deadline's clock starts: before a program is read, if that may take long.
fn began(pace: Pace) -> Option<Instant> {
    (pace == Pace::Quantum).then(Instant::now)
}

/// Starts a run. Without limits it is tried for a few steps, which most small programs end in.
fn start<'a>(
    heap: Beam<'a>,
    program: Arc<Program>,
    consts: Consts<'a>,
    given: RunArgs<'a>,
    pace: Pace,
    began: Option<Instant>,
) -> Term<'a> {
    let mut limits = limits(given.timeout, given.max_heap);
    if let (Some(limits), Some(began)) = (&mut limits, began) {
        limits.deadline = limits.deadline.started(began);
    }
    let execution = Execution {
        heap,
        program,
        consts,
        context: given.context.into(),
        memory: given.memory.into(),
        limits: limits.unwrap_or(Limits::PROBE),
        pace: limits.map_or(Pace::Probe, |_| pace),
    };
    execution.run(Entry::Start, None)
}

fn start_loaded<'a>(
    heap: Beam<'a>,
    loaded: Result<Loaded<'a>, Reply<'a>>,
    given: RunArgs<'a>,
    pace: Pace,
    began: Option<Instant>,
) -> Term<'a> {
    match loaded {
        Ok(Loaded { program, consts }) => {
            let consts = Consts::Vector(consts);
            start(heap, program, consts, given, pace, began)
        }
        Err(instead) => instead,
    }
}

/// How a run that was left goes on.
#[derive(NifUntaggedEnum)]
enum ResumeWith<'a> {
    /// `{:answer, term, words}`: with the answer to its call, and what that takes.
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
    let suspended = state.take()?;
    let answered = match on {
        ResumeWith::Answer((_, _, words)) => words,
        _ => 0,
    };
    let heap = Beam::new(env, suspended.words.saturating_add(answered));
    let [consts, context, memory, slots, stack] = *heap.terms.tuple(terms.into())? else {
        return None;
    };
    let frozen = Frozen {
        slots: heap.terms.tuple(slots)?.to_vec(),
        stack,
    };
    let (answer, limits) = match on {
        ResumeWith::Answer((_, answer, _)) => (Some(Raw::from(answer)), suspended.limits),
        ResumeWith::Limits((timeout, max_heap)) => (None, limits(timeout, max_heap)?),
        ResumeWith::More(_) => (None, suspended.limits),
    };
    let execution = Execution {
        consts: Consts::of_tuple(&heap, consts.term(env))?,
        heap,
        program: suspended.program,
        context,
        memory,
        limits,
        pace,
    };
    let begin = Entry::Resume(suspended.checkpoint, frozen, answer);
    Some(execution.run(begin, Some(state)))
}

macro_rules! run_nifs {
    ($text:ident, $node:ident, $compiled:ident, $resume:ident, $schedule:literal, $pace:expr) => {
        /// Compiles and runs a program's text.
        #[rustler::nif(schedule = $schedule)]
        fn $text<'a>(env: Env<'a>, text: Binary<'a>, depth: u32, given: RunArgs<'a>) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($text));
            let mut heap = Beam::new(env, 0);
            let began = began($pace);
            let loaded = from_text(&mut heap, text.as_slice(), depth, $pace);
            start_loaded(heap, loaded, given, $pace, began)
        }

        /// Compiles and runs a program that is already parsed.
        #[rustler::nif(schedule = $schedule)]
        fn $node<'a>(
            env: Env<'a>,
            node: Term<'a>,
            strict: bool,
            depth: u32,
            given: RunArgs<'a>,
        ) -> Term<'a> {
            let _clock = crate::clock::start(stringify!($node));
            let mut heap = Beam::new(env, 0);
            let reading = Reading { strict, depth };
            let began = began($pace);
            let loaded = from_node(&mut heap, node.into(), reading, $pace);
            start_loaded(heap, loaded, given, $pace, began)
        }

        /// Runs a compiled program; `consts` must be those it was compiled with.
        #[rustler::nif(schedule = $schedule)]
        fn $compiled<'a>(
            env: Env<'a>,
            handle: ResourceArc<Handle>,
            consts: Term<'a>,
            given: RunArgs<'a>,
        ) -> rustler::NifResult<Term<'a>> {
            let _clock = crate::clock::start(stringify!($compiled));
            let heap = Beam::new(env, 0);
            let consts = Consts::of_tuple(&heap, consts).ok_or(rustler::Error::BadArg)?;
            if consts.slice().len() != handle.consts {
                return Err(rustler::Error::BadArg);
            }
            Ok(start(
                heap,
                handle.program.clone(),
                consts,
                given,
                $pace,
                None,
            ))
        }

        /// Goes on with a run, see [`ResumeWith`].
        #[rustler::nif(schedule = $schedule)]
        fn $resume<'a>(
            env: Env<'a>,
            state: ResourceArc<Suspension>,
            terms: Term<'a>,
            on: ResumeWith<'a>,
        ) -> rustler::NifResult<Term<'a>> {
            let _clock = crate::clock::start(stringify!($resume));
            take_up(env, state, terms, on, $pace).ok_or(rustler::Error::BadArg)
        }
    };
}

run_nifs!(
    run_text,
    run_node,
    run_compiled,
    resume,
    "Normal",
    Pace::Slice
);
run_nifs!(
    run_text_dirty,
    run_node_dirty,
    run_compiled_dirty,
    resume_dirty,
    "DirtyCpu",
    Pace::Quantum
);
