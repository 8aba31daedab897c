//! Calls of several rounds at a time: the rounds of a loop that only keeps the answers do not depend on them, so
//! the arguments of their calls are computed before the first tool is called. The run itself stays at the first call. It goes
//! through the others when it is resumed with the answers, and computes their arguments again.

use crate::execute::Execute;
use crate::exit::Exit;
use crate::halt::Halt;
use crate::program::Program;
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

/// Adds the arguments of the calls that follow a call at once to `all`, which has those of the call, until it has `most`. `state` is that of
/// the run at the call; `forks`: whether it stops where a loop or a built-in forks. A few calls take at most the steps of a probe, and so does
/// each further one. Returns the fuel that was used.
pub fn look_ahead<H: Heap, L: Execute>(
    program: &Program<L>,
    heap: &mut H,
    inputs: Inputs<'_, H::Term>,
    (state, limits, forks): (State<L, H::Term>, Limits, bool),
    (all, most): (&mut Vec<H::Term>, usize),
) -> usize {
    let nothing = heap.nil();
    let meter = Meter::new(limits, Pace::Probe);
    let mut vm = Vm::new(program, heap, inputs, state, meter);
    vm.forks = forks;
    let pc = vm.pc();
    if let Some(end) = L::collects_answer(&program.code, pc) {
        vm.ends_at = end;
    }
    // Each call is one of the next iteration, if these run in turn.
    let mut turn = vm.turn();
    let (mut words, mut fuel) = (0, 0);
    while all.len() < most && vm.only_collects() {
        if all.len() >= FEW {
            fuel += vm.fuel_consumed();
            if fuel > MOST_FUEL {
                break;
            }
            *vm.meter() = Meter::new(limits, Pace::Probe);
        }
        turn = turn.map(|round| round + 1);
        let args = match vm.resume(nothing) {
            Exit::Call { args, .. } if vm.pc() == pc && vm.turn() == turn => args,
            _ => break,
        };
        if all.len() >= FEW {
            // Further calls are made alone if their arguments may be large.
            words += words_of_row(vm.machine.heap, args).unwrap_or(MOST_WORDS);
            if words >= MOST_WORDS {
                break;
            }
        }
        all.push(args);
    }
    fuel + vm.fuel_consumed()
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
        let answers = match self {
            Answers::None => return vm.run(),
            Answers::One(answer) => return vm.resume(answer),
            Answers::All(answers) => answers,
        };
        let mut exit = Exit::Halted(Halt::Stop(Stop::Abandoned));
        let last = answers.len() - 1;
        for (number, answer) in answers.into_iter().enumerate() {
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
