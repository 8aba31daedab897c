//! The stack of the interpreter, so that nesting costs memory and not call depth.

use super::part::{NextPart, Visited, What, ABSENT};
use crate::compile::MOST_FIELDS;
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::ops::Field;
use ptc_json::{Document, Node};

/// A part whose own parts are being visited.
#[derive(Debug)]
pub(crate) struct Frame<V, O, H> {
    pub node: Node,
    pub what: What,
    pub fields: [Node; MOST_FIELDS],
    pub input: V,
    /// Whether its current value is its own.
    pub own_input: bool,
    /// The number of fields that have been visited, and the next part of a list or an object.
    pub stage: u8,
    pub at: Node,
    pub left: u32,
    /// The value of the case whose condition was visited.
    pub then: Node,
    /// The number of values before those of its parts.
    pub parts: u32,
    /// What the domain keeps of it.
    pub own: O,
    /// The part of it that is being visited, and what its name was bound to before.
    pub now: NextPart<V, H>,
    pub bound_before: Option<V>,
}

/// The stack.
#[derive(Debug)]
pub struct Stack<V, O, H> {
    pub(crate) frames: Vec<Frame<V, O, H>>,
    pub(crate) visited: Vec<Visited<V>>,
    pub(crate) bound: Vec<Option<V>>,
    pub(crate) last: V,
    pub(crate) edition: Edition,
    pub(crate) root: Node,
}

impl<V: Copy, O, H: Copy> Stack<V, O, H> {
    /// Creates the stack for the program whose root is `root`.
    pub(crate) fn new(root: Node, edition: Edition, last: V) -> Self {
        Stack {
            frames: Vec::with_capacity(16),
            visited: Vec::with_capacity(16),
            bound: Vec::new(),
            last,
            edition,
            root,
        }
    }

    /// Returns the words that it takes.
    pub(crate) fn words(&self) -> usize {
        let frames = self.frames.len() * size_of::<Frame<V, O, H>>() / 8;
        frames + self.visited.len() * 4 + self.bound.len()
    }

    /// Forgets all but the memory. Returns the words of that.
    pub(crate) fn clear(&mut self, last: V) -> usize {
        self.frames.clear();
        self.visited.clear();
        self.bound.clear();
        self.last = last;
        let frames = self.frames.capacity() * size_of::<Frame<V, O, H>>() / 8;
        frames + self.visited.capacity() * 4 + self.bound.capacity()
    }

    /// Returns the operation whose parts are being visited.
    pub(crate) fn op(&self) -> Option<OpCode> {
        match self.frames.last()?.what {
            What::Op(op, _) => Some(op),
            What::Data(_) => None,
        }
    }

    /// Returns a field of the operation.
    pub(crate) fn field(&self, name: &str) -> Option<Node> {
        let frame = self.frames.last()?;
        let What::Op(op, false) = frame.what else {
            return None;
        };
        let fields = op.fields(self.edition);
        // Equal literals are usually stored once, so comparing addresses is enough to find most names.
        let is_it = |field: &Field| std::ptr::eq(field.name, name);
        let place = fields.iter().position(is_it);
        let place = place.or_else(|| fields.iter().position(|field| field.name == name))?;
        Some(frame.fields[place]).filter(|node| *node != ABSENT)
    }

    /// Returns the text of a field.
    pub(crate) fn text<'s>(&self, source: &'s Document, name: &str) -> Option<&'s [u8]> {
        source.text(self.field(name)?)
    }

    /// Returns the parts of the operation, the object or the list that have been visited.
    pub(crate) fn parts(&self) -> &[Visited<V>] {
        let first = self.frames.last().map_or(0, |frame| frame.parts as usize);
        &self.visited[first..]
    }

    /// Returns the values of the parts of a field.
    pub(crate) fn parts_of(&self, field: &str) -> Vec<V> {
        let own = self.parts().iter().filter(|part| part.field == field);
        own.map(|part| part.value).collect()
    }

    /// Returns the value of a field with one part.
    pub(crate) fn part_in(&self, field: &str) -> Option<V> {
        let is_it = |part: &&Visited<V>| part.field == field;
        self.parts().iter().find(is_it).map(|part| part.value)
    }

    /// Returns the value of the part that was visited last.
    pub(crate) fn last_part(&self) -> Option<V> {
        self.parts().last().map(|part| part.value)
    }
}
