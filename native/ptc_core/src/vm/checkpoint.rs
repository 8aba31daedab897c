//! A run that has stopped: the reason, its plain data and its terms.

use super::failing::FailingOutline;
use super::frame::Outline;
use super::stack::Segment;
use crate::fault::{Halt, Name};
use crate::language::Language;
use crate::program::{Instr, Pc, Program};

/// Why the machine stopped.
#[derive(Debug, PartialEq)]
pub enum Exit<T> {
    /// The program's value.
    Done(T),
    /// The program calls a tool; [`Vm::resume`] receives the answer.
    Call {
        /// The tool's name.
        tool: T,
        /// Its arguments.
        args: T,
    },
    /// A loop whose body calls tools begins. Its iterations may run concurrently, each in a
    /// [`Vm::round`] of its own. [`Checkpoint::behind_loop`] receives the results.
    Fork {
        /// The name of its operation.
        name: Name,
        /// Its list, which is not empty.
        list: T,
    },
    /// The run halted before its end.
    Halted(Halt<T>),
}

/// The state of a frozen run, without its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pub(super) pc: Pc,
    /// The frames, innermost first. One of an evaluation is at `pc`, all others enclose it.
    pub(super) frames: Vec<Outline>,
    pub(super) has_input: bool,
    /// Whether the run was suspended before the instruction had advanced.
    pub(super) whole: bool,
    /// The layout of the stack, without its values.
    pub(super) segments: Vec<Segment>,
    /// The fault that is being checked. Then no evaluation has a frame.
    pub(super) failing: Option<Box<FailingOutline>>,
    /// Whether the run is one iteration of a loop, see [`Vm::round`](super::Vm::round).
    pub(super) is_round: bool,
}

impl Checkpoint {
    /// The instruction at which the run resumes.
    pub fn pc(&self) -> Pc {
        self.pc
    }

    /// Moves from the start of the loop at which the run stopped to its end: the run resumes with
    /// the loop's value, as with an answer. `None` if the run did not stop there.
    pub fn behind_loop<L: Language>(mut self, program: &Program<L>) -> Option<Self> {
        match program.code.get(self.pc as usize) {
            // The list is not tallied yet.
            Some(Instr::Enter(looped)) => {
                self.pc = looped.end - 2 * Pc::from(looped.tally.is_some())
            }
            _ => return None,
        }
        Some(self)
    }
}

/// The terms of a run that was frozen.
pub struct Frozen<T> {
    /// The content of the slots.
    pub slots: Vec<T>,
    /// The stack as a list, topmost first; values that were frozen together can be one tuple.
    pub stack: T,
    /// The terms of the frames, innermost first, and of the fault that is being checked. The first one is
    /// the rest of the innermost frame's list.
    pub frames: Vec<T>,
}
