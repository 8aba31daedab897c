//! What a name means at a place in a program: slots by lexical depth, bindings by name.

use crate::program::{Slot, INPUT};
use std::collections::HashMap;

/// What holds at one place of a program.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// The slot of the current value.
    pub input: Slot,
    /// The first slot that nothing around this place uses.
    pub free: Slot,
    /// How many operations stand around this place.
    pub depth: u32,
    /// Whether mistakes end the walk, or fail when they are reached.
    pub checked: bool,
}

impl Scope {
    /// Around the whole program.
    pub fn outermost(checked: bool) -> Self {
        Scope {
            input: INPUT,
            free: INPUT + 1,
            depth: 0,
            checked,
        }
    }

    /// The same place with another current value.
    pub fn with_input(mut self, input: Slot) -> Self {
        self.input = input;
        self
    }

    /// The same place in a part that the check does not look at.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }
}

/// The `let` bindings that hold where the walk stands, innermost last.
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
