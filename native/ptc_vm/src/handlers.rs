//! Handlers: where a run goes on if a tool fails that it has called, also deep inside of functions.
//!
//! A handler keeps the slots of its activation on the stack. What the guarded code has changed in its slots is of no concern to
//! the handler.

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
    /// Number of values on the stack, with the slots of the activation, which are on top.
    height: usize,
    /// Number of these slots.
    slots: u32,
}

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Begins code that is guarded by a handler.
    pub fn guard(&mut self, to: Pc) {
        let slots = self.machine.slots.clone();
        slots.iter().for_each(|slot| self.machine.push(*slot));
        self.handlers.push(Handler {
            to,
            callers: self.callers.len() as u32,
            height: self.machine.stack.len(),
            slots: slots.len() as u32,
        });
    }

    /// Ends guarded code, whose value is on the stack.
    pub fn unguard(&mut self) {
        let value = self.machine.pop();
        if let Some(handler) = self.handlers.pop() {
            self.machine.drop_top(handler.slots as usize);
        }
        self.machine.push(value);
    }
}

impl<L: Language, T: Copy> State<L, T> {
    /// Goes on at the innermost handler; `None` if there is none.
    pub(crate) fn handled<H: Heap<Term = T>>(mut self, heap: &H) -> Option<Self> {
        let handler = self.handlers.pop()?;
        self.callers.truncate(handler.callers as usize);
        self.frames.clear();
        self.returning = crate::calls::Returning::Nothing;
        self.work = None;
        let above = self.stack.len().checked_sub(handler.height)?;
        self.stack.drop_top(above, heap);
        let slots = handler.slots as usize;
        self.slots = self.stack.top(slots, heap).to_vec();
        self.stack.drop_top(slots, heap);
        self.pc = handler.to;
        Some(self)
    }
}
