//! Names of fields, tools and data as numbers: a comparison of two names is one of two numbers.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::OnceLock;

/// The number of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// Maximum length of a name in bytes. Of a longer one the first bytes are kept, one more than that: so it is none of the names
/// that are known. Equal numbers do not mean equal names then, and nothing is known of what has such a name.
pub const LONGEST_NAME: usize = 4_096;

/// The names of one check.
#[derive(Debug, Default)]
pub struct Names {
    bytes: Vec<u8>,
    /// The end of each name in `bytes`.
    ends: Vec<u32>,
    index: Index,
    /// Whether one of them is too long.
    has_long: bool,
    /// Whether long names are kept whole.
    whole: bool,
}

impl Names {
    /// Names that are kept whole, however long they are: equal numbers always mean equal names.
    pub fn whole() -> Self {
        Names {
            whole: true,
            ..Names::default()
        }
    }

    /// Returns the number of a name.
    pub fn id(&mut self, name: &[u8]) -> NameId {
        let name = match name.len() {
            ..=LONGEST_NAME => name,
            _ if self.whole => name,
            _ => {
                self.has_long = true;
                &name[..=LONGEST_NAME]
            }
        };
        let hash = hash_bytes(name);
        let found = self.index.find(hash, |at| self.get(NameId(at)) == name);
        if let Some(at) = found {
            return NameId(at);
        }
        let id = self.ends.len() as u32;
        if id == 0 {
            self.bytes.reserve(1_024);
            self.ends.reserve(128);
        }
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len() as u32);
        self.index.add(hash, id);
        NameId(id)
    }

    /// Returns whether a name is too long to be known.
    #[inline]
    pub fn is_long(&self, id: NameId) -> bool {
        self.has_long && self.get(id).len() > LONGEST_NAME
    }

    /// Returns whether one of them is too long.
    #[inline]
    pub fn has_long(&self) -> bool {
        self.has_long
    }

    /// Forgets all names, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.index.clear();
        self.has_long = false;
    }

    /// Returns the number of a name that is known.
    pub fn known(&self, name: &[u8]) -> Option<NameId> {
        let at = self
            .index
            .find(hash_bytes(name), |at| self.get(NameId(at)) == name);
        at.map(NameId)
    }

    /// Returns a name.
    #[inline]
    pub fn get(&self, id: NameId) -> &[u8] {
        let at = id.0 as usize;
        let start = match at {
            0 => 0,
            _ => self.ends[at - 1] as usize,
        };
        &self.bytes[start..self.ends[at] as usize]
    }

    /// Returns the number of names.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        self.bytes.len() / 8 + self.ends.len() / 2 + self.index.words()
    }

    /// Returns the words of the memory.
    pub(crate) fn room(&self) -> usize {
        self.bytes.capacity() / 8 + self.ends.capacity() / 2 + self.index.room()
    }
}

/// Number of places of an index to begin with.
const SMALLEST: usize = 256;

/// An index of numbers by their hashes.
#[derive(Debug, Default, Clone)]
pub struct Index {
    /// Hash and number plus one; 0 for an empty place. Its length is a power of two.
    places: Vec<(u32, u32)>,
    count: usize,
}

impl Index {
    /// Returns the number with this hash for which `is_it` holds.
    #[inline]
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.places[at] {
                (_, 0) => return None,
                (short, number) if short == (hash >> 32) as u32 && is_it(number - 1) => {
                    return Some(number - 1)
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds a number that is not in the index.
    pub fn add(&mut self, hash: u64, number: u32) {
        if self.places.len() < 2 * (self.count + 1) {
            self.grow();
        }
        self.count += 1;
        put(
            &mut self.places,
            ((hash >> 32) as u32, number + 1),
            hash as usize,
        );
    }

    /// Forgets all numbers, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.places.truncate(SMALLEST);
        self.places.fill((0, 0));
        self.count = 0;
    }

    /// Makes it equal to another one, in its own memory.
    pub(crate) fn copy(&mut self, other: &Index) {
        self.places.clone_from(&other.places);
        self.count = other.count;
    }

    fn grow(&mut self) {
        // The place depends on the low bits of a hash, which are kept as a mix of the stored ones.
        let size = (2 * self.places.len()).max(SMALLEST);
        let old = std::mem::replace(&mut self.places, vec![(0, 0); size]);
        for entry in old {
            if entry.1 != 0 {
                put(&mut self.places, entry, spread(entry.0) as usize);
            }
        }
    }

    fn words(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn room(&self) -> usize {
        self.places.capacity()
    }
}

fn put(places: &mut [(u32, u32)], entry: (u32, u32), hash: usize) {
    let mask = places.len() - 1;
    let mut at = hash & mask;
    while places[at].1 != 0 {
        at = (at + 1) & mask;
    }
    places[at] = entry;
}

/// Returns the hash whose upper half is this one.
#[inline]
fn spread(short: u32) -> u64 {
    u64::from(short) << 32 | u64::from(short)
}

/// Returns a hash of bytes that nobody outside can foresee. Most names are short: they take one step or two.
#[inline]
fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = Hash::begin();
    let length = bytes.len();
    let last = if let Some(last) = bytes.last_chunk::<8>() {
        for chunk in bytes.as_chunks::<8>().0 {
            hash.add(u64::from_le_bytes(*chunk));
        }
        u64::from_le_bytes(*last)
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        u64::from(first) | u64::from(last) << 32
    } else if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
        let middle = u64::from(bytes[length / 2]);
        u64::from(*first) | middle << 8 | u64::from(*last) << 16
    } else {
        0
    };
    hash.finish_with((last, length as u64))
}

/// For maps by numbers of names and types, which nobody outside can choose.
pub type ByNumber = BuildHasherDefault<NumberHasher>;

/// A quick hash of a few numbers.
#[derive(Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let mixed = self.0.rotate_left(29) ^ number;
        self.0 = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }

    // The number of a variant.
    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }
}

/// A hash of numbers.
#[derive(Debug, Clone, Copy)]
pub struct Hash(u64, u64);

impl Hash {
    /// Begins with the seed of this process.
    #[inline]
    pub fn begin() -> Self {
        static SEED: OnceLock<(u64, u64)> = OnceLock::new();
        let seed = SEED.get_or_init(|| {
            let random = RandomState::new();
            (random.hash_one(1), random.hash_one(2) | 1)
        });
        Hash(seed.0, seed.1)
    }

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.0 = self.mixed((number, 0)) ^ self.1.rotate_left(17);
    }

    /// Adds pairs of numbers, whose order does not count: the processor mixes several of them at the same time.
    #[inline]
    pub fn add_all(&mut self, pairs: impl Iterator<Item = (u64, u64)>) {
        let sum = pairs.fold(0, |sum: u64, pair| sum.wrapping_add(self.mixed(pair)));
        self.add(sum);
    }

    #[inline]
    fn mixed(&self, (a, b): (u64, u64)) -> u64 {
        let product = u128::from(self.0 ^ a) * u128::from(self.1 ^ b);
        (product >> 64) as u64 ^ product as u64
    }

    /// Returns the hash; its halves are equal.
    #[inline]
    pub fn finish(self) -> u64 {
        self.finish_with((0, 0))
    }

    /// Returns the hash after a last pair of numbers.
    #[inline]
    pub fn finish_with(self, last: (u64, u64)) -> u64 {
        let mixed = self.mixed(last);
        spread((mixed >> 32) as u32 ^ mixed as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_have_one_number() {
        let mut names = Names::default();
        let ids: Vec<_> = (0..5_000)
            .map(|n| names.id(format!("n{n}").as_bytes()))
            .collect();
        for (n, id) in ids.iter().enumerate() {
            assert_eq!(names.get(*id), format!("n{n}").as_bytes());
            assert_eq!(names.id(format!("n{n}").as_bytes()), *id);
        }
        assert_eq!(names.count(), 5_000);
        assert_eq!(names.known(b"x"), None);
        assert_ne!(names.id(b""), names.id(b"\0"));
    }

    #[test]
    fn names_of_all_lengths_are_distinct() {
        let mut names = Names::default();
        let mut all = Vec::new();
        for length in 0..40 {
            let name = vec![b'a'; length];
            for at in 0..length {
                let mut other = name.clone();
                other[at] = b'b';
                all.push(other);
            }
            all.push(name);
        }
        let ids: Vec<_> = all.iter().map(|name| names.id(name)).collect();
        assert_eq!(names.count(), all.len());
        for (name, id) in all.iter().zip(ids) {
            assert_eq!(names.get(id), name);
        }
        names.clear();
        assert_eq!(names.count(), 0);
        assert_eq!(names.known(b"a"), None);
        assert_eq!(names.id(b"a"), NameId(0));
    }

    #[test]
    fn of_a_long_name_only_the_first_bytes_are_kept() {
        let mut names = Names::default();
        let longest = vec![b'a'; LONGEST_NAME];
        let known = names.id(&longest);
        assert!(!names.is_long(known) && !names.has_long());
        let long = names.id(&vec![b'a'; 10_000_000]);
        assert_ne!(known, long);
        assert!(names.is_long(long) && !names.is_long(known));
        assert_eq!(names.get(long).len(), LONGEST_NAME + 1);
        assert!(names.words() < 3_000);
        let (mut whole, other) = (Names::whole(), [&longest[..], b"aa"].concat());
        assert_ne!(whole.id(&other), whole.id(&[&longest[..], b"ab"].concat()));
    }
}
