//! Keys that come again: one term for all equal ones, and the order a map wants them in.
//!
//! Rows of one table have the same keys in the same order. Making a term of a key costs more than
//! finding the one that was made before, and a map that is made of sorted keys need not sort them.

/// How many keys are remembered; a power of two. A newer one takes the place of an older one.
const KEYS: usize = 128;
/// How many sequences of keys are remembered; a power of two.
const SHAPES: usize = 16;
/// Longer keys are not looked for.
const LONGEST: usize = 64;
/// The ids are used up after so many keys. What has more is no table.
const MOST: usize = 10_000;
/// With more keys than this, the BEAM's maps have no order to be prepared for.
const WIDEST: usize = 32;

/// A key that was seen before gets the same id again, most of the time; ids tell keys apart.
pub type KeyId = u16;

const _: () = assert!(KEYS.is_power_of_two() && SHAPES.is_power_of_two());
const _: () = assert!(MOST < KeyId::MAX as usize && WIDEST <= u8::MAX as usize);

/// The keys and the sequences of keys of one text.
pub struct Keys<'t, T> {
    /// By hash; empty until the first key comes.
    slots: Vec<Option<(KeyId, T)>>,
    /// By id.
    texts: Vec<&'t [u8]>,
    /// By hash; empty until the first sequence comes.
    shapes: Vec<Shape>,
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
            slots: Vec::new(),
            texts: Vec::new(),
            shapes: Vec::new(),
        }
    }

    /// The term for a key, made by `make` if it is not remembered, and its id, if it has one.
    #[inline]
    pub fn intern(&mut self, text: &'t [u8], make: impl FnOnce() -> T) -> (Option<KeyId>, T) {
        if text.len() > LONGEST || self.texts.len() == MOST {
            return (None, make());
        }
        if self.slots.is_empty() {
            self.slots.resize(KEYS, None);
        }
        let slot = hash_of_text(text) % KEYS;
        if let Some((id, term)) = self.slots[slot] {
            if self.texts[id as usize] == text {
                return (Some(id), term);
            }
        }
        let (id, term) = (self.texts.len() as KeyId, make());
        self.texts.push(text);
        self.slots[slot] = Some((id, term));
        (Some(id), term)
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
            let texts = &self.texts;
            let text = |place: &u8| texts[ids[*place as usize] as usize];
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

/// Of the number of keys, the first and the last.
#[inline]
fn hash_of_ids(ids: &[KeyId]) -> usize {
    let end = |id: Option<&KeyId>| id.copied().unwrap_or_default() as u64;
    let ends = end(ids.first()) | end(ids.last()) << 16 | (ids.len() as u64) << 32;
    (ends.wrapping_mul(ODD) >> 40) as usize
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
    fn ids_run_out() {
        let texts: Vec<_> = (0..MOST + 10).map(|n| n.to_string()).collect();
        let mut keys = Keys::new();
        for (n, text) in texts.iter().enumerate() {
            let (id, term) = keys.intern(text.as_bytes(), || n);
            assert_eq!((id.is_some(), term), (n < MOST, n));
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

    /// An older id of the same text, whose slot was taken in between.
    #[test]
    fn equal_texts_of_two_ids_are_one_key() {
        let mut keys = Keys::<()>::new();
        keys.texts = vec![b"a", b"b", b"a"];
        let ids = [0, 1, 2];
        assert_eq!(keys.order(&ids), None);
        assert_eq!(keys.order(&ids), None);
    }
}
