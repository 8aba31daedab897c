//! The VM: runs a program over a heap, in slices. It can be suspended and resumed at any
//! instruction.
//!
//! All live terms of a run are in its [`State`]: in slots, on one stack and in frames. Everything else is plain data.
//! To suspend a run, the terms of its state are exchanged ([`suspend`](crate::suspend)). Tool calls, long
//! work and cancellation all use this mechanism.

mod copy_size;
mod cost;
mod counts;
mod demanded;
mod failing;
mod frame;
mod keys;
mod kinds;
mod loops;
mod machine;
mod meaning;
mod needle;
mod order;
mod run;
mod stack;
mod start;
mod state;
mod table;
mod tally;
mod watch;

pub(crate) use cost::cost;
pub use counts::{Counts, Watch};
pub(crate) use demanded::Demanded;
pub(crate) use frame::Work;
pub use frame::{Frame, Step, Stepped, Walk};
pub(crate) use kinds::Kinds;
pub use loops::Keeps;
pub use machine::{Eval, Machine};
pub(crate) use machine::{KEPT_BETWEEN_CHECKS, KEY_OF_NEW, MAP_ENTRY, UNITS_A_LIMB};
pub(crate) use meaning::order;
pub use order::Sorting;
pub use run::{Exit, Vm};
pub use start::Inputs;
pub use state::State;
pub use tally::Tally;
