//! Why work on a text stops before its end.

use crate::fault::Halt;

/// Why work stops before its end, other than that there is something wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// This slice or quantum is used up: go on in another one.
    SliceOver,
    /// The deadline has passed.
    DeadlinePassed,
    /// More words built than allowed.
    MemoryExceeded,
    /// Nobody waits for the answer.
    Abandoned,
}

impl<T> From<Halt<T>> for Stop {
    fn from(halt: Halt<T>) -> Self {
        match halt {
            Halt::SliceOver => Stop::SliceOver,
            Halt::DeadlinePassed => Stop::DeadlinePassed,
            Halt::MemoryExceeded => Stop::MemoryExceeded,
            // The meter finds no faults.
            Halt::Abandoned | Halt::Fault(_) => Stop::Abandoned,
        }
    }
}
