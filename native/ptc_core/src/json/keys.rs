//! Keys that come again: one term for all equal ones, and the order a map wants them in.
//!
//! Rows of one table have the same keys in the same order. Making a term of a key costs more than
//! finding the one that was made before, and a map that is made of sorted keys need not sort them.

/// How many keys are remembered: the first ones. What has more is no table.
const MOST: usize = 1024;
/// Longer keys are not looked for.
const LONGEST: usize = 64;
/// A key is looked for in so many places, so that no text can be made that takes long.
const PROBES: usize = 8;
/// How many sequences of keys are remembered; a power of two. A newer one takes the place of an
/// older one.
const SHAPES: usize = 32;
/// With more keys than this, the BEAM's maps have no order to be prepared for.
const WIDEST: usize = 32;

/// What a remembered key is known by.
pub type KeyId = u16;

const _: () = assert!(SHAPES.is_power_of_two());
const _: () = assert!(MOST < KeyId::MAX as usize && WIDEST <= u8::MAX as usize);

/// The keys and the sequences of keys of one text.
pub struct Keys<'t, T> {
    /// By id.
    known: Vec<(&'t [u8], T)>,
    /// Ids plus one, 0 is free. A power of two, at most half full; empty until the first key comes.
    table: Vec<KeyId>,
    /// By hash; empty until the first sequence comes.
    shapes: Vec<Shape>,
}

/// Where a key is, or would be.
enum Place {
    Taken(KeyId),
    /// A slot of the table.
    Free(usize),
    /// Too many others are in the way: it is not remembered.
    Crowded,
}

/// A sequence of keys.
#[derive(Clone, Default)]
struct Shape {
    ids: Vec<KeyId>,
    /// The places of the keys in ascending order of their bytes; empty until the sequence is seen
    /// again, and then only if no key stands twice.
    order: Vec<u8>,
}

impl<'t, T: Copy> Keys<'t, T> {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Keys {
            known: Vec::new(),
            table: Vec::new(),
            shapes: Vec::new(),
        }
    }

    /// The term for a key, made by `make` if it is not remembered, and its id, if it has one.
    #[inline]
    pub fn intern(&mut self, text: &'t [u8], make: impl FnOnce() -> T) -> (Option<KeyId>, T) {
        if text.len() > LONGEST {
            return (None, make());
        }
        let slot = match self.find(text) {
            Place::Taken(id) => return (Some(id), self.known[id as usize].1),
            Place::Free(slot) => slot,
            Place::Crowded => return (None, make()),
        };
        let (id, term) = (self.known.len(), make());
        if id == MOST {
            return (None, term);
        }
        self.known.push((text, term));
        if 2 * id < self.table.len() {
            self.table[slot] = id as KeyId + 1;
        } else {
            self.grow();
        }
        (Some(id as KeyId), term)
    }

    #[inline]
    fn find(&self, text: &[u8]) -> Place {
        if self.table.is_empty() {
            return Place::Free(0);
        }
        let (mask, hash) = (self.table.len() - 1, hash_of_text(text));
        for step in 0..PROBES {
            let slot = (hash + step) & mask;
            match self.table[slot].checked_sub(1) {
                None => return Place::Free(slot),
                Some(id) if self.known[id as usize].0 == text => return Place::Taken(id),
                Some(_) => {}
            }
        }
        Place::Crowded
    }

    #[cold]
    fn grow(&mut self) {
        let size = (4 * self.known.len()).next_power_of_two().max(32);
        self.table.clear();
        self.table.resize(size, 0);
        for id in 0..self.known.len() {
            if let Place::Free(slot) = self.find(self.known[id].0) {
                self.table[slot] = id as KeyId + 1;
            }
        }
    }

    /// The places of these keys in ascending order, if that is known and worth using.
    #[inline]
    pub fn order(&mut self, ids: &[KeyId]) -> Option<&[u8]> {
        if !(2..=WIDEST).contains(&ids.len()) {
            return None;
        }
        if self.shapes.is_empty() {
            self.shapes.resize(SHAPES, Shape::default());
        }
        let shape = &mut self.shapes[hash_of_ids(ids) % SHAPES];
        if shape.ids != ids {
            shape.ids.clear();
            shape.ids.extend_from_slice(ids);
            shape.order.clear();
            return None;
        }
        if shape.order.is_empty() {
            let known = &self.known;
            let text = |place: &u8| known[ids[*place as usize] as usize].0;
            shape.order.extend(0..ids.len() as u8);
            shape.order.sort_unstable_by_key(text);
            if shape
                .order
                .windows(2)
                .any(|pair| text(&pair[0]) == text(&pair[1]))
            {
                shape.order.clear();
                return None;
            }
        }
        Some(&shape.order)
    }
}

const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Of the length and the bytes at both ends, which is what tells the keys of a table apart.
#[inline]
fn hash_of_text(text: &[u8]) -> usize {
    let ends = match (text.first_chunk(), text.last_chunk()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first) ^ u64::from_le_bytes(*last).rotate_left(29)
        }
        _ => text
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    ((ends ^ (text.len() as u64).rotate_left(56)).wrapping_mul(ODD) >> 40) as usize
}

#[inline]
fn hash_of_ids(ids: &[KeyId]) -> usize {
    let next = |mixed: u64, id: &KeyId| mixed.rotate_left(5) ^ u64::from(*id);
    (ids.iter().fold(0, next).wrapping_mul(ODD) >> 40) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_share_a_term() {
        let mut keys = Keys::new();
        let made = std::cell::Cell::new(0);
        let make = || {
            made.set(made.get() + 1);
            made.get()
        };
        let first = keys.intern(b"a", make);
        assert_eq!(keys.intern(b"a", make), first);
        assert_ne!(keys.intern(b"b", make), first);
        assert_eq!(keys.intern(&[b'x'; LONGEST + 1], make), (None, 3));
    }

    #[test]
    fn the_first_keys_are_remembered() {
        let texts: Vec<_> = (0..2 * MOST).map(|n| n.to_string()).collect();
        let (mut keys, mut remembered) = (Keys::new(), 0);
        for (n, text) in texts.iter().enumerate() {
            let (id, term) = keys.intern(text.as_bytes(), || n);
            assert_eq!(term, n);
            remembered += usize::from(id.is_some());
        }
        assert_eq!(remembered, MOST);
        for (n, text) in texts.iter().enumerate() {
            let (id, term) = keys.intern(text.as_bytes(), || 0);
            assert_eq!(term, if id.is_some() { n } else { 0 });
        }
    }

    #[test]
    fn a_sequence_is_ordered_when_it_comes_again() {
        let mut keys = Keys::new();
        let ids: Vec<_> = [&b"b"[..], b"", b"ba", b"aaa"]
            .map(|text| keys.intern(text, || ()).0.unwrap())
            .into();
        assert_eq!(keys.order(&ids), None);
        assert_eq!(keys.order(&ids), Some(&[1, 3, 0, 2][..]));
        assert_eq!(keys.order(&ids[..1]), None);
        let twice = [ids[0], ids[1], ids[0]];
        assert_eq!(keys.order(&twice), None);
        assert_eq!(keys.order(&twice), None);
    }
}
