//! The instructions of the language, and the names of the machine's types for it. What the machine asks of it is in `language`.

use crate::table::Builtin;
use ptc_vm::program::{ConstId, Pc, Slot};
use ptc_vm::Name;

/// PTC-Lisp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lisp {
    /// Where a program goes on that ends by `return` or `fail`: there its result is made.
    pub end: Pc,
    /// Whether its functions may call tools, print, bind names or end the program. Only then the calls of `pmap` and `pcalls` are runs of their own.
    pub has_workers: bool,
}

/// A program.
pub type Program = ptc_vm::program::Program<Lisp>;
/// An instruction.
pub type Instr = ptc_vm::program::Instr<Lisp>;
/// The machine.
pub type Machine<'h, H> = ptc_vm::Machine<'h, H, Lisp>;
/// An evaluation's value, or why it has none.
pub type Eval<H> = ptc_vm::Eval<H, Lisp>;
/// Why an evaluation has no value.
pub type Halt<H> = ptc_vm::HaltOf<H, Lisp>;
/// What a call has entered.
pub type Entering<H> = Result<ptc_vm::Entered<Lisp, <H as ptc_term::heap::Heap>::Term>, Halt<H>>;

/// The question that evaluates a built-in, see [`crate::table::Family::Asked`].
pub const ASK_BUILTIN: u32 = 0;
/// The question that keeps a printed text.
pub const ASK_PRINT: u32 = 1;
/// How far behind a question it goes on with the answer's value. A question is followed by its asking and by taking the answer.
pub const BEHIND_ANSWER: Pc = 3;
/// The address of the code that asks for the built-in in the last slot, with the other slots as arguments.
pub const ASKING: Pc = 1;
/// The address of the code that evaluates the built-in in the last slot, with the other slots as arguments.
pub const EVALUATING: Pc = 5;
/// The address of the code that prints the arguments.
pub const PRINTING: Pc = 7;

/// Where an operand is: in a slot, a constant, or on the stack. It takes four bytes, so that an instruction takes sixteen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstrOperand(u32);

/// What an [`InstrOperand`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandPlace {
    /// In a slot.
    Slot(Slot),
    /// A constant.
    Const(ConstId),
    /// On the stack; only one of the two operands of an instruction is there.
    Top,
}

impl InstrOperand {
    /// The operand at a place; `None` if its number is too large.
    pub fn at(place: OperandPlace) -> Option<Self> {
        let (number, kind) = match place {
            OperandPlace::Slot(slot) => (slot, 0),
            OperandPlace::Const(id) => (id, 1),
            OperandPlace::Top => (0, 2),
        };
        Some(InstrOperand(number.checked_mul(4)? + kind))
    }

    /// Where it is.
    #[inline]
    pub fn place(self) -> OperandPlace {
        match self.0 & 3 {
            0 => OperandPlace::Slot(self.0 >> 2),
            1 => OperandPlace::Const(self.0 >> 2),
            _ => OperandPlace::Top,
        }
    }

    /// Whether it is on the stack.
    #[inline]
    pub fn is_top(self) -> bool {
        self.place() == OperandPlace::Top
    }
}

/// An instruction of the language. The most frequent ones, and those that need the most room, stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// The start of a function. A closure names its address, so what is at an address that is no entry is no function.
    Entry {
        /// What is known of the function: `{name, params, doc, source, names of what it captures}`.
        about: ConstId,
        /// Number of parameters, without the rest.
        params: u16,
        /// Number of captured values.
        captures: u16,
        /// Number of slots.
        slots: u32,
        /// Whether it has a rest parameter.
        rest: bool,
    },
    /// Pushes the value of a global. If it has none: the fallback, or else the run fails.
    Global {
        /// The global.
        global: u32,
        /// Its name.
        name: ConstId,
        /// Its value where the name is not bound, or [`NO_CONST`](ptc_vm::program::NO_CONST).
        fallback: ConstId,
    },
    /// If a global is bound, pushes the var and jumps.
    IfBound {
        /// The global.
        global: u32,
        /// The var.
        var: ConstId,
        /// Where it jumps to.
        to: Pc,
    },
    /// Calls a keyword with the value in a slot: pushes what that has at the key, or nil.
    KeywordOf {
        /// The slot.
        slot: Slot,
        /// The keys, see [`crate::look`].
        key: ConstId,
    },
    /// Puts the next item of the list in a slot into another slot; the first one then has the others. Jumps if there is none.
    Visit {
        /// The slot of the list.
        slot: Slot,
        /// The slot of the item.
        item: Slot,
        /// Where it jumps to.
        to: Pc,
    },
    /// A [`Visit`](Own::Visit) before which as many items as possible are passed in one go, see [`crate::exec::scan`].
    Scan {
        /// The slot of the list.
        slot: Slot,
        /// The slot of the item.
        item: Slot,
        /// Where it jumps to.
        to: Pc,
    },
    /// Pops a value and puts it in front of the list in a slot.
    Collect(Slot),
    /// Pushes the value at a flexible key of the map in a slot, or a constant if it is absent.
    Field {
        /// The slot of the map.
        slot: Slot,
        /// The keys, see [`crate::look`].
        key: ConstId,
        /// What an absent key gives.
        default: ConstId,
    },
    /// If both operands are small numbers, pops the one that is on the stack, pushes what the built-in gives, and jumps.
    Arithmetic {
        /// The built-in, see [`crate::families::numbers::quick`].
        op: Builtin,
        /// The left operand.
        left: InstrOperand,
        /// The right operand.
        right: InstrOperand,
        /// Where it jumps to.
        to: Pc,
    },
    /// Any other one.
    Other(Other),
}

/// An instruction of the language that is apart from the loop of the machine, see [`crate::exec`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// Gives a global the value that the memory has for its name; the next constant is the atom of the name, if there is one.
    Remember {
        /// The global.
        global: u32,
        /// Its name.
        name: ConstId,
    },
    /// Pops a value and binds a global to it; pushes the var.
    Define {
        /// The global.
        global: u32,
        /// The var.
        var: ConstId,
    },
    /// Pushes the context's value at a flexible key, see [`crate::look`].
    Data(ConstId),
    /// If the last three of four values are numbers that no step of `range` leads through, pops all, pushes what `take` of so
    /// many items gives, and jumps.
    TakeEndless(Pc),
    /// Pushes the result of an earlier turn.
    History(u32),
    /// Pushes the budget.
    Budget,
    /// Pops so many values, pushes their list.
    Vector(u32),
    /// Pops so many keys and values, pushes the map.
    Map(u32),
    /// Pops so many values, pushes the set.
    Set(u32),
    /// Pops so many captured values, pushes the closure of the function at this address.
    Closure {
        /// Its entry.
        entry: Pc,
        /// Number of captured values.
        captures: u32,
    },
    /// Pushes what the function in a slot has captured.
    Captured {
        /// The slot of the function.
        slot: Slot,
        /// Which of its captured values.
        index: u32,
    },
    /// Calls a keyword: pops the value that is looked into, and before it a default if there is one.
    Keyword {
        /// The keys, see [`crate::look`].
        key: ConstId,
        /// Whether there is a default above the value.
        default: bool,
    },
    /// Pops so many arguments of a built-in that only the caller can evaluate; pushes the question. If the built-in need not be
    /// asked for, it pushes the value, and jumps behind the answer: see [`BEHIND_ANSWER`].
    Question {
        /// The built-in.
        builtin: Builtin,
        /// Number of arguments.
        arguments: u32,
    },
    /// Pushes the question about the built-in in the last slot, with the other slots as arguments.
    QuestionOfSlots,
    /// Pops the answer to a question, pushes its value or fails.
    Answered,
    /// Evaluates the built-in in the last slot with the other slots as arguments; pushes its value.
    OfSlots,
    /// Pushes the text that `println` of the slots but the last prints.
    PrintOfSlots,
    /// Pops a value, pushes the list of its items.
    Items,
    /// Pushes the next item of the list in a slot, which then has the others; jumps if there is none.
    NextItem {
        /// The slot.
        slot: Slot,
        /// Where it jumps to.
        to: Pc,
    },
    /// Pops a collection, pushes the list of its items, which this built-in visits with a function that is written there.
    Sequence(Builtin),
    /// Pushes what was collected in a slot, the first value first.
    Collected {
        /// The slot.
        from: Slot,
        /// The slot of the list whose items were visited: the part that is in order, while this goes on.
        into: Slot,
    },
    /// Fails unless the slot has a list or nil.
    ExpectList(Slot),
    /// Fails unless the slot has a plain map or nil.
    ExpectMap(Slot),
    /// Pushes the next item of the list in a slot, which then has the others; nil if there is none.
    TakeItem(Slot),
    /// Pushes the list in a slot; the empty list for nil.
    TakeRest(Slot),
    /// Makes a map of the keys and values in the list in a slot, and puts it there.
    Arguments(Slot),
    /// Pushes whether the value on the stack, which stays there, equals a constant.
    Matches(ConstId),
    /// Pops a value, pushes whether it is nil.
    IsNil,
    /// Pops a map of arguments of this tool, pushes it with strings as keys.
    ToolArguments(ConstId),
    /// Pops so many values and fails: no tool takes them.
    BadArguments {
        /// The tool.
        tool: ConstId,
        /// Number of values.
        count: u32,
    },
    /// Pops a collection and pushes its items; the slot has their number and that of the arguments before them.
    Spread {
        /// Number of arguments before the collection.
        before: u32,
        /// The slot of the number.
        slot: Slot,
    },
    /// Pops so many functions, pushes the function of all of them.
    Juxt(u32),
    /// Evaluates a built-in that adds so many values to one that grows: pops these, and the two parts of it; pushes its two parts. See
    /// [`crate::families::growing`].
    Grow {
        /// The built-in.
        builtin: Builtin,
        /// Number of values that it adds.
        others: u32,
    },
    /// If the value that grows, below a key and an item, is a map with a list or nothing at the key: adds the item to that, pops the key and
    /// the item, and jumps. See [`crate::families::gathering`].
    Gather(Pc),
    /// Pushes all of a value that grows, which then has nothing beside it.
    Whole {
        /// The slot of the base.
        base: Slot,
        /// The slot of what was added.
        added: Slot,
    },
    /// Pops a collection, pushes the list of its items. Below it is the value that a `reduce` with a function begins with.
    ReduceItems,
    /// Fails: a jump with a wrong number of values.
    RecurCount {
        /// What it should be.
        expected: u32,
        /// What it is.
        got: u32,
    },
    /// Begins code that is guarded: if a tool fails, the run goes on at this address with the error on the stack.
    Guard(Pc),
    /// Ends guarded code.
    Unguard,
    /// Pops the error of a tool that a parallel form has called, and fails with the error of the form.
    WorkerFailed {
        /// The form: `pmap` or `pcalls`.
        form: Builtin,
    },
    /// Pops a value and ends the program with it: by `return`, or by `fail`.
    End {
        /// Whether by `fail`.
        failed: bool,
    },
    /// Pops the value of the program (`{end, value}` if it was ended), pushes `{end, value, names and values that it has defined}`.
    Finish {
        /// The list of the names of all globals.
        names: ConstId,
    },
}

impl Other {
    /// The instruction.
    pub fn instr(self) -> Instr {
        Instr::Own(Own::Other(self))
    }
}

impl From<Builtin> for Name {
    fn from(builtin: Builtin) -> Name {
        builtin.name()
    }
}
