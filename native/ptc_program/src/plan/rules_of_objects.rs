//! The values of operations that make objects of others: `select`, `set`, `entries`, `group_by`, `join`.

use super::formula::FormulaId;
use super::sets::SetId;
use super::sources::PathStep;
use super::value::{ItemsOf, Value, ValueId};
use super::walk::PlanWalk;
use crate::analysis::names::NameId;
use crate::shape::Reshaping;
use ptc_json::Document;

impl PlanWalk {
    /// The rule of `select`, `set`, `unset` and `rename`: over an object, or over each object of a list.
    pub(super) fn reshaped(
        &mut self,
        source: &Document,
        how: Reshaping,
        input: ValueId,
    ) -> ValueId {
        let (inner, by) = self.values.undecided(input);
        let mut all = ValueId::CONSTANT;
        for member in self.values.members(inner) {
            let value = self.values.get(member);
            if !matches!(value, Value::List(_)) {
                let object = self.reshaped_object(source, how, member);
                all = self.values.join(all, object);
            }
            let is_list = match value {
                Value::At(source, _) => !self.values.tree.is_object(source),
                value => matches!(value, Value::List(_)),
            };
            if is_list {
                let looped = self.loops.begin(member, &mut self.values);
                let item = self.reshaped_item(source, how, looped.item);
                self.loops.end(&looped);
                let list = self.values.list(ItemsOf {
                    item,
                    of: Some(looped.id),
                    least: looped.least,
                    most: looped.most,
                    spine: looped.spine,
                });
                all = self.values.join(all, list);
            }
        }
        self.values.decided(all, by)
    }

    /// Returns what becomes of an item of a list. `select` keeps what is no object as it is; the others fail.
    fn reshaped_item(&mut self, source: &Document, how: Reshaping, item: ValueId) -> ValueId {
        let (inner, by) = self.values.undecided(item);
        let mut all = ValueId::CONSTANT;
        for member in self.values.members(inner) {
            let value = self.values.get(member);
            if !matches!(value, Value::List(_)) {
                let object = self.reshaped_object(source, how, member);
                all = self.values.join(all, object);
            }
            let kept = match value {
                _ if how != Reshaping::Select => continue,
                Value::List(_) => member,
                Value::At(source, of) => self.values.step(source, PathStep::Other, of),
                _ => continue,
            };
            all = self.values.join(all, kept);
        }
        self.values.decided(all, by)
    }

    fn reshaped_object(&mut self, source: &Document, how: Reshaping, of: ValueId) -> ValueId {
        let object = match self.values.get(of) {
            Value::At(source, by) => self.values.step(source, PathStep::Object, by),
            _ => of,
        };
        let reshaped = self.reshaped_one(source, how, object);
        // Whether it is an object.
        let kind = self.outline(of);
        self.values.decided(reshaped, kind)
    }

    fn reshaped_one(&mut self, source: &Document, how: Reshaping, of: ValueId) -> ValueId {
        if let (Reshaping::Set, Some(fields)) = (how, self.part_in("fields")) {
            return self.merged(of, fields);
        }
        let Some(node) = self.field("fields") else {
            return self.nothing_known();
        };
        let (mut fields, mut known) = (Vec::new(), true);
        let rest = if how == Reshaping::Select {
            ValueId::CONSTANT
        } else {
            of
        };
        if how == Reshaping::Rename {
            let pairs: Vec<_> = source.pairs(node).collect();
            for (key, value) in pairs {
                let renamed = self.read(source, of, key);
                match (source.text(key), source.text(value)) {
                    (Some(old), Some(new)) => {
                        let (old, new) = (self.names.id(old), self.names.id(new));
                        let before = self.values.field(of, new);
                        let either = self.values.join(before, renamed);
                        fields.push((old, ValueId::CONSTANT));
                        fields.push((new, either));
                    }
                    _ => known = false,
                }
            }
            fields = self.renamed(fields);
        } else {
            for key in source.elements(node) {
                match source.text(key) {
                    Some(text) => {
                        let name = self.names.id(text);
                        let value = match how {
                            Reshaping::Select => self.read(source, of, key),
                            _ => ValueId::CONSTANT,
                        };
                        fields.push((name, value));
                    }
                    None => known = false,
                }
            }
        }
        if !known {
            return self.values.computed(&[of]);
        }
        let names: Vec<_> = fields.iter().map(|field| field.0).collect();
        let (others, by) = match how {
            Reshaping::Select => (rest, SetId::EMPTY),
            _ => {
                let others = self.values.without(rest, &names);
                self.values.undecided(others)
            }
        };
        let object = match self.values.get(others) {
            Value::Object(span, rest) => {
                fields.extend_from_slice(self.values.fields(span));
                self.values.object(fields, rest)
            }
            _ => self.values.object(fields, others),
        };
        self.values.decided(object, by)
    }

    /// Returns an object with the fields of two, of which those of the second one win where it has them.
    pub(super) fn merged(&mut self, first: ValueId, second: ValueId) -> ValueId {
        let [first, second] = [first, second].map(|it| self.values.of_kind(it, PathStep::Single));
        let ((a, by), (b, and)) = (self.values.undecided(first), self.values.undecided(second));
        let by = self.values.both(by, and);
        let merged = match (self.values.get(a), self.values.get(b)) {
            (_, Value::Object(span, others)) => {
                let mut more = self.values.fields(span).to_vec();
                let is_whole = self.values.is_whole(b);
                if !is_whole {
                    for field in &mut more {
                        let before = self.values.field(a, field.0);
                        field.1 = self.values.join(before, field.1);
                    }
                }
                let names: Vec<_> = more.iter().map(|field| field.0).collect();
                let rest = self.values.without(a, &names);
                let (mut fields, rest) = match self.values.get(rest) {
                    Value::Object(span, rest) => (self.values.fields(span).to_vec(), rest),
                    _ => (vec![], rest),
                };
                let is_whole = is_whole && (fields.is_empty() || self.values.is_whole(a));
                if others != ValueId::CONSTANT {
                    for field in &mut fields {
                        let other = self.values.field(others, field.0);
                        field.1 = self.values.join(field.1, other);
                    }
                }
                fields.extend(more);
                let rest = self.values.join(rest, others);
                self.values.object_if(is_whole, fields, rest)
            }
            (Value::Made(SetId::EMPTY), _) if a == ValueId::CONSTANT => b,
            _ => self.values.join(a, b),
        };
        self.values.decided(merged, by)
    }

    /// Joins the values of names that stand several times.
    fn renamed(&mut self, mut fields: Vec<(NameId, ValueId)>) -> Vec<(NameId, ValueId)> {
        fields.sort_by_key(|field| field.0);
        let mut all: Vec<(NameId, ValueId)> = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            match all.last_mut() {
                Some(last) if last.0 == name => last.1 = self.values.join(last.1, value),
                _ => all.push((name, value)),
            }
        }
        all
    }

    pub(super) fn entries(&mut self, input: ValueId) -> ValueId {
        // Of another value there are no entries.
        let objects = self.values.of_kind(input, PathStep::Object);
        let (inner, by) = self.values.undecided(objects);
        let most = match self.values.get(self.values.undecided(input).0) {
            Value::At(source, of) => self.values.count(source, of),
            _ => FormulaId::UNKNOWN,
        };
        let (keys, spine) = (self.values.outline(inner, true), self.outline(inner));
        self.note(keys);
        let key = self.values.made(keys);
        let item = self.entry(key, inner);
        let list = self.values.list(ItemsOf {
            item,
            of: None,
            least: FormulaId::ZERO,
            most,
            spine,
        });
        self.values.decided(list, by)
    }

    /// The rule of `keys`.
    pub(super) fn keys(&mut self, input: ValueId) -> ValueId {
        let entries = self.entries(input);
        let (inner, by) = self.values.undecided(entries);
        let Value::List(items) = self.values.get(inner) else {
            return entries;
        };
        let name = self.names.id(b"key");
        let item = self.values.field(items.item, name);
        let keys = self.values.list(ItemsOf { item, ..items });
        self.values.decided(keys, by)
    }

    /// Returns the keys of the groups, with the names under which they stand.
    pub(super) fn group_keys(&mut self, source: &Document) -> Vec<(Option<NameId>, ValueId)> {
        let Some(list) = self.field("fields") else {
            let key = self.key(source);
            let name = self.text(source, "as").or(self.text(source, "field"));
            return vec![(Some(self.names.id(name.unwrap_or(b"key"))), key)];
        };
        let input = self.input();
        let item = self.loops.item(input, &mut self.values);
        let mut keys = Vec::new();
        for field in source.elements(list) {
            let key = self.read(source, item, field);
            let name = source.text(field).map(|text| self.names.id(text));
            keys.push((name, key));
        }
        keys
    }

    pub(super) fn grouped(&mut self, source: &Document) -> ValueId {
        let input = self.input();
        let (group, groups) = self.groups(input);
        let keyed = self.group_keys(source);
        let keys: Vec<ValueId> = keyed.iter().map(|key| key.1).collect();
        let fields = keyed
            .into_iter()
            .filter_map(|(name, key)| Some((name?, key)));
        let fields = fields.collect();
        let mut object = self.values.whole_object(fields, ValueId::CONSTANT);
        let more = match self.part_in("each") {
            Some(each) => each,
            None => {
                let items = self.names.id(b"items");
                self.values
                    .whole_object(vec![(items, group)], ValueId::CONSTANT)
            }
        };
        object = self.merged(object, more);
        let (inner, by) = self.values.undecided(groups);
        let list = match self.values.get(inner) {
            Value::List(items) => self.values.list(ItemsOf {
                item: object,
                ..items
            }),
            _ => self.values.computed(&[groups, object]),
        };
        let list = self.values.decided(list, by);
        self.chosen_of(input, list, &keys)
    }

    pub(super) fn join(&mut self, source: &Document) -> ValueId {
        let with = self.part_in("with").unwrap_or(ValueId::CONSTANT);
        let lists = [self.input(), with].map(|list| self.loops.items_of(list, &mut self.values));
        let ((rows, by), (others, and)) = (
            self.values.undecided(lists[0]),
            self.values.undecided(lists[1]),
        );
        let both = (self.values.get(rows), self.values.get(others));
        let (Value::List(rows), Value::List(others)) = both else {
            return self.computed(&lists);
        };
        let names = if self.field("on").is_some() {
            ["on", "on"]
        } else {
            ["left", "right"]
        };
        let keys = [
            self.read_at(source, rows.item, names[0]),
            self.read_at(source, others.item, names[1]),
        ];
        let kind = self.text(source, "kind").unwrap_or(b"inner");
        let as_name = self.name(source, "as");
        let own_key = names.map(|name| self.field(name).is_some());
        let item = match as_name {
            Some(name) => {
                let value = match kind {
                    b"group" => self.values.list(ItemsOf {
                        least: FormulaId::ZERO,
                        of: None,
                        ..others
                    }),
                    _ => others.item,
                };
                let field = self
                    .values
                    .whole_object(vec![(name, value)], ValueId::CONSTANT);
                match kind {
                    // Without a match, or with any, the field is there.
                    b"inner" | b"left" | b"group" => self.merged(rows.item, field),
                    _ => self.computed(&[rows.item, others.item]),
                }
            }
            None => self.merged(others.item, rows.item),
        };
        let pairs = self.values.formulas.product(rows.most, others.most);
        let (least, most) = match kind {
            b"group" => (rows.least, rows.most),
            b"left" => (rows.least, self.values.formulas.sum(pairs, rows.most)),
            _ => (FormulaId::ZERO, pairs),
        };
        let mut spine = match kind {
            b"group" => rows.spine,
            _ => self.values.both(rows.spine, others.spine),
        };
        let by = self.values.both(by, and);
        if !own_key.iter().all(|it| *it) {
            spine = self.values.both(spine, by);
        }
        let list = self.values.list(ItemsOf {
            item,
            of: None,
            least,
            most,
            spine,
        });
        let list = self.values.decided(list, by);
        self.chosen_of(list, list, &keys)
    }
}
