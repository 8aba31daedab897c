//! PTC-Lisp on the machine that all languages share.
//!
//! ```text
//! text ── read ──▶ forms ── analyze ──▶ expressions ── compile ──▶ instructions and constants
//! ```
//!
//! * [`table`]: the built-ins, one row for each; [`about`]: their documentation
//! * [`read`]: the reader, from text to forms with positions
//! * [`analyze`]: from forms to expressions, with all errors that a program has before it runs
//! * [`ast`]: what these make, and what the compiler takes
//! * [`compile`]: from expressions to instructions and constants; [`patience`]: until when these four may go on
//! * [`code`]: the instructions; `language`: what the machine asks of the language about them; [`consts`]: the constants; [`vocabulary`]: keywords that are atoms
//! * [`exec`]: the instructions run, values are called, results leave the run
//! * [`families`]: the built-ins, one module for each family
//! * [`values`]: what a value is; [`look`]: look-ups by flexible keys; [`cache`]: what these remember
//! * [`work`]: the states of evaluations that have begun; [`fault`]: errors

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod about;
pub mod analyze;
pub mod ast;
pub mod cache;
pub mod code;
pub mod compile;
pub mod consts;
pub mod exec;
pub mod families;
pub mod fault;
mod language;
pub mod look;
pub mod patience;
pub mod read;
pub mod table;
pub mod values;
pub mod vocabulary;
pub mod work;
