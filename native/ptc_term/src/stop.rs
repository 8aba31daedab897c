//! Reasons why work stops before its end.

/// Why work stops before its end, apart from errors in what it reads or runs.
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
