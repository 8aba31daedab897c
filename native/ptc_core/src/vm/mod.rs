//! The VM: runs a program over a heap, in slices, and can leave and come back at any instruction.
//!
//! All live terms of a run stand in slots and on one stack. To leave, both go to the heap as terms
//! ([`Vm::freeze`]); everything else is plain data ([`Checkpoint`]). Tool calls, long work and
//! cancellation all leave the same way.

mod buffer;
mod loops;
mod machine;
mod run;
mod sharing;
mod stack;
mod work;

pub(crate) use buffer::Buffer;
pub(crate) use machine::MAP_ENTRY;
pub use machine::{Eval, Machine};
pub use run::{Checkpoint, Exit, Frozen, Inputs, Vm};
pub(crate) use sharing::cost;
