//! The values of operations that have been visited.

use super::sets::SetId;
use super::sources::SourceRoot;
use super::value::ValueId;
use super::walk::PlanWalk;
use crate::analysis::What;
use crate::compile::INPUT_NAME;
use crate::shape::{Branching, DateOf, Entry as EntryOf, Leaf, NumberOf, OpShape, Order, TextOf};
use ptc_json::{Document, Entry, Node};

impl PlanWalk {
    /// Returns the value of what has been visited.
    pub(super) fn value_of(&mut self, source: &Document) -> ValueId {
        let Some(frame) = self.stack.frames.last() else {
            return ValueId::CONSTANT;
        };
        let (what, looped, node) = (frame.what, frame.own.looped, frame.node);
        let value = match what {
            What::Op(op, false) => self.of_operation(source, op.shape()),
            What::Op(_, true) => self.of_object(source),
            What::Data(_) => match source.entry(node) {
                Entry::Object(..) => self.of_object(source),
                _ => self.of_list(""),
            },
        };
        if let Some(looped) = looped {
            self.loops.end(&looped);
        }
        value
    }

    /// Returns an object whose values have been visited.
    fn of_object(&mut self, source: &Document) -> ValueId {
        let (mut fields, mut others) = (Vec::new(), Vec::new());
        for part in self.stack.parts() {
            match source.text(part.key) {
                Some(text) => fields.push((self.names.id(text), part.value)),
                None => others.push(part.value),
            }
        }
        let rest = match &others[..] {
            [] => ValueId::CONSTANT,
            others => {
                let all = self.values.computed(others);
                self.values.named(all, SetId::EMPTY)
            }
        };
        self.values.whole_object(fields, rest)
    }

    /// Returns a list whose items have been visited.
    fn of_list(&mut self, field: &str) -> ValueId {
        let items = self.parts_of(field);
        let mut item = ValueId::CONSTANT;
        for value in &items {
            item = self.values.join(item, *value);
        }
        self.values.list_of(item, items.len())
    }

    fn of_operation(&mut self, source: &Document, shape: OpShape) -> ValueId {
        let input = self.input();
        let value = match shape {
            OpShape::Leaf(Leaf::Context) => match self.name(source, "name") {
                Some(name) => {
                    let value = self.values.root(SourceRoot::Context(name));
                    self.touch(value);
                    value
                }
                None => self.nothing_known(),
            },
            OpShape::Leaf(Leaf::Name) => self.variable(source),
            OpShape::Leaf(Leaf::Constant) => self.part_in("value").unwrap_or(ValueId::CONSTANT),
            OpShape::Leaf(Leaf::Clock) => {
                let now = self.values.root(SourceRoot::Now);
                self.values.computed(&[now])
            }
            OpShape::Input => input,
            OpShape::Chained => self.stack.last_part().unwrap_or(ValueId::CONSTANT),
            OpShape::Bind => self.part_in("in").unwrap_or(ValueId::CONSTANT),
            OpShape::Branch(of) => self.chosen(of),
            OpShape::FirstOf => {
                let mut values = self.parts_of("values");
                let all = self.joined(&values);
                values.pop();
                self.decided_by(all, &values)
            }
            OpShape::Call => self.called(source),
            OpShape::ObjectOfParts => match self.part_in("fields") {
                Some(object) => object,
                None => self.nothing_known(),
            },
            OpShape::ListOfParts => self.of_list("items"),
            OpShape::Merged => {
                let mut all = ValueId::CONSTANT;
                for object in self.parts_of("objects") {
                    self.touch(object);
                    all = self.merged(all, object);
                }
                all
            }
            OpShape::Read => self.got(source),
            OpShape::Concatenated => self.several(false),
            OpShape::Zipped => self.several(true),
            OpShape::Range => self.range(source),
            OpShape::Joined => self.join(source),
            OpShape::Subset(of) => self.subset(source, of, input),
            OpShape::Permuted(Order::Keys) => self.sorted(source, input),
            OpShape::Permuted(Order::Backwards) => input,
            OpShape::ListOfBody => self.mapped("expr"),
            OpShape::FlatListOfBody => {
                let lists = self.part_in("expr").unwrap_or(ValueId::CONSTANT);
                // One that is no list is an error, also where no item of the lists is used.
                self.touch(lists);
                match self.looped() {
                    Some(looped) => {
                        let flat = self.loops.flattened(lists, &looped, &mut self.values);
                        self.values.in_rounds(flat, looped.spine)
                    }
                    None => self.nothing_known(),
                }
            }
            OpShape::Flattened => self.flattened(input),
            OpShape::Chunked => self.groups(input).1,
            OpShape::Item(of) => self.item_of(source, of, input),
            OpShape::Aggregate(of) => self.aggregated(source, of),
            OpShape::Accumulator => self.folded(),
            OpShape::Reshaped(of) => self.reshaped(source, of, input),
            OpShape::Entries(EntryOf::Pair) => self.entries(input),
            OpShape::Entries(EntryOf::Key) => self.keys(input),
            OpShape::KeyedMap(of) => self.keyed_map(source, of, input),
            OpShape::Grouped => self.grouped(source),
            OpShape::Connective(_)
            | OpShape::Negation
            | OpShape::Text(TextOf::Several)
            | OpShape::Number(NumberOf::Sum | NumberOf::Quotient | NumberOf::Modulo)
            | OpShape::Date(DateOf::Difference) => {
                let all = self.operands();
                self.computed(&all)
            }
            OpShape::Compared(_) => {
                let all = self.operands_or_own(source, "left");
                self.computed(&all)
            }
            OpShape::Number(NumberOf::Rounded | NumberOf::Absolute | NumberOf::Whole)
            | OpShape::Text(_)
            | OpShape::Date(_) => {
                let all = self.operands_or_own(source, "value");
                match shape {
                    OpShape::Text(TextOf::Length) => self.outlined(&all),
                    _ => self.computed(&all),
                }
            }
            OpShape::Kind => self.outlined(&[input]),
        };
        self.take_apart(shape);
        value
    }

    /// Notes the lists and objects whose items or fields become those of the value: it fails if one of them has another kind.
    fn take_apart(&mut self, shape: OpShape) {
        use OpShape::*;
        match shape {
            Concatenated | Zipped | Range | Joined => {
                for one in self.operands() {
                    self.touch(one);
                }
            }
            _ => {}
        }
        match shape {
            Joined | Subset(_) | Permuted(_) | ListOfBody | FlatListOfBody | Flattened
            | Chunked | Item(_) | Aggregate(_) | Accumulator | Reshaped(_) | Entries(_)
            | KeyedMap(_) | Grouped => self.touch(self.input()),
            Concatenated | Zipped | Range | Leaf(_) | Input | Chained | Bind | Branch(_)
            | FirstOf | Connective(_) | Negation | ObjectOfParts | ListOfParts | Merged | Read
            | Call | Compared(_) | Number(_) | Text(_) | Date(_) | Kind => {}
        }
    }

    /// Returns the values of all parts.
    pub(super) fn operands(&self) -> Vec<ValueId> {
        self.stack.parts().iter().map(|it| it.value).collect()
    }

    /// Returns the values of all parts, and what is read of the current value where a field is not given.
    fn operands_or_own(&mut self, source: &Document, given: &str) -> Vec<ValueId> {
        let mut all = self.operands();
        if self.field(given).is_none() {
            let input = self.input();
            all.push(self.read_at(source, input, "field"));
        }
        all
    }

    /// Returns a value of which nothing is known.
    pub(super) fn nothing_known(&mut self) -> ValueId {
        let value = self.values.unknown();
        self.use_up(value);
        value
    }

    pub(super) fn joined(&mut self, values: &[ValueId]) -> ValueId {
        let mut all = ValueId::CONSTANT;
        for value in values {
            all = self.values.join(all, *value);
        }
        all
    }

    fn variable(&mut self, source: &Document) -> ValueId {
        let Some(text) = self.text(source, "name") else {
            return self.nothing_known();
        };
        if text == INPUT_NAME.as_bytes() {
            return self.input();
        }
        let name = self.names.id(text);
        match self.stack.bound.get(name.0 as usize).copied().flatten() {
            Some(value) => value,
            None => {
                let value = self.values.root(SourceRoot::Memory(name));
                self.touch(value);
                value
            }
        }
    }

    /// The value of one of several branches.
    fn chosen(&mut self, of: Branching) -> ValueId {
        let (conditions, mut values, complete) = match of {
            Branching::Two => {
                let branches = [self.part_in("then"), self.part_in("else")];
                let values: Vec<_> = branches.into_iter().flatten().collect();
                let complete = values.len() == 2;
                (self.parts_of("condition"), values, complete)
            }
            Branching::Cases => {
                let other = self.part_in("else");
                let mut values = self.parts_of("then");
                values.extend(other);
                (self.parts_of("cases"), values, other.is_some())
            }
        };
        self.end_branches(complete);
        if !complete {
            values.push(ValueId::CONSTANT);
        }
        let value = self.joined(&values);
        self.decided_by(value, &conditions)
    }

    /// The rule of `call`.
    fn called(&mut self, source: &Document) -> ValueId {
        let Some(tool) = self.name(source, "tool") else {
            return self.nothing_known();
        };
        let args = match self.part_in("args") {
            Some(args) => args,
            None => self.values.object(vec![], ValueId::CONSTANT),
        };
        self.use_up(args);
        self.add_call(tool, args);
        let answer = self.values.root(SourceRoot::Answer(tool));
        match self.part_in("on_error") {
            None => answer,
            Some(other) => {
                let error = self.values.root(SourceRoot::Error(tool));
                let value = self.values.join(answer, other);
                self.decided_by(value, &[error])
            }
        }
    }

    /// The rule of `get`.
    fn got(&mut self, source: &Document) -> ValueId {
        let of = self.part_in("from").unwrap_or(self.input());
        let found = if let Some(node) = self.field("key") {
            let key = self.part_in("key").unwrap_or(ValueId::CONSTANT);
            let value = self.at_step(source, of, node);
            self.touch(value);
            self.chosen_of(of, value, &[key])
        } else if let Some(path) = self.field("path") {
            let mut value = of;
            for key in source.elements(path) {
                value = self.at_step(source, value, key);
            }
            value
        } else {
            self.read_at(source, of, "field")
        };
        match self.part_in("default") {
            Some(default) => self.values.join(found, default),
            None => found,
        }
    }

    /// Returns the value at a step of a path: a key, an index that may also be a key of digits, or a key that is not known.
    fn at_step(&mut self, source: &Document, of: ValueId, step: Node) -> ValueId {
        if source.text(step).is_some() {
            return self.read(source, of, step);
        }
        let fields = match source.entry(step) {
            Entry::Int(index) => {
                let name = self.names.id(index.to_string().as_bytes());
                self.values.field(of, name)
            }
            _ => self.values.any(of),
        };
        let items = self.loops.item(of, &mut self.values);
        self.values.join(fields, items)
    }
}
