//! How an execution ends.

use crate::halt::{Halt, Name};

/// Why the machine stopped.
#[derive(Debug, PartialEq)]
pub enum Exit<T, F> {
    /// The program's value.
    Done(T),
    /// The program calls a tool; [`Vm::resume`](crate::Vm::resume) receives the answer.
    Call {
        /// The tool's name.
        tool: T,
        /// Its arguments.
        args: T,
    },
    /// Only the caller of the run can do what the program wants; [`Vm::resume`](crate::Vm::resume) receives the answer.
    Ask {
        /// Which question it is, in the order of the language.
        what: u32,
        /// What it is about.
        about: T,
    },
    /// A loop whose body calls tools begins, or several branches that call tools, or a built-in that calls several functions. The iterations, branches or calls may run
    /// concurrently, each from a state of its own ([`State::round`](crate::State::round)).
    /// [`State::joined`](crate::State::joined) receives the results.
    Fork {
        /// The name of its operation, or [`BRANCHES`].
        name: Name,
        /// Its list, which is not empty; or the indices of the branches; or the calls, each a list of a function and its arguments.
        list: T,
        /// The list of the names of the tools that the iterations or branches call; it may have one twice. Empty for the calls of a built-in.
        tools: T,
    },
    /// The run halted before its end.
    Halted(Halt<F>),
}

/// The name of several branches that may run at the same time.
pub const BRANCHES: Name = "branches";
