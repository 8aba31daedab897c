//! PTC-Lisp on the machine that all languages share.
//!
//! ```text
//! text ── read ──▶ forms ── analyze ──▶ expressions ── compile ──▶ instructions and constants
//! ```
//!
//! * [`table`]: the built-ins, one row for each
//! * [`read`]: the reader, from text to forms with positions
//! * [`analyze`]: from forms to expressions, with all errors that a program has before it runs
//! * [`ast`]: what these make, and what the compiler takes

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod analyze;
pub mod ast;
pub mod read;
pub mod table;
