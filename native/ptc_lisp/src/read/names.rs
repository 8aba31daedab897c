//! The names of symbols and keywords, each once.

use ptc_term::value::mix;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

/// An index of a name.
pub type SymbolId = u32;

/// Number of places of a new table.
const PLACES: usize = 128;

/// All names of a program.
#[derive(Debug)]
pub struct NameTable<'t> {
    known: Vec<Name<'t>>,
    /// Indices plus one; 0 is free. Its size is a power of two, at most half full.
    places: Vec<u32>,
    seed: u64,
}

#[derive(Debug)]
struct Name<'t> {
    text: &'t str,
    hash: u64,
}

impl Default for NameTable<'_> {
    fn default() -> Self {
        NameTable {
            known: Vec::with_capacity(PLACES / 2),
            places: vec![0; PLACES],
            seed: seed(),
        }
    }
}

/// Returns a number that nobody outside knows, who could choose texts that collide.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().hash_one(0))
}

/// Returns the hash of a text with a seed.
#[inline]
pub fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut hash = seed ^ bytes.len() as u64;
    for chunk in chunks {
        hash = mix(hash, u64::from_le_bytes(*chunk));
    }
    let mut last = 0;
    for byte in rest {
        last = last << 8 | u64::from(*byte);
    }
    mix(hash, last)
}

impl<'t> NameTable<'t> {
    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the text of a name.
    #[inline]
    pub fn text(&self, id: SymbolId) -> &'t str {
        self.known[id as usize].text
    }

    /// Returns the index of a name, which is added if it is new.
    #[inline]
    pub fn intern(&mut self, text: &'t str) -> SymbolId {
        let hash = hash(self.seed, text.as_bytes());
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            match self.places[place] {
                0 => break,
                id => {
                    let name = &self.known[id as usize - 1];
                    if name.hash == hash && name.text == text {
                        return id - 1;
                    }
                }
            }
            place = (place + 1) & mask;
        }
        self.known.push(Name { text, hash });
        self.places[place] = self.known.len() as u32;
        if self.known.len() * 2 > self.places.len() {
            self.grow();
        }
        (self.known.len() - 1) as SymbolId
    }

    /// Returns the index of a name, if there is one.
    pub fn find(&self, text: &str) -> Option<SymbolId> {
        let hash = hash(self.seed, text.as_bytes());
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let id = self.places[place].checked_sub(1)?;
            let name = &self.known[id as usize];
            if name.hash == hash && name.text == text {
                return Some(id);
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.places.len() * 4;
        self.places.clear();
        self.places.resize(size, 0);
        for (id, name) in self.known.iter().enumerate() {
            let mut place = name.hash as usize & (size - 1);
            while self.places[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            self.places[place] = id as u32 + 1;
        }
    }

    /// Forgets all names; their memory stays, for texts that live otherwise.
    pub fn emptied<'u>(mut self) -> NameTable<'u> {
        self.places.truncate(PLACES);
        self.places.fill(0);
        self.known.clear();
        NameTable {
            // The memory of no element is that of as many others.
            known: (self.known.into_iter())
                .map(|name| Name {
                    text: "",
                    hash: name.hash,
                })
                .collect(),
            places: self.places,
            seed: self.seed,
        }
    }

    /// Returns the words of memory that it has.
    pub fn room(&self) -> usize {
        3 * self.known.capacity() + self.places.capacity() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_once() {
        let texts: Vec<String> = (0..5000).map(|number| format!("name{number}")).collect();
        let mut names = NameTable::default();
        let ids: Vec<SymbolId> = texts.iter().map(|text| names.intern(text)).collect();
        assert_eq!(names.len(), texts.len());
        for (text, id) in texts.iter().zip(ids) {
            assert_eq!(names.intern(text), id);
            assert_eq!(names.text(id), text);
        }
    }
}
