//! The programs of PTC-JSON: the machine's, with the operations and the instruction of this language.

use ptc_machine::program;

pub use ptc_machine::program::{ConstId, Demand, PatternId, Pc, Slot, INPUT, NOW, NO_CONST, NO_PC};

/// The language of programs that are JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtcJson;

/// An evaluation of an operation.
pub type Apply = program::Apply<PtcJson>;
/// A loop over a list.
pub type Loop = program::Loop<PtcJson>;
/// An instruction.
pub type Instr = program::Instr<PtcJson>;
/// A compiled program.
pub type Program = program::Program<PtcJson>;
/// A run of a program.
pub type Vm<'h, H> = ptc_machine::Vm<'h, H, PtcJson>;

/// Comparisons of a field of an item with a constant that form a filter's condition. They are in the
/// code, each followed by a jump unless there is only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tests {
    /// The first one.
    pub first: Pc,
    /// Their number.
    pub count: u32,
    /// The truth of a comparison that decides the condition.
    pub decisive: bool,
}

/// A complete loop that filters with comparisons: an instruction of PTC-JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sieve {
    /// The loop. Its body follows, but is not run.
    pub looped: Loop,
    /// Its condition.
    pub tests: Tests,
}
