//! The programs of PTC-JSON: the machine's, with the operations and the instruction of this language.

use crate::opcode::OpCode;
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

/// An instruction of PTC-JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// A filter.
    Sieve(Sieve),
    /// Arithmetic on two numbers.
    Formula(Formula),
}

/// One side of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The field of the value in a slot.
    Field(Slot, ConstId),
    /// A constant.
    Const(ConstId),
    /// The content of a slot.
    Slot(Slot),
}

/// Arithmetic on two sides: three instructions in one. It stands in place of the first one, which pushes the left side; the
/// other two follow, for sides that are no numbers of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formula {
    /// `add`, `sub`, `mul` or `div`.
    pub op: OpCode,
    /// The left side.
    pub left: Side,
    /// The right side.
    pub right: Side,
    /// Its own address.
    pub at: Pc,
    /// The address of the loop that tallies its values, if it is all of that loop's body; else [`NO_PC`].
    pub tallied_by: Pc,
}

/// A complete loop that filters with comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sieve {
    /// The loop. Its body follows, but is not run.
    pub looped: Loop,
    /// Its condition.
    pub tests: Tests,
}
