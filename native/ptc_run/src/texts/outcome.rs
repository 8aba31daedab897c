//! How an execution over texts ends.

use ptc_vm::program::Pc;
use ptc_vm::Report;

/// How an execution ends.
#[derive(Debug)]
pub enum Outcome<T> {
    /// The run's value.
    Value(T),
    /// The run calls a tool and can be resumed with its answer.
    Call {
        /// The name of the tool.
        tool: T,
        /// Its arguments.
        args: T,
    },
    /// Only the caller can do what the run wants; it can be resumed with the answer.
    Ask {
        /// Which question it is, in the order of the language.
        what: u32,
        /// What it is about.
        about: T,
    },
    /// The run has failed.
    Fault(Report<T>),
    /// A text of the context is not JSON, or cannot be read in place.
    Undecoded,
    /// A text that a tool has answered is not JSON, or cannot be read in place. The run waits for another answer.
    Refused {
        /// The name of the tool.
        tool: T,
        /// The text.
        text: T,
    },
    /// The tool of the call has failed, and the program does not catch that. Where the call is: see [`Report::at`].
    Uncaught(Vec<Pc>),
}
