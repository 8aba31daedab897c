//! The values of operations over lists and objects that have been visited, and of all those that compute one value.

use super::formula::FormulaId;
use super::sets::SetId;
use super::sources::PathStep;
use super::value::{ItemsOf, Value, ValueId};
use super::walk::PlanWalk;
use crate::shape::{Aggregate, Chosen, KeyedBy, Which};
use ptc_json::{Document, Entry};

impl PlanWalk {
    /// Returns what is computed of the number of parts of values, or of their kinds.
    pub(super) fn outlined(&mut self, of: &[ValueId]) -> ValueId {
        let (mut data, mut decides) = (SetId::EMPTY, SetId::EMPTY);
        for value in of {
            let (outline, by) = (self.outline(*value), self.values.decides(*value));
            data = self.values.both(data, outline);
            decides = self.values.both(decides, by);
        }
        self.note(decides);
        let made = self.values.made(data);
        self.values.decided(made, decides)
    }

    /// Returns some items of a list.
    pub(super) fn subset(&mut self, source: &Document, of: Chosen, list: ValueId) -> ValueId {
        let some = match (of, self.field("count").map(|node| source.entry(node))) {
            (Chosen::Begin, Some(Entry::Int(most))) => {
                let most = u64::try_from(most).unwrap_or(0);
                return self.loops.taken(list, most, &mut self.values);
            }
            _ => self.loops.some(list, false, &mut self.values),
        };
        match of {
            Chosen::Where(kept) => {
                let some = self.entries_left(source, some, !kept);
                let condition = self.part_in("where").unwrap_or(ValueId::CONSTANT);
                self.chosen_of(list, some, &[condition])
            }
            Chosen::Among => {
                let (key, value) = (self.key(source), self.part_in("value"));
                let value = value.unwrap_or(ValueId::CONSTANT);
                self.chosen_of(list, some, &[key, value])
            }
            Chosen::Distinct => {
                let key = self.key(source);
                self.chosen_of(list, some, &[key])
            }
            Chosen::Begin | Chosen::Rest => some,
        }
    }

    /// Returns one item of a list.
    pub(super) fn item_of(&mut self, source: &Document, of: Which, list: ValueId) -> ValueId {
        match of {
            Which::Placed => self.loops.item(list, &mut self.values),
            Which::Found => {
                let left = self.entries_left(source, list, false);
                let item = self.loops.item(left, &mut self.values);
                let condition = self.part_in("where").unwrap_or(ValueId::CONSTANT);
                self.chosen_of(list, item, &[condition])
            }
            Which::Keyed => {
                let (item, key) = (self.loops.item(list, &mut self.values), self.key(source));
                self.chosen_of(list, item, &[key])
            }
        }
    }

    /// Returns an object that is made of the items of a list.
    pub(super) fn keyed_map(&mut self, source: &Document, of: KeyedBy, list: ValueId) -> ValueId {
        let item = self.loops.item(list, &mut self.values);
        match of {
            KeyedBy::Pairs => {
                let (key, value) = (self.names.id(b"key"), self.names.id(b"value"));
                let (key, value) = (self.values.field(item, key), self.values.field(item, value));
                self.named(list, value, key)
            }
            KeyedBy::Items => {
                let key = self.key(source);
                self.named(list, item, key)
            }
        }
    }

    /// Returns the keys of the items: what a body gives, a field of each item, or the item.
    pub(super) fn key(&mut self, source: &Document) -> ValueId {
        if let Some(key) = self.part_in("expr") {
            return key;
        }
        let input = self.input();
        let item = self.loops.item(input, &mut self.values);
        self.read_at(source, item, "field")
    }

    /// Returns an object whose values are like this one, with these keys; it is made of a list.
    fn named(&mut self, list: ValueId, item: ValueId, key: ValueId) -> ValueId {
        let counted = self.values.outline(list, false);
        let (keys, counted) = (self.values.data(key), self.values.sets.items(counted));
        let keys = self.values.both(keys, counted);
        let named = self.values.named(item, keys);
        self.decided_by(named, &[key])
    }

    pub(super) fn sorted(&mut self, source: &Document, input: ValueId) -> ValueId {
        let item = self.loops.item(input, &mut self.values);
        let mut keys = self.parts_of("expr");
        if let Some(by) = self.field("by") {
            for key in source.elements(by) {
                if let Some(field) = source.field(key, "field") {
                    keys.push(self.read(source, item, field));
                }
            }
        } else if self.field("field").is_some() {
            keys.push(self.read_at(source, item, "field"));
        }
        self.ordered(input, &keys)
    }

    /// Returns a list whose items have been brought into an order by these keys. There are as many items as before: what decides the
    /// order of the numbers of a `range` flows into the items, and not into how many there are.
    fn ordered(&mut self, list: ValueId, keys: &[ValueId]) -> ValueId {
        let spine = self.values.outline(list, false);
        let (inner, by) = self.values.undecided(list);
        let Value::List(items) = self.values.get(inner) else {
            return self.chosen_of(list, list, keys);
        };
        if !self.values.has_numbers(spine) {
            return self.chosen_of(list, list, keys);
        }
        let mut item = items.item;
        for key in keys {
            let flows = self.values.flows(*key);
            item = self.values.with(item, flows);
        }
        let list = self.values.list(ItemsOf { item, ..items });
        self.values.decided(list, by)
    }

    /// Returns the list of what a body gives.
    pub(super) fn mapped(&mut self, body: &str) -> ValueId {
        let item = self.part_in(body).unwrap_or(ValueId::CONSTANT);
        let Some(looped) = self.looped() else {
            return self.nothing_known();
        };
        let item = self.values.in_rounds(item, looped.spine);
        let list = self.values.list(ItemsOf {
            item,
            of: Some(looped.id),
            least: looped.least,
            most: looped.most,
            spine: looped.spine,
        });
        self.values.decided(list, looped.by)
    }

    pub(super) fn flattened(&mut self, input: ValueId) -> ValueId {
        let looped = self.loops.begin(input, &mut self.values);
        let (item, _) = self.values.undecided(looped.item);
        let are_lists = matches!(self.values.get(item), Value::List(_));
        let flat = self.loops.flattened(looped.item, &looped, &mut self.values);
        self.loops.end(&looped);
        if are_lists {
            return flat;
        }
        // What is no list stays as it is.
        let (both, by) = {
            let flat = self.loops.items_of(flat, &mut self.values);
            self.values.undecided(flat)
        };
        let Value::List(flat) = self.values.get(both) else {
            return self.computed(&[input]);
        };
        let item = self.loops.item(input, &mut self.values);
        let alone = self.values.of_kind(item, PathStep::Single);
        let item = self.values.join(flat.item, alone);
        let most = self.values.formulas.sum(flat.most, looped.most);
        let list = self.values.list(ItemsOf {
            item,
            of: None,
            least: FormulaId::ZERO,
            most,
            spine: flat.spine,
        });
        let by = self.values.both(by, looped.by);
        self.values.decided(list, by)
    }

    pub(super) fn aggregated(&mut self, source: &Document, of: Aggregate) -> ValueId {
        let input = self.input();
        let list = self.loops.items_of(input, &mut self.values);
        let (inner, by) = self.values.undecided(list);
        let spine = match self.values.get(inner) {
            Value::List(items) => items.spine,
            _ => self.values.data(inner),
        };
        let counted = self.values.made(spine);
        let counted = self.values.decided(counted, by);
        let condition = self.part_in("where");
        let made = match (of, condition) {
            // As of `filter`: the condition decides how many items are counted.
            (Aggregate::Count, Some(condition)) => {
                self.use_up(counted);
                self.chosen_of(input, counted, &[condition])
            }
            (Aggregate::Decided, Some(condition)) => self.computed(&[counted, condition]),
            (Aggregate::Count | Aggregate::Decided, None) => self.computed(&[counted]),
            (Aggregate::Sum | Aggregate::Mean | Aggregate::Rank | Aggregate::Extreme, _) => {
                let key = self.key(source);
                self.computed(&[counted, key])
            }
        };
        self.values.in_rounds(made, spine)
    }

    pub(super) fn folded(&mut self) -> ValueId {
        let init = self.part_in("init").unwrap_or(ValueId::CONSTANT);
        let body = self.part_in("expr").unwrap_or(ValueId::CONSTANT);
        let Some((number, looped)) = self.own().map(|own| (own.folded as usize, own.looped)) else {
            return init;
        };
        let all = self.values.computed(&[init, body]);
        let own = super::sources::SourceRoot::Folded(number as u32);
        let own = self.values.tree.root(own);
        let mut sets = [self.values.data(all), self.values.decides(all)];
        if let Some(looped) = looped {
            // What is added in each round counts the rounds.
            let counted = self.values.sets.items(looped.spine);
            sets[0] = self.values.both(sets[0], counted);
            let by = self.values.both(looped.spine, looped.by);
            sets[1] = self.values.both(sets[1], by);
            // A decision in each round tells a number exactly: over the numbers of a `range`, or by what has been decided before.
            let parts = self.values.sets.get(sets[1]).iter();
            let by_own = { parts }.any(|it| self.values.tree.root_id(it.source) == own);
            if by_own || self.values.has_numbers(looped.spine) {
                sets[0] = self.values.both(sets[0], sets[1]);
            }
        }
        for set in &mut sets {
            let others = self.values.sets.get(*set).iter();
            let others = others.filter(|it| self.values.tree.root_id(it.source) != own);
            let others: Vec<_> = others.copied().collect();
            *set = self.values.sets.of_parts(others, &mut self.values.tree);
        }
        if let Some(folded) = self.folded.get_mut(number) {
            *folded = (sets[0], sets[1]);
        }
        let made = self.values.made(sets[0]);
        let value = self.values.decided(made, sets[1]);
        self.use_up(value);
        value
    }

    pub(super) fn several(&mut self, zipped: bool) -> ValueId {
        let (lists, mut bys) = (self.parts_of("lists"), SetId::EMPTY);
        let mut all = ItemsOf {
            item: ValueId::CONSTANT,
            of: None,
            least: FormulaId::ZERO,
            most: FormulaId::ZERO,
            spine: SetId::EMPTY,
        };
        for (place, list) in lists.iter().enumerate() {
            let list = self.loops.items_of(*list, &mut self.values);
            let (inner, by) = self.values.undecided(list);
            bys = self.values.both(bys, by);
            let Value::List(items) = self.values.get(inner) else {
                return self.computed(&lists);
            };
            all.item = self.values.join(all.item, items.item);
            all.spine = self.values.both(all.spine, items.spine);
            if !zipped {
                all.least = self.values.formulas.sum(all.least, items.least);
                all.most = self.values.formulas.sum(all.most, items.most);
            } else if place == 0 || all.most == FormulaId::UNKNOWN {
                all.most = items.most;
            }
        }
        if all.least == FormulaId::UNKNOWN {
            all.least = FormulaId::ZERO;
        }
        if zipped {
            all.item = self.values.list_of(all.item, lists.len());
        }
        let list = self.values.list(all);
        self.values.decided(list, bys)
    }

    pub(super) fn range(&mut self, source: &Document) -> ValueId {
        let ends = ["from", "to"].map(|name| self.field(name).map(|node| source.entry(node)));
        let count = match ends {
            [Some(Entry::Int(from)), Some(Entry::Int(to))] => {
                let count = i128::from(to) - i128::from(from) + 1;
                u64::try_from(count.max(0)).ok()
            }
            _ => None,
        };
        let operands = self.operands();
        let made = self.computed(&operands);
        let numbers = self.values.numbers();
        let (least, most) = match count {
            Some(count) => {
                let count = self.values.formulas.number(count);
                (count, count)
            }
            None => (FormulaId::ZERO, FormulaId::UNKNOWN),
        };
        let (spine, by) = (self.values.data(made), self.values.decides(made));
        let spine = self.values.both(spine, numbers);
        let item = self.values.made(spine);
        let list = self.values.list(ItemsOf {
            item,
            of: None,
            least,
            most,
            spine,
        });
        self.values.decided(list, by)
    }
}
