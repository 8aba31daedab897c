//! Meaning of names in a program: slots by lexical depth, bindings by name.

use crate::code::{Slot, INPUT};
use ptc_json::{Document, Node};
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

    /// This scope with another current value.
    pub fn with_input(mut self, input: Slot) -> Self {
        self.input = input;
        self
    }

    /// This scope in a part that is checked.
    pub fn checked(mut self) -> Self {
        self.checked = true;
        self
    }

    /// This scope in a part that is not checked.
    pub fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }
}

/// A name that is bound.
#[derive(Debug, Clone, Copy)]
pub enum BoundName {
    /// The one that a part of the program holds, if that is a string.
    Part(Node),
    /// One that the language gives.
    Word(&'static str),
}

impl BoundName {
    /// Returns the name.
    pub(super) fn text<'s>(self, source: &'s Document) -> Option<&'s [u8]> {
        match self {
            BoundName::Part(node) => source.text(node),
            BoundName::Word(word) => Some(word.as_bytes()),
        }
    }
}

impl From<Node> for BoundName {
    fn from(node: Node) -> Self {
        BoundName::Part(node)
    }
}

impl From<&'static str> for BoundName {
    fn from(word: &'static str) -> Self {
        BoundName::Word(word)
    }
}

/// The `let` bindings at the current step, innermost last.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    slots: HashMap<Box<[u8]>, Vec<Slot>>,
    /// The names of all bindings.
    names: Vec<BoundName>,
}

impl Bindings {
    /// Number of bindings.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Returns the name of the last binding, if there are more than `count`.
    pub fn last_behind(&self, count: usize) -> Option<BoundName> {
        self.names.get(count..)?.last().copied()
    }

    pub fn bind(&mut self, bound: BoundName, name: &[u8], slot: Slot) {
        self.names.push(bound);
        match self.slots.get_mut(name) {
            Some(slots) => slots.push(slot),
            None => {
                self.slots.insert(name.into(), vec![slot]);
            }
        }
    }

    pub fn unbind(&mut self, name: &[u8]) {
        self.names.pop();
        if let Some(slots) = self.slots.get_mut(name) {
            slots.pop();
        }
    }

    pub fn slot(&self, name: &[u8]) -> Option<Slot> {
        self.slots.get(name)?.last().copied()
    }
}
