//! Cache of interned object keys: one term for all equal keys, and the order of keys for a map.
//!
//! Rows of one table have the same keys in the same order. Making a key's term costs more than finding
//! the cached one, and a map built from sorted keys need not sort them.

/// Maximum number of interned keys. A text with more keys is not a table.
const MOST: usize = 1024;
/// Longer keys are not interned.
const LONGEST: usize = 64;
/// Maximum number of probes for a key; this bounds the time for hostile texts.
const PROBES: usize = 8;
/// Number of cached key sequences; a power of two. A newer one replaces an older one with the same
/// hash.
const SHAPES: usize = 32;
/// The BEAM's maps with more keys have no order to prepare.
const WIDEST: usize = 32;

/// The id of an interned key.
pub type KeyId = u16;

const _: () = assert!(SHAPES.is_power_of_two());
const _: () = assert!(MOST < KeyId::MAX as usize && WIDEST <= u8::MAX as usize);

/// The interned keys and the key sequences of one text.
pub struct Keys<'t, T> {
    /// The keys by id.
    known: Vec<(&'t [u8], T)>,
    /// Ids plus one; 0 is free. Its size is a power of two, at most half full; empty before the first
    /// key.
    table: Vec<KeyId>,
    /// The sequences by hash; empty before the first one.
    shapes: Vec<KeySequence>,
}

/// The result of looking up a key.
enum TableSlot {
    Taken(KeyId),
    /// A free slot of the table.
    Free(usize),
    /// Too many collisions: the key is not interned.
    Crowded,
}

/// A sequence of keys.
#[derive(Clone, Default)]
struct KeySequence {
    ids: Vec<KeyId>,
    /// The indices of the keys in ascending order of their bytes. It is empty until the sequence occurs
    /// again, and stays empty if a key occurs twice.
    order: Vec<u8>,
}

impl<'t, T: Copy> Keys<'t, T> {
    /// Creates an empty cache.
    pub fn new() -> Self {
        Keys {
            known: Vec::new(),
            table: Vec::new(),
            shapes: Vec::new(),
        }
    }

    /// Returns the term for a key, made by `make` if it is not interned, and its id, if it has one.
    #[inline]
    pub fn intern(&mut self, text: &'t [u8], make: impl FnOnce() -> T) -> (Option<KeyId>, T) {
        if text.len() > LONGEST {
            return (None, make());
        }
        let slot = match self.find(text) {
            TableSlot::Taken(id) => return (Some(id), self.known[id as usize].1),
            TableSlot::Free(slot) => slot,
            TableSlot::Crowded => return (None, make()),
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
    fn find(&self, text: &[u8]) -> TableSlot {
        if self.table.is_empty() {
            return TableSlot::Free(0);
        }
        let (mask, hash) = (self.table.len() - 1, hash_of_text(text));
        for step in 0..PROBES {
            let slot = (hash + step) & mask;
            match self.table[slot].checked_sub(1) {
                None => return TableSlot::Free(slot),
                Some(id) if self.known[id as usize].0 == text => return TableSlot::Taken(id),
                Some(_) => {}
            }
        }
        TableSlot::Crowded
    }

    #[cold]
    fn grow(&mut self) {
        let size = (4 * self.known.len()).next_power_of_two().max(32);
        self.table.clear();
        self.table.resize(size, 0);
        for id in 0..self.known.len() {
            if let TableSlot::Free(slot) = self.find(self.known[id].0) {
                self.table[slot] = id as KeyId + 1;
            }
        }
    }

    /// Returns the indices of these keys in ascending order, if that order is known.
    #[inline]
    pub fn order(&mut self, ids: &[KeyId]) -> Option<&[u8]> {
        if !(2..=WIDEST).contains(&ids.len()) {
            return None;
        }
        if self.shapes.is_empty() {
            self.shapes.resize(SHAPES, KeySequence::default());
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

/// Hashes the length and both ends of a key, which distinguish the keys of a table.
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
