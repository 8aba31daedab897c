//! The NIFs that start a run, and the pair that resumes any suspended work.

use crate::atoms;
use crate::execution::{Consts, Entry, Execution, Mode, Suspension};
use crate::heap::Beam;
use crate::program::{from_node, from_text, CompileOptionsArg, Handle, Then};
use crate::raw::{Raw, Terms};
use crate::schedule::{self, limits, nif_pair, Pace};
use crate::task::{Call, Left, Work};
use crate::{answer, decode, encode, program, repair, signature};
use ptc_core::meter::Limits;
use ptc_core::program::Program;
use rustler::{Atom, Decoder, Encoder, Env, Error, NifResult, ResourceArc, Term};
use std::sync::atomic::Ordering;
use std::sync::Arc;

/// Arguments of a run besides its program: a tuple in this order.
pub struct RunArgs<'a> {
    pub context: Raw<'a>,
    pub memory: Raw<'a>,
    /// See [`limits`].
    pub timeout: Term<'a>,
    pub max_heap: Term<'a>,
}

// Implemented by hand: rustler's derived decoder makes a vector.
impl<'a> Decoder<'a> for RunArgs<'a> {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        let env = term.get_env();
        let terms = Terms { env };
        let Some(&[context, memory, timeout, max_heap]) = terms.tuple(term.into()) else {
            return Err(Error::BadArg);
        };
        Ok(RunArgs {
            context,
            memory,
            timeout: timeout.term(env),
            max_heap: max_heap.term(env),
        })
    }
}

impl RunArgs<'_> {
    pub fn limits(&self) -> Option<Limits> {
        limits((self.timeout, self.max_heap))
    }
}

/// Prepares the parsing of a program that runs afterwards; without limits if they are not known yet.
fn begin<'a>(env: Env<'a>, given: &RunArgs<'a>) -> (Call<'a>, Then, [Raw<'a>; 2]) {
    let known = given.limits();
    let then = match known {
        Some(_) => Then::Run,
        None => Then::RunWithoutLimits,
    };
    let call = Call::first(env, known.unwrap_or(Limits::UNLIMITED), Pace::Slice);
    (call, then, [given.context, given.memory])
}

/// Starts a compiled program. Without limits it is probed for a few steps, in which most small programs end.
fn start<'a>(
    heap: Beam<'a>,
    program: Arc<Program>,
    consts: Consts<'a>,
    given: RunArgs<'a>,
    mode: Mode,
) -> Term<'a> {
    let limits = given.limits();
    let execution = Execution {
        heap,
        program,
        consts,
        context: given.context,
        memory: given.memory,
        limits: limits.unwrap_or(Limits::PROBE),
        pace: limits.map_or(Pace::Probe, |_| Pace::Slice),
        quarters: 0,
        observation: None,
        mode,
        together: None,
    };
    let env = execution.heap.terms.env;
    let reply = execution.run(Entry::Start, None);
    reply.unwrap_or_else(|| (atoms::error(), atoms::timeout()).encode(env))
}

/// What suspended work is resumed with.
enum ResumeWith<'a> {
    /// `:more`: nothing; the slice or quantum of the work was over.
    Nothing,
    /// `{:answer, term, words}`: the answer to the run's call, and the words of that answer.
    Answer(Term<'a>, usize),
    /// `{:moved, term, words}`: like `:answer`, for a run that has moved to the process of its tools.
    Moved(Term<'a>, usize),
    /// `{:joined, term, words}`: the value of the loop at whose start the run was suspended.
    Joined(Term<'a>, usize),
    /// `{:limits, timeout, max_heap}`: limits that were not known before.
    Limits(Limits),
}

impl<'a> Decoder<'a> for ResumeWith<'a> {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        if atoms::more() == term {
            return Ok(ResumeWith::Nothing);
        }
        let (tag, first, second): (Atom, Term, Term) = term.decode()?;
        if tag == atoms::answer() {
            return Ok(ResumeWith::Answer(first, second.decode()?));
        }
        if tag == atoms::moved() {
            return Ok(ResumeWith::Moved(first, second.decode()?));
        }
        if tag == atoms::joined() {
            return Ok(ResumeWith::Joined(first, second.decode()?));
        }
        let limits = (tag == atoms::limits()).then(|| limits((first, second)));
        limits
            .flatten()
            .map(ResumeWith::Limits)
            .ok_or(Error::BadArg)
    }
}

/// Resumes suspended work; `None` if it was resumed already, or if the terms belong to other work.
fn take_up<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    terms: Term<'a>,
    with: ResumeWith<'a>,
    pace: Pace,
) -> Option<Term<'a>> {
    if pace == Pace::Quantum && matches!(with, ResumeWith::Nothing) {
        state.age().into_iter().for_each(schedule::has_waited);
    }
    let suspended = match state.take()? {
        Left::Run(suspended) => suspended,
        Left::Walk(left) if pace == Pace::Quantum => {
            return signature::go_on(env, *left, terms, state);
        }
        // Walks are resumed in quanta only.
        left @ Left::Walk(_) => {
            state.put(left);
            return Some((atoms::long(), state, terms).encode(env));
        }
        Left::Work {
            work,
            limits,
            words,
            quarters,
        } => {
            let call = Call {
                env,
                pace,
                limits,
                words,
                quarters,
                state: Some(state),
            };
            return go_on(call, *work, terms, with);
        }
    };
    let answered = match with {
        ResumeWith::Answer(_, words)
        | ResumeWith::Moved(_, words)
        | ResumeWith::Joined(_, words) => words,
        ResumeWith::Nothing | ResumeWith::Limits(_) => 0,
    };
    let together = suspended.together.as_ref();
    let built = together.map_or(suspended.words, |words| words.load(Ordering::Relaxed));
    let heap = Beam::new(env, built.saturating_add(answered));
    let held = suspended.held(&heap, terms)?;
    let (answer, limits) = match with {
        ResumeWith::Answer(answer, _)
        | ResumeWith::Moved(answer, _)
        | ResumeWith::Joined(answer, _) => (Some(Raw::from(answer)), suspended.limits),
        ResumeWith::Limits(limits) => (None, limits),
        ResumeWith::Nothing => (None, suspended.limits),
    };
    let execution = Execution {
        consts: held.consts,
        heap,
        program: suspended.program,
        context: held.context,
        memory: held.memory,
        limits,
        pace,
        quarters: suspended.quarters,
        observation: suspended.observation,
        mode: match with {
            ResumeWith::Moved(..) => Mode::Moved,
            _ => suspended.mode,
        },
        together: suspended.together,
    };
    let checkpoint = match with {
        ResumeWith::Joined(..) => suspended.checkpoint.behind_loop(&execution.program)?,
        _ => suspended.checkpoint,
    };
    let begin = Entry::Resume(checkpoint, held.frozen, answer);
    execution.run(begin, Some(state))
}

/// Resumes work other than a run.
fn go_on<'a>(
    call: Call<'a>,
    work: Work,
    terms: Term<'a>,
    with: ResumeWith<'a>,
) -> Option<Term<'a>> {
    let terms = call.terms().tuple(terms.into())?;
    match work {
        Work::Load(loading) => {
            let given = match with {
                ResumeWith::Limits(limits) => Some(limits),
                _ => None,
            };
            program::go_on(call, loading, terms, given)
        }
        Work::Decode(decoding) => decode::go_on(call, decoding, terms),
        Work::Answer(answering) => answer::go_on(call, answering, terms),
        Work::Encode(encoding) => encode::go_on(call, encoding, terms),
        Work::Repair(mending) => repair::go_on(call, *mending, terms),
    }
}

/// Parses, compiles and runs a program's text.
#[rustler::nif]
fn run_text<'a>(
    env: Env<'a>,
    text: Term<'a>,
    reading: CompileOptionsArg,
    given: RunArgs<'a>,
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("run_text");
    let (call, then, surroundings) = begin(env, &given);
    let reading = reading.reading(true);
    from_text(call, text.into(), reading, then, surroundings).ok_or(Error::BadArg)
}

/// Compiles and runs a program that is already decoded.
#[rustler::nif]
fn run_node<'a>(
    env: Env<'a>,
    node: Term<'a>,
    checked: bool,
    reading: CompileOptionsArg,
    given: RunArgs<'a>,
) -> Term<'a> {
    let _clock = crate::clock::start("run_node");
    let (call, then, surroundings) = begin(env, &given);
    let reading = reading.reading(checked);
    from_node(call, node.into(), reading, then, surroundings)
}

/// Runs a compiled program; `consts` must be the constants it was compiled with.
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

/// Runs a compiled program whose loops fork: at a loop that calls tools it returns
/// `{:fork, state, terms, name of the loop, list, time left}`. [`round`](crate::fork) starts each round.
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
    let consts = Consts::of_tuple(&heap, consts).ok_or(Error::BadArg)?;
    if consts.slice().len() != handle.consts {
        return Err(Error::BadArg);
    }
    Ok(start(heap, handle.program.clone(), consts, given, mode))
}

nif_pair! {
    /// Resumes suspended work, for a slice or a quantum.
    fn resume, resume_dirty<'a>(env, pace, state: ResourceArc<Suspension>, terms: Term<'a>, with: ResumeWith<'a>)
        -> NifResult<Term<'a>> {
        take_up(env, state, terms, with, pace).ok_or(Error::BadArg)
    }
}
