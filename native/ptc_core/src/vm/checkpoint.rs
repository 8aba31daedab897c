//! A run that has stopped: the reason, its plain data and its terms.

use super::failing::FailingOutline;
use super::places::Places;
use super::stack::Segment;
use super::work::Outline;
use crate::fault::Halt;
use crate::ops::{Tally, Wrong};
use crate::program::{Instr, LoopKind, Pc, Program, Slot};

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
        /// The kind of loop.
        kind: LoopKind,
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
    pub(super) loops: Vec<Running>,
    pub(super) has_input: bool,
    /// Whether the run was suspended before the instruction had advanced.
    pub(super) whole: bool,
    /// The layout of the stack, without its values.
    pub(super) segments: Vec<Segment>,
    /// The suspended work of the instruction.
    pub(super) work: Option<Box<Outline>>,
    /// The fault that is being checked. Then there is no work.
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
    pub fn behind_loop(mut self, program: &Program) -> Option<Self> {
        match program.code.get(self.pc as usize) {
            Some(Instr::Enter(enter)) => self.pc = enter.to,
            _ => return None,
        }
        Some(self)
    }
}

/// The state of a running loop.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Running {
    pub kind: LoopKind,
    pub list: Slot,
    /// Number of values on the stack that the loop has collected.
    pub kept: usize,
    /// The tally that the loop updates instead of collecting values.
    pub tally: Option<Tally>,
    /// The indices of the loop's value that the program reads.
    pub places: Places,
    /// The item's index in the value.
    pub place: usize,
    /// The program does not read the item's value, and the residue was run instead of the body.
    pub skipping: bool,
    /// Why the tally failed. It is reported at the end of the list, because the original
    /// program tallies the list only then. The offending term is in the loop's last slot.
    pub wrong: Option<Wrong<()>>,
    /// The iterations are over, and the loop builds the list of collected values from its end.
    /// The item's slot holds the part built so far.
    pub ending: bool,
}

/// The terms of a run that was frozen.
pub struct Frozen<T> {
    /// The content of the slots.
    pub slots: Vec<T>,
    /// The stack as a list, topmost first; values that were frozen together can be one tuple.
    pub stack: T,
    /// The terms of the suspended work, or of the fault that is being checked.
    pub work: Vec<T>,
}
