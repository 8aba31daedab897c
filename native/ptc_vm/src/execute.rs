//! What the machine asks of a language while it runs a program.

use crate::calls::{Entered, Next};
use crate::frame::{Frame, Stepped};
use crate::language::{Contained, Language};
use crate::machine::{Eval, HaltOf, Machine};
use crate::program::{Apply, ConstId, Instr, Loop, Pc, Slot};
use crate::run::Vm;
use ptc_kernels::Tally;
use ptc_term::heap::Heap;

/// A language that evaluates its operations.
pub trait Execute: Language {
    /// Whether a run of it that stays with its caller may take the answers to several calls at a time.
    const CALLS_AHEAD: bool = false;
    /// Whether its errors tell the addresses where they happened.
    const TELLS_PLACES: bool = false;

    /// Evaluates an operation.
    fn eval<H: Heap>(machine: &mut Machine<'_, H, Self>, apply: &Apply<Self>) -> Eval<H, Self>;

    /// Checks the operands of an operation so far.
    fn expect<H: Heap>(
        machine: &mut Machine<'_, H, Self>,
        op: Self::Op,
        input: Slot,
    ) -> Result<(), HaltOf<H, Self>>;

    /// Returns the empty tally of an operation that a loop can tally its items with.
    fn tally(op: Self::Op) -> Option<Tally>;

    /// Takes the value of an operation's body for the item before, none at the start. A step that halts is
    /// taken again with the same value, unless the second stage of the frame has begun: then the body
    /// runs no more, and the step has no value.
    fn step<H: Heap>(
        machine: &mut Machine<'_, H, Self>,
        looped: &Loop<Self>,
        frame: &mut Frame<H::Term>,
        returned: Option<H::Term>,
    ) -> Stepped<H, Self>;

    /// Returns the constants that the value of an evaluation may contain, besides those that its operands contain.
    fn constants_in(apply: &Apply<Self>) -> Contained;

    /// Returns whether the rounds of an operation with a body may run at the same time, see
    /// [`Exit::Fork`](crate::Exit::Fork).
    fn forks(op: Self::Op) -> bool;

    /// Returns whether an operation with a body only keeps the values of its body, or items by their truth. So the rounds do
    /// not depend on these values.
    fn collects(_op: Self::Op) -> bool {
        false
    }

    /// Returns whether an operation only builds a value of its operands, so that it does the same whatever they are.
    fn only_builds(_op: Self::Op) -> bool {
        false
    }

    /// Returns whether the answer to a call, behind which the run goes on at this address, is only kept or dropped there, and its code goes on
    /// to the next item of a list: then until which address nothing reads the answer. So the calls before that address do not depend on
    /// it.
    fn collects_answer(_code: &[Instr<Self>], _pc: Pc) -> Option<Pc> {
        None
    }

    /// Executes an instruction of its own; returns the next address.
    fn execute<H: Heap>(vm: &mut Vm<'_, H, Self>, own: &Self::Own) -> Result<Pc, HaltOf<H, Self>>;

    /// Returns what stands for a name that the context does not have.
    fn missing<H: Heap>(
        &self,
        machine: &mut Machine<'_, H, Self>,
        context: H::Term,
        key: ConstId,
    ) -> Eval<H, Self>;

    /// Enters a function value: so many arguments are above it on the stack. A language without functions has none to call,
    /// so the value is the result.
    fn enter<H: Heap>(
        _machine: &mut Machine<'_, H, Self>,
        function: H::Term,
        _arguments: u32,
    ) -> Result<Entered<Self, H::Term>, HaltOf<H, Self>> {
        Ok(Entered::Value(function))
    }

    /// Returns the address of the code that a function value below so many arguments on the stack runs, and the number of its slots, if it
    /// takes these arguments as they are. It decides for the most frequent calls what [`Execute::enter`] decides for all.
    #[inline(always)]
    fn code_of<H: Heap>(
        _machine: &Machine<'_, H, Self>,
        _function: H::Term,
        _arguments: u32,
    ) -> Option<(Pc, u32)> {
        None
    }

    /// Takes the next step of a built-in that calls back, with the value of the function that it has called; none at the
    /// start. A step that halts is taken again with the same value.
    fn call_back<H: Heap>(
        machine: &mut Machine<'_, H, Self>,
        _work: &mut Self::Work<H::Term>,
        returned: Option<H::Term>,
    ) -> Result<Next<H::Term>, HaltOf<H, Self>> {
        Ok(Next::Done(returned.unwrap_or(machine.heap.nil())))
    }

    /// Is told of an error in guarded code: what stands where the handlers are, the innermost first.
    fn guarded<'p, T>(_fault: &mut Self::Fault<T>, _handlers: impl Iterator<Item = &'p Instr<Self>>)
    where
        Self: 'p,
    {
    }

    /// Makes an error that has been reached.
    fn fail<H: Heap>(
        machine: &mut Machine<'_, H, Self>,
        failure: &Self::Failure,
    ) -> Self::Fault<H::Term>;
}
