//! Handlers: where a run goes on if a tool fails that it has called, also deep inside of functions.
//!
//! The activation of a handler is still there when a call fails that it guards: the current one, or one of the callers.

use crate::built_ins;
use crate::calls::{Caller, Returning};
use crate::execute::Execute;
use crate::language::Language;
use crate::program::Pc;
use crate::run::Vm;
use crate::state::State;
use ptc_term::heap::Heap;

/// A handler that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handler {
    /// Where the run goes on, with the error on the stack.
    to: Pc,
    /// Number of activations around the one of the handler.
    callers: u32,
    /// Number of values on the stack.
    height: usize,
}

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Begins code that is guarded by a handler.
    pub fn guard(&mut self, to: Pc) {
        self.handlers.push(Handler {
            to,
            callers: self.callers.len() as u32,
            height: self.machine.stack.len(),
        });
    }

    /// Ends guarded code.
    pub fn unguard(&mut self) {
        self.handlers.pop();
    }
}

impl<L: Language, T: Copy> State<L, T> {
    /// Goes on at the innermost handler; `None` if there is none.
    pub(crate) fn handled<H: Heap<Term = T>>(mut self, heap: &H) -> Option<Self> {
        let handler = self.handlers.pop()?;
        while self.callers.len() > handler.callers as usize {
            match self.callers.pop() {
                Some(Caller::Code { slots, .. }) => {
                    let slots = slots as usize;
                    self.slots = self.below.top(slots, heap).to_vec();
                    self.below.drop_top(slots, heap);
                }
                Some(Caller::BuiltIn) => {
                    built_ins::pop::<L, H>(&mut self.built_ins, heap)?;
                }
                None => break,
            }
        }
        self.frames.clear();
        self.returning = Returning::Nothing;
        self.work = None;
        // The call that is guarded may have taken its arguments off the stack.
        let above = self.stack.len().saturating_sub(handler.height);
        self.stack.drop_top(above, heap);
        self.pc = handler.to;
        Some(self)
    }
}
