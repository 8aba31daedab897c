//! Execution of a run: starts or resumes a program and continues until it ends, calls a tool or suspends.

use crate::heap::Beam;
use crate::moving;
use crate::plain_run::{Mode, Run};
use crate::raw::Raw;
use crate::schedule::{self, Pace};
use crate::task::{suspend, Left, Place, Since};
use crate::texts::has_text;
use crate::{atoms, wire};
use ptc_program::code::State;
use ptc_program::code::Vm;
use ptc_program::compile::INPUT_NAME;
use ptc_program::over_texts::{start_time, Data};
use ptc_term::heap::Heap;
use ptc_term::meter::Deadline;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};
use ptc_term::weight::words_of_row;
use ptc_vm::{look_ahead, Answers, Exit, Halt, Inputs};
use rustler::{Encoder, Env, Term};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// Number of terms of a suspended run for which there is room from the start.
const ROOM: usize = 32;

/// The next token. A token identifies the terms of one suspension of one run.
static TOKEN: AtomicU64 = AtomicU64::new(1);

/// Starts the clock of a deadline. Returns the remaining milliseconds, rounded up, or `:infinity`.
pub fn started<'a>(env: Env<'a>, deadline: &mut Deadline) -> Term<'a> {
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

    pub fn tuple(&self, heap: &Beam<'a>) -> Raw<'a> {
        match self {
            Consts::Vector(consts) => heap.terms.make_tuple(consts),
            Consts::Tuple(tuple, _) => *tuple,
        }
    }
}

/// One execution of a run.
pub struct Execution<'a> {
    pub heap: Beam<'a>,
    pub consts: Consts<'a>,
    pub data: Data<Raw<'a>>,
    pub pace: Pace,
    /// Since when the run waits, if the execution has suspended it.
    pub left: Option<Since>,
}

/// Where an execution starts.
pub enum Entry<'a> {
    /// At the start of the program, or of a round.
    Start(Option<State<Raw<'a>>>),
    /// Where the run was suspended, with the answer to its call, if it made one.
    Resume(State<Raw<'a>>, Answers<Raw<'a>>),
}

/// Where a suspended run is put.
pub enum Home<'a> {
    /// It is in its resource; this is the reference to it.
    Own(Term<'a>),
    /// Into the resource of its loader.
    Loader(Place<'a>),
    /// Into a new resource.
    New,
}

impl<'a> Execution<'a> {
    pub fn new(heap: Beam<'a>, consts: Consts<'a>, data: Data<Raw<'a>>, pace: Pace) -> Self {
        Execution {
            heap,
            consts,
            data,
            pace,
            left: None,
        }
    }

    /// Unpacks the terms that the caller held, and the state that `state` returns for the run with them; `None` if they
    /// are not the terms of this run. `words`: what the run has built.
    pub fn resumed(
        env: Env<'a>,
        terms: Term<'a>,
        run: &Run,
        state: State<()>,
        words: usize,
        pace: Pace,
    ) -> Option<(Self, State<Raw<'a>>)> {
        let heap = Beam::new(env, words);
        let [token, consts, context, memory, rest @ ..] = heap.terms.tuple(terms.into())? else {
            return None;
        };
        let consts = Consts::of_tuple(&heap, consts.term(env))?;
        let is_own = heap.small_integer(*token) == Some(run.token as i64);
        (is_own && consts.slice().len() == run.consts).then_some(())?;
        let mut rest = rest.iter().copied();
        let state = thaw(state, &heap, &mut rest)?;
        rest.next().is_none().then_some(())?;
        let data = Data {
            context: *context,
            memory: *memory,
            now: heap.nil(),
        };
        let execution = Execution::new(heap, consts, data, pace);
        Some((execution, state))
    }

    /// Executes from the start. Returns the reply to the Elixir side.
    pub fn start(mut self, mut run: Run, reuse: Option<Place<'a>>) -> Term<'a> {
        let env = self.heap.terms.env;
        if has_text(&self.heap, self.data.context) {
            return atoms::texts().encode(env);
        }
        let home = reuse.map_or(Home::New, Home::Loader);
        let reply = self.go(&mut run, Entry::Start(None), home);
        reply.unwrap_or_else(|| wire::stopped(env, Stop::Abandoned))
    }

    /// Executes until the run ends, calls a tool or suspends. Returns the reply to the Elixir side; `None` if
    /// the terms do not belong to the run.
    pub fn go(&mut self, run: &mut Run, entry: Entry<'a>, home: Home<'a>) -> Option<Term<'a>> {
        let env = self.heap.terms.env;
        // Parsing may have used up the deadline. For a run that has moved, the waiting process enforces the
        // deadline.
        if run.mode != Mode::Moved && run.limits.deadline.has_passed() {
            return Some(wire::stopped(env, Stop::DeadlinePassed));
        }
        let inputs = Inputs {
            consts: self.consts.slice(),
            context: self.data.context,
            memory: self.data.memory,
        };
        let mut meter = schedule::meter(run.limits, self.pace);
        let (program, heap) = (&*run.program, &mut self.heap);
        let (starts, state, answers) = match entry {
            Entry::Start(None) => {
                let memory = self.data.memory;
                let input = Vm::input_of(program, heap, memory, INPUT_NAME.as_bytes());
                let now = |heap: &mut _| start_time(heap, self.data.now);
                (true, State::start(program, heap, input, now), Answers::None)
            }
            Entry::Start(Some(round)) => (false, round, Answers::None),
            Entry::Resume(state, answers) => {
                // Between two calls of tools most runs take too few steps to read a clock.
                if matches!(answers, Answers::None) {
                    meter.start_clock();
                }
                (false, state, answers)
            }
        };
        let mut vm = Vm::new(program, heap, inputs, state, meter);
        if let Some(watch) = run.observation.as_ref().and_then(|place| place.take()) {
            vm.observe(watch);
        }
        vm.forks = run.mode == Mode::Forks;
        let exit = answers.resume(&mut vm);
        if vm.is_broken() {
            return None;
        }
        if let Some(observation) = &run.observation {
            observation.put(vm.take_watch());
        }
        run.limits = vm.limits();
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
                self.share_words(run);
                (atoms::ok(), value.term(env), self.heap.words_built()).encode(env)
            }
            // The answer is the program's value: the run is not suspended.
            Exit::Call { tool, args } if run.mode != Mode::Moved && vm.is_at_end() => {
                let pc = vm.into_state().pc();
                let weight = words_of_row(&self.heap, args);
                let (built, left) = (self.heap.words_built(), self.milliseconds_left(run));
                let (tool, args) = (tool.term(env), args.term(env));
                (atoms::last(), tool, args, left, weight, pc, built).encode(env)
            }
            Exit::Call { tool, args } => {
                let only_collects = vm.only_collects();
                let state = vm.into_state();
                self.call(run, (state, only_collects), [tool, args], home)
            }
            Exit::Fork { name, list } => {
                let state = vm.into_state();
                let left = self.milliseconds_left(run);
                run.together = Some(Arc::new(AtomicUsize::new(self.heap.words_built())));
                let (state, terms) = self.suspend(run, state, None, home);
                (atoms::fork(), state, terms, name, list.term(env), left).encode(env)
            }
            // No program of this language asks.
            Exit::Ask { .. } => wire::stopped(env, Stop::Abandoned),
            Exit::Halted(Halt::Stop(Stop::SliceOver | Stop::MemoryExceeded))
                if self.pace == Pace::Probe =>
            {
                let state = vm.into_state();
                let (state, terms) = self.suspend(run, state, None, home);
                (atoms::limits(), state, terms).encode(env)
            }
            Exit::Halted(Halt::Stop(Stop::SliceOver)) => {
                let needs_quantum = vm.needs_quantum();
                run.quarters += schedule::quarters(vm.percent_of_slice());
                let state = vm.into_state();
                let next = schedule::next(self.pace, run.quarters, needs_quantum);
                let now = Some(Instant::now());
                let (state, terms) = self.suspend(run, state, now, home);
                (next, state, terms).encode(env)
            }
            Exit::Halted(Halt::Fault(fault)) => {
                drop(vm);
                wire::fault(&self.heap, atoms::execution(), *fault)
            }
            Exit::Halted(Halt::Stop(stop)) => wire::stopped(env, stop),
        };
        Some(reply)
    }

    /// Publishes the words built so far to the other rounds.
    fn share_words(&self, run: &Run) {
        if let Some(together) = &run.together {
            together.store(self.heap.words_built(), Ordering::Relaxed);
        }
    }

    /// Remaining time for a tool: milliseconds, rounded up, or `:infinity`; `nil` if the limits are not
    /// known.
    fn milliseconds_left(&self, run: &mut Run) -> Term<'a> {
        let env = self.heap.terms.env;
        match self.pace {
            Pace::Probe => atoms::nil().encode(env),
            Pace::Slice | Pace::Quantum => started(env, &mut run.limits.deadline),
        }
    }

    /// Suspends the run: the reference to the resource with its plain data, and a tuple of its terms.
    fn suspend(
        &mut self,
        run: &mut Run,
        state: State<Raw<'a>>,
        since: Since,
        home: Home<'a>,
    ) -> (Term<'a>, Term<'a>) {
        let terms = self.heap.terms;
        run.token = TOKEN.fetch_add(1, Ordering::Relaxed);
        run.consts = self.consts.slice().len();
        run.words_built = self.heap.words_built();
        self.share_words(run);
        let token = terms.make_integer(run.token as i64);
        let consts = self.consts.tuple(&self.heap);
        let mut held = Vec::with_capacity(ROOM);
        held.extend([token, consts, self.data.context, self.data.memory]);
        run.state = Some(freeze(state, &mut self.heap, &mut held));
        self.left = Some(since);
        let reuse = match home {
            Home::Own(reference) => return (reference, terms.make_tuple(&held).term(terms.env)),
            Home::Loader(place) => Some(place),
            Home::New => None,
        };
        let left = Left::Run(Box::new(run.take()));
        let state = suspend(terms.env, left, since, reuse);
        (state, terms.make_tuple(&held).term(terms.env))
    }

    /// The arguments of a call of a run that has moved, and those of the calls that follow it, with the words that the run has
    /// built before the last of them; `None` if none follows at once.
    fn calls_ahead(
        &self,
        run: &mut Run,
        state: &State<Raw<'a>>,
        args: Raw<'a>,
    ) -> Option<(Vec<Raw<'a>>, usize)> {
        let mut heap = Beam::new(self.heap.terms.env, self.heap.words_built());
        let inputs = Inputs {
            consts: self.consts.slice(),
            context: self.data.context,
            memory: self.data.memory,
        };
        let mut all = vec![args];
        let from = (state.clone(), run.limits);
        look_ahead(&run.program, &mut heap, inputs, from, &mut all);
        // Where none follows, or only after many steps, the run does not look again.
        run.looks_ahead = all.len() > 1;
        run.looks_ahead.then(|| (all, heap.words_built()))
    }

    /// Suspends the run at a call, in a round that only collects or in another place.
    fn call(
        &mut self,
        run: &mut Run,
        (mut state, only_collects): (State<Raw<'a>>, bool),
        [tool, args]: [Raw<'a>; 2],
        home: Home<'a>,
    ) -> Term<'a> {
        let env = self.heap.terms.env;
        let (tool, args) = (tool.term(env), args.term(env));
        if run.mode == Mode::Moved {
            let looks = run.looks_ahead && only_collects;
            let ahead = looks.then(|| self.calls_ahead(run, &state, args.into()));
            let built = self.heap.words_built();
            let (state, terms) = self.suspend(run, state, None, home);
            if let Some((all, built)) = ahead.flatten() {
                let all = self.heap.terms.make_list(&all).term(env);
                return (atoms::moved_calls(), state, terms, tool, all, built).encode(env);
            }
            return (atoms::moved_call(), state, terms, tool, args, built).encode(env);
        }
        let left = self.milliseconds_left(run);
        run.calls += 1;
        let pc = state.pc();
        let may_move = run.mode == Mode::Asks && !run.asks_always && run.calls.is_power_of_two();
        let limit = may_move.then(|| moving::reduce(self, run, &mut state));
        let (state, terms) = self.suspend(run, state, None, home);
        match limit.and_then(|limit| moving::weight(env, [terms, args], limit)) {
            Some(words) => (atoms::moves(), state, terms, tool, args, left, words).encode(env),
            None => {
                let weight = words_of_row(&Beam::new(env, 0), args.into());
                let weight = weight.encode(env);
                wire::call(
                    env,
                    [state, terms, tool, args, left, weight, pc.encode(env)],
                )
            }
        }
    }
}
