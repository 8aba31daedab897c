//! What a language is to the data of the machine: its operations, its own instructions, and the states and errors of its
//! operations. [`Execute`](crate::Execute) is what it does.

use crate::halt::{Name, Report};
use crate::program::Pc;
use ptc_kernels::{ConstId, Why};
use ptc_term::suspend::{Exchange, Rooted};
use std::fmt::Debug;

/// A language whose programs the machine runs. A value of it has the options of one program.
pub trait Language: Debug + Copy + Eq + 'static {
    /// The name in the memory whose value a program starts with.
    const INPUT: &'static str;
    /// Its operations.
    type Op: Debug + Copy + Eq + Into<Name>;
    /// Its own instructions.
    type Own: Debug + Copy + Eq;
    /// What is known of an error that only counts when it is reached.
    type Failure: Debug + Copy + Eq;
    /// What an execution remembers to be quicker; it is lost when the run is suspended.
    type Cache<T>: Default;
    /// The state of an evaluation that has begun: one kind for each operation that has one.
    type Work<T>;
    /// An error in a program.
    type Fault<T>;

    /// Exchanges the terms of a state, see [`Rooted`](ptc_term::suspend::Rooted).
    fn exchange_work<T, X: Exchange<T>>(
        work: Self::Work<T>,
        by: &mut X,
    ) -> Result<Self::Work<X::Into>, X::Lost>;

    /// Exchanges the terms of an error.
    fn exchange_fault<T, X: Exchange<T>>(
        fault: Self::Fault<T>,
        by: &mut X,
    ) -> Result<Self::Fault<X::Into>, X::Lost>;

    /// Returns an error as every language reports one.
    fn report<T>(fault: Self::Fault<T>) -> Report<T>;

    /// Returns the terms of an error that are shown.
    fn terms<T>(fault: &Self::Fault<T>) -> &[T];

    /// Records that inspecting the terms of an error must be limited, because they share so many parts.
    fn limit_inspection<T>(fault: &mut Self::Fault<T>);

    /// Returns the error of an operation whose operand, or operands, an algorithm cannot work with.
    fn wrong<T>(op: Self::Op, why: Why, terms: Vec<T>) -> Self::Fault<T>;

    /// Returns what an instruction of its own reads, and where the run goes on.
    fn flow(own: &Self::Own) -> Flow;

    /// Returns whether an operation reads its current value, and not only its operands.
    fn reads_input(op: Self::Op) -> bool;

    /// Returns whether an operation with a body reads the item again after its body.
    fn keeps_item(op: Self::Op) -> bool;

    /// Returns whether its programs may report which names exist, or read them: then nothing is left out when a run moves.
    fn reads_names(&self) -> bool {
        false
    }
}

/// An error as a state: see [`Language::exchange_fault`].
pub struct FaultTerms<L: Language, T>(pub L::Fault<T>);

impl<L: Language, T> Rooted for FaultTerms<L, T> {
    type Term = T;
    type With<U> = FaultTerms<L, U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<FaultTerms<L, X::Into>, X::Lost> {
        Ok(FaultTerms(L::exchange_fault(self.0, by)?))
    }
}

/// The state of an evaluation as one that has terms: see [`Language::exchange_work`].
pub struct WorkTerms<L: Language, T>(pub L::Work<T>);

impl<L: Language, T> Rooted for WorkTerms<L, T> {
    type Term = T;
    type With<U> = WorkTerms<L, U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<WorkTerms<L, X::Into>, X::Lost> {
        Ok(WorkTerms(L::exchange_work(self.0, by)?))
    }
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
    pub reads: u32,
    /// The address of the next instruction; the one behind it if there is none.
    pub next: Option<Pc>,
    /// Where the run may go on instead, and the number of values that it leaves on the stack then.
    pub branch: Option<(Pc, u32)>,
    /// Number of values that it takes from the stack, and that it leaves there.
    pub depth: (u32, u32),
}
