//! One execution of a run: what it is given, where it starts, and how it ends.

use crate::data::Data;
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter};
use ptc_term::stop::Stop;
use ptc_vm::program::Pc;
use ptc_vm::{Name, Report, ValueKind};

/// Number of the terms of a suspended run that are not those of its state: see [`Executed`].
pub const FIRST: usize = 4;

/// The constants of a program: a vector at first, a tuple after the first suspension of a run.
#[derive(Debug)]
pub enum Consts<'i, T> {
    /// A vector of them.
    Vector(Vec<T>),
    /// A tuple, and its elements.
    Tuple(T, &'i [T]),
}

impl<T: Copy> Consts<'_, T> {
    /// Returns the constants.
    #[inline]
    pub fn slice(&self) -> &[T] {
        match self {
            Consts::Vector(consts) => consts,
            Consts::Tuple(_, consts) => consts,
        }
    }

    /// Returns them as a tuple.
    pub fn tuple<H: Heap<Term = T>>(&self, heap: &mut H) -> T {
        match self {
            Consts::Vector(consts) => heap.make_tuple(consts),
            Consts::Tuple(tuple, _) => *tuple,
        }
    }
}

/// What an execution reads besides the program and the state.
#[derive(Debug)]
pub struct Given<'i, T> {
    /// The program's constants.
    pub consts: Consts<'i, T>,
    /// The data. When a run is about to move, what it does not read any more is removed from them.
    pub data: Data<T>,
}

impl<'i, T: Copy> Given<'i, T> {
    /// Returns what the terms of a suspended run contain besides its state: the tuple of the constants, and the data.
    pub fn held(held: &[T], nil: T) -> Option<(T, Data<T>)> {
        let [_, consts, context, environment, ..] = *held else {
            return None;
        };
        let data = Data {
            context,
            environment,
            now: nil,
        };
        Some((consts, data))
    }
}

/// Where an execution starts.
pub enum Entry<'i, T> {
    /// At the start of the program.
    Start,
    /// Where the run was suspended.
    Resume {
        /// The terms of the state.
        terms: &'i [T],
        /// The value that the run has waited for, if it waited for one.
        value: Option<(ValueKind, T)>,
    },
}

/// How an execution has ended.
pub struct Executed<T> {
    /// Why it has ended.
    pub ending: Ending<T>,
    /// The terms of the run if it is suspended: first a token, the tuple of the constants, the context and the memory, then those
    /// of its state. Over texts only those of its state.
    pub held: Option<Vec<T>>,
    /// What it has used.
    pub spent: Spent,
}

/// What an execution has used.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    /// The fuel.
    pub fuel: usize,
    /// The part of a slice, in per cent.
    pub percent: i32,
    /// Whether a slice is not enough for the next step.
    pub needs_quantum: bool,
}

impl Spent {
    /// Returns what a meter has counted.
    pub(crate) fn of(meter: &Meter) -> Self {
        Spent {
            fuel: meter.fuel_consumed(),
            percent: meter.percent_of_slice(),
            needs_quantum: meter.needs_quantum(),
        }
    }
}

impl<T> Executed<T> {
    /// The end of an execution after which the run does not go on.
    pub(crate) fn ended(ending: Ending<T>, spent: Spent) -> Self {
        Executed {
            ending,
            held: None,
            spent,
        }
    }
}

/// Why an execution has ended.
#[derive(Debug)]
pub enum Ending<T> {
    /// The run has a value.
    Done(T),
    /// The run calls a tool, and the answer is its value: it is not suspended.
    Last {
        /// The name of the tool.
        tool: T,
        /// Its arguments.
        args: T,
        /// The address after the call.
        pc: Pc,
        /// The limits, with the running clock of the deadline.
        limits: Limits,
    },
    /// The run calls a tool and can be resumed with its answer.
    Call {
        /// The name of the tool.
        tool: T,
        /// Its arguments.
        args: T,
        /// The address after the call.
        pc: Pc,
        /// The iteration, or the branch, that calls it, if these run in turn.
        turn: Option<u32>,
        /// Maximum words of a copy of the run's terms for which it moves to the process of its tools, if it may.
        most_words: Option<usize>,
        /// Whether calls may follow that do not depend on the answer: see [`Run::calls_ahead`](crate::Run::calls_ahead).
        only_collects: bool,
    },
    /// The iterations of a loop, or several branches, may run at the same time: see [`Running::round`](crate::Running::round).
    Fork {
        /// The name of the operation.
        name: Name,
        /// The list of its items, or of the indices of the branches.
        list: T,
        /// The list of the names of the tools that they call.
        tools: T,
    },
    /// Only the caller can do what the run wants; it can be resumed with the answer.
    Ask {
        /// Which question it is, in the order of the language.
        what: u32,
        /// What it is about.
        about: T,
    },
    /// The run has failed.
    Fault(Box<Report<T>>),
    /// The tool of the call has failed, and the program does not catch that. Where the call is: see [`Report::at`].
    Uncaught(Vec<Pc>),
    /// A limit. The run is suspended after [`Stop::SliceOver`], and where a probe has met the limit of words.
    Stop(Stop),
}
