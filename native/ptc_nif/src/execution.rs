//! Execution of a run: starts or resumes a program and continues until it ends, calls a tool or suspends.

use crate::explain::Observation;
use crate::heap::Beam;
use crate::moving;
use crate::raw::Raw;
use crate::schedule::{self, Pace};
use crate::task::{suspend, Left, Place, Since};
use crate::{atoms, wire};
use ptc_core::code::{Program, Vm};
use ptc_core::compile::INPUT_NAME;
use ptc_core::fault::Halt;
use ptc_core::heap::Heap;
use ptc_core::meter::{Deadline, Limits};
use ptc_core::stop::Stop;
use ptc_core::vm::{Checkpoint, Exit, Frozen, Inputs};
use ptc_core::weight::words_of_row;
use rustler::{Encoder, Env, ResourceArc, Term};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// What a run keeps from one execution to the next, beside its checkpoint and its terms.
pub struct Run {
    pub program: Arc<Program>,
    pub limits: Limits,
    pub mode: Mode,
    /// The quarters of slices so far.
    pub quarters: u32,
    /// The calls that its caller was asked for.
    pub calls: usize,
    /// Words built by this run and by the rounds of its loop, if the rounds run concurrently.
    pub together: Option<Arc<AtomicUsize>>,
    /// Records the run, if it is observed.
    pub observation: Option<ResourceArc<Observation>>,
}

/// A suspended run without its terms, which the caller holds.
pub struct Suspended {
    pub run: Run,
    /// Number of the program's constants.
    consts: usize,
    /// Equals the token in the caller's terms.
    token: u64,
    pub checkpoint: Checkpoint,
    words: usize,
}

/// How a run calls its tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Suspends at each call and returns it to the caller; moves when that is cheaper.
    Asks,
    /// Continues in the process of its tools, and reports its words at each call.
    Moved,
    /// Suspends at each loop that calls tools, so that the rounds of the loop run concurrently.
    Forks,
    /// One round of such a loop: suspends at each call, and does not move.
    Round,
}

/// The next token. A token identifies the terms of one suspension of one run.
static TOKEN: AtomicU64 = AtomicU64::new(1);

/// Starts the clock of a deadline. Returns the remaining milliseconds, rounded up, or `:infinity`.
fn start<'a>(env: Env<'a>, deadline: &mut Deadline) -> Term<'a> {
    let now = Instant::now();
    *deadline = deadline.started(now);
    milliseconds(env, *deadline, now)
}

/// Remaining time of a deadline: milliseconds, rounded up, or `:infinity`.
pub fn milliseconds<'a>(env: Env<'a>, deadline: Deadline, now: Instant) -> Term<'a> {
    match deadline.left(now) {
        None => atoms::infinity().encode(env),
        Some(left) => (left.as_micros().div_ceil(1000) as u64).encode(env),
    }
}

/// The constants of a run: a vector at first, a tuple after its first suspension.
pub enum Consts<'a> {
    Vector(Vec<Raw<'a>>),
    Tuple(Raw<'a>, &'a [Raw<'a>]),
}

impl<'a> Consts<'a> {
    pub fn slice(&self) -> &[Raw<'a>] {
        match self {
            Consts::Vector(consts) => consts,
            Consts::Tuple(_, consts) => consts,
        }
    }

    pub fn of_tuple(heap: &Beam<'a>, tuple: Term<'a>) -> Option<Self> {
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

/// The terms of a suspended run.
pub struct RunTerms<'a> {
    pub consts: Consts<'a>,
    pub context: Raw<'a>,
    pub memory: Raw<'a>,
    pub frozen: Frozen<Raw<'a>>,
}

impl Suspended {
    /// The words that the run has built, with those of concurrent rounds.
    pub fn words(&self) -> usize {
        let together = self.run.together.as_ref();
        together.map_or(self.words, |words| words.load(Ordering::Relaxed))
    }

    /// Unpacks the terms that the caller held; `None` if they are not the terms of this run.
    pub fn held<'a>(&self, heap: &Beam<'a>, terms: Term<'a>) -> Option<RunTerms<'a>> {
        let [token, consts, context, memory, slots, stack, frames] =
            *heap.terms.tuple(terms.into())?
        else {
            return None;
        };
        let consts = Consts::of_tuple(heap, consts.term(heap.terms.env))?;
        let is_own = heap.small_integer(token) == Some(self.token as i64);
        (is_own && consts.slice().len() == self.consts).then_some(())?;
        let frozen = Frozen {
            slots: heap.terms.tuple(slots)?.to_vec(),
            stack,
            frames: heap.terms.tuple(frames)?.to_vec(),
        };
        Some(RunTerms {
            consts,
            context,
            memory,
            frozen,
        })
    }
}

impl<'a> RunTerms<'a> {
    /// Packs the terms into a tuple.
    pub fn tuple(&self, heap: &Beam<'a>, token: u64) -> Raw<'a> {
        let terms = heap.terms;
        terms.make_tuple(&[
            terms.make_integer(token as i64),
            self.consts.tuple(heap),
            self.context,
            self.memory,
            terms.make_tuple(&self.frozen.slots),
            self.frozen.stack,
            terms.make_tuple(&self.frozen.frames),
        ])
    }
}

/// One execution of a run.
pub struct Execution<'a> {
    pub heap: Beam<'a>,
    pub run: Run,
    pub consts: Consts<'a>,
    pub context: Raw<'a>,
    pub memory: Raw<'a>,
    pub pace: Pace,
}

/// Where an execution starts.
pub enum Entry<'a> {
    Start,
    /// At the checkpoint, with the answer to its call, if it made one.
    Resume(Checkpoint, Frozen<Raw<'a>>, Option<Raw<'a>>),
    /// One round of the loop at whose start the run was suspended, with the slots and the item.
    Round(Checkpoint, Vec<Raw<'a>>, Raw<'a>),
}

impl<'a> Execution<'a> {
    /// A run in the caller; without limits it is probed for a few steps, in which most small programs end.
    pub fn new(
        heap: Beam<'a>,
        program: Arc<Program>,
        consts: Consts<'a>,
        [context, memory]: [Raw<'a>; 2],
        limits: Option<Limits>,
    ) -> Self {
        let run = Run {
            program,
            limits: limits.unwrap_or(Limits::PROBE),
            mode: Mode::Asks,
            quarters: 0,
            calls: 0,
            together: None,
            observation: None,
        };
        Execution {
            heap,
            run,
            consts,
            context,
            memory,
            pace: limits.map_or(Pace::Probe, |_| Pace::Slice),
        }
    }

    /// Executes from the start. Returns the reply to the Elixir side.
    pub fn start(self, reuse: Option<Place<'a>>) -> Term<'a> {
        let env = self.heap.terms.env;
        let reply = self.go(Entry::Start, reuse);
        reply.unwrap_or_else(|| (atoms::error(), atoms::timeout()).encode(env))
    }

    /// Executes until the run ends, calls a tool or suspends. Returns the reply to the Elixir side; `None` if
    /// the terms do not belong to the run.
    pub fn go(mut self, begin: Entry<'a>, reuse: Option<Place<'a>>) -> Option<Term<'a>> {
        let env = self.heap.terms.env;
        // Parsing may have used up the deadline. For a run that has moved, the waiting process enforces the
        // deadline.
        if self.run.mode != Mode::Moved && self.run.limits.deadline.has_passed() {
            return Some((atoms::error(), atoms::timeout()).encode(env));
        }
        let inputs = Inputs {
            consts: self.consts.slice(),
            context: self.context,
            memory: self.memory,
        };
        let mut meter = schedule::meter(self.run.limits, self.pace);
        let starts = matches!(begin, Entry::Start);
        // Between two calls of tools most runs take too few steps to read a clock.
        if matches!(begin, Entry::Resume(_, _, None)) {
            meter.start_clock();
        }
        let (program, heap) = (&*self.run.program, &mut self.heap);
        let mut answer = None;
        let mut vm = match begin {
            Entry::Start => {
                let input = Vm::input_of(program, heap, self.memory, INPUT_NAME.as_bytes());
                Vm::start(program, heap, inputs, input, meter)
            }
            Entry::Resume(checkpoint, frozen, value) => {
                answer = value;
                Vm::thaw(program, heap, inputs, checkpoint, frozen, meter)?
            }
            Entry::Round(left, slots, item) => {
                Vm::round(program, heap, inputs, &left, slots, item, meter)?
            }
        };
        if let Some(watch) = self.run.observation.as_ref().and_then(|place| place.take()) {
            vm.observe(watch);
        }
        vm.forks = self.run.mode == Mode::Forks;
        let exit = match answer {
            Some(answer) => vm.resume(answer),
            None => vm.run(),
        };
        if vm.is_broken() {
            return None;
        }
        if let Some(observation) = &self.run.observation {
            observation.put(vm.take_watch());
        }
        self.run.limits = vm.limits();
        match exit {
            // The caller gives up the rest of its time slice.
            Exit::Halted(Halt::Stop(Stop::SliceOver)) => schedule::charge(env, self.pace, 100),
            _ => {
                let is_whole = starts && matches!(exit, Exit::Done(_));
                let call = match is_whole {
                    true => schedule::CALL,
                    false => schedule::RESUMPTION,
                };
                schedule::charge_fuel(env, self.pace, call + vm.fuel_consumed());
            }
        }
        let reply = match exit {
            Exit::Done(value) => {
                drop(vm);
                self.share_words();
                (atoms::ok(), value.term(env), self.heap_words()).encode(env)
            }
            // The answer is the program's value: the run is not suspended.
            Exit::Call { tool, args } if self.run.mode != Mode::Moved && vm.is_at_end() => {
                drop(vm);
                let weight = words_of_row(&self.heap, args);
                let (words, left) = (self.heap_words(), self.milliseconds_left());
                let (tool, args) = (tool.term(env), args.term(env));
                (atoms::last(), words, atoms::nil(), tool, args, left, weight).encode(env)
            }
            Exit::Call { tool, args } => {
                let (checkpoint, frozen) = vm.freeze();
                self.call(checkpoint, frozen, [tool, args], reuse)
            }
            Exit::Fork { name, list } => {
                let (checkpoint, frozen) = vm.freeze();
                let left = self.milliseconds_left();
                self.run.together = Some(Arc::new(AtomicUsize::new(self.heap_words())));
                let (state, terms) = self.suspend(checkpoint, frozen, None, reuse);
                (atoms::fork(), state, terms, name, list.term(env), left).encode(env)
            }
            Exit::Halted(Halt::Stop(Stop::SliceOver | Stop::MemoryExceeded))
                if self.pace == Pace::Probe =>
            {
                let (checkpoint, frozen) = vm.freeze();
                let (state, terms) = self.suspend(checkpoint, frozen, None, reuse);
                (atoms::limits(), state, terms).encode(env)
            }
            Exit::Halted(Halt::Stop(Stop::SliceOver)) => {
                let needs_quantum = vm.needs_quantum();
                self.run.quarters += schedule::quarters(vm.percent_of_slice());
                let (checkpoint, frozen) = vm.freeze();
                let next = schedule::next(self.pace, self.run.quarters, needs_quantum);
                let now = Some(Instant::now());
                let (state, terms) = self.suspend(checkpoint, frozen, now, reuse);
                (next, state, terms).encode(env)
            }
            Exit::Halted(Halt::Fault(fault)) => {
                drop(vm);
                wire::fault(&self.heap, atoms::execution(), *fault)
            }
            Exit::Halted(Halt::Stop(Stop::MemoryExceeded)) => {
                (atoms::error(), atoms::memory_exceeded()).encode(env)
            }
            // No process receives the reply to an abandoned run.
            Exit::Halted(Halt::Stop(Stop::DeadlinePassed | Stop::Abandoned)) => {
                (atoms::error(), atoms::timeout()).encode(env)
            }
        };
        Some(reply)
    }

    fn heap_words(&self) -> usize {
        self.heap.words_built()
    }

    /// Publishes the words built so far to the other rounds.
    fn share_words(&self) {
        if let Some(together) = &self.run.together {
            together.store(self.heap_words(), Ordering::Relaxed);
        }
    }

    /// Remaining time for a tool: milliseconds, rounded up, or `:infinity`; `nil` if the limits are not
    /// known.
    fn milliseconds_left(&mut self) -> Term<'a> {
        let env = self.heap.terms.env;
        match self.pace {
            Pace::Probe => atoms::nil().encode(env),
            Pace::Slice | Pace::Quantum => start(env, &mut self.run.limits.deadline),
        }
    }

    /// Suspends the run: the reference to a resource with its plain data, and a tuple of its terms.
    fn suspend(
        self,
        checkpoint: Checkpoint,
        frozen: Frozen<Raw<'a>>,
        since: Since,
        reuse: Option<Place<'a>>,
    ) -> (Term<'a>, Term<'a>) {
        let env = self.heap.terms.env;
        let token = TOKEN.fetch_add(1, Ordering::Relaxed);
        let words = self.heap_words();
        self.share_words();
        let held = RunTerms {
            consts: self.consts,
            context: self.context,
            memory: self.memory,
            frozen,
        };
        let tuple = held.tuple(&self.heap, token);
        let suspended = Suspended {
            words,
            consts: held.consts.slice().len(),
            token,
            run: self.run,
            checkpoint,
        };
        let state = suspend(env, Left::Run(suspended), since, reuse);
        (state, tuple.term(env))
    }

    /// Suspends the run at a call.
    fn call(
        mut self,
        checkpoint: Checkpoint,
        mut frozen: Frozen<Raw<'a>>,
        [tool, args]: [Raw<'a>; 2],
        reuse: Option<Place<'a>>,
    ) -> Term<'a> {
        let env = self.heap.terms.env;
        let (tool, args) = (tool.term(env), args.term(env));
        if self.run.mode == Mode::Moved {
            let (words, left) = (self.heap_words(), atoms::nil());
            let (state, terms) = self.suspend(checkpoint, frozen, None, reuse);
            return (atoms::call(), state, terms, tool, args, left, words).encode(env);
        }
        let left = self.milliseconds_left();
        self.run.calls += 1;
        let may_move = self.run.mode == Mode::Asks && self.run.calls.is_power_of_two();
        let limit = may_move.then(|| moving::reduce(&mut self, checkpoint.pc(), &mut frozen));
        let (state, terms) = self.suspend(checkpoint, frozen, None, reuse);
        match limit.and_then(|limit| moving::weight(env, [terms, args], limit)) {
            Some(weight) => (atoms::moves(), state, terms, tool, args, left, weight).encode(env),
            None => {
                let weight = words_of_row(&Beam::new(env, 0), args.into());
                (atoms::call(), state, terms, tool, args, left, weight).encode(env)
            }
        }
    }
}
