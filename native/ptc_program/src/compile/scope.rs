//! Meaning of names in a program: slots by lexical depth, bindings by name.

use crate::code::{Slot, INPUT};
use std::collections::HashMap;

/// The scope of a part of a program.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// The slot of the current value.
    pub input: Slot,
    /// The first slot that no surrounding operation uses.
    pub free: Slot,
    /// Number of operations around the part.
    pub depth: u32,
    /// Whether errors end the walk; otherwise they fail when they are reached.
    pub checked: bool,
}

impl Scope {
    /// The scope of the whole program.
    pub fn outermost(checked: bool) -> Self {
        Scope {
            input: INPUT,
            free: INPUT + 1,
            depth: 0,
            checked,
        }
    }

    /// The same scope with another current value.
    pub fn with_input(mut self, input: Slot) -> Self {
        self.input = input;
        self
    }

    /// The same scope in a part that is not checked.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }
}

/// The `let` bindings at the current step, innermost last.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    slots: HashMap<Box<[u8]>, Vec<Slot>>,
}

impl Bindings {
    pub fn bind(&mut self, name: &[u8], slot: Slot) {
        match self.slots.get_mut(name) {
            Some(slots) => slots.push(slot),
            None => {
                self.slots.insert(name.into(), vec![slot]);
            }
        }
    }

    pub fn unbind(&mut self, name: &[u8]) {
        if let Some(slots) = self.slots.get_mut(name) {
            slots.pop();
        }
    }

    pub fn slot(&self, name: &[u8]) -> Option<Slot> {
        self.slots.get(name)?.last().copied()
    }
}
