//! JSON events to terms, without anything between.

use super::{Sink, Text};
use crate::heap::Heap;
use crate::number::Number;

/// Builds one term out of the events of one value.
pub struct TermBuilder<'h, H: Heap> {
    heap: &'h mut H,
    /// Finished values of the open containers; in an object, keys and values in turn.
    stack: Vec<H::Term>,
    /// Where each open container's part of the stack starts.
    starts: Vec<usize>,
    keys: Vec<H::Term>,
    values: Vec<H::Term>,
}

impl<'h, H: Heap> TermBuilder<'h, H> {
    /// A builder that has seen nothing.
    pub fn new(heap: &'h mut H) -> Self {
        TermBuilder {
            heap,
            stack: Vec::new(),
            starts: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The term, once its last event has been seen.
    pub fn finish(mut self) -> H::Term {
        self.stack.pop().unwrap_or(self.heap.nil())
    }

    fn push_number(&mut self, number: Number) {
        let term = self.heap.make_number(number);
        self.stack.push(term.unwrap_or(self.heap.nil()));
    }
}

impl<'t, H: Heap> Sink<'t> for TermBuilder<'_, H> {
    fn null(&mut self) {
        self.stack.push(self.heap.nil());
    }

    fn boolean(&mut self, value: bool) {
        self.stack.push(self.heap.boolean(value));
    }

    fn integer(&mut self, value: i64) {
        self.push_number(Number::Int(value));
    }

    fn big_integer(&mut self, digits: &'t str) {
        self.push_number(Number::from_digits(digits.as_bytes()));
    }

    fn float(&mut self, value: f64) {
        self.push_number(Number::Float(value));
    }

    fn string(&mut self, text: Text<'t, '_>) {
        let term = self.heap.make_string(text.bytes());
        self.stack.push(term);
    }

    fn key(&mut self, text: Text<'t, '_>) {
        self.string(text);
    }

    fn open(&mut self, _object: bool) {
        self.starts.push(self.stack.len());
    }

    fn close(&mut self, object: bool) {
        let start = self.starts.pop().unwrap_or(0);
        let term = if object {
            self.keys.clear();
            self.values.clear();
            for pair in self.stack[start..].chunks_exact(2) {
                self.keys.push(pair[0]);
                self.values.push(pair[1]);
            }
            self.heap.make_map(&self.keys, &self.values)
        } else {
            self.heap.make_list(&self.stack[start..])
        };
        self.stack.truncate(start);
        self.stack.push(term);
    }
}
