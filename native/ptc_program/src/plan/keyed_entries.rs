//! Entries of an object that are kept by their keys: `entries`, and then `filter` by constant keys.

use super::sets::SetId;
use super::value::{ItemsOf, Value, ValueId};
use super::walk::PlanWalk;
use crate::analysis::{operation_of, OpAt};
use crate::edition::Edition;
use crate::shape::{Comparison, OpShape};
use ptc_json::{Document, Entry, Node, Shape};

/// Maximum nesting depth of the conditions that are looked at, and of their number at each depth.
const DEEPEST: usize = 8;
const MOST_PARTS: usize = 64;

/// Which keys of the data a condition leaves out, where a list of names has one that is not a field's. It stands before the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyLeftOut {
    /// The key that is this text. An atom of the same name is another key.
    Text,
    /// All keys that begin with this text.
    Starting,
}

/// No text begins with this byte.
const NO_NAME: u8 = 0xFF;

impl KeyLeftOut {
    fn name(self, text: &[u8]) -> Vec<u8> {
        let kind = match self {
            KeyLeftOut::Text => 0,
            KeyLeftOut::Starting => 1,
        };
        [&[NO_NAME, kind], text].concat()
    }

    /// Returns what a name stands for, and its text; `None` for that of a field.
    pub fn read(name: &[u8]) -> Option<(Self, &[u8])> {
        match name {
            [NO_NAME, 0, text @ ..] => Some((KeyLeftOut::Text, text)),
            [NO_NAME, 1, text @ ..] => Some((KeyLeftOut::Starting, text)),
            _ => None,
        }
    }
}

/// Texts that keys are compared with.
type KeyTexts = Vec<Vec<u8>>;

/// The keys that a condition leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KeysLeft {
    /// At most these.
    Only(KeyTexts),
    /// Any but these, and but those that begin with one of the second ones.
    Without(KeyTexts, KeyTexts),
}

impl KeysLeft {
    fn any() -> Self {
        KeysLeft::Without(vec![], vec![])
    }

    fn both(self, other: Self) -> Self {
        use KeysLeft::*;
        match (self, other) {
            (Only(a), Only(b)) => Only(common(a, &b)),
            (Only(mut only), Without(names, starts)) | (Without(names, starts), Only(mut only)) => {
                only.retain(|key| !names.contains(key) && !begins(key, &starts));
                Only(only)
            }
            (Without(a, s), Without(b, t)) => Without([a, b].concat(), [s, t].concat()),
        }
    }

    fn either(self, other: Self) -> Self {
        use KeysLeft::*;
        match (self, other) {
            (Only(a), Only(b)) => Only([a, b].concat()),
            (Only(only), Without(mut names, mut starts))
            | (Without(mut names, mut starts), Only(only)) => {
                names.retain(|name| !only.contains(name));
                starts.retain(|start| !only.iter().any(|key| key.starts_with(start)));
                Without(names, starts)
            }
            (Without(a, s), Without(b, t)) => Without(common(a, &b), common(s, &t)),
        }
    }
}

fn common(mut a: KeyTexts, b: &KeyTexts) -> KeyTexts {
    a.retain(|text| b.contains(text));
    a
}

fn begins(key: &[u8], starts: &KeyTexts) -> bool {
    starts.iter().any(|start| key.starts_with(start))
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
            KeysLeft::Without(names, starts) if names.is_empty() && starts.is_empty() => {
                return list
            }
            KeysLeft::Without(names, starts) => {
                (key, self.left_of(of, &names, &starts), items.spine, by)
            }
            // Which of these constant keys there are, and how many, is decided by those of the object.
            KeysLeft::Only(names) => {
                let mut fields = Vec::with_capacity(names.len());
                for name in names {
                    let name = self.names.id(&name);
                    fields.push((name, self.values.field(of, name)));
                }
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

    /// Returns an object without the entries of these keys, and of those that begin with these texts.
    fn left_of(&mut self, of: ValueId, names: &KeyTexts, starts: &KeyTexts) -> ValueId {
        let mut data = Vec::with_capacity(names.len() + starts.len());
        for (kind, texts) in [(KeyLeftOut::Text, names), (KeyLeftOut::Starting, starts)] {
            data.extend(texts.iter().map(|text| self.names.id(&kind.name(text))));
        }
        let mut made: Vec<_> = names.iter().map(|name| self.names.id(name)).collect();
        if !starts.is_empty() {
            for member in self.values.members(of) {
                if let Value::Object(span, _) = self.values.get(member) {
                    let fields = self.values.fields(span).iter().map(|field| field.0);
                    made.extend(fields.filter(|name| begins(self.names.get(*name), starts)));
                }
            }
        }
        self.values.without_of(of, &made, &data)
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
        let (OpAt::Is(op), true) = (
            operation_of(source, condition, self.stack.edition),
            depth > 0,
        ) else {
            return KeysLeft::any();
        };
        match op.shape() {
            OpShape::Negation => match source.field(condition, "condition") {
                Some(inner) => self.keys_left(source, inner, !negated, depth - 1),
                None => KeysLeft::any(),
            },
            OpShape::Connective(decisive) => {
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
                        Some(all) if decisive == negated => all.both(one),
                        Some(all) => all.either(one),
                    });
                }
                all.unwrap_or_else(KeysLeft::any)
            }
            OpShape::Compared(of @ (Comparison::Equal(_) | Comparison::In))
                if is_about_key(source, condition) =>
            {
                let Some(names) = constants(source, condition, of) else {
                    return KeysLeft::any();
                };
                match (of == Comparison::Equal(false)) == negated {
                    true => KeysLeft::Only(names),
                    false => KeysLeft::Without(names, vec![]),
                }
            }
            OpShape::Compared(of @ Comparison::Begins)
                if negated && is_about_key(source, condition) =>
            {
                match constants(source, condition, of) {
                    Some(starts) => KeysLeft::Without(vec![], starts),
                    None => KeysLeft::any(),
                }
            }
            _ => KeysLeft::any(),
        }
    }
}

/// Returns the constant texts that a key is compared with.
fn constants(source: &Document, condition: Node, of: Comparison) -> Option<KeyTexts> {
    let value = source.field(condition, "value")?;
    if of != Comparison::In {
        return source.text(value).map(|text| vec![text.to_vec()]);
    }
    let Entry::List(_, count) = source.entry(value) else {
        return None;
    };
    if count as usize > MOST_PARTS {
        return None;
    }
    let mut elements = source.elements(value);
    let texts = elements
        .by_ref()
        .map(|it| source.text(it).map(<[u8]>::to_vec));
    texts.collect()
}

/// Whether a comparison is about the key of the current entry.
fn is_about_key(source: &Document, condition: Node) -> bool {
    let is_key = |node| source.field(node, "field").and_then(|it| source.text(it)) == Some(b"key");
    match source.field(condition, "left") {
        None => is_key(condition),
        Some(left) => {
            let reads = matches!(
                operation_of(source, left, Edition::Two),
                OpAt::Is(op) if op.shape() == OpShape::Read
            );
            let others = ["from", "key", "path", "default"];
            let is_alone = others.iter().all(|name| source.field(left, name).is_none());
            source.shape(left) == Shape::Map && reads && is_alone && is_key(left)
        }
    }
}
