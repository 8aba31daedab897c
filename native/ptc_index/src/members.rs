//! The members of the object that was read last. Rows of one table have the same keys in the same order, so that the keys of a row are
//! compared with those of the row before, and a field is then found by its place.

use super::tree::{Node, Tree};

/// The most members that are remembered.
const MOST: usize = 64;

/// The members of one object, and where the fields of objects with the same keys are.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// The object, if one is remembered.
    object: Option<Node>,
    /// Number of the shape: objects of the same number have the same keys, written alike, in the same order.
    shape: u64,
    /// The keys of the shape: the first key that had it, and its length with quotes.
    keys: Vec<(Node, u32)>,
    /// The values of the object.
    values: Vec<Node>,
}

/// Where a field was found.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hint {
    /// The shape; 0 is none.
    shape: u64,
    /// The place of the value, if objects of the shape have the field.
    place: Option<u32>,
}

impl Members {
    /// Forgets the object and its keys, so that the next object may be one of another text.
    pub fn forget(&mut self) {
        self.object = None;
        self.keys.clear();
        self.shape += 1;
    }

    /// Returns the value of the first member of `object` with this key, as [`Tree::field`] does. `hint` must be of this name and these
    /// members.
    #[inline]
    pub fn field(
        &mut self,
        tree: Tree,
        object: Node,
        name: &[u8],
        hint: &mut Hint,
    ) -> Option<Node> {
        if self.object != Some(object) && !self.load(tree, object) {
            return tree.field(object, name);
        }
        if hint.shape != self.shape {
            let is_named = |(key, _): &(Node, u32)| tree.key_is(*key, name);
            let place = self
                .keys
                .iter()
                .position(is_named)
                .map(|place| place as u32);
            *hint = Hint {
                shape: self.shape,
                place,
            };
        }
        self.values.get(hint.place? as usize).copied()
    }

    /// Reads the members of an object; returns whether they are few enough.
    #[inline(never)]
    fn load(&mut self, tree: Tree, object: Node) -> bool {
        self.object = None;
        self.values.clear();
        let text = tree.text();
        let mut same = self.shape != 0;
        let mut member = tree.first_child(object);
        while let Some(key) = member {
            let place = self.values.len();
            if place == MOST {
                // Its keys are partly those of another object.
                self.keys.clear();
                self.shape += 1;
                return false;
            }
            if same {
                same = self.keys.get(place).is_some_and(|(known, length)| {
                    let at = |key: Node| text.get(key as usize..key as usize + *length as usize);
                    at(*known) == at(key)
                });
                if !same {
                    self.keys.truncate(place);
                }
            }
            if !same {
                let content = tree.key(key);
                let length = content.range.end + 1 - key as usize;
                self.keys.truncate(place);
                self.keys.push((key, length as u32));
            }
            let value = tree.value(key);
            self.values.push(value);
            member = tree.next_sibling(value);
        }
        if !same || self.keys.len() != self.values.len() {
            self.keys.truncate(self.values.len());
            self.shape += 1;
        }
        self.object = Some(object);
        true
    }
}
