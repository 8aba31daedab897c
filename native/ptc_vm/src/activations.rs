//! What a run keeps of its functions while it is suspended: the activations around the current one, and the names of all.
//!
//! Most runs call no function and bind no name. So this is a box of its own, which they do not have.

use crate::built_ins::{self, BuiltIns};
use crate::frame::Frame;
use crate::globals::Globals;
use crate::handlers::Handler;
use crate::language::Language;
use crate::program::Pc;
use crate::stack::Stack;
use ptc_term::heap::Heap;
use ptc_term::suspend::{Exchange, Rooted};

/// Whether a value is on its way to what waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returning {
    /// None is: code runs.
    Nothing,
    /// The one on the stack.
    Value,
    /// None is: the innermost built-in begins.
    Begins,
    /// None is: the function below so many arguments on the stack is entered, which code calls, or else a built-in.
    Enters(u32, bool),
    /// None is: the calls of the innermost built-in are runs of their own.
    Forks,
}

/// What waits for the value of an activation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Caller {
    /// Code, which goes on at this address. It has so many slots. On the stack are so many terms of its open loops.
    Code {
        back: Pc,
        slots: u32,
        frames: Vec<Frame<()>>,
        terms: u32,
    },
    /// A built-in.
    BuiltIn,
}

/// The activations around the current one, and the names of all. `W` is the state of a built-in, `F` a frozen one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Activations<W, F, T> {
    /// The slots of the callers.
    pub below: Stack<T>,
    /// The callers, innermost last. The terms of their loops are on the stack of the run.
    pub callers: Vec<Caller>,
    /// The states of the built-ins among them.
    pub built_ins: BuiltIns<W, F, T>,
    pub returning: Returning,
    /// The names that the run has bound.
    pub globals: Globals<T>,
    /// The handlers that are in force, innermost last.
    pub handlers: Vec<Handler>,
}

/// The activations of a run of a language.
pub(crate) type ActivationsOf<L, T> =
    Activations<<L as Language>::Work<T>, <L as Language>::Work<()>, T>;

impl<W, F, T: Copy> Activations<W, F, T> {
    /// Returns those of a run that has called nothing.
    pub fn new<H: Heap<Term = T>>(globals: Globals<T>, heap: &mut H) -> Self {
        Activations {
            below: Stack::new(heap.make_list(&[])),
            callers: Vec::new(),
            built_ins: BuiltIns::default(),
            returning: Returning::Nothing,
            globals,
            handlers: Vec::new(),
        }
    }

    /// Returns what a suspended run keeps: nothing, if it has neither callers nor names.
    #[inline]
    pub fn kept(self) -> Option<Box<Self>> {
        let has_none = self.callers.is_empty()
            && self.handlers.is_empty()
            && self.returning == Returning::Nothing
            && self.globals.is_empty();
        (!has_none || self.is_broken()).then(|| Box::new(self))
    }

    /// Returns whether terms were read that are not those of the run.
    fn is_broken(&self) -> bool {
        self.below.is_broken() || self.built_ins.is_broken()
    }
}

/// Exchanges the terms of all activations.
#[inline]
pub(crate) fn exchange<L: Language, T: Copy, X: Exchange<T>>(
    all: ActivationsOf<L, T>,
    by: &mut X,
) -> Result<ActivationsOf<L, X::Into>, X::Lost> {
    Ok(Activations {
        below: all.below.exchange(by)?,
        callers: all.callers,
        built_ins: built_ins::exchange::<L, T, X>(all.built_ins, by)?,
        returning: all.returning,
        globals: all.globals.exchange(by)?,
        handlers: all.handlers,
    })
}
