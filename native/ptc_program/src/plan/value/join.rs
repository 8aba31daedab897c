//! Values that are one of several.

use super::{ItemsOf, TableRange, Value, ValueId, Values, DEEPEST, MOST_JOINED};
use crate::analysis::names::NameId;
use crate::plan::formula::LoopId;

/// Maximum number of values of which a value is one.
const MOST_MEMBERS: usize = 8;
/// Maximum nesting depth to which objects are joined field by field.
const DEEPEST_JOIN: usize = 4;

impl Values {
    /// Returns a value that is one of two.
    pub fn join(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let mut left = MOST_JOINED;
        self.joined(a, b, DEEPEST_JOIN, &mut left)
    }

    // It calls itself at most to the depth that it is given.
    fn joined(&mut self, a: ValueId, b: ValueId, depth: usize, left: &mut usize) -> ValueId {
        if a == b || b == ValueId::CONSTANT {
            return a;
        }
        if a == ValueId::CONSTANT {
            return b;
        }
        let ((one, first), (other, second)) = (self.undecided(a), self.undecided(b));
        let by = self.both(first, second);
        *left = left.saturating_sub(1);
        let joined = match (self.get(one), self.get(other)) {
            _ if depth == 0 || *left == 0 => {
                let (data, decides, _) = self.inside(&[one, other]);
                return self.collapsed(data, decides);
            }
            (Value::Made(a), Value::Made(b)) => {
                let data = self.both(a, b);
                self.made(data)
            }
            (Value::At(a, of), Value::At(b, by)) if a == b => match of == by {
                true => one,
                false => self.at(a, LoopId::LOST),
            },
            (Value::Object(a, rest), Value::Object(b, more)) => {
                let mut names: Vec<NameId> = self.fields(a).iter().map(|field| field.0).collect();
                let are_whole = self.is_whole(one) && self.is_whole(other);
                let others = self.fields(b).iter().map(|field| field.0);
                let is_whole = are_whole && others.clone().eq(names.iter().copied());
                names.extend(others);
                names.sort_unstable();
                names.dedup();
                let mut fields = Vec::with_capacity(names.len());
                for name in names {
                    let (a, b) = (self.field(one, name), self.field(other, name));
                    fields.push((name, self.joined(a, b, depth - 1, left)));
                }
                let rest = self.joined(rest, more, depth - 1, left);
                self.object_if(is_whole, fields, rest)
            }
            (Value::List(a), Value::List(b)) => {
                let item = self.joined(a.item, b.item, depth - 1, left);
                let least = self.formulas.smaller(a.least, b.least);
                let most = self.formulas.larger(a.most, b.most);
                let spine = self.both(a.spine, b.spine);
                self.list(ItemsOf {
                    item,
                    of: None,
                    least,
                    most,
                    spine,
                })
            }
            (Value::Named(a, keys), Value::Named(b, others)) => {
                let item = self.joined(a, b, depth - 1, left);
                let keys = self.both(keys, others);
                self.named(item, keys)
            }
            _ => self.one_of(one, other),
        };
        self.decided(joined, by)
    }

    fn one_of(&mut self, a: ValueId, b: ValueId) -> ValueId {
        let mut all = Vec::with_capacity(4);
        for id in [a, b] {
            match self.get(id) {
                Value::OneOf(span) => all.extend_from_slice(&self.members[span.range()]),
                _ => all.push(id),
            }
        }
        all.sort_unstable();
        all.dedup();
        let (data, decides, depth) = self.inside(&all);
        if all.len() > MOST_MEMBERS || depth > DEEPEST {
            return self.collapsed(data, decides);
        }
        let start = self.members.len() as u32;
        self.members.extend(all);
        let end = self.members.len() as u32;
        self.add(
            Value::OneOf(TableRange { start, end }),
            data,
            decides,
            depth,
        )
    }

    /// Returns the values of which a value is one; itself, if it is no such value.
    pub fn members(&self, id: ValueId) -> Vec<ValueId> {
        match self.get(id) {
            Value::OneOf(span) => self.members[span.range()].to_vec(),
            _ => vec![id],
        }
    }
}
