//! What is read of a value.

use super::{Value, ValueId, Values, MOST_JOINED};
use crate::plan::formula::LoopId;
use crate::plan::sets::SetId;
use crate::plan::sources::{PathStep, SourceId};
use crate::typing::names::NameId;

impl Values {
    /// Returns the value at a key of an object.
    pub fn field(&mut self, of: ValueId, name: NameId) -> ValueId {
        self.each_member(of, |values, member| match values.get(member) {
            Value::At(source, of) => values.key_in(source, name, of),
            Value::Object(span, rest) => {
                let fields = values.fields(span);
                match fields.binary_search_by_key(&name, |field| field.0) {
                    Ok(at) => FoundIn::Is(fields[at].1),
                    Err(_) => FoundIn::In(rest),
                }
            }
            Value::Named(item, _) => FoundIn::Is(item),
            Value::List(_) => FoundIn::Is(ValueId::CONSTANT),
            _ => FoundIn::Is(member),
        })
    }

    /// Returns any of the values that a value contains.
    pub fn any(&mut self, of: ValueId) -> ValueId {
        self.each_member(of, |values, member| match values.get(member) {
            Value::At(source, _) => {
                let steps = match values.tree.is_object(source) {
                    true => &[PathStep::Value][..],
                    false => &[PathStep::Value, PathStep::Each],
                };
                let mut all = ValueId::CONSTANT;
                for step in steps {
                    if let FoundIn::Is(inside) = values.step(source, *step, LoopId::LOST) {
                        all = values.join(all, inside);
                    }
                }
                FoundIn::Is(all)
            }
            Value::Object(span, rest) => {
                let fields: Vec<_> = values.fields(span).iter().map(|field| field.1).collect();
                let mut all = ValueId::CONSTANT;
                for field in fields {
                    all = values.join(all, field);
                }
                match rest {
                    ValueId::CONSTANT => FoundIn::Is(all),
                    rest => FoundIn::Or(all, rest),
                }
            }
            Value::Named(item, _) => FoundIn::Is(item),
            Value::List(items) => FoundIn::Is(items.item),
            _ => FoundIn::Is(member),
        })
    }

    /// Returns the part at a step, of a loop's current item.
    pub fn step(&mut self, source: SourceId, step: PathStep, of: LoopId) -> FoundIn {
        FoundIn::Is(match self.tree.inside(source, step) {
            Some(inside) => self.at(inside, of),
            None => {
                let data = self.sets.one(source, true);
                self.made(data)
            }
        })
    }

    /// Returns the value at a key of a part. Of an object without some fields, it is that of the object.
    fn key_in(&mut self, source: SourceId, name: NameId, of: LoopId) -> FoundIn {
        let mut source = source;
        while let Some((around, PathStep::Without(names))) = self.tree.around(source) {
            if self.tree.names_without(names).binary_search(&name).is_ok() {
                return FoundIn::Is(ValueId::CONSTANT);
            }
            source = around;
        }
        self.step(source, PathStep::Key(name), of)
    }

    /// Returns a value without the fields of these names.
    pub fn without(&mut self, id: ValueId, names: &[NameId]) -> ValueId {
        if names.is_empty() {
            return id;
        }
        let (inner, by) = self.undecided(id);
        let mut all = ValueId::CONSTANT;
        for member in self.members(inner) {
            let less = match self.get(member) {
                Value::At(source, of) => self.part_without(source, names, of),
                Value::Object(span, rest) => {
                    let mut fields = self.fields(span).to_vec();
                    fields.retain(|field| !names.contains(&field.0));
                    let rest = match self.get(rest) {
                        Value::At(source, of) => self.part_without(source, names, of),
                        _ => rest,
                    };
                    self.object(fields, rest)
                }
                _ => member,
            };
            all = self.join(all, less);
        }
        self.decided(all, by)
    }

    fn part_without(&mut self, source: SourceId, names: &[NameId], of: LoopId) -> ValueId {
        let step = self.tree.without(names.to_vec());
        match self.step(source, step, of) {
            FoundIn::Is(value) => value,
            _ => ValueId::FIXED,
        }
    }

    /// Does the same for each of the values that a value may be; the results are joined.
    fn each_member(
        &mut self,
        of: ValueId,
        mut find: impl FnMut(&mut Values, ValueId) -> FoundIn,
    ) -> ValueId {
        let (mut todo, mut by, mut all) = (vec![of], SetId::EMPTY, ValueId::CONSTANT);
        let mut left = MOST_JOINED;
        while let Some(next) = todo.pop() {
            left -= 1;
            if left == 0 {
                return self.computed(&[of]);
            }
            let (next, decides) = self.undecided(next);
            by = self.both(by, decides);
            if let Value::OneOf(_) = self.get(next) {
                todo.extend(self.members(next));
                continue;
            }
            let found = match find(self, next) {
                FoundIn::Is(found) => found,
                FoundIn::In(rest) => {
                    todo.push(rest);
                    continue;
                }
                FoundIn::Or(found, rest) => {
                    todo.push(rest);
                    found
                }
            };
            all = self.join(all, found);
        }
        self.decided(all, by)
    }
}

/// What is found in a value.
#[derive(Debug, Clone, Copy)]
pub enum FoundIn {
    /// This.
    Is(ValueId),
    /// It is looked for in another value.
    In(ValueId),
    /// This, or what is found in another value.
    Or(ValueId, ValueId),
}
