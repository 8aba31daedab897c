//! Entries of an object that are kept by their keys: `entries`, and then `filter` by constant keys.

use super::sets::SetId;
use super::value::{ItemsOf, Value, ValueId};
use super::walk::PlanWalk;
use crate::opcode::OpCode;
use crate::typing::names::NameId;
use crate::typing::parts::{operation_of, OpAt};
use ptc_json::{Document, Entry, Node, Shape};

/// Maximum nesting depth of the conditions that are looked at, and of their number at each depth.
const DEEPEST: usize = 8;
const MOST_PARTS: usize = 64;

/// The keys that a condition leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KeysLeft {
    /// At most these.
    Only(Vec<NameId>),
    /// Any but these.
    Without(Vec<NameId>),
}

impl KeysLeft {
    fn any() -> Self {
        KeysLeft::Without(Vec::new())
    }

    fn both(self, other: Self) -> Self {
        use KeysLeft::*;
        match (self, other) {
            (Only(a), Only(b)) => Only(common(a, &b)),
            (Only(only), Without(names)) | (Without(names), Only(only)) => Only(less(only, &names)),
            (Without(a), Without(b)) => Without([a, b].concat()),
        }
    }

    fn either(self, other: Self) -> Self {
        use KeysLeft::*;
        match (self, other) {
            (Only(a), Only(b)) => Only([a, b].concat()),
            (Only(only), Without(names)) | (Without(names), Only(only)) => {
                Without(less(names, &only))
            }
            (Without(a), Without(b)) => Without(common(a, &b)),
        }
    }
}

fn common(mut a: Vec<NameId>, b: &[NameId]) -> Vec<NameId> {
    a.retain(|name| b.contains(name));
    a
}

fn less(mut a: Vec<NameId>, b: &[NameId]) -> Vec<NameId> {
    a.retain(|name| !b.contains(name));
    a
}

impl PlanWalk {
    /// Notes that an item is an entry of an object: its key and its value belong together.
    pub(super) fn is_entry(&mut self, item: ValueId, of: ValueId) {
        self.entries.insert(item.0, of);
    }

    /// Returns a list after `filter`, `reject` or `find`: if its items are the entries of an object, those whose keys are left.
    pub(super) fn entries_left(
        &mut self,
        source: &Document,
        list: ValueId,
        rejects: bool,
    ) -> ValueId {
        let (inner, by) = self.values.undecided(list);
        let Value::List(items) = self.values.get(inner) else {
            return list;
        };
        let (Some(of), Some(condition)) = (
            self.entries.get(&items.item.0).copied(),
            self.field("where"),
        ) else {
            return list;
        };
        let key = self.names.id(b"key");
        let key = self.values.field(items.item, key);
        let keys = self.values.data(key);
        let (key, left, spine, by) = match self.keys_left(source, condition, rejects, DEEPEST) {
            KeysLeft::Without(names) if names.is_empty() => return list,
            KeysLeft::Without(names) => (key, self.values.without(of, &names), items.spine, by),
            // Which of these constant keys there are, and how many, is decided by those of the object.
            KeysLeft::Only(names) => {
                let fields = names
                    .into_iter()
                    .map(|name| (name, self.values.field(of, name)));
                let fields = fields.collect();
                let left = self.values.object(fields, ValueId::CONSTANT);
                let by = self.values.both(by, items.spine);
                let key = self.values.decided(ValueId::FIXED, keys);
                (key, left, SetId::EMPTY, by)
            }
        };
        let item = self.entry(key, left);
        let list = self.values.list(ItemsOf {
            item,
            spine,
            ..items
        });
        self.values.decided(list, by)
    }

    /// Returns an entry of an object, with a key.
    pub(super) fn entry(&mut self, key: ValueId, of: ValueId) -> ValueId {
        let value = self.values.any(of);
        let names = [b"key".as_slice(), b"value"].map(|name| self.names.id(name));
        let fields = vec![(names[0], key), (names[1], value)];
        let item = self.values.object(fields, ValueId::CONSTANT);
        self.is_entry(item, of);
        item
    }

    // It calls itself at most to the depth that it is given.
    fn keys_left(
        &mut self,
        source: &Document,
        condition: Node,
        negated: bool,
        depth: usize,
    ) -> KeysLeft {
        let (OpAt::Is(op), true) = (operation_of(source, condition, self.edition), depth > 0)
        else {
            return KeysLeft::any();
        };
        match op {
            OpCode::Not => match source.field(condition, "condition") {
                Some(inner) => self.keys_left(source, inner, !negated, depth - 1),
                None => KeysLeft::any(),
            },
            OpCode::And | OpCode::Or => {
                let Some(list) = source.field(condition, "conditions") else {
                    return KeysLeft::any();
                };
                let parts: Vec<Node> = source.elements(list).take(MOST_PARTS + 1).collect();
                if parts.is_empty() || parts.len() > MOST_PARTS {
                    return KeysLeft::any();
                }
                let mut all: Option<KeysLeft> = None;
                for part in parts {
                    let one = self.keys_left(source, part, negated, depth - 1);
                    all = Some(match all {
                        None => one,
                        Some(all) if (op == OpCode::And) != negated => all.both(one),
                        Some(all) => all.either(one),
                    });
                }
                all.unwrap_or_else(KeysLeft::any)
            }
            OpCode::Eq | OpCode::Neq | OpCode::In if is_about_key(source, condition) => {
                let Some(names) = self.constant_names(source, condition, op) else {
                    return KeysLeft::any();
                };
                match (op == OpCode::Neq) == negated {
                    true => KeysLeft::Only(names),
                    false => KeysLeft::Without(names),
                }
            }
            _ => KeysLeft::any(),
        }
    }

    /// Returns the constant texts that a key is compared with.
    fn constant_names(
        &mut self,
        source: &Document,
        condition: Node,
        op: OpCode,
    ) -> Option<Vec<NameId>> {
        let value = source.field(condition, "value")?;
        if op != OpCode::In {
            let text = source.text(value)?;
            return Some(vec![self.names.id(text)]);
        }
        let Entry::List(_, count) = source.entry(value) else {
            return None;
        };
        if count as usize > MOST_PARTS {
            return None;
        }
        let elements: Vec<Node> = source.elements(value).collect();
        let mut names = Vec::with_capacity(elements.len());
        for element in elements {
            let text = source.text(element)?;
            names.push(self.names.id(text));
        }
        Some(names)
    }
}

/// Whether a comparison is about the key of the current entry.
fn is_about_key(source: &Document, condition: Node) -> bool {
    let is_key = |node| source.field(node, "field").and_then(|it| source.text(it)) == Some(b"key");
    match source.field(condition, "left") {
        None => is_key(condition),
        Some(left) => {
            let op = source.field(left, "op").and_then(|it| source.text(it));
            let others = ["from", "key", "path", "default"];
            let is_alone = others.iter().all(|name| source.field(left, name).is_none());
            source.shape(left) == Shape::Map && op == Some(b"get") && is_alone && is_key(left)
        }
    }
}
