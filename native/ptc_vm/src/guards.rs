//! Guarded code: the handlers that are in force.

use crate::execute::Execute;
use crate::handlers::Handler;
use crate::program::{Instr, Pc};
use crate::run::Vm;
use ptc_term::heap::Heap;

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Begins code that is guarded by a handler.
    pub fn guard(&mut self, to: Pc) {
        self.handlers.push(Handler {
            to,
            callers: self.callers.len() as u32,
            height: self.machine.stack.len(),
        });
    }

    /// Returns what stands where the handlers are, the innermost first.
    pub fn guards(&self) -> impl Iterator<Item = &'_ Instr<L>> {
        let code = &self.program.code;
        let handlers = self.handlers.iter().rev();
        handlers.filter_map(|handler| code.get(handler.to as usize))
    }

    /// Ends guarded code.
    pub fn unguard(&mut self) {
        self.handlers.pop();
    }
}
