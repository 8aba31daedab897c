//! The members of the object that was read last. Rows of one table have the same keys in the same order, so that the keys of a row are
//! compared with those of the row before, and a field is then found by its place. No more members are read than are asked for.

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
    /// The keys of the shape.
    keys: Vec<Key>,
    /// The values that were read. The keys before them are those of the shape.
    values: Vec<Node>,
    /// The last token that was read.
    last: Node,
    /// Whether all members were read.
    is_complete: bool,
}

/// A key, and its length with quotes.
#[derive(Debug, Clone, Copy)]
struct Key {
    node: Node,
    length: u32,
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
        if self.object != Some(object) {
            self.begin(tree, object)?;
        }
        if hint.shape == self.shape {
            // All members are read if the shape has no such field.
            let count = hint.place.map_or(usize::MAX, |place| place as usize + 1);
            self.read(tree, count);
            if hint.shape == self.shape && (self.is_complete || hint.place.is_some()) {
                return self.values.get(hint.place? as usize).copied();
            }
        }
        self.search(tree, object, name, hint)
    }

    /// Same as `field`, without a hint.
    #[inline(never)]
    fn search(&mut self, tree: Tree, object: Node, name: &[u8], hint: &mut Hint) -> Option<Node> {
        self.read(tree, usize::MAX);
        if !self.is_complete {
            return tree.field(object, name);
        }
        let is_named = |key: &Key| tree.key_is(key.node, name);
        let place = self.keys.iter().position(is_named);
        *hint = Hint {
            shape: self.shape,
            place: place.map(|place| place as u32),
        };
        self.values.get(place?).copied()
    }

    /// Returns what follows a value in its container, as [`Tree::next_sibling`] does; what was read of it is not read again.
    #[inline]
    pub fn next_sibling(&self, tree: Tree, value: Node) -> Option<Node> {
        if self.object != Some(value) {
            return tree.next_sibling(value);
        }
        let end = match self.is_complete {
            true => self.last,
            false => tree.close_after(self.last),
        };
        tree.unless_closed(tree.next_token(end))
    }

    /// Begins with another value; returns nothing if it is no object.
    fn begin(&mut self, tree: Tree, object: Node) -> Option<()> {
        if !tree.is_object(object) {
            return None;
        }
        self.object = Some(object);
        self.values.clear();
        self.last = object;
        self.is_complete = false;
        // There is no shape 0.
        self.shape = self.shape.max(1);
        Some(())
    }

    /// Reads members until `count` values are known, or the object ends, or it has too many.
    #[inline(never)]
    fn read(&mut self, tree: Tree, count: usize) {
        let mut place = self.values.len();
        // Whether its keys are not those of the shape: then they become a shape of their own.
        let mut is_new = false;
        while place < count.min(MOST) && !self.is_complete {
            let Some(key) = tree.next_token(self.last) else {
                return;
            };
            if tree.unless_closed(Some(key)).is_none() {
                (self.last, self.is_complete) = (key, true);
                break;
            }
            let known = self.keys.get(place);
            if is_new || !known.is_some_and(|known| is_same(tree.text(), *known, key)) {
                if !is_new {
                    self.keys.truncate(place);
                    self.shape += 1;
                    is_new = true;
                }
                let length = tree.key(key).range.end + 1 - key as usize;
                self.keys.push(Key {
                    node: key,
                    length: length as u32,
                });
            }
            let value = tree.value(key);
            self.values.push(value);
            self.last = tree.last(value);
            place += 1;
        }
        if self.is_complete && place < self.keys.len() {
            self.keys.truncate(place);
            self.shape += 1;
        }
    }
}

/// Returns whether a key is written like another one.
#[inline(always)]
fn is_same(text: &[u8], known: Key, key: Node) -> bool {
    const WORD: usize = 8;
    let length = known.length as usize;
    let (a, b) = (known.node as usize, key as usize);
    let word = |at: usize| {
        let bytes = text.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map(|bytes| u64::from_le_bytes(*bytes))
    };
    if length <= 2 * WORD {
        if let (Some(x), Some(y)) = (word(a), word(b)) {
            return match WORD.checked_sub(length) {
                None => x == y && word(a + length - WORD) == word(b + length - WORD),
                Some(rest) => (x ^ y) << (8 * rest) == 0,
            };
        }
    }
    text.get(a..a + length) == text.get(b..b + length)
}
