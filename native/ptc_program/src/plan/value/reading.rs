//! What is read of a value.

use super::{Value, ValueId, Values, MOST_JOINED};
use crate::analysis::names::NameId;
use crate::plan::formula::LoopId;
use crate::plan::sets::{Extent, SetId};
use crate::plan::sources::{PathStep, SourceId};

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
                let [one, other] = [PathStep::Value, PathStep::Each]
                    .map(|step| values.step(source, step, LoopId::LOST));
                FoundIn::Is(values.join(one, other))
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

    /// Returns what the number of parts of a value, and its kind, come from; if `keys`, what the keys of an object come from.
    pub fn outline(&mut self, of: ValueId, keys: bool) -> SetId {
        let (mut first, mut todo) = (Some(of), Vec::new());
        let (mut all, mut left) = (SetId::EMPTY, MOST_JOINED);
        while let Some(next) = first.take().or_else(|| todo.pop()) {
            left -= 1;
            if left == 0 {
                return self.data(of);
            }
            let (next, _) = self.undecided(next);
            let own = match self.get(next) {
                Value::OneOf(_) => {
                    todo.extend(self.members(next));
                    continue;
                }
                Value::Object(_, rest) => {
                    todo.push(rest);
                    continue;
                }
                Value::At(source, _) if keys => match self.tree.inside(source, PathStep::Keys) {
                    Some(keys) => self.sets.one(keys, Extent::Whole),
                    None => self.data(next),
                },
                Value::At(source, _) => self.sets.one(source, Extent::Count),
                Value::List(items) => items.spine,
                Value::Named(_, keys) => keys,
                Value::Made(data) => data,
                Value::Decided(..) => SetId::EMPTY,
            };
            all = self.both(all, own);
        }
        all
    }

    /// Returns the part at a step, of a loop's current item; a constant if there is none.
    pub fn step(&mut self, source: SourceId, step: PathStep, of: LoopId) -> ValueId {
        if !self.tree.has(source, step) {
            return ValueId::CONSTANT;
        }
        if self.tree.is_object(source) && matches!(step, PathStep::Object | PathStep::Single) {
            return self.at(source, of);
        }
        match self.tree.inside(source, step) {
            Some(inside) => self.at(inside, of),
            None => {
                let data = self.sets.one(source, Extent::Whole);
                self.made(data)
            }
        }
    }

    /// Returns a value if it is of one kind: an object for [`PathStep::Object`], no object for [`PathStep::Other`], and no list for
    /// [`PathStep::Single`]. A value that is computed may be of any kind.
    pub fn of_kind(&mut self, of: ValueId, kind: PathStep) -> ValueId {
        let (inner, by) = self.undecided(of);
        let mut all = ValueId::CONSTANT;
        for member in self.members(inner) {
            let is_list = kind == PathStep::Other;
            let kept = match self.get(member) {
                Value::At(source, of) => self.step(source, kind, of),
                Value::List(_) if !is_list => continue,
                Value::Object(..) | Value::Named(..) if is_list => continue,
                _ => member,
            };
            all = self.join(all, kept);
        }
        self.decided(all, by)
    }

    /// Returns the value at a key of a part. Of an object without some fields, it is that of the object.
    fn key_in(&mut self, source: SourceId, name: NameId, of: LoopId) -> FoundIn {
        let mut source = source;
        if let Some((around, PathStep::Without(names))) = self.tree.around(source) {
            if self.tree.names_without(names).binary_search(&name).is_ok() {
                return FoundIn::Is(ValueId::CONSTANT);
            }
            source = around;
        }
        FoundIn::Is(self.step(source, PathStep::Key(name), of))
    }

    /// Returns a value without the fields of these names.
    pub fn without(&mut self, id: ValueId, names: &[NameId]) -> ValueId {
        self.without_of(id, names, names)
    }

    /// Returns a value without fields: what their names are in objects that the program makes, and in those of the data.
    pub fn without_of(&mut self, id: ValueId, made: &[NameId], data: &[NameId]) -> ValueId {
        match (made, data) {
            ([], []) => id,
            names => self.less(id, names, &mut { MOST_JOINED }),
        }
    }

    // It calls itself for the other fields of an object, which are less deep than the object.
    fn less(&mut self, id: ValueId, names: (&[NameId], &[NameId]), left: &mut usize) -> ValueId {
        if *left == 0 {
            return id;
        }
        let (inner, by) = self.undecided(id);
        let mut all = ValueId::CONSTANT;
        for member in self.members(inner) {
            *left = left.saturating_sub(1);
            let less = match self.get(member) {
                Value::At(source, of) => self.part_without(source, names.1, of),
                Value::Object(span, rest) => {
                    let mut fields = self.fields(span).to_vec();
                    fields.retain(|field| !names.0.contains(&field.0));
                    let rest = self.less(rest, names, left);
                    self.object_if(self.is_whole(member), fields, rest)
                }
                _ => member,
            };
            all = self.join(all, less);
        }
        self.decided(all, by)
    }

    fn part_without(&mut self, source: SourceId, names: &[NameId], of: LoopId) -> ValueId {
        let (source, step) = self.tree.without(source, names);
        self.step(source, step, of)
    }

    /// Does the same for each of the values that a value may be; the results are joined.
    fn each_member(
        &mut self,
        of: ValueId,
        mut find: impl FnMut(&mut Values, ValueId) -> FoundIn,
    ) -> ValueId {
        let (mut first, mut todo) = (Some(of), Vec::new());
        let (mut by, mut all) = (SetId::EMPTY, ValueId::CONSTANT);
        let mut left = MOST_JOINED;
        while let Some(next) = first.take().or_else(|| todo.pop()) {
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
