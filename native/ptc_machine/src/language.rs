//! The interface between the machine and a language: its operations, and its own instructions.
//!
//! Control flow, frames, suspension, fuel, tools and rounds are the machine's, and the same in every language.

use crate::fault::{Halt, Name};
use crate::program::{Apply, ConstId, Loop, Pc, Slot};
use crate::{Eval, Frame, Machine, Stepped, Tally, Vm};
use ptc_term::heap::Heap;
use std::fmt::Debug;

/// A language whose programs the machine runs.
pub trait Language: Debug + Copy + Eq + 'static {
    /// Its operations.
    type Op: Debug + Copy + Eq + Into<Name>;
    /// Its own instructions.
    type Own: Debug + Copy + Eq;

    /// The operation that reads the context by name.
    const LOAD: Self::Op;

    /// Evaluates an operation.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply<Self>) -> Eval<H>;

    /// Checks the operands of an operation so far.
    fn expect<H: Heap>(
        machine: &mut Machine<'_, H>,
        op: Self::Op,
        input: Slot,
    ) -> Result<(), Halt<H::Term>>;

    /// Returns the empty tally of an operation that a loop can tally its items with.
    fn tally(op: Self::Op) -> Option<Tally>;

    /// Takes the value of an operation's body for the item before, none at the start. A step that halts is
    /// taken again with the same value, unless the second stage of the frame has begun: then the body
    /// runs no more, and the step has no value.
    fn step<H: Heap>(
        machine: &mut Machine<'_, H>,
        looped: &Loop<Self>,
        frame: &mut Frame<H::Term>,
        returned: Option<H::Term>,
    ) -> Stepped<H>;

    /// Returns whether an operation reads its current value, and not only its operands.
    fn reads_input(op: Self::Op) -> bool;

    /// Returns the constants that the value of an evaluation may contain, besides those that its operands contain.
    fn constants_in(apply: &Apply<Self>) -> Contained;

    /// Returns whether an operation with a body reads the item again after its body.
    fn keeps_item(op: Self::Op) -> bool;

    /// Returns whether the rounds of an operation with a body may run at the same time, see
    /// [`Exit::Fork`](crate::Exit::Fork).
    fn forks(op: Self::Op) -> bool;

    /// Returns what an instruction of its own reads, and where the run goes on.
    fn flow(own: &Self::Own) -> Flow;

    /// Executes an instruction of its own; returns the next address.
    fn execute<H: Heap>(vm: &mut Vm<'_, H, Self>, own: &Self::Own) -> Result<Pc, Halt<H::Term>>;
}

/// Constants that a value may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contained {
    /// None.
    Nothing,
    /// This one, unless it is [`NO_CONST`](crate::program::NO_CONST).
    Value(ConstId),
    /// So many consecutive ones, from this one on, each as a key of a map that the evaluation makes.
    Keys(ConstId, u32),
    /// Any.
    Any,
}

/// The data flow and the control flow of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The slot that it reads.
    pub reads: Slot,
    /// The address of the next instruction.
    pub next: Pc,
}
