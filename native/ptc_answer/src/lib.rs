//! Answers of LLMs: finds the requested JSON in a text, and repairs it.
//!
//! * `scan`: fences, brackets and blanks, byte by byte
//! * `walks`: scans of a text that can be suspended
//! * `check`: check for valid JSON at an offset
//! * `choice`: the candidate that is tried first
//! * `recovery`: the search for another candidate if the first one is not JSON
//! * `checker`: checks of a value against its type while it is read
//! * [`stream`]: an answer that arrives in chunks
//! * `read`: the value, built in the heap during the search
//! * `reading`: the whole way from text to judged value; `judge`: the check against a type; `coercion`: what a value
//!   of another type becomes
//! * [`repair`]: repair of answers that are almost correct
//!
//! Everything is linear in the length of the text, and works on bytes: text outside of the JSON need
//! not be UTF-8.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod check;
pub(crate) mod checker;
mod choice;
mod coercion;
mod judge;
mod read;
mod reading;
mod recovery;
pub mod repair;
pub(crate) mod scan;
pub mod stream;
mod walks;

#[cfg(test)]
mod tests;

pub use check::LIMITS;
pub use judge::{Errors, Judge, Report, Verdict};
pub use read::{read_answer, read_underscored, Answer, NoAnswer, Search};
pub use reading::{object_or_list, Ask, Found, Keys, Reading, Reply, Unfit};

/// A step of the path to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPart {
    /// The declared name of a field, or another key.
    Name(Vec<u8>),
    /// An index in a list, from 0.
    Index(usize),
}
