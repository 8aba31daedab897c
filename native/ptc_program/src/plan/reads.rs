//! What the rules of operations read: fields, the values of parts, the current value.

use super::sets::SetId;
use super::value::ValueId;
use super::walk::PlanWalk;
use crate::analysis::names::NameId;
use ptc_json::{Document, Node};

impl PlanWalk {
    /// Returns a field of the operation.
    pub(super) fn field(&self, name: &str) -> Option<Node> {
        self.stack.field(name)
    }

    /// Returns the text of a field.
    pub(super) fn text<'s>(&self, source: &'s Document, name: &str) -> Option<&'s [u8]> {
        self.stack.text(source, name)
    }

    /// Returns the name in a field.
    pub(super) fn name(&mut self, source: &Document, name: &str) -> Option<NameId> {
        let text = self.text(source, name)?;
        Some(self.names.id(text))
    }

    /// Returns the values of the parts of a field.
    pub(super) fn parts_of(&self, field: &str) -> Vec<ValueId> {
        self.stack.parts_of(field)
    }

    /// Returns the value of a field with one part.
    pub(super) fn part_in(&self, field: &str) -> Option<ValueId> {
        self.stack.part_in(field)
    }

    /// Returns the current value.
    pub(super) fn input(&self) -> ValueId {
        let last = self.stack.frames.last();
        last.map_or(ValueId::CONSTANT, |frame| frame.input)
    }

    /// Returns the value at the key in a field of the operation; any value, if the key is too long to be known.
    pub(super) fn read_at(&mut self, source: &Document, of: ValueId, key: &str) -> ValueId {
        match self.field(key) {
            Some(node) => self.read(source, of, node),
            None => of,
        }
    }

    /// Returns the value at a key.
    pub(super) fn read(&mut self, source: &Document, of: ValueId, key: Node) -> ValueId {
        let found = match source.text(key) {
            Some(text) => {
                let name = self.names.id(text);
                self.values.field(of, name)
            }
            None => self.values.any(of),
        };
        self.touch(found);
        found
    }

    /// Notes that the program depends on a value.
    pub(super) fn use_up(&mut self, value: ValueId) {
        let flows = self.values.flows(value);
        self.note(flows);
    }

    pub(super) fn note(&mut self, set: SetId) {
        if set != SetId::EMPTY && self.used.last() != Some(&set) {
            self.used.push(set);
        }
    }

    /// Notes that a program reads a part, without its own parts.
    pub(super) fn touch(&mut self, value: ValueId) {
        self.outline(value);
    }

    /// Returns what the number of parts of a value, and its kind, come from.
    pub(super) fn outline(&mut self, value: ValueId) -> SetId {
        let all = self.values.outline(value, false);
        self.note(all);
        all
    }

    /// Returns a value that these values decide.
    pub(super) fn decided_by(&mut self, value: ValueId, by: &[ValueId]) -> ValueId {
        let mut all = SetId::EMPTY;
        for id in by {
            let flows = self.values.flows(*id);
            all = self.values.both(all, flows);
        }
        self.note(all);
        self.values.decided(value, all)
    }

    /// Returns what is chosen of a list, as these values decide. Which of the items are chosen that a `range` has numbered tells what
    /// decides that exactly: it flows.
    pub(super) fn chosen_of(&mut self, list: ValueId, value: ValueId, by: &[ValueId]) -> ValueId {
        let mut value = value;
        let spine = self.values.outline(list, false);
        if self.values.has_numbers(spine) {
            for id in by {
                let flows = self.values.flows(*id);
                value = self.values.with(value, flows);
            }
        }
        self.decided_by(value, by)
    }

    /// Returns a value that is computed of these.
    pub(super) fn computed(&mut self, of: &[ValueId]) -> ValueId {
        let value = self.values.computed(of);
        self.use_up(value);
        value
    }
}
