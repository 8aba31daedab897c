//! Calls of several rounds at a time: the rounds of a loop that only keeps the answers do not depend on them, so
//! the arguments of their calls are computed before the first tool is called. The run itself stays at the first call. When it is
//! resumed with all answers, it passes the bodies of these rounds, because nothing of them is left but the arguments. Where that is
//! not so, or where an answer is missing, it goes through the rounds and computes the arguments again.

use crate::execute::Execute;
use crate::exit::Exit;
use crate::frame::Frame;
use crate::halt::Halt;
use crate::live::live_at;
use crate::machine::HaltOf;
use crate::program::{Instr, Program};
use crate::run::{ExitOf, Vm};
use crate::start::Inputs;
use crate::state::State;
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::stop::Stop;
use ptc_term::weight::words_of_row;

/// Number of calls at a time, at first.
const FEW: usize = 32;
/// Each level has four times the calls of the one before.
const GROWTH: u32 = 2;
/// The highest level, with 512 calls at a time.
const HIGHEST: u8 = 3;
/// Of more than a few calls, the arguments take at most so many words, and no more fuel is used for them.
const MOST_WORDS: usize = 8_192;
const MOST_FUEL: usize = 16_384;
/// Maximum words of the arguments of a call for which a run stays with its caller.
const SMALL: usize = 64;
/// Arguments that are copied to the process of the tools take at most this part of what they may take at all, because they arrive before
/// the heap limit of that process is raised.
const PART_OF_LIMIT: usize = 16;

/// Returns how many calls are made at a time at a level: one at 0, a few at 1.
pub fn calls_at(level: u8) -> usize {
    match level {
        0 => 1,
        level => FEW << (GROWTH * u32::from(level.min(HIGHEST) - 1)),
    }
}

/// Returns the level after one at which so many calls were found.
pub fn level_after(found: usize, level: u8) -> u8 {
    match found >= calls_at(level) {
        true => (level + 1).min(HIGHEST),
        false => level,
    }
}

/// What was done to find the calls that follow a call.
#[derive(Debug, Clone, Copy)]
pub struct Looked {
    /// The fuel that was used.
    pub fuel: usize,
    /// Number of calls, with the first one.
    calls: usize,
    /// The words that were built for them.
    words: usize,
    /// The words that the run may have built with the answers, so that what was computed once would not meet its limit with them; `None` if
    /// not each of these rounds makes one call.
    most_words: Option<usize>,
    /// See [`Machine::uses_values_again`](crate::Machine::uses_values_again).
    multiplies: bool,
}

/// Adds the arguments of the calls that follow a call at once to `all`, which has those of the call, until it has `most`. `state` is that of
/// the run at the call; `forks`: whether it stops where a loop or a built-in forks; `copies`: whether the arguments are copied to another
/// process. A few calls take at most the steps of a probe, and so does each further one. They build at most half of what the run may build.
pub fn look_ahead<H: Heap, L: Execute>(
    program: &Program<L>,
    heap: &mut H,
    inputs: Inputs<'_, H::Term>,
    (state, mut limits, forks): (State<L, H::Term>, Limits, bool),
    (all, most, copies): (&mut Vec<H::Term>, usize, bool),
) -> Looked {
    let (nothing, built) = (heap.nil(), heap.words_built());
    limits.words = built + limits.words.saturating_sub(built) / 2;
    let meter = Meter::new(limits, Pace::Probe);
    let mut vm = Vm::new(program, heap, inputs, state, meter);
    vm.forks = forks;
    let pc = vm.pc();
    if let Some(end) = L::collects_answer(&program.code, pc) {
        vm.ends_at = end;
    }
    // Each call is one of the next iteration, if these run in turn.
    let mut turn = vm.turn();
    let (mut words, mut fuel, mut left) = (0, 0, vm.items_left());
    let (weighed, most_words) = match copies {
        true => (0, MOST_WORDS.min(limits.words / PART_OF_LIMIT)),
        false => (FEW, MOST_WORDS),
    };
    let mut looked = Looked {
        fuel: 0,
        calls: 0,
        words: 0,
        most_words: vm.passes_bodies().then_some(limits.words),
        multiplies: false,
    };
    while all.len() < most && vm.only_collects() {
        if all.len() >= FEW {
            fuel += vm.fuel_consumed();
            if fuel > MOST_FUEL {
                break;
            }
            *vm.meter() = Meter::new(limits, Pace::Probe);
        }
        turn = turn.map(|round| round + 1);
        vm.items_left_by_next(&mut left);
        let args = match vm.resume(nothing) {
            Exit::Call { args, .. } if vm.pc() == pc && vm.turn() == turn => args,
            _ => break,
        };
        if all.len() >= weighed {
            // Further calls are made alone if their arguments may be large.
            words += words_of_row(vm.machine.heap, args).unwrap_or(MOST_WORDS);
            if words >= most_words {
                break;
            }
        }
        all.push(args);
        looked.words = vm.machine.heap.words_built() - built;
        if !vm.has_left(&left) {
            looked.most_words = None;
        }
    }
    looked.fuel = fuel + vm.fuel_consumed();
    looked.calls = all.len();
    looked.multiplies = vm.machine.multiplies;
    looked
}

impl Looked {
    /// Returns whether there is an answer for each call.
    pub fn is_all<T>(&self, answers: &Answers<T>) -> bool {
        matches!(answers, Answers::All(answers) if answers.len() == self.calls)
    }

    /// Returns the answers as those of a run that passes the bodies of the rounds for which they are, if it may.
    pub fn passed<H: Heap, L: Execute>(
        self,
        heap: &mut H,
        state: &mut State<L, H::Term>,
        answers: Answers<H::Term>,
    ) -> Answers<H::Term> {
        let passes = (self.most_words).is_some_and(|most| heap.words_built() <= most);
        match answers {
            Answers::All(answers) if passes && answers.len() == self.calls => {
                heap.built(self.words);
                state.multiplies |= self.multiplies;
                Answers::Passing(answers)
            }
            answers => answers,
        }
    }
}

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Returns whether it costs less to copy the arguments of the calls of a loop than what the run needs to compute them: they are small and
    /// flat, and made of the items of the loop.
    pub fn sends_arguments(&self, args: H::Term) -> bool {
        let around = live_at(self.program, self.pc).and_then(|live| live.around);
        around.is_none_or(|around| around.reads_items)
            && words_of_row(self.machine.heap, args).is_some_and(|words| words <= SMALL)
    }

    /// Returns whether nothing of a body is left at the call at which the run has just stopped but what stands behind the innermost loop.
    fn passes_bodies(&self) -> bool {
        matches!(
            self.program.code.get(self.pc as usize),
            Some(Instr::Next(_))
        )
    }

    /// Returns what identifies the items that each loop has not visited, the innermost one last.
    fn items_left(&self) -> Vec<usize> {
        let left = |frame: &Frame<H::Term>| self.machine.heap.identity(frame.walk.rest);
        self.frames.iter().map(left).collect()
    }

    /// Makes of them those of the next round, if no other loop goes on until then.
    fn items_left_by_next(&self, left: &mut [usize]) {
        let frame = self.frames.last();
        let next = frame.and_then(|frame| self.machine.heap.uncons(frame.walk.rest));
        if let (Some((_, rest)), Some(last)) = (next, left.last_mut()) {
            *last = self.machine.heap.identity(rest);
        }
    }

    /// Returns whether the loops have not visited these items.
    fn has_left(&self, left: &[usize]) -> bool {
        let same = |(left, frame): (&usize, &Frame<H::Term>)| {
            *left == self.machine.heap.identity(frame.walk.rest)
        };
        left.len() == self.frames.len() && left.iter().zip(&self.frames).all(same)
    }

    /// Gives the answer of a call to the loop, and goes on behind the call of the next round, unless there is a reason to stop.
    fn pass(&mut self, answer: H::Term) -> Option<ExitOf<H, L>> {
        self.machine.stack.push(answer);
        let body = self.frames.last().map(|frame| frame.at + 1);
        loop {
            let context = &mut self.machine.context;
            let begun = context.meter.begin(context.heap);
            match begun
                .map_err(HaltOf::<H, L>::from)
                .and_then(|()| self.next())
            {
                Ok(to) => {
                    self.is_broken |= to != body;
                    return None;
                }
                Err(Halt::Stop(Stop::SliceOver)) => self.meter().renew(),
                // It stops there again.
                Err(_) => return Some(self.run()),
            }
        }
    }
}

/// What a run is resumed with.
#[derive(Debug, Clone, PartialEq)]
pub enum Answers<T> {
    /// Nothing: its slice or quantum was over.
    None,
    /// The answer to its call, or the value of a loop.
    One(T),
    /// The answers to its call and to those that follow.
    All(Vec<T>),
    /// The answers to its call and to those that follow, and it passes the bodies of the rounds between them: see [`Looked`].
    Passing(Vec<T>),
}

impl<T: Copy> Answers<T> {
    /// Returns the answers in a list; `None` if it has none or too many.
    pub fn of_list<H: Heap<Term = T>>(heap: &H, list: T) -> Option<Self> {
        let (mut all, mut rest) = (Vec::with_capacity(FEW), list);
        while let Some((answer, tail)) = heap.uncons(rest) {
            (all.len() < calls_at(HIGHEST)).then_some(())?;
            all.push(answer);
            rest = tail;
        }
        (!all.is_empty()).then_some(Answers::All(all))
    }

    /// Runs until there is a reason to stop that is not one of these calls.
    pub fn resume<H: Heap<Term = T>, L: Execute>(self, vm: &mut Vm<'_, H, L>) -> ExitOf<H, L> {
        let passes = matches!(self, Answers::Passing(_));
        let answers = match self {
            Answers::None => return vm.run(),
            Answers::One(answer) => return vm.resume(answer),
            Answers::All(answers) | Answers::Passing(answers) => answers,
        };
        let mut exit = Exit::Halted(Halt::Stop(Stop::Abandoned));
        let last = answers.len() - 1;
        for (number, answer) in answers.into_iter().enumerate() {
            if passes && number < last {
                match vm.pass(answer) {
                    None => continue,
                    Some(exit) => return exit,
                }
            }
            exit = vm.resume(answer);
            // The look ahead took no more than the steps of a probe, so this hardly happens.
            while number < last && matches!(exit, Exit::Halted(Halt::Stop(Stop::SliceOver))) {
                vm.meter().renew();
                exit = vm.run();
            }
            if !matches!(exit, Exit::Call { .. }) {
                break;
            }
        }
        exit
    }
}
