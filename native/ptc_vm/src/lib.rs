//! The VM: runs a program over a heap, in slices. It can be suspended and resumed at any
//! instruction.
//!
//! All live terms of a run are in its [`State`]: in slots, on one stack and in frames. Everything else is plain data.
//! To suspend a run, the terms of its state are exchanged ([`suspend`](ptc_term::suspend)). Tool calls, long
//! work and cancellation all use this mechanism.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod activations;
mod ahead;
mod built_ins;
mod calls;
mod copy_size;
mod counts;
mod demanded;
mod execute;
mod exit;
pub mod explain;
mod failing;
mod frame;
mod globals;
mod guards;
mod halt;
mod handlers;
pub mod language;
pub mod listing;
pub mod live;
mod loops;
mod machine;
pub mod program;
pub mod reduced;
mod resumed;
mod run;
mod scans;
mod slots;
mod stack;
mod standing;
mod start;
mod state;
mod trail;
mod turn;
mod unread;
pub mod verify;
mod watch;

pub use ahead::{calls_at, level_after, look_ahead, Answers, Looked};
pub use calls::{Entered, Next};
pub use counts::{Counts, Progress, Watch};
pub use demanded::Demanded;
pub use execute::Execute;
pub use exit::{Exit, BRANCHES};
pub use frame::{Frame, Step, Stepped};
pub use globals::Globals;
pub use halt::{Halt, Name, Report};
pub use language::Language;
pub use loops::Keeps;
pub use machine::{Eval, HaltOf, Machine, Resumable};
pub use resumed::ValueKind;
pub use run::{ExitOf, Vm};
pub use scans::{Following, Searched};
pub use start::Inputs;
pub use state::State;
