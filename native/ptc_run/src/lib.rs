//! Runs of programs of any language: they are started, suspended at calls of tools and at the ends of slices, resumed, forked
//! for rounds of tools, and prepared for the process of the tools.
//!
//! A caller holds a program as [`Runnable`] and a suspended run as [`Running`], and knows neither the language nor the types of
//! its states.
//!
//! * [`Run`]: a run of one language, and its executions
//! * [`Runnable`], [`Running`]: a program and a run whose language is hidden
//! * [`Given`], [`Entry`], [`Executed`]: what an execution is given, where it starts, how it ends
//! * [`texts`]: runs over JSON texts that are not decoded
//! * [`observed`]: what a program's code and the counts of a run say about its operations

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod data;
mod execution;
pub mod observed;
mod plain;
mod run;
mod runnable;
pub mod texts;

pub use data::{start_time, Data};
pub use execution::{Consts, Ending, Entry, Executed, Given, Spent, FIRST};
pub use plain::{Asks, Mode, Observation, Plain};
pub use run::Run;
pub use runnable::{Heaps, Runnable, Running, TermOf};
