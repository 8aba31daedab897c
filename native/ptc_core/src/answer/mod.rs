//! Answers of LLMs: where in a text the JSON is that was asked for.
//!
//! * [`scan`]: fences, brackets and blanks, byte by byte
//! * [`walks`]: ways through a text that can be left
//! * [`check`]: whether there is JSON at a place
//! * [`choice`]: the one place that is tried first
//! * [`recovery`]: the only other place there may be, when that one is no JSON
//! * [`stream`]: an answer while it comes in
//! * [`read`]: the value itself, built in the heap on the way
//!
//! Everything is linear in the text, whatever it holds, and looks at bytes: what stands outside of
//! the JSON need not even be UTF-8.

mod check;
mod choice;
mod read;
mod recovery;
pub(crate) mod scan;
pub mod stream;
mod walks;

#[cfg(test)]
mod tests;

pub use check::LIMITS;
pub use read::{read_answer, read_underscored, Answer, NoAnswer, Search};
