//! Reasons why work on a text stops early.

use crate::fault::Halt;

/// Why work stops before its end, apart from errors in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// This slice or quantum is used up: resume in another one.
    SliceOver,
    /// The deadline has passed.
    DeadlinePassed,
    /// The heap limit was exceeded.
    MemoryExceeded,
    /// No process waits for the result.
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
