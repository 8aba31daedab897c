//! The VM: runs a program over a heap, in slices, and can leave and come back at any instruction.
//!
//! All live terms of a run stand in slots and on one stack. To leave, both go to the heap as terms
//! ([`Vm::freeze`]); everything else is plain data ([`Checkpoint`]). Tool calls, long work and
//! cancellation all leave the same way.

mod buffer;
mod keys;
mod look;
mod loops;
mod machine;
mod needle;
mod places;
mod run;
mod sharing;
mod sieve;
mod stack;
mod watch;
mod work;

pub(crate) use buffer::Buffer;
pub(crate) use look::cost;
pub use machine::{Eval, Machine};
pub(crate) use machine::{KEY_OF_NEW, MAP_ENTRY, UNITS_A_LIMB};
pub(crate) use places::Places;
pub use run::{Checkpoint, Exit, Frozen, Inputs, Vm};
pub use watch::{Counts, Watch};
