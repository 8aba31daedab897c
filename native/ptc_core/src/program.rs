//! A compiled program: instructions for a stack machine with slots, immutable and without terms.

use crate::explain::{Mark, Site};
use crate::fault::Code;
use crate::opcode::OpCode;

/// A register: the current value, a binding or the state of a loop, placed by lexical depth.
pub type Slot = u32;
/// An index into the table of constants that goes with a program.
pub type ConstId = u32;
/// An index into the instructions.
pub type Pc = u32;

/// The slot of the value a program starts with; the only one that may be absent.
pub const INPUT: Slot = 0;
/// Stands where an instruction has no constant.
pub const NO_CONST: ConstId = u32::MAX;
/// Stands where a loop has no residue.
pub const NO_PC: Pc = u32::MAX;

/// A constant before there is a heap to put it on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Const<N> {
    /// `nil`, for what a program left out.
    Nil,
    /// An integer, for what a program left out or for an error's text.
    Int(i64),
    /// `%{}`, for what a program left out.
    EmptyMap,
    /// A part of the program's source, taken literally.
    Node(N),
}

/// What a loop does with an item and the value of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKind {
    /// Keeps the item if the value is truthy.
    Filter,
    /// Keeps the item if the value is not truthy.
    Reject,
    /// Keeps the value.
    Map,
}

/// Which items of a list are looked at by what comes after it. What makes the list may leave out the
/// items behind them, and have anything in the place of those before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// All of them.
    All,
    /// None: only how many there are.
    Number,
    /// The first one.
    One,
    /// The first ones, as many as the constant says; all if it is no count.
    First(ConstId),
    /// The one at the index that the constant says; all if it is none.
    At(ConstId),
    /// The last one, and all the others may be left out.
    Last,
}

/// Comparisons of a field of an item with a constant that decide together whether a filter's
/// condition holds. They stand in the code, with a jump behind each but a single one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tests {
    /// The first one.
    pub first: Pc,
    /// How many there are.
    pub count: u32,
    /// The truth of a comparison that decides alone.
    pub decisive: bool,
}

/// The slots of a loop and where its body starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// What it does.
    pub kind: LoopKind,
    /// Holds the list.
    pub list: Slot,
    /// Holds the item; the slot after it holds the rest of the list.
    pub item: Slot,
    /// Where it goes on: at `Enter` the end, at `Next` the body.
    pub to: Pc,
    /// The operation (and its field) that tallies what is kept, in place of the list. The list's
    /// `Store` and the operation's `Apply` stand behind the loop, for the list without items.
    pub tally: Option<(OpCode, ConstId)>,
    /// What of its value is looked at.
    pub demand: Demand,
    /// In place of the body for an item whose value is not looked at: what of the body can fail for
    /// one item and not for another. It pushes nothing and ends at the loop's `Next`. [`NO_PC`] if
    /// the body itself is run.
    pub residue: Pc,
}

/// A call of an operation's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apply {
    /// Which operation.
    pub op: OpCode,
    /// The slot of the current value.
    pub input: Slot,
    /// How many operands it takes from the stack, once it has succeeded.
    pub operands: u32,
    /// Constants, as the operation's plan and evaluation agree on.
    pub a: u32,
    /// As `a`.
    pub b: u32,
    /// As `a`.
    pub c: u32,
    /// What of its value is looked at, if that is a list.
    pub demand: Demand,
}

/// What the machine does in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instr {
    /// Pushes a constant.
    Const(ConstId),
    /// Pushes `nil`.
    Nil,
    /// Pushes `true` or `false`.
    Bool(bool),
    /// Pushes the content of a slot.
    Slot(Slot),
    /// Pops into a slot.
    Store(Slot),
    /// The same, where only the next instruction will read it.
    StoreOnce(Slot),
    /// Fails unless the program was given a current value.
    NeedInput(OpCode),
    /// Pushes the context's value at a key.
    LoadContext(ConstId),
    /// Pushes the memory's value at a key.
    LoadMemory(ConstId),
    /// Pops what nobody looks at.
    Drop,
    /// Goes on elsewhere.
    Jump(Pc),
    /// Pops; goes on elsewhere if the value's truth is `when`.
    JumpIf {
        /// The truth to jump on.
        when: bool,
        /// Where to.
        to: Pc,
    },
    /// Starts a loop over the list in a slot.
    Enter(Loop),
    /// All of a loop that filters with comparisons, in place of its `Enter`.
    Sieve(Loop, Tests),
    /// Ends one round of a loop.
    Next(Loop),
    /// Fails unless the operation can go on with what it has so far.
    Expect {
        /// Which operation.
        op: OpCode,
        /// The slot of its current value.
        input: Slot,
    },
    /// Evaluates an operation.
    Apply(Apply),
    /// Leaves the machine for a tool call; its answer is pushed.
    Call {
        /// The tool's name.
        tool: ConstId,
        /// The arguments, literally.
        args: ConstId,
    },
    /// Fails: a mistake that only matters once it is reached.
    Fail {
        /// What is wrong.
        code: Code,
        /// In which operation.
        op: Option<OpCode>,
        /// In which of its fields.
        field: Option<&'static str>,
        /// The offending part, or [`NO_CONST`].
        subject: ConstId,
    },
    /// Notes something about an operation: in observed programs only.
    Watch(Mark),
    /// The top of the stack is the program's value.
    Done,
}

/// A compiled program. The constants go beside it, as terms, in a table of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The instructions.
    pub code: Vec<Instr>,
    /// How many slots a run needs.
    pub slots: u32,
    /// Whether anything looks at the value a program starts with.
    pub reads_input: bool,
    /// Whether it uses one value in so many places that a copy of what it builds could be much
    /// larger than what it builds.
    pub multiplies: bool,
    /// Whether it may call tools, which can tell how far a run has come.
    pub calls_tools: bool,
    /// Whether `load` fails for a name that the context does not have.
    pub strict: bool,
    /// Whether a key that a map does not have is looked for as an atom.
    pub any_keys: bool,
    /// The operations of a program that is observed; empty for all others.
    pub sites: Vec<Site>,
}
