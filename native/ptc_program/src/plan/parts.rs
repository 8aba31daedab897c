//! What holds in a part of an operation, for a plan.

use super::formula::FormulaId;
use super::loops::Looped;
use super::sets::SetId;
use super::sources::SourceRoot;
use super::value::{ItemsOf, Value, ValueId};
use super::visit::When;
use super::walk::PlanWalk;
use crate::analysis::domain::PartOf;
use crate::analysis::Visited;
use crate::shape::{Aggregate, DateOf, OpShape, Reshaping, TextOf, Which};
use ptc_json::Document;

impl PlanWalk {
    /// Adds what holds in a part of an operation.
    pub(super) fn context(&mut self, source: &Document, shape: OpShape, part: &mut PartOf<Self>) {
        match (shape, part.field) {
            (OpShape::Branch(_), "then" | "else") => {
                part.held.when = When::Branch;
                part.held.guard = self.so_far();
            }
            (OpShape::Branch(_) | OpShape::Connective(_) | OpShape::FirstOf, field)
                if self.part_in(field).is_some() =>
            {
                part.held.when = When::Maybe;
                part.held.guard = self.so_far();
            }
            (OpShape::Call, "on_error") => {
                part.held.when = When::Maybe;
                let error = self.error(source);
                part.held.guard = self.values.flows(error);
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
                part.held.when = When::Maybe;
                part.held.guard = self.values.flows(input);
            }
            (OpShape::Accumulator, "expr") => self.begin_fold(source, part),
            (OpShape::Grouped, "each") => {
                // The keys decide how many groups there are.
                for (_, key) in self.group_keys(source) {
                    let flows = self.values.flows(key);
                    part.held.guard = self.values.both(part.held.guard, flows);
                }
                self.begin_groups(part);
            }
            (OpShape::Reshaped(Reshaping::Set), "fields") => self.begin_set(part),
            (_, "where" | "expr") => {
                self.begin_body(part.input, part);
                if let OpShape::Item(Which::Found) | OpShape::Aggregate(Aggregate::Decided) = shape
                {
                    self.until_found(part);
                }
            }
            _ => {}
        }
    }

    /// Whether a field of the operation is a constant text, which is not null.
    fn is_text(&self, source: &Document, field: &str) -> bool {
        self.text(source, field).is_some()
    }

    /// Returns what the conditions so far depend on.
    fn so_far(&mut self) -> SetId {
        let mut all = SetId::EMPTY;
        let last = self.stack.parts().last().copied();
        let before = self.own().map_or(SetId::EMPTY, |own| own.decides);
        let is_condition = |last: &Visited<ValueId>| !matches!(last.field, "then" | "else");
        if let Some(last) = last.filter(is_condition) {
            all = self.values.flows(last.value);
        }
        let all = self.values.both(before, all);
        if let Some(own) = self.own_mut() {
            own.decides = all;
        }
        all
    }

    /// Returns the text of an error of the tool that is called.
    fn error(&mut self, source: &Document) -> ValueId {
        let name = match self.stack.text(source, "tool") {
            Some(text) => self.names.id(text),
            None => return self.values.unknown(),
        };
        let error = self.values.root(SourceRoot::Error(name));
        self.values.computed(&[error])
    }

    fn begin_loop(&mut self, looped: Looped) {
        if let Some(own) = self.own_mut() {
            own.looped = Some(looped);
        }
    }

    fn end_loop(&mut self) {
        if let Some(before) = self.looped() {
            self.loops.end(&before);
        }
    }

    /// Begins the body of an operation over a list; a body of several expressions has one loop for each.
    fn begin_body(&mut self, list: ValueId, part: &mut PartOf<Self>) -> Looped {
        self.end_loop();
        let looped = self.loops.begin(list, &mut self.values);
        self.begin_loop(looped);
        (part.given, part.input, part.held.when) = (true, looped.item, When::Each);
        looped
    }

    /// A body that ends with the first item that decides.
    fn until_found(&mut self, part: &mut PartOf<Self>) {
        part.held.when = When::Until;
        if let Some(mut looped) = self.looped() {
            looped.least = self.values.formulas.at_most(1, looped.least);
            self.begin_loop(looped);
        }
    }

    /// What is accumulated is known when the body has been visited, so it gets a name until then.
    fn begin_fold(&mut self, source: &Document, part: &mut PartOf<Self>) {
        self.begin_body(part.input, part);
        let number = self.folded.len() as u32;
        self.folded.push((SetId::EMPTY, SetId::EMPTY));
        if let Some(own) = self.own_mut() {
            own.folded = number;
        }
        let folded = self.values.root(SourceRoot::Folded(number));
        let folded = self.values.computed(&[folded]);
        let name = self.text(source, "as").unwrap_or(b"acc");
        part.bind = Some((self.names.id(name), folded));
    }

    /// The templates of a group: its items are the current value.
    fn begin_groups(&mut self, part: &mut PartOf<Self>) {
        self.end_loop();
        let (group, groups) = self.groups(part.input);
        let looped = self.loops.begin(groups, &mut self.values);
        self.begin_loop(looped);
        (part.held.when, part.input) = (When::Each, group);
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
    fn begin_set(&mut self, part: &mut PartOf<Self>) {
        let input = part.input;
        let mut looped = self.begin_body(input, part);
        let (inner, by) = self.values.undecided(input);
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
            self.begin_loop(looped);
            part.input = looped.item;
        }
    }
}
