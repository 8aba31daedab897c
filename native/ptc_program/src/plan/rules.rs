//! The values of operations that have been visited.

use super::sets::SetId;
use super::sources::SourceRoot;
use super::value::ValueId;
use super::visit::PartKind;
use super::walk::PlanWalk;
use crate::compile::INPUT_NAME;
use crate::shape::{Branching, DateOf, Entry as EntryOf, Leaf, NumberOf, OpShape, Order, TextOf};
use crate::typing::names::NameId;
use crate::typing::walk::ABSENT;
use ptc_json::{Document, Entry, Node};

impl PlanWalk {
    // What a rule reads

    /// Returns a field of the operation.
    pub(super) fn field(&self, name: &str) -> Option<Node> {
        let frame = self.frames.last()?;
        let PartKind::Op(op, false) = frame.what else {
            return None;
        };
        let fields = op.fields(self.edition);
        let place = fields.iter().position(|field| field.name == name)?;
        Some(frame.fields[place]).filter(|node| *node != ABSENT)
    }

    /// Returns the text of a field.
    pub(super) fn text<'s>(&self, source: &'s Document, name: &str) -> Option<&'s [u8]> {
        source.text(self.field(name)?)
    }

    /// Returns the name in a field.
    pub(super) fn name(&mut self, source: &Document, name: &str) -> Option<NameId> {
        let text = self.text(source, name)?;
        Some(self.names.id(text))
    }

    /// Returns the values of the parts of a field.
    pub(super) fn parts_of(&self, field: &str) -> Vec<ValueId> {
        let first = self.frames.last().map_or(0, |frame| frame.parts as usize);
        let own = self.visited[first..].iter();
        own.filter(|part| part.field == field)
            .map(|part| part.value)
            .collect()
    }

    /// Returns the value of a field with one part.
    pub(super) fn part_in(&self, field: &str) -> Option<ValueId> {
        let first = self.frames.last().map_or(0, |frame| frame.parts as usize);
        let mut own = self.visited[first..].iter();
        own.find(|part| part.field == field).map(|part| part.value)
    }

    /// Returns the value of the part that was visited last.
    pub(super) fn last_part(&self) -> Option<ValueId> {
        let first = self.frames.last().map_or(0, |frame| frame.parts as usize);
        self.visited[first..].last().map(|part| part.value)
    }

    /// Returns the current value.
    pub(super) fn input(&self) -> ValueId {
        let last = self.frames.last();
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

    // Rules

    /// Returns the value of what has been visited.
    pub(super) fn value(&mut self, source: &Document) -> ValueId {
        let Some(frame) = self.frames.last() else {
            return ValueId::CONSTANT;
        };
        let (what, looped, node) = (frame.what, frame.looped, frame.node);
        let value = match what {
            PartKind::Op(op, false) => self.of_operation(source, op.shape()),
            PartKind::Op(_, true) => self.of_object(source),
            PartKind::Data(_) => match source.entry(node) {
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
        let first = self.frames.last().map_or(0, |frame| frame.parts as usize);
        let (mut fields, mut others) = (Vec::new(), Vec::new());
        for at in first..self.visited.len() {
            let (key, value) = (self.visited[at].key, self.visited[at].value);
            match source.text(key) {
                Some(text) => fields.push((self.names.id(text), value)),
                None => others.push(value),
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
            OpShape::Chained => self.last_part().unwrap_or(ValueId::CONSTANT),
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
                match self.frames.last().and_then(|frame| frame.looped) {
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
        // It fails if what it takes apart has another kind.
        for one in self.taken_apart(shape) {
            self.touch(one);
        }
        value
    }

    /// Returns the lists and objects whose items or fields become those of the value.
    fn taken_apart(&self, shape: OpShape) -> Vec<ValueId> {
        use OpShape::*;
        match shape {
            Concatenated | Zipped | Range => self.operands(),
            Joined => [self.operands(), vec![self.input()]].concat(),
            Subset(_) | Permuted(_) | ListOfBody | FlatListOfBody | Flattened | Chunked
            | Item(_) | Aggregate(_) | Accumulator | Reshaped(_) | Entries(_) | KeyedMap(_)
            | Grouped => vec![self.input()],
            Leaf(_) | Input | Chained | Bind | Branch(_) | FirstOf | Connective(_) | Negation
            | ObjectOfParts | ListOfParts | Merged | Read | Call | Compared(_) | Number(_)
            | Text(_) | Date(_) | Kind => vec![],
        }
    }

    /// Returns the values of all parts.
    pub(super) fn operands(&self) -> Vec<ValueId> {
        let first = self.frames.last().map_or(0, |frame| frame.parts as usize);
        self.visited[first..].iter().map(|it| it.value).collect()
    }

    /// Returns these, and what is read of the current value where this field is not given.
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
        match self.bound.get(name.0 as usize).copied().flatten() {
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
