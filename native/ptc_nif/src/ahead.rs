//! Calls of a run that has moved, several at a time: the rounds of a loop that only keeps the answers do not depend on them, so
//! the arguments of their calls are computed before the first tool is called. The run itself stays at the first call. It goes
//! through the others when it is resumed with the answers, and computes their arguments again.

use crate::execution::Execution;
use crate::heap::Beam;
use crate::plain_run::Run;
use crate::raw::{Raw, Terms};
use ptc_program::code::{PtcJson, State, Vm};
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::stop::Stop;
use ptc_vm::{Exit, ExitOf, Halt, Inputs};

/// Maximum number of calls at a time.
const MOST: usize = 32;

/// The arguments of a call, and those of the calls that follow, with the words that the run has built before the last of them.
/// `None` if no other one follows at once. Takes at most the steps of a probe.
pub fn calls_ahead<'a>(
    execution: &Execution<'a>,
    run: &mut Run,
    state: &State<Raw<'a>>,
    args: Raw<'a>,
) -> Option<(Vec<Raw<'a>>, usize)> {
    let (env, built) = (execution.heap.terms.env, execution.heap.words_built());
    let mut heap = Beam::new(env, built);
    let nothing = heap.nil();
    let inputs = Inputs {
        consts: execution.consts.slice(),
        context: execution.data.context,
        memory: execution.data.memory,
    };
    let meter = Meter::new(run.limits, Pace::Probe);
    let mut vm = Vm::new(&run.program, &mut heap, inputs, state.clone(), meter);
    let pc = vm.pc();
    vm.only_collects().then_some(())?;
    let mut all = Vec::with_capacity(MOST);
    all.push(args);
    while all.len() < MOST && vm.only_collects() {
        match vm.resume(nothing) {
            Exit::Call { args, .. } if vm.pc() == pc => all.push(args),
            _ => break,
        }
    }
    drop(vm);
    // Where it takes too many steps to the next call, or another one comes first, the run does not look again.
    run.looks_ahead = all.len() > 1;
    run.looks_ahead.then(|| (all, heap.words_built()))
}

/// What a run is resumed with.
pub enum Answers<'a> {
    /// Nothing: its slice or quantum was over.
    None,
    /// The answer to its call, or the value of a loop.
    One(Raw<'a>),
    /// The answers to its call and to those that follow.
    All(Vec<Raw<'a>>),
}

impl<'a> Answers<'a> {
    /// The terms of a list; `None` if it is none, or if it is empty.
    pub fn of_list(terms: Terms<'a>, list: Raw<'a>) -> Option<Self> {
        let (mut all, mut rest) = (Vec::with_capacity(MOST), list);
        while let Some((answer, tail)) = terms.uncons(rest) {
            (all.len() < MOST).then_some(())?;
            all.push(answer);
            rest = tail;
        }
        (!all.is_empty()).then_some(Answers::All(all))
    }

    /// Runs until there is a reason to stop that is not one of these calls.
    pub fn resume(self, vm: &mut Vm<'_, Beam<'a>>) -> ExitOf<Beam<'a>, PtcJson> {
        let answers = match self {
            Answers::None => return vm.run(),
            Answers::One(answer) => return vm.resume(answer),
            Answers::All(answers) => answers,
        };
        let mut exit = Exit::Halted(Halt::Stop(Stop::Abandoned));
        let last = answers.len() - 1;
        for (number, answer) in answers.into_iter().enumerate() {
            exit = vm.resume(answer);
            // The first look took no more than the steps of a probe, so this hardly happens.
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
