//! The NIFs that start a run, and the pair that resumes any suspended work.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{Entry, Execution, Home};
use crate::explain::right_consts;
use crate::heap::Beam;
use crate::plain_run::{Mode, Run};
use crate::program::{from_node, from_text, CompileOptionsArg, Handle, Then};
use crate::raw::{Raw, Terms};
use crate::schedule::{self, limits, nif_pair, Pace};
use crate::task::{Call, Left, Place, Since, Waiting};
use crate::texts;
use ptc_program::over_texts::Data;
use ptc_term::meter::Limits;
use ptc_vm::{Answers, ValueKind};
use rustler::{Atom, Decoder, Encoder, Env, Error, NifResult, ResourceArc, Term};

/// Arguments of a run besides its program: a tuple in this order.
pub struct RunArgs<'a> {
    pub data: Data<Raw<'a>>,
    /// See [`limits`].
    pub timeout: Term<'a>,
    pub max_heap: Term<'a>,
}

// Implemented by hand: rustler's derived decoder makes a vector.
impl<'a> Decoder<'a> for RunArgs<'a> {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        let env = term.get_env();
        let terms = Terms { env };
        let (context, memory, timeout, max_heap, now) = match terms.tuple(term.into()) {
            Some(&[a, b, c, d]) => (a, b, c, d, Raw::from(atoms::nil().encode(env))),
            Some(&[a, b, c, d, now]) => (a, b, c, d, now),
            _ => return Err(Error::BadArg),
        };
        let (timeout, max_heap) = (timeout.term(env), max_heap.term(env));
        let data = Data {
            context,
            memory,
            now,
        };
        Ok(RunArgs {
            data,
            timeout,
            max_heap,
        })
    }
}

impl<'a> RunArgs<'a> {
    pub fn limits(&self) -> Option<Limits> {
        limits((self.timeout, self.max_heap))
    }
}

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
            tag if tag == atoms::failed() => ValueKind::Failed,
            tag if tag == atoms::failed_moved() => ValueKind::FailedMoved,
            tag if tag == atoms::joined() => ValueKind::Joined,
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
    match with {
        ResumeWith::Value(kind, answer, words) if kind.is_text() => {
            if !texts::may_read(run) {
                run.words_built = run.words_built.saturating_add(words);
                let (tool, text): (Term, Term) = answer.decode().ok()?;
                return Some((atoms::decode(), state.reference(), terms, tool, text).encode(env));
            }
            let run = run.take();
            *held = None;
            drop(held);
            return texts::answered(
                (env, pace),
                state,
                (run, terms),
                (answer.into(), kind, words),
            );
        }
        _ => {}
    }
    let reply = resumed_run(env, state.reference(), run, terms, with, pace);
    match &reply {
        Some((_, Some(waits))) => *since = *waits,
        _ => *held = None,
    }
    reply.map(|(reply, _)| reply)
}

/// Resumes a run in its resource. Returns the reply, and since when the run waits if it was suspended again.
fn resumed_run<'a>(
    env: Env<'a>,
    reference: Term<'a>,
    run: &mut Run,
    terms: Term<'a>,
    with: ResumeWith<'a>,
    pace: Pace,
) -> Option<(Term<'a>, Option<Since>)> {
    let (kind, mut answers, words) = match with {
        ResumeWith::Nothing | ResumeWith::Limits(_) => (None, Answers::None, 0),
        ResumeWith::Value(ValueKind::MovedAll, list, words) => {
            let all = Answers::of_list(&Beam::new(env, 0), list.into())?;
            (Some(ValueKind::MovedAll), all, words)
        }
        ResumeWith::Value(kind, term, words) => (Some(kind), Answers::One(term.into()), words),
    };
    if let ResumeWith::Limits(limits) = with {
        run.limits = limits;
    }
    let words = run.words().saturating_add(words);
    let state = run.state.take()?;
    let (mut execution, mut state) = Execution::resumed(env, terms, run, state, words, pace)?;
    if kind.is_some_and(ValueKind::has_moved) {
        run.mode = Mode::Moved;
    }
    match kind {
        Some(kind) if kind.is_failure() => match state.failed_call(&run.program) {
            Some(caught) => state = caught,
            None => return Some((atoms::uncaught().encode(env), None)),
        },
        Some(ValueKind::Joined) => {
            let Answers::One(value) = answers else {
                return None;
            };
            let (joined, value) = state.joined(&run.program, &execution.heap, value)?;
            (state, answers) = (joined, value.map_or(Answers::None, Answers::One));
        }
        _ => {}
    }
    let reply = execution.go(run, Entry::Resume(state, answers), Home::Own(reference))?;
    Some((reply, execution.left))
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
        ResumeWith::Nothing => (None, None),
        ResumeWith::Limits(limits) => (Some(limits), None),
        ResumeWith::Value(kind, answer, words) => (None, Some((answer.into(), kind, words))),
    };
    waiting.resume(env, state, terms, (limits, answer), pace)
}

nif! {
    /// Parses, compiles and runs a program's text.
    fn run_text<'a>(env, text: Term<'a>, reading: CompileOptionsArg, given: RunArgs<'a>)
        -> NifResult<Term<'a>> {
        let (call, data) = begin(env, &given);
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
    /// Runs a compiled program; `consts` must be the constants it was compiled with.
    fn run_compiled<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>, given: RunArgs<'a>)
        -> NifResult<Term<'a>> {
        start_compiled(env, handle, consts, given, Mode::Asks, false)
    }
}

nif! {
    /// Runs a compiled program whose loops fork: at a loop that calls tools it returns
    /// `{:fork, state, terms, name of the loop, list, time left}`. [`round`](crate::fork) starts each round.
    fn run_forking<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>, given: RunArgs<'a>)
        -> NifResult<Term<'a>> {
        start_compiled(env, handle, consts, given, Mode::Forks, false)
    }
}

nif! {
    /// Runs a compiled program whose caller decides about each call: the run does not move, and the last element of a
    /// call is `{weight, address}`. `forks`: as for `run_forking`.
    fn run_asking<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>, given: RunArgs<'a>, forks: bool)
        -> NifResult<Term<'a>> {
        let mode = if forks { Mode::Forks } else { Mode::Asks };
        start_compiled(env, handle, consts, given, mode, true)
    }
}

fn start_compiled<'a>(
    env: Env<'a>,
    handle: ResourceArc<Handle>,
    consts: Term<'a>,
    given: RunArgs<'a>,
    mode: Mode,
    asks_always: bool,
) -> NifResult<Term<'a>> {
    let heap = Beam::new(env, 0);
    let consts = right_consts(&heap, consts, handle.consts)?;
    let limits = given.limits();
    let mut run = Run::new(handle.program.clone(), limits);
    run.mode = mode;
    run.asks_always = asks_always;
    let pace = limits.map_or(Pace::Probe, |_| Pace::Slice);
    Ok(Execution::new(heap, consts, given.data, pace).start(run, None))
}

nif_pair! {
    /// Resumes suspended work, for a slice or a quantum.
    fn resume, resume_dirty<'a>(env, pace, state: Place<'a>, terms: Term<'a>, with: ResumeWith<'a>)
        -> NifResult<Term<'a>> {
        resumed(env, state, terms, with, pace).ok_or(Error::BadArg)
    }
}
