//! Handlers: where a run goes on if a tool fails that it has called, also deep inside of functions.
//!
//! The activation of a handler is still there when a call fails that it guards: the current one, or one of the callers.

use crate::program::Pc;

/// A handler that is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handler {
    /// Where the run goes on, with the error on the stack.
    pub to: Pc,
    /// Number of activations around the one of the handler.
    pub callers: u32,
    /// Number of values on the stack.
    pub height: usize,
}
