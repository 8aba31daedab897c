//! A compiled program: instructions for a stack machine with slots, immutable and without terms.

use crate::explain::{Detail, Mark, Site};
use crate::language::Language;
use crate::live::LiveAfterCalls;
pub use ptc_kernels::ConstId;
use ptc_kernels::Reading;
use ptc_text::Pattern;

/// A register for the current value, a binding or the state of a loop, allocated by lexical depth.
pub type Slot = u32;
/// An index into the patterns of a program.
pub type PatternId = u32;
/// An index into the instructions.
pub type Pc = u32;

/// The slot of the value a program starts with; the only slot that may be empty.
pub const INPUT: Slot = 0;
/// Stands for the slot of the time of the run's start until the end of compilation.
pub const NOW: Slot = Slot::MAX;
/// Sentinel for an instruction without a constant.
pub const NO_CONST: ConstId = u32::MAX;
/// Sentinel for a loop without a residue, and for a call whose error is not caught.
pub const NO_PC: Pc = u32::MAX;

/// Which items of a list its consumer reads. The producer of the list may omit the items after them,
/// and replace those before them with any term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// All of them.
    All,
    /// None, only their number.
    Number,
    /// The first one.
    One,
    /// The first ones, as many as the constant specifies; all if it is not a count.
    First(ConstId),
    /// The one at the index in the constant; all if it is not an index.
    At(ConstId),
    /// The last one; all others may be omitted.
    Last,
}

/// A loop: an operation that evaluates a body for items of a list. The body follows its `Enter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop<L: Language> {
    /// The operation.
    pub op: L::Op,
    /// The slot of the list.
    pub list: Slot,
    /// The slot of the item, the body's current value.
    pub item: Slot,
    /// The address at which the run goes on with the loop's value.
    pub end: Pc,
    /// The operation (and its field) that tallies the items instead of collecting them. The list's
    /// `Store` and the operation's `Apply` follow the body, and `end` follows them.
    pub tally: Option<(L::Op, ConstId)>,
    /// Which items of its value are read.
    pub demand: Demand,
    /// The code that replaces the body for an item whose value is not read: the part of the body that
    /// can fail for one item and not for another. It pushes nothing and ends at the loop's `Next`. With
    /// [`NO_PC`] the body itself runs.
    pub residue: Pc,
}

/// Consecutive pieces of code that may run at the same time: each pushes one value, and several of them call tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branches {
    /// The address at which each begins; the first is that of all of them.
    pub starts: Vec<Pc>,
    /// The address behind the last one.
    pub end: Pc,
}

impl Branches {
    /// Returns the address behind the branch at an index.
    pub fn end_of(&self, index: usize) -> Pc {
        self.starts.get(index + 1).copied().unwrap_or(self.end)
    }
}

/// An evaluation of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apply<L: Language> {
    /// The operation.
    pub op: L::Op,
    /// The slot of the current value.
    pub input: Slot,
    /// Number of operands that it takes from the stack once it has succeeded.
    pub operands: u32,
    /// The constant that it reads by or up to, or [`NO_CONST`]: a field, the first of several keys, a count.
    pub key: ConstId,
    /// A further constant, or [`NO_CONST`]: what it compares with, or a default.
    pub value: ConstId,
    /// Number of keys, or which variant of the operation this is.
    pub mode: u32,
    /// Which items of its value are read, if that is a list.
    pub demand: Demand,
}

/// An instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instr<L: Language> {
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
    /// Same as `Store`, where only the next instruction reads the slot.
    StoreOnce(Slot),
    /// Pushes the context's value at a key.
    LoadContext(ConstId),
    /// Pushes the memory's value at a key.
    LoadMemory(ConstId),
    /// Pops a value that is not used.
    Drop,
    /// Jumps.
    Jump(Pc),
    /// Pops a value; jumps if its truth is `when`.
    JumpIf {
        /// The truth to jump on.
        when: bool,
        /// The target.
        to: Pc,
    },
    /// Jumps if the top of the stack is not nil, else pops it.
    JumpIfSome(Pc),
    /// Starts a loop over the list in a slot.
    Enter(Loop<L>),
    /// Ends one iteration of the loop that starts at this address; pops the body's value.
    Next(Pc),
    /// Lets the operation check its operands so far, and fails if they are invalid.
    Expect {
        /// The operation.
        op: L::Op,
        /// The slot of its current value.
        input: Slot,
    },
    /// Evaluates an operation.
    Apply(Apply<L>),
    /// An instruction of the language itself.
    Own(L::Own),
    /// Pops the arguments of a tool and stops the machine for its call; pushes its answer.
    Call {
        /// The tool's name.
        tool: ConstId,
        /// The address of what gives the value if the tool fails: it finds the text of the error on the stack. With
        /// [`NO_PC`] the run fails.
        on_error: Pc,
    },
    /// Calls the function value below so many arguments on the stack; leaves its value there.
    Invoke(u32),
    /// Calls the function value below as many arguments as a slot says; leaves its value there.
    InvokeCount(Slot),
    /// Ends the activation of a function with the value on the stack.
    Return,
    /// Stops the machine for a question of this number about the value on the stack; pushes the answer.
    Ask(u32),
    /// Fails: an error that only counts when it is reached.
    Fail(L::Failure),
    /// Records counters of an operation; only in observed programs.
    Watch(Mark),
    /// Ends the run; the top of the stack is the program's value.
    Done,
}

impl<L: Language> Instr<L> {
    /// Returns the loop that starts here.
    pub fn as_loop(&self) -> Option<&Loop<L>> {
        match self {
            Instr::Enter(looped) => Some(looped),
            _ => None,
        }
    }
}

impl<L: Language> Program<L> {
    /// Returns the branches that begin at an address: the outermost ones.
    pub fn branches_at(&self, pc: Pc) -> Option<&Branches> {
        let place = self.branches.partition_point(|it| it.starts[0] < pc);
        self.branches.get(place).filter(|it| it.starts[0] == pc)
    }

    /// Returns the branches around an address, or that end there, the outermost first.
    pub fn branches_around(&self, pc: Pc) -> Vec<&Branches> {
        let before = self.branches.partition_point(|it| it.starts[0] < pc);
        let around = self.branches[..before].iter().filter(|it| pc <= it.end);
        around.collect()
    }

    /// Returns whether branches begin in a part of the code.
    pub fn has_branches(&self, part: std::ops::Range<Pc>) -> bool {
        let place = self
            .branches
            .partition_point(|it| it.starts[0] < part.start);
        (self.branches.get(place)).is_some_and(|it| it.starts[0] < part.end)
    }
}

/// A compiled program. Its constants are terms in a separate table.
#[derive(Debug, Clone, PartialEq)]
pub struct Program<L: Language> {
    /// The instructions.
    pub code: Vec<Instr<L>>,
    /// The patterns that it searches for.
    pub patterns: Vec<Pattern>,
    /// Number of slots that a run needs.
    pub slots: u32,
    /// Number of names that it can bind for the whole run.
    pub globals: u32,
    /// Whether it reads the value that a program starts with.
    pub reads_input: bool,
    /// The slot of the time of the run's start, if the program reads that.
    pub now: Option<Slot>,
    /// Whether it uses a value so often that a copy of its result could be much larger than the result.
    pub multiplies: bool,
    /// Whether it may call tools, which can observe the progress of a run.
    pub calls_tools: bool,
    /// How terms are read.
    pub reading: Reading,
    /// The options of the language.
    pub language: L,
    /// The operations of an observed program; empty for all others.
    pub sites: Vec<Site>,
    /// What is recorded of these operations.
    pub detail: Detail,
    /// The code that may run at the same time, in ascending order of the addresses.
    pub branches: Vec<Branches>,
    /// What a run can still read behind each call.
    pub live: LiveAfterCalls,
}
