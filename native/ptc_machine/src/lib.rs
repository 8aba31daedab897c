//! The VM: runs a program over a heap, in slices. It can be suspended and resumed at any
//! instruction.
//!
//! All live terms of a run are in its [`State`]: in slots, on one stack and in frames. Everything else is plain data.
//! To suspend a run, the terms of its state are exchanged ([`suspend`](ptc_term::suspend)). Tool calls, long
//! work and cancellation all use this mechanism.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod copy_size;
mod cost;
mod counts;
mod demanded;
mod exact;
pub mod explain;
mod failing;
pub mod fault;
mod frame;
mod groups;
mod keys;
mod kinds;
pub mod language;
mod layout;
pub mod live;
mod loops;
mod machine;
mod meaning;
pub mod merge;
mod needle;
mod order;
pub mod program;
pub mod reduced;
mod resumed;
mod run;
mod scans;
mod stack;
mod start;
mod state;
mod table;
mod tally;
mod totals;
mod two_forms;
mod watch;

pub use cost::cost;
pub use counts::{Counts, Watch};
pub use demanded::Demanded;
pub use frame::Work;
pub use frame::{Frame, Step, Stepped, Walk};
pub use groups::Groups;
pub use kinds::Kinds;
pub use layout::{Entries, MapEntry, Origin};
pub use loops::Keeps;
pub use machine::{Eval, Machine};
pub use machine::{KEPT_BETWEEN_CHECKS, KEY_OF_NEW, MAP_ENTRY, UNITS_A_LIMB};
pub use meaning::order;
pub use order::Sorting;
pub use resumed::ValueKind;
pub use run::{Exit, Vm, BRANCHES};
pub use scans::{Following, Searched};
pub use start::Inputs;
pub use state::State;
pub use table::Table;
pub use tally::Tally;
pub use totals::{Total, Totals};
