//! A run over JSON texts that are not decoded: the VM runs over a [`Lazy`] heap, and what leaves the run is built first.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{milliseconds, Consts};
use crate::heap::Beam;
use crate::plain_run::{Mode, Run};
use crate::program::Handle;
use crate::raw::Raw;
use crate::run::RunArgs;
use crate::schedule::{self, Pace};
use crate::task::{suspend, Left, Since};
use crate::texts::TextIndex;
use crate::wire;
use ptc_lazy::settle::Settle;
use ptc_lazy::{Given, Lazy, Source};
use ptc_machine::fault::{Fault, Halt};
use ptc_machine::{Exit, Inputs, State};
use ptc_program::code::Vm;
use ptc_program::compile::INPUT_NAME;
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};
use ptc_term::weight::words_of_row;
use rustler::{Encoder, Env, Error, NifResult, ResourceArc, Term};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Instant;

/// Bits of the number that marks values of texts: with its sign it takes no memory.
const MARKER_BITS: u32 = 58;
const BYTES_PER_WORD: usize = 8;
/// Maximum part of a slice, in per cent, that may be used when the terms that leave the run are built in the same execution.
const MOST_BEFORE_SETTLING: i32 = 20;

/// What a run over texts has besides its terms and its state.
pub struct Texts {
    indexes: Vec<ResourceArc<TextIndex>>,
    /// See [`Given::marker`].
    marker: i64,
    /// See [`Given::stored`].
    stored: bool,
    /// What is being built, and what it is then for.
    settling: Option<(After, Settle<()>)>,
}

/// What happens when the terms that leave the run are built.
enum After {
    /// The run has ended with its value.
    Done,
    /// The run calls a tool.
    Call,
    /// The run has failed.
    Fault(Fault<()>),
}

/// The terms of a run over texts, besides those of its state.
struct Held<'a> {
    consts: Raw<'a>,
    context: Raw<'a>,
    memory: Raw<'a>,
    /// A tuple of the texts.
    texts: Raw<'a>,
}

/// Where an execution begins.
enum Begin<'a> {
    Start { now: Raw<'a> },
    State(State<()>, Vec<Raw<'a>>, Option<Raw<'a>>),
    Settling(Option<State<()>>, Vec<Raw<'a>>),
}

type Lazily<'t, 'a> = Lazy<'t, Beam<'a>>;
type Value<'a> = ptc_lazy::Term<Raw<'a>>;

nif! {
    /// Runs a compiled program over a context with texts that have an index: `texts` is a tuple of `{key, text, index}`. The
    /// replies are those of `run_compiled`; the run never moves.
    fn run_over_texts<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>, given: RunArgs<'a>, texts: Term<'a>)
        -> NifResult<Term<'a>> {
        start(env, &handle, consts, &given, texts).ok_or(Error::BadArg)
    }
}

fn start<'a>(
    env: Env<'a>,
    handle: &Handle,
    consts: Term<'a>,
    given: &RunArgs<'a>,
    texts: Term<'a>,
) -> Option<Term<'a>> {
    let mut run = Run::new(handle.program.clone(), Some(given.limits()?));
    run.mode = Mode::Asks;
    let heap = Beam::new(env, 0);
    let terms = heap.terms;
    let consts = Raw::from(consts);
    run.consts = terms.tuple(consts)?.len();
    (run.consts == handle.consts).then_some(())?;
    let (mut keys, mut binaries, mut indexes) = (Vec::new(), Vec::new(), Vec::new());
    for text in terms.tuple(texts.into())? {
        let [key, binary, index] = terms.tuple(*text)? else {
            return None;
        };
        let index: ResourceArc<TextIndex> = index.term(env).decode().ok()?;
        (terms.bytes(*binary)?.len() == index.index.length()).then_some(())?;
        keys.push(*key);
        binaries.push(*binary);
        indexes.push(index);
    }
    let words = indexes.iter().map(|text| text.index.bytes()).sum::<usize>() / BYTES_PER_WORD;
    let held = Held {
        consts,
        context: given.context,
        memory: given.memory,
        texts: terms.make_tuple(&binaries),
    };
    let marker = RandomState::new().build_hasher().finish() >> (64 - MARKER_BITS);
    let texts = Texts {
        indexes,
        marker: marker as i64,
        stored: false,
        settling: None,
    };
    let indexes = texts.indexes.clone();
    let sources = sources(&heap, held.texts, &indexes)?;
    let mut lazy = lazily(Beam::new(env, words), sources, &texts);
    let mut context = held.context;
    for (number, key) in keys.into_iter().enumerate() {
        let root = lazy.root(number as u32);
        let value = lazy.pack(root);
        context = terms.map_update(context, key, value)?;
    }
    run.texts = Some(Box::new(texts));
    let held = Held { context, ..held };
    let from = Begin::Start { now: given.now };
    let (reply, _) = go(lazy, &mut run, held, Pace::Slice, from, None)?;
    Some(reply)
}

/// Resumes a run over texts; `None` if the terms belong to other work. Also returns since when the run waits if it was suspended
/// again.
#[expect(clippy::too_many_arguments)]
pub fn resumed<'a>(
    env: Env<'a>,
    reference: Term<'a>,
    run: &mut Run,
    terms: Term<'a>,
    answer: Option<Term<'a>>,
    failed: bool,
    words: usize,
    pace: Pace,
) -> Option<(Term<'a>, Option<Since>)> {
    let heap = Beam::new(env, words);
    let [token, consts, context, memory, texts, rest @ ..] = heap.terms.tuple(terms.into())? else {
        return None;
    };
    (heap.small_integer(*token) == Some(run.token as i64)).then_some(())?;
    let held = Held {
        consts: *consts,
        context: *context,
        memory: *memory,
        texts: *texts,
    };
    let given = run.texts.as_ref()?;
    let indexes = given.indexes.clone();
    let sources = sources(&heap, held.texts, &indexes)?;
    let is_settling = given.settling.is_some();
    let lazy = lazily(heap, sources, given);
    let rest = rest.to_vec();
    let state = run.state.take();
    let from = match is_settling {
        true => Begin::Settling(state, rest),
        false => {
            let mut state = state?;
            if failed {
                match state.failed_call(&run.program) {
                    Some(caught) => state = caught,
                    None => return Some((atoms::uncaught().encode(env), None)),
                }
            }
            Begin::State(state, rest, answer.map(Raw::from))
        }
    };
    go(lazy, run, held, pace, from, Some(reference))
}

/// The texts with their indexes.
fn sources<'t, 'a: 't>(
    heap: &Beam<'a>,
    texts: Raw<'a>,
    indexes: &'t [ResourceArc<TextIndex>],
) -> Option<Vec<Source<'t>>> {
    let binaries = heap.terms.tuple(texts)?;
    let source = |(binary, index): (&Raw<'a>, &'t ResourceArc<TextIndex>)| {
        Some(Source::new(heap.terms.bytes(*binary)?, &index.index))
    };
    (binaries.len() == indexes.len()).then_some(())?;
    binaries.iter().zip(indexes).map(source).collect()
}

fn lazily<'t, 'a>(heap: Beam<'a>, texts: Vec<Source<'t>>, of: &Texts) -> Lazily<'t, 'a> {
    let given = Given {
        texts,
        marker: of.marker,
        stored: of.stored,
    };
    Lazy::new(heap, given)
}

/// Executes until the run ends, calls a tool or suspends.
fn go<'a>(
    mut lazy: Lazily<'_, 'a>,
    run: &mut Run,
    held: Held<'a>,
    pace: Pace,
    from: Begin<'a>,
    reference: Option<Term<'a>>,
) -> Option<(Term<'a>, Option<Since>)> {
    let env = lazy.inner().terms.env;
    if run.limits.deadline.has_passed() {
        return Some(((atoms::error(), atoms::timeout()).encode(env), None));
    }
    let consts = Consts::of_tuple(lazy.inner(), held.consts.term(env))?;
    let consts: Vec<_> = consts.slice().iter().map(|term| lazy.wrap(*term)).collect();
    let (context, memory) = (lazy.wrap(held.context), lazy.wrap(held.memory));
    let mut meter = schedule::meter(run.limits, pace);
    let program = run.program.clone();
    let (state, answer) = match from {
        Begin::Settling(state, terms) => {
            let mut terms = terms.into_iter().map(|term| lazy.wrap(term));
            let state = match state {
                Some(state) => Some(thaw(state, &lazy, &mut terms)?),
                None => None,
            };
            let (after, settle) = run.texts.as_mut()?.settling.take()?;
            let settle = thaw(settle, &lazy, &mut terms)?;
            terms.next().is_none().then_some(())?;
            return settled(lazy, run, held, pace, (after, settle), state, reference);
        }
        Begin::Start { now } => {
            let input = Vm::input_of(&program, &mut lazy, memory, INPUT_NAME.as_bytes());
            let now = |heap: &mut Lazily<'_, 'a>| {
                let now = crate::execution::start_time(heap.inner(), now);
                heap.wrap(now)
            };
            (State::start(&program, &mut lazy, input, now), None)
        }
        Begin::State(state, terms, answer) => {
            meter.start_clock();
            let mut terms = terms.into_iter().map(|term| lazy.wrap(term));
            let state = thaw(state, &lazy, &mut terms)?;
            terms.next().is_none().then_some(())?;
            (state, answer.map(|answer| lazy.wrap(answer)))
        }
    };
    let inputs = Inputs {
        consts: &consts,
        context,
        memory,
    };
    let mut vm = Vm::new(&program, &mut lazy, inputs, state, meter);
    let exit = match answer {
        Some(answer) => vm.resume(answer),
        None => vm.run(),
    };
    if vm.is_broken() {
        return None;
    }
    run.limits = vm.limits();
    let used = vm.percent_of_slice();
    let (after, terms, state) = match exit {
        Exit::Done(value) => (After::Done, vec![value], None),
        Exit::Call { tool, args } => (After::Call, vec![tool, args], Some(vm.into_state())),
        Exit::Halted(Halt::Fault(mut fault)) => {
            let terms = std::mem::take(&mut fault.terms);
            (After::Fault(fault.map(|_| ())), terms, None)
        }
        Exit::Halted(Halt::Stop(Stop::SliceOver)) => {
            schedule::charge(env, pace, 100);
            let needs_quantum = vm.needs_quantum();
            run.quarters += schedule::quarters(vm.percent_of_slice());
            let state = vm.into_state();
            let next = schedule::next(pace, run.quarters, needs_quantum);
            let left = leave(&mut lazy, run, &held, Some(state), None, reference);
            return Some((
                (next, left.0, left.1).encode(env),
                Some(Some(Instant::now())),
            ));
        }
        Exit::Halted(Halt::Stop(stop)) => return Some((stopped(env, stop), None)),
        // No run over texts forks.
        Exit::Fork { .. } => return None,
    };
    let settle = Settle::new(terms);
    if used > MOST_BEFORE_SETTLING {
        // The rest of this execution would be too long for what is built.
        schedule::charge(env, pace, 100);
        run.quarters += schedule::quarters(used);
        let next = schedule::next(pace, run.quarters, false);
        let settling = Some((after, settle));
        let left = leave(&mut lazy, run, &held, state, settling, reference);
        let since = Some(Some(Instant::now()));
        return Some(((next, left.0, left.1).encode(env), since));
    }
    schedule::charge(env, pace, used);
    settled(lazy, run, held, pace, (after, settle), state, reference)
}

fn stopped(env: Env, stop: Stop) -> Term {
    let reason = match stop {
        Stop::MemoryExceeded => atoms::memory_exceeded(),
        Stop::SliceOver | Stop::DeadlinePassed | Stop::Abandoned => atoms::timeout(),
    };
    (atoms::error(), reason).encode(env)
}

/// Builds the terms that leave the run, and replies.
fn settled<'a>(
    mut lazy: Lazily<'_, 'a>,
    run: &mut Run,
    held: Held<'a>,
    pace: Pace,
    (after, mut settle): (After, Settle<Value<'a>>),
    state: Option<State<Value<'a>>>,
    reference: Option<Term<'a>>,
) -> Option<(Term<'a>, Option<Since>)> {
    let env = lazy.inner().terms.env;
    let mut meter = schedule::meter(run.limits, pace);
    let done = settle.run(&mut lazy, &mut meter);
    run.limits = meter.limits;
    match done {
        Ok(()) => {}
        Err(Stop::SliceOver) => {
            schedule::charge(env, pace, 100);
            run.quarters += schedule::quarters(meter.percent_of_slice());
            let next = schedule::next(pace, run.quarters, meter.needs_quantum());
            let settling = Some((after, settle));
            let left = leave(&mut lazy, run, &held, state, settling, reference);
            return Some((
                (next, left.0, left.1).encode(env),
                Some(Some(Instant::now())),
            ));
        }
        Err(stop) => return Some((stopped(env, stop), None)),
    }
    let mut built = Vec::new();
    while let Some(term) = settle.take_last(&lazy) {
        built.push(lazy.pack(term));
    }
    built.reverse();
    let words = lazy.words_built();
    match (after, state, &*built) {
        (After::Done, _, [value]) => {
            let reply = (atoms::ok(), value.term(env), words).encode(env);
            Some((reply, None))
        }
        (After::Fault(fault), ..) => {
            let mut fault = fault.map(|()| lazy.inner().nil());
            fault.terms = built;
            let reply = wire::fault(lazy.inner(), atoms::execution(), fault);
            Some((reply, None))
        }
        (After::Call, Some(state), [tool, args]) => {
            let now = Instant::now();
            run.limits.deadline = run.limits.deadline.started(now);
            let left = milliseconds(env, run.limits.deadline, now);
            run.calls += 1;
            let weight = words_of_row(lazy.inner(), *args);
            let (place, terms) = leave(&mut lazy, run, &held, Some(state), None, reference);
            let (tool, args) = (tool.term(env), args.term(env));
            let reply = (atoms::call(), place, terms, tool, args, left, weight).encode(env);
            Some((reply, Some(None)))
        }
        _ => None,
    }
}

/// Suspends the run: the reference to the resource with its plain data, and a tuple of its terms.
fn leave<'a>(
    lazy: &mut Lazily<'_, 'a>,
    run: &mut Run,
    held: &Held<'a>,
    state: Option<State<Value<'a>>>,
    settling: Option<(After, Settle<Value<'a>>)>,
    reference: Option<Term<'a>>,
) -> (Term<'a>, Term<'a>) {
    let terms = lazy.inner().terms;
    run.token = crate::execution::token();
    let mut out = Vec::new();
    run.state = state.map(|state| freeze(state, lazy, &mut out));
    let settling = settling.map(|(after, settle)| (after, freeze(settle, lazy, &mut out)));
    let mut all = vec![
        terms.make_integer(run.token as i64),
        held.consts,
        held.context,
        held.memory,
        held.texts,
    ];
    all.extend(out.into_iter().map(|term| lazy.pack(term)));
    run.words_built = lazy.words_built();
    if let Some(texts) = &mut run.texts {
        texts.stored = lazy.has_stored();
        texts.settling = settling;
    }
    let all = terms.make_tuple(&all).term(terms.env);
    match reference {
        Some(reference) => (reference, all),
        None => {
            let left = Left::Run(Box::new(run.take()));
            let since = Some(Instant::now());
            (suspend(terms.env, left, since, None), all)
        }
    }
}
