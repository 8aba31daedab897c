//! Runs: started, left for a tool call or a longer stretch, and taken up again.

use crate::heap::Beam;
use crate::program::{from_node, from_text, Handle, Instead, Loaded, Reading};
use crate::raw::Raw;
use crate::{atoms, wire};
use ptc_core::compile::INPUT_NAME;
use ptc_core::fault::Halt;
use ptc_core::program::Program;
use ptc_core::vm::{Checkpoint, Deadline, Exit, Frozen, Inputs, Limits, Meter, Pace, Vm};
use rustler::{Atom, Binary, Encoder, Env, NifTuple, NifUntaggedEnum, Resource, ResourceArc, Term};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a run is given besides its program, as the Elixir side sends it.
#[derive(NifTuple)]
struct Given<'a> {
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

/// A run that was left: everything but its terms, which the caller holds.
struct Suspended {
    program: Arc<Program>,
    checkpoint: Checkpoint,
    limits: Limits,
    words: usize,
}

/// A run between calls; empty while it runs, so that it cannot be taken up twice.
struct Suspension(Mutex<Option<Suspended>>);

#[rustler::resource_impl]
impl Resource for Suspension {}

/// The constants of a run: in a vector at first, in a tuple once it has been left.
enum Consts<'a> {
    Vector(Vec<Raw<'a>>),
    Tuple(Raw<'a>, &'a [Raw<'a>]),
}

impl<'a> Consts<'a> {
    fn slice(&self) -> &[Raw<'a>] {
        match self {
            Consts::Vector(consts) => consts,
            Consts::Tuple(_, consts) => consts,
        }
    }

    fn of_tuple(heap: &Beam<'a>, tuple: Term<'a>) -> Option<Self> {
        let tuple = Raw::from(tuple);
        Some(Consts::Tuple(tuple, heap.terms.tuple(tuple)?))
    }

    fn tuple(&self, heap: &Beam<'a>) -> Raw<'a> {
        match self {
            Consts::Vector(consts) => heap.terms.make_tuple(consts),
            Consts::Tuple(tuple, _) => *tuple,
        }
    }
}

/// One stretch of a run.
struct Stretch<'a> {
    heap: Beam<'a>,
    program: Arc<Program>,
    consts: Consts<'a>,
    context: Raw<'a>,
    memory: Raw<'a>,
    limits: Limits,
    pace: Pace,
}

/// Where a stretch begins.
enum Begin<'a> {
    Start,
    /// Where it was left, maybe with the answer to its call.
    Resume(Checkpoint, Frozen<Raw<'a>>, Option<Raw<'a>>),
}

impl<'a> Stretch<'a> {
    fn run(mut self, begin: Begin<'a>, reuse: Option<ResourceArc<Suspension>>) -> Term<'a> {
        let env = self.heap.terms.env;
        let inputs = Inputs {
            consts: self.consts.slice(),
            context: self.context,
            memory: self.memory,
        };
        let meter = Meter::new(self.limits, self.pace);
        let (program, heap) = (&*self.program, &mut self.heap);
        let (mut vm, answer) = match begin {
            Begin::Start => {
                let input = Vm::input_of(program, heap, self.memory, INPUT_NAME.as_bytes());
                (Vm::start(program, heap, inputs, input, meter), None)
            }
            Begin::Resume(checkpoint, frozen, answer) => {
                let vm = Vm::thaw(program, heap, inputs, checkpoint, frozen, meter);
                (vm, answer)
            }
        };
        let exit = match answer {
            Some(answer) => vm.resume(answer),
            None => vm.run(),
        };
        self.limits = vm.limits();
        let percent = vm.percent_of_slice();
        if self.pace == Pace::Slice && percent > 0 {
            rustler::schedule::consume_timeslice(env, percent);
        }
        match exit {
            Exit::Done(value) => {
                drop(vm);
                (atoms::ok(), value.term(env), self.heap_words()).encode(env)
            }
            Exit::Call { tool, args } => {
                let (checkpoint, frozen) = vm.freeze();
                let left = self.milliseconds_left();
                let (state, terms) = self.suspend(checkpoint, frozen, reuse);
                let (tool, args) = (tool.term(env), args.term(env));
                (atoms::call(), state, terms, tool, args, left).encode(env)
            }
            Exit::Halted(Halt::SliceOver | Halt::MemoryExceeded) if self.pace == Pace::Trial => {
                let (checkpoint, frozen) = vm.freeze();
                let (state, terms) = self.suspend(checkpoint, frozen, reuse);
                (atoms::limits(), state, terms).encode(env)
            }
            Exit::Halted(Halt::SliceOver) => {
                let (checkpoint, frozen) = vm.freeze();
                let (state, terms) = self.suspend(checkpoint, frozen, reuse);
                (atoms::more(), state, terms).encode(env)
            }
            Exit::Halted(Halt::Fault(fault)) => {
                drop(vm);
                wire::fault(&self.heap, atoms::execution(), *fault)
            }
            Exit::Halted(Halt::MemoryExceeded) => {
                (atoms::error(), atoms::memory_exceeded()).encode(env)
            }
            // Nobody sees the answer to a run that was abandoned.
            Exit::Halted(Halt::DeadlinePassed | Halt::Abandoned) => {
                (atoms::error(), atoms::timeout()).encode(env)
            }
        }
    }

    fn heap_words(&self) -> usize {
        use ptc_core::heap::Heap;
        self.heap.words_built()
    }

    /// What a tool may take: milliseconds (rounded up), or `:infinity`.
    fn milliseconds_left(&mut self) -> Term<'a> {
        let (env, now) = (self.heap.terms.env, Instant::now());
        self.limits.deadline = self.limits.deadline.started(now);
        match self.limits.deadline.left(now) {
            None => atoms::infinity().encode(env),
            Some(left) => (left.as_micros().div_ceil(1000) as u64).encode(env),
        }
    }

    /// The run's plain part as a resource, its terms as one tuple.
    fn suspend(
        self,
        checkpoint: Checkpoint,
        frozen: Frozen<Raw<'a>>,
        reuse: Option<ResourceArc<Suspension>>,
    ) -> (ResourceArc<Suspension>, Term<'a>) {
        let terms = self.heap.terms;
        let tuple = terms.make_tuple(&[
            self.consts.tuple(&self.heap),
            self.context,
            self.memory,
            terms.make_tuple(&frozen.slots),
            frozen.stack,
        ]);
        let state = reuse.unwrap_or_else(|| ResourceArc::new(Suspension(Mutex::new(None))));
        let suspended = Suspended {
            words: self.heap_words(),
            program: self.program,
            checkpoint,
            limits: self.limits,
        };
        if let Ok(mut place) = state.0.try_lock() {
            *place = Some(suspended);
        }
        (state, tuple.term(terms.env))
    }
}

/// Starts a run. Without limits it is tried for a few steps, which most small programs end in.
fn start<'a>(
    heap: Beam<'a>,
    program: Arc<Program>,
    consts: Consts<'a>,
    given: Given<'a>,
    pace: Pace,
) -> Term<'a> {
    let limits = limits(given.timeout, given.max_heap);
    let stretch = Stretch {
        heap,
        program,
        consts,
        context: given.context.into(),
        memory: given.memory.into(),
        limits: limits.unwrap_or(Limits::TRIAL),
        pace: limits.map_or(Pace::Trial, |_| pace),
    };
    stretch.run(Begin::Start, None)
}

fn start_loaded<'a>(
    heap: Beam<'a>,
    loaded: Result<Loaded<'a>, Instead<'a>>,
    given: Given<'a>,
    pace: Pace,
) -> Term<'a> {
    match loaded {
        Ok(Loaded { program, consts }) => start(heap, program, Consts::Vector(consts), given, pace),
        Err(instead) => instead,
    }
}

/// How a run that was left goes on.
#[derive(NifUntaggedEnum)]
enum On<'a> {
    /// `{:answer, term}`: with the answer to its call.
    Answer((Atom, Term<'a>)),
    /// `{:limits, timeout, max_heap}`: with the limits it did not know.
    Limits((Atom, Term<'a>, Term<'a>)),
    /// Anything else: as it was left.
    More(Term<'a>),
}

/// Takes up a run; nothing if it is none that was left, or is taken up already.
fn take_up<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    terms: Term<'a>,
    on: On<'a>,
    pace: Pace,
) -> Option<Term<'a>> {
    let suspended = state.0.try_lock().ok()?.take()?;
    let heap = Beam::new(env, suspended.words);
    let [consts, context, memory, slots, stack] = *heap.terms.tuple(terms.into())? else {
        return None;
    };
    let frozen = Frozen {
        slots: heap.terms.tuple(slots)?.to_vec(),
        stack,
    };
    let (answer, limits) = match on {
        On::Answer((_, answer)) => (Some(Raw::from(answer)), suspended.limits),
        On::Limits((_, timeout, max_heap)) => (None, limits(timeout, max_heap)?),
        On::More(_) => (None, suspended.limits),
    };
    let stretch = Stretch {
        consts: Consts::of_tuple(&heap, consts.term(env))?,
        heap,
        program: suspended.program,
        context,
        memory,
        limits,
        pace,
    };
    let begin = Begin::Resume(suspended.checkpoint, frozen, answer);
    Some(stretch.run(begin, Some(state)))
}

macro_rules! run_nifs {
    ($text:ident, $node:ident, $compiled:ident, $resume:ident, $schedule:literal, $pace:expr) => {
        /// Compiles and runs a program's text.
        #[rustler::nif(schedule = $schedule)]
        fn $text<'a>(env: Env<'a>, text: Binary<'a>, depth: u32, given: Given<'a>) -> Term<'a> {
            let mut heap = Beam::new(env, 0);
            let loaded = from_text(&mut heap, text.as_slice(), depth, $pace);
            start_loaded(heap, loaded, given, $pace)
        }

        /// Compiles and runs a program that is already parsed.
        #[rustler::nif(schedule = $schedule)]
        fn $node<'a>(
            env: Env<'a>,
            node: Term<'a>,
            strict: bool,
            depth: u32,
            given: Given<'a>,
        ) -> Term<'a> {
            let mut heap = Beam::new(env, 0);
            let reading = Reading { strict, depth };
            let loaded = from_node(&mut heap, node.into(), reading, $pace);
            start_loaded(heap, loaded, given, $pace)
        }

        /// Runs a compiled program; `consts` must be those it was compiled with.
        #[rustler::nif(schedule = $schedule)]
        fn $compiled<'a>(
            env: Env<'a>,
            handle: ResourceArc<Handle>,
            consts: Term<'a>,
            given: Given<'a>,
        ) -> rustler::NifResult<Term<'a>> {
            let heap = Beam::new(env, 0);
            let consts = Consts::of_tuple(&heap, consts).ok_or(rustler::Error::BadArg)?;
            if consts.slice().len() != handle.consts {
                return Err(rustler::Error::BadArg);
            }
            Ok(start(heap, handle.program.clone(), consts, given, $pace))
        }

        /// Goes on with a run, see [`On`].
        #[rustler::nif(schedule = $schedule)]
        fn $resume<'a>(
            env: Env<'a>,
            state: ResourceArc<Suspension>,
            terms: Term<'a>,
            on: On<'a>,
        ) -> rustler::NifResult<Term<'a>> {
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
    Pace::Whole
);
