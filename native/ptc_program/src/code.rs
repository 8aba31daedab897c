//! The programs of PTC-JSON: the machine's, with the operations and the instructions of this language.

use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use ptc_term::heap::Heap;
use ptc_vm::{program, Name};

pub use ptc_vm::program::{ConstId, Demand, PatternId, Pc, Slot, INPUT, NOW, NO_CONST, NO_PC};

/// The language of programs that are JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtcJson {
    /// Whether `load` fails for a name that the context does not have.
    pub strict: bool,
}

/// An error that only counts when it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LateError {
    /// The kind of error.
    pub code: Code,
    /// What failed.
    pub name: Option<Name>,
    /// The field.
    pub field: Option<&'static str>,
    /// The offending part, or [`NO_CONST`].
    pub subject: ConstId,
}

/// An evaluation of an operation.
pub type Apply = program::Apply<PtcJson>;
/// A loop over a list.
pub type Loop = program::Loop<PtcJson>;
/// An instruction.
pub type Instr = program::Instr<PtcJson>;
/// A compiled program.
pub type Program = program::Program<PtcJson>;
/// A run of a program.
pub type Vm<'h, H> = ptc_vm::Vm<'h, H, PtcJson>;

/// The machine that evaluates its operations.
pub type Machine<'h, H> = ptc_vm::Machine<'h, H, PtcJson>;
/// The state of a suspended run.
pub type State<T> = ptc_vm::State<PtcJson, T>;
/// Why a run stops before its end.
pub type Halt<T> = ptc_vm::Halt<Fault<T>>;
/// The value of an evaluation.
pub type Eval<H> = Result<<H as Heap>::Term, Halt<<H as Heap>::Term>>;
/// The next step of a loop.
pub type Stepped<H> = ptc_vm::Stepped<H, PtcJson>;

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
    /// Fails if the program has no current value.
    NeedInput(OpCode),
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
