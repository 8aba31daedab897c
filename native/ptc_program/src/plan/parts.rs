//! Which part of an operation is visited next, and what holds in it.

use super::formula::FormulaId;
use super::loops::Looped;
use super::sets::SetId;
use super::sources::SourceRoot;
use super::value::{ItemsOf, Value, ValueId};
use super::visit::{PartKind, ReadAs, ToVisit, When};
use super::walk::{PlanWalk, Visited};
use crate::compile::INPUT_NAME;
use crate::edition::Edition;
use crate::ops::{Field, FieldKind};
use crate::shape::{Aggregate, DateOf, OpShape, Reshaping, TextOf, Which};
use crate::typing::walk::ABSENT;
use ptc_json::{Document, Entry, Node, Shape};

/// Returns the place of a field among those of its operation, in the order in which they are visited.
fn place_of(shape: OpShape, stage: usize, fields: &[Field]) -> usize {
    let first = shape.begins_with();
    let first = first.and_then(|name| fields.iter().position(|field| field.name == name));
    match (first, stage) {
        (Some(first), 0) => first,
        (Some(first), stage) if stage <= first => stage - 1,
        _ => stage,
    }
}

impl PlanWalk {
    /// Returns the part that is visited next.
    pub(super) fn next_part(&mut self, source: &Document) -> Option<ToVisit> {
        let frame = self.frames.last()?;
        let (what, node, input) = (frame.what, frame.node, frame.input);
        let op = match what {
            PartKind::Op(op, false) => op,
            PartKind::Op(_, true) => {
                let how = match self.edition {
                    Edition::One => ReadAs::Value,
                    Edition::Two => ReadAs::Template,
                };
                return self.next_pair(source, node, how, input, true);
            }
            PartKind::Data(how) => {
                return match source.entry(node) {
                    Entry::Object(..) => self.next_pair(source, node, how, input, false),
                    _ => {
                        let element = self.next_element(source, Some(node))?;
                        Some(self.part(element, how, "", input))
                    }
                }
            }
        };
        let fields = op.fields(self.edition);
        loop {
            let frame = self.frames.last_mut()?;
            let stage = frame.stage as usize;
            if stage >= fields.len() {
                return None;
            }
            let place = place_of(op.shape(), stage, fields);
            let (field, node) = (&fields[place], frame.fields[place]);
            if node != ABSENT {
                if let Some(part) = self.part_of_field(source, op.shape(), field, node) {
                    return self.context(source, op.shape(), part);
                }
            }
            let frame = self.frames.last_mut()?;
            frame.stage += 1;
            (frame.at, frame.left) = (ABSENT, 0);
        }
    }

    /// Returns the next part of a field.
    fn part_of_field(
        &mut self,
        source: &Document,
        shape: OpShape,
        field: &'static Field,
        node: Node,
    ) -> Option<ToVisit> {
        let input = self.frames.last()?.input;
        let how = match field.kind {
            FieldKind::Expr | FieldKind::Operand => ReadAs::Expr,
            FieldKind::Template => ReadAs::Template,
            FieldKind::Text | FieldKind::NonEmptyText => ReadAs::Expr,
            FieldKind::TemplateMap => ReadAs::Templates,
            FieldKind::Map if shape == OpShape::ObjectOfParts => ReadAs::Values,
            FieldKind::Map => ReadAs::Constants,
            FieldKind::Any if shape.keeps_constants() => ReadAs::Constant,
            FieldKind::Any => ReadAs::Value,
            FieldKind::Parts if source.shape(node) != Shape::List => ReadAs::Expr,
            FieldKind::ExprList | FieldKind::TemplateList | FieldKind::Parts => {
                let how = match field.kind {
                    FieldKind::ExprList => ReadAs::Expr,
                    _ => ReadAs::Template,
                };
                let element = self.next_element(source, Some(node))?;
                return Some(self.part(element, how, field.name, input));
            }
            FieldKind::Cases => {
                let then = std::mem::replace(&mut self.frames.last_mut()?.then, ABSENT);
                if then != ABSENT {
                    return Some(self.part(then, ReadAs::Template, "then", input));
                }
                let case = self.next_element(source, Some(node))?;
                let when = source.field(case, "when")?;
                self.frames.last_mut()?.then = source.field(case, "then")?;
                return Some(self.part(when, ReadAs::Expr, field.name, input));
            }
            FieldKind::SortKeys => loop {
                let key = self.next_element(source, Some(node))?;
                let expr = source.field(key, "expr");
                if let Some(expr) = expr.filter(|it| source.shape(*it) != Shape::Null) {
                    return Some(self.part(expr, ReadAs::Expr, "expr", input));
                }
            },
            _ => return None,
        };
        // A field with one part.
        let frame = self.frames.last_mut()?;
        if std::mem::replace(&mut frame.at, node) != ABSENT {
            return None;
        }
        Some(self.part(node, how, field.name, input))
    }

    /// Returns the next element of a list.
    fn next_element(&mut self, source: &Document, list: Option<Node>) -> Option<Node> {
        let frame = self.frames.last_mut()?;
        if frame.at == ABSENT {
            let Entry::List(_, count) = source.entry(list?) else {
                return None;
            };
            (frame.at, frame.left) = (list? + 1, count);
        }
        if frame.left == 0 {
            return None;
        }
        let element = frame.at;
        frame.left -= 1;
        frame.at = source.end(element);
        Some(element)
    }

    /// Returns the next value of an object; of equal keys only the first one counts.
    fn next_pair(
        &mut self,
        source: &Document,
        object: Node,
        how: ReadAs,
        input: ValueId,
        implicit: bool,
    ) -> Option<ToVisit> {
        loop {
            let frame = self.frames.last_mut()?;
            if frame.at == ABSENT {
                let Entry::Object(_, count) = source.entry(object) else {
                    return None;
                };
                (frame.at, frame.left) = (object + 1, count);
            }
            if frame.left == 0 {
                return None;
            }
            let key = frame.at;
            frame.left -= 1;
            frame.at = source.end(key + 1);
            let text = source.text(key);
            if implicit && text == Some(INPUT_NAME.as_bytes()) {
                continue;
            }
            let name = self.names.id(text.unwrap_or_default());
            if text.is_none() || self.is_first(object, name) {
                let part = self.part(key + 1, how, "", input);
                return Some(ToVisit { key, ..part });
            }
        }
    }

    /// Adds what holds in a part of an operation.
    fn context(&mut self, source: &Document, shape: OpShape, mut part: ToVisit) -> Option<ToVisit> {
        match (shape, part.field) {
            (OpShape::Chained, _) => {
                part.input = match self.last_part() {
                    Some(before) => before,
                    None => self.first_input(source, part.node),
                };
                part.given = true;
            }
            (OpShape::Bind, "in") => {
                let value = self.part_in("value").unwrap_or(ValueId::CONSTANT);
                match self.text(source, "name") {
                    Some(name) if name == INPUT_NAME.as_bytes() => part.input = value,
                    Some(name) => {
                        let name = self.names.id(name);
                        part.bind = Some((name, value));
                    }
                    None => {}
                }
            }
            (OpShape::Branch(_), "then" | "else") => {
                part.when = When::Branch;
                part.guard = self.so_far();
            }
            (OpShape::Branch(_) | OpShape::Connective(_) | OpShape::FirstOf, field)
                if self.part_in(field).is_some() =>
            {
                part.when = When::Maybe;
                part.guard = self.so_far();
            }
            (OpShape::Call, "on_error") => {
                part.when = When::Maybe;
                let error = self.error(source)?;
                part.guard = self.values.flows(error);
                part.bind = Some((self.names.id(b"error"), error));
            }
            (
                OpShape::Text(TextOf::Split | TextOf::Replaced) | OpShape::Date(DateOf::Sum),
                field,
            ) if field != "value" && !self.is_text(source, "value") => {
                let given = self.part_in("value");
                let input = match given {
                    Some(value) => value,
                    None => self.read_at(source, part.input, "field"),
                };
                part.when = When::Maybe;
                part.guard = self.values.flows(input);
            }
            (OpShape::Accumulator, "expr") => self.begin_fold(source, &mut part)?,
            (OpShape::Grouped, "each") => {
                // The keys decide how many groups there are.
                for (_, key) in self.group_keys(source) {
                    let flows = self.values.flows(key);
                    part.guard = self.values.both(part.guard, flows);
                }
                self.begin_groups(&mut part)?;
            }
            (OpShape::Reshaped(Reshaping::Set), "fields") => self.begin_set(&mut part)?,
            (_, "where" | "expr") => {
                let input = part.input;
                self.begin_body(input, &mut part)?;
                if let OpShape::Item(Which::Found) | OpShape::Aggregate(Aggregate::Decided) = shape
                {
                    self.until_found(&mut part)?;
                }
                if self.edition == Edition::Two && shape != OpShape::Grouped {
                    if let Some(name) = self.text(source, "as") {
                        let looped = self.frames.last()?.looped?;
                        part.bind = Some((self.names.id(name), looped.item));
                    }
                }
            }
            _ => {}
        }
        Some(part)
    }

    /// Whether a field of the operation is a constant text, which is not null.
    fn is_text(&self, source: &Document, field: &str) -> bool {
        self.text(source, field).is_some()
    }

    /// Returns what the conditions so far depend on.
    fn so_far(&mut self) -> SetId {
        let Some(frame) = self.frames.last() else {
            return SetId::EMPTY;
        };
        let mut all = SetId::EMPTY;
        let last = self.visited[frame.parts as usize..].last().copied();
        let before = frame.decides;
        let is_condition = |last: &Visited| !matches!(last.field, "then" | "else");
        if let Some(last) = last.filter(is_condition) {
            all = self.values.flows(last.value);
        }
        let all = self.values.both(before, all);
        if let Some(frame) = self.frames.last_mut() {
            frame.decides = all;
        }
        all
    }

    /// Returns the text of an error of the tool that is called.
    fn error(&mut self, source: &Document) -> Option<ValueId> {
        let name = match self.text(source, "tool") {
            Some(text) => self.names.id(text),
            None => return Some(self.values.unknown()),
        };
        let error = self.values.root(SourceRoot::Error(name));
        Some(self.values.computed(&[error]))
    }

    /// Returns the current value of the first step of a pipe.
    fn first_input(&mut self, source: &Document, step: Node) -> ValueId {
        let text = |name| source.field(step, name).and_then(|part| source.text(part));
        let names_input = text("op") == Some(b"var") && text("name") == Some(INPUT_NAME.as_bytes());
        match (self.edition, self.frames.last()) {
            (Edition::Two, Some(frame)) => frame.input,
            (Edition::One, Some(frame)) if names_input => frame.input,
            _ => ValueId::CONSTANT,
        }
    }

    /// Begins the body of an operation over a list; a body of several expressions has one loop for each.
    fn begin_body(&mut self, list: ValueId, part: &mut ToVisit) -> Option<()> {
        if let Some(before) = self.frames.last()?.looped {
            self.loops.end(&before);
        }
        let looped = self.loops.begin(list, &mut self.values);
        self.frames.last_mut()?.looped = Some(looped);
        (part.given, part.when) = (true, When::Each);
        Some(())
    }

    /// A body that ends with the first item that decides.
    fn until_found(&mut self, part: &mut ToVisit) -> Option<()> {
        part.when = When::Until;
        let looped = self.frames.last_mut()?.looped.as_mut()?;
        looped.least = self.values.formulas.at_most(1, looped.least);
        Some(())
    }

    /// What is accumulated is known when the body has been visited, so it gets a name until then.
    fn begin_fold(&mut self, source: &Document, part: &mut ToVisit) -> Option<()> {
        let input = part.input;
        self.begin_body(input, part)?;
        let number = self.folded.len() as u32;
        self.folded.push((SetId::EMPTY, SetId::EMPTY));
        self.frames.last_mut()?.then = number;
        let folded = self.values.root(SourceRoot::Folded(number));
        let folded = self.values.computed(&[folded]);
        let name = self.text(source, "as").unwrap_or(b"acc");
        part.bind = Some((self.names.id(name), folded));
        Some(())
    }

    /// The templates of a group: its items are the current value.
    fn begin_groups(&mut self, part: &mut ToVisit) -> Option<()> {
        let input = part.input;
        if let Some(before) = self.frames.last()?.looped {
            self.loops.end(&before);
        }
        let (group, groups) = self.groups(input);
        let looped = self.loops.begin(groups, &mut self.values);
        self.frames.last_mut()?.looped = Some(looped);
        (part.when, part.input) = (When::Each, group);
        Some(())
    }

    /// Returns the items of one group, and the list of all these.
    pub(super) fn groups(&mut self, list: ValueId) -> (ValueId, ValueId) {
        let all = self.loops.items_of(list, &mut self.values);
        let (inner, by) = self.values.undecided(all);
        let Value::List(items) = self.values.get(inner) else {
            return (list, list);
        };
        let least = self.values.formulas.at_most(1, items.least);
        let group = self.values.list(ItemsOf { least, ..items });
        let groups = self.values.list(ItemsOf {
            item: group,
            least,
            ..items
        });
        let groups = self.values.decided(groups, by);
        (group, groups)
    }

    /// The templates of `set` see the map, or each item of the list.
    fn begin_set(&mut self, part: &mut ToVisit) -> Option<()> {
        let input = part.input;
        self.begin_body(input, part)?;
        let (inner, by) = self.values.undecided(input);
        let mut looped = self.frames.last()?.looped?;
        let may_be_map = |value| !matches!(value, Value::List(_) | Value::Made(SetId::EMPTY));
        let members = self.values.members(inner);
        if members.iter().any(|it| may_be_map(self.values.get(*it))) {
            let own = self.values.decided(inner, by);
            looped = Looped {
                item: self.values.join(looped.item, own),
                least: FormulaId::ZERO,
                most: self.values.formulas.sum(looped.most, FormulaId::ONE),
                ..looped
            };
            if let [only] = members[..] {
                if let Value::Object(..) = self.values.get(only) {
                    looped.item = own;
                    (looped.least, looped.most) = (FormulaId::ONE, FormulaId::ONE);
                }
            }
            self.frames.last_mut()?.looped = Some(looped);
        }
        Some(())
    }
}
