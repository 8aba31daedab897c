//! A run of one language.

use crate::data::start_time;
use crate::execution::{Ending, Entry, Executed, Given, Spent};
use crate::plain::{Asks, Mode, Plain};
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use ptc_term::suspend::{freeze, thaw};
use ptc_vm::program::Program;
use ptc_vm::reduced::{self, RunTerms};
use ptc_vm::{
    look_ahead, Answers, Execute, Exit, Halt, Inputs, Language, Looked, State, ValueKind, Vm,
};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

/// Number of terms of a suspended run for which there is room from the start.
const ROOM: usize = 32;

/// The next token. A token identifies the terms of one suspension of one run.
static TOKEN: AtomicU64 = AtomicU64::new(1);

/// A run without its terms.
pub struct Run<L: Language> {
    /// The program.
    pub program: Arc<Program<L>>,
    /// What does not depend on the language.
    pub plain: Plain,
    /// The state, if the run is suspended.
    state: Option<State<L, ()>>,
    /// What was found when it looked for the calls that follow the one at which it is suspended.
    looked: Option<Looked>,
}

impl<L: Execute> Run<L> {
    /// Returns a run that has not begun.
    pub fn new(program: Arc<Program<L>>, plain: Plain) -> Self {
        Run {
            program,
            plain,
            state: None,
            looked: None,
        }
    }

    /// Returns whether the run is suspended.
    pub fn is_suspended(&self) -> bool {
        self.state.is_some()
    }

    /// Executes until the run ends, needs a value from outside, or must be suspended; `None` if the terms are not its own. `back`
    /// becomes the meter after the execution.
    pub fn execute<H: Heap>(
        &mut self,
        heap: &mut H,
        given: &mut Given<'_, H::Term>,
        entry: Entry<'_, H::Term>,
        mut meter: Meter,
        back: Option<&mut Meter>,
    ) -> Option<Executed<H::Term>> {
        let program = &*self.program;
        let (state, answers) = match entry {
            Entry::Start => {
                let (environment, now) = (given.data.environment, given.data.now);
                let input = Vm::input_of(program, heap, environment, L::INPUT.as_bytes());
                let now = |heap: &mut H| start_time(heap, now);
                (State::start(program, heap, input, now), Answers::None)
            }
            Entry::Resume { terms, value } => {
                let (frozen, looked) = (self.state.take()?, self.looked.take());
                let mut terms = terms.iter().copied();
                let mut state = thaw(frozen, heap, &mut terms)?;
                terms.next().is_none().then_some(())?;
                // Between two calls of tools most runs take too few steps to read a clock.
                match value {
                    None => meter.start_clock(),
                    Some((kind, _)) => self.plain.replays = kind.is_replayed(),
                }
                match value {
                    Some((kind, text)) if kind.is_failure() => {
                        self.moved_with(kind);
                        self.plain.stays = false;
                        let at = match L::TELLS_PLACES {
                            true => state.trail_of_call(),
                            false => Vec::new(),
                        };
                        match state.failed_call(&self.program, heap) {
                            Some(caught) => (caught, Answers::One(text)),
                            None => {
                                let ending = Ending::Uncaught(at);
                                return Some(Executed::ended(ending, Spent::of(&meter)));
                            }
                        }
                    }
                    Some((ValueKind::Joined, value)) => {
                        let (joined, value) = state.joined(program, heap, value)?;
                        (joined, value.map_or(Answers::None, Answers::One))
                    }
                    Some((ValueKind::InTurn, _)) => (state.in_turn(program)?, Answers::None),
                    Some((kind, list)) if kind.is_list() => {
                        self.moved_with(kind);
                        let answers = Answers::of_list(heap, list)?;
                        match looked {
                            Some(looked) => {
                                self.plain.stays &= looked.is_all(&answers);
                                let answers = looked.passed(heap, &mut state, answers);
                                (state, answers)
                            }
                            None => (state, answers),
                        }
                    }
                    Some((kind, value)) => {
                        self.moved_with(kind);
                        (state, Answers::One(value))
                    }
                    None => (state, Answers::None),
                }
            }
        };
        self.go_on(heap, given, (state, answers), meter, back)
    }

    /// Adds the arguments of the calls that follow the call at which the run is suspended to `all`, which has those of the call. What
    /// is built for this counts on the given heap only. Returns the fuel that was used; `None` if the terms are not those of the run.
    pub fn calls_ahead<H: Heap>(
        &mut self,
        heap: &mut H,
        given: &Given<'_, H::Term>,
        terms: &[H::Term],
        all: &mut Vec<H::Term>,
    ) -> Option<usize>
    where
        State<L, ()>: Clone,
    {
        let state = thaw(self.state.clone()?, heap, &mut terms.iter().copied())?;
        let inputs = Inputs {
            consts: given.consts.slice(),
            context: given.data.context,
            environment: given.data.environment,
        };
        let forks = self.plain.mode == Mode::Forks;
        let start = (state, self.plain.limits, forks);
        let copies = self.plain.mode == Mode::Asks;
        let all = (all, ptc_vm::calls_at(self.plain.looks_ahead), copies);
        let looked = look_ahead(&self.program, heap, inputs, start, all);
        self.looked = Some(looked);
        Some(looked.fuel)
    }

    /// Executes one round of the loop, or one of the branches, at whose start the run is suspended, or which it goes through in turn: with this
    /// item, or the index of the branch. The round is a run of its own. `None` if the terms are not those of the run, or if it is not suspended there.
    pub fn round<H: Heap>(
        &self,
        heap: &mut H,
        given: &mut Given<'_, H::Term>,
        (terms, item): (&[H::Term], H::Term),
        meter: Meter,
    ) -> Option<(Executed<H::Term>, Self)>
    where
        State<L, ()>: Clone,
    {
        self.plain.together.as_ref()?;
        let mut terms = terms.iter().copied();
        let state = thaw(self.state.clone()?, heap, &mut terms)?;
        terms.next().is_none().then_some(())?;
        let state = state.round(&self.program, heap, item)?;
        let mut round = Run::new(self.program.clone(), self.plain.round());
        let executed = round.go_on(heap, given, (state, Answers::None), meter, None)?;
        Some((executed, round))
    }

    /// Executes what follows the call at which the run is suspended, as a run of its own, as long as nothing reads the answer: it ends there,
    /// with a value that means nothing. `None` if the terms are not those of the run, or if what runs is counted.
    pub fn unanswered<H: Heap>(
        &self,
        heap: &mut H,
        given: &mut Given<'_, H::Term>,
        terms: &[H::Term],
        meter: Meter,
    ) -> Option<(Executed<H::Term>, Self)>
    where
        State<L, ()>: Clone,
    {
        self.plain.observation.is_none().then_some(())?;
        let mut terms = terms.iter().copied();
        let state = thaw(self.state.clone()?, heap, &mut terms)?;
        terms.next().is_none().then_some(())?;
        let answers = Answers::One(heap.nil());
        let mut run = Run::new(self.program.clone(), self.plain.round());
        let Some(state) = state.unanswered(&self.program) else {
            let ending = Ending::Uncaught(Vec::new());
            return Some((Executed::ended(ending, Spent::of(&meter)), run));
        };
        let executed = run.go_on(heap, given, (state, answers), meter, None)?;
        Some((executed, run))
    }

    fn moved_with(&mut self, kind: ValueKind) {
        if kind.has_moved() && self.plain.mode != Mode::OverTexts {
            self.plain.mode = Mode::Moved;
        }
    }

    // Inlined, so that the state is not copied.
    #[inline(always)]
    fn go_on<H: Heap>(
        &mut self,
        heap: &mut H,
        given: &mut Given<'_, H::Term>,
        (state, answers): (State<L, H::Term>, Answers<H::Term>),
        meter: Meter,
        back: Option<&mut Meter>,
    ) -> Option<Executed<H::Term>> {
        let plain = &mut self.plain;
        // Loading may have used up the deadline. For a run that has moved, the waiting process enforces the deadline.
        let is_limited = !matches!(plain.mode, Mode::Moved | Mode::OverTexts);
        if is_limited && plain.limits.deadline.has_passed() {
            return Some(Executed::ended(
                Ending::Stop(Stop::DeadlinePassed),
                Spent::of(&meter),
            ));
        }
        let inputs = Inputs {
            consts: given.consts.slice(),
            context: given.data.context,
            environment: given.data.environment,
        };
        let mut vm = Vm::new(&self.program, heap, inputs, state, meter);
        if let Some(watch) = plain.observation.as_ref().and_then(|it| it.take()) {
            vm.observe(watch);
        }
        vm.forks = plain.mode == Mode::Forks;
        let exit = answers.resume(&mut vm);
        if vm.is_broken() {
            return None;
        }
        if let Some(observation) = &plain.observation {
            observation.put(vm.take_watch());
        }
        let meter = vm.meter();
        plain.limits = meter.limits;
        let (spent, pace) = (Spent::of(meter), meter.pace());
        if let Some(back) = back {
            back.clone_from(meter);
        }
        let is_last = matches!(exit, Exit::Call { .. })
            && !matches!(plain.mode, Mode::Moved | Mode::OverTexts)
            && vm.is_at_end();
        let mut ending = match exit {
            Exit::Done(value) => {
                drop(vm);
                plain.words_built = heap.words_built();
                plain.share(plain.words_built);
                return Some(Executed::ended(Ending::Done(value), spent));
            }
            Exit::Halted(Halt::Fault(fault)) => {
                let mut report = Box::new(L::report(*fault));
                if L::TELLS_PLACES {
                    report.at = vm.trail();
                }
                return Some(Executed::ended(Ending::Fault(report), spent));
            }
            Exit::Call { tool, args } if is_last => {
                let pc = vm.pc();
                drop(vm);
                plain.words_built = heap.words_built();
                plain.share(plain.words_built);
                return Some(Executed::ended(
                    Ending::Last {
                        tool,
                        args,
                        pc,
                        limits: plain.limits,
                    },
                    spent,
                ));
            }
            Exit::Halted(Halt::Stop(stop)) => match stop {
                Stop::SliceOver => Ending::Stop(stop),
                Stop::MemoryExceeded if pace == Pace::Probe => Ending::Stop(stop),
                stop => return Some(Executed::ended(Ending::Stop(stop), spent)),
            },
            Exit::Call { tool, args } => Ending::Call {
                tool,
                args,
                pc: vm.pc(),
                turn: vm.turn(),
                most_words: None,
                only_collects: match plain.mode {
                    Mode::Asks if plain.asks == Asks::Never => {
                        plain.stays
                            && pace != Pace::Probe
                            && vm.only_collects()
                            && vm.sends_arguments(args)
                    }
                    Mode::Moved => vm.only_collects(),
                    Mode::Forks if plain.asks == Asks::Never => {
                        L::CALLS_AHEAD && vm.only_collects()
                    }
                    // A program that catches an error goes on behind it, and its next calls have the next numbers.
                    Mode::Forks if plain.asks == Asks::Together => {
                        L::CALLS_AHEAD && !vm.catches() && vm.only_collects()
                    }
                    _ => plain.replays && vm.only_collects(),
                },
            },
            Exit::Fork { name, list, tools } => Ending::Fork { name, list, tools },
            Exit::Ask { what, about } => Ending::Ask { what, about },
        };
        let state = vm.into_state();
        plain.words_built = heap.words_built();
        let held = Some(self.suspended(heap, given, &mut ending, state));
        Some(Executed {
            ending,
            held,
            spent,
        })
    }

    /// Suspends the run.
    fn suspended<H: Heap>(
        &mut self,
        heap: &mut H,
        given: &mut Given<'_, H::Term>,
        ending: &mut Ending<H::Term>,
        mut state: State<L, H::Term>,
    ) -> Vec<H::Term> {
        let plain = &mut self.plain;
        match ending {
            Ending::Call {
                most_words,
                only_collects,
                ..
            } => {
                plain.calls += usize::from(plain.mode != Mode::Moved);
                let may_move = plain.mode == Mode::Asks && plain.asks == Asks::Never;
                let may_move = may_move && !*only_collects && plain.calls.is_power_of_two();
                *most_words = may_move.then(|| self.reduce(heap, given, &mut state));
            }
            Ending::Fork { .. } => {
                plain.together = Some(Arc::new(AtomicUsize::new(plain.words_built)));
            }
            _ => {}
        }
        self.suspend(heap, given, state)
    }

    /// Removes the terms that the rest of the program cannot read. Returns the maximum words of a copy for which the run moves.
    ///
    /// After the move, a call is a function call, but the terms that the rest of the run needs must be copied. Messages copy only
    /// arguments and answers. A run moves as soon as the messages that it has sent, and those that it is certain to send, cost as
    /// much as the copy. So it never costs more than twice as much as the better choice, whatever calls follow. It is weighed at
    /// the first, second, fourth, … call: all these together cost as much as the last two.
    fn reduce<H: Heap>(
        &self,
        heap: &mut H,
        given: &mut Given<'_, H::Term>,
        state: &mut State<L, H::Term>,
    ) -> usize {
        let terms = RunTerms {
            state,
            consts: given.consts.slice(),
            context: &mut given.data.context,
            environment: &mut given.data.environment,
        };
        let limits = (self.plain.calls, self.plain.limits.words);
        reduced::most_words(heap, &self.program, terms, limits)
    }

    fn suspend<H: Heap>(
        &mut self,
        heap: &mut H,
        given: &Given<'_, H::Term>,
        state: State<L, H::Term>,
    ) -> Vec<H::Term> {
        let plain = &mut self.plain;
        plain.share(plain.words_built);
        let mut held = Vec::with_capacity(ROOM);
        if plain.mode != Mode::OverTexts {
            plain.token = TOKEN.fetch_add(1, Ordering::Relaxed);
            plain.consts = given.consts.slice().len();
            let token = heap.make_number(Number::Int(plain.token as i64));
            let token = token.unwrap_or(heap.nil());
            let consts = given.consts.tuple(heap);
            held.extend([token, consts, given.data.context, given.data.environment]);
        }
        self.state = Some(freeze(state, heap, &mut held));
        self.plain.held = held.len();
        held
    }
}
