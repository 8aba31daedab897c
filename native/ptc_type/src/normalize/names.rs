//! Converts keys. Rows repeat their keys, so the results are cached.

use crate::values::{Class, Values};
use ptc_term::names::{as_underscore, is_firewalled};

/// Size of each cache; the content or the identity of a key selects the index.
const PLACES: usize = 64;

/// Caches of converted keys, with the key.
pub(super) struct Names<T> {
    atoms: [Option<(T, T)>; PLACES],
    strings: [Option<(T, T)>; PLACES],
    hidden: [Option<(T, bool)>; PLACES],
    /// Buffer for a name.
    name: Vec<u8>,
}

impl<T: Copy> Names<T> {
    pub fn new() -> Self {
        Names {
            atoms: [None; PLACES],
            strings: [None; PLACES],
            hidden: [None; PLACES],
            name: Vec::with_capacity(64),
        }
    }

    /// An atom or a string as a string with underscores; other keys are unchanged.
    #[inline]
    pub fn underscored<H: Values<Term = T>>(&mut self, heap: &mut H, key: T) -> T {
        let buffer = &mut self.name;
        buffer.clear();
        let place = match heap.class(key) {
            Class::Atom => {
                let place = &mut self.atoms[place_of(heap.identity(key))];
                match place {
                    Some((known, name)) if heap.same(*known, key) => return *name,
                    _ => heap.put_atom_name(key, buffer),
                }
                place
            }
            Class::Bitstring => {
                let text = heap.bytes(key).unwrap_or_default();
                if !text.contains(&b'-') {
                    return key;
                }
                let ends = [text.first(), text.last(), text.get(text.len() / 2)];
                let mix = |sum: usize, byte: Option<&u8>| sum * 31 + *byte.unwrap_or(&0) as usize;
                let place =
                    &mut self.strings[place_of(ends.into_iter().fold(text.len(), mix) << 4)];
                match place {
                    Some((known, name))
                        if heap.same(*known, key) || heap.bytes(*known) == Some(text) =>
                    {
                        return *name
                    }
                    _ => buffer.extend_from_slice(text),
                }
                place
            }
            _ => return key,
        };
        for byte in buffer.iter_mut() {
            *byte = as_underscore(*byte);
        }
        let name = heap.make_string(buffer);
        *place = Some((key, name));
        name
    }

    /// Whether a key begins with an underscore, or with the hyphen that may stand for it.
    #[inline]
    pub fn is_hidden<H: Values<Term = T>>(&mut self, heap: &H, key: T) -> bool {
        let hides = |key| heap.bytes(key).is_some_and(is_firewalled);
        match heap.class(key) {
            Class::Bitstring => hides(key),
            Class::Atom => {
                let place = &mut self.hidden[place_of(heap.identity(key))];
                match place {
                    Some((known, hidden)) if heap.same(*known, key) => *hidden,
                    _ => {
                        self.name.clear();
                        heap.put_atom_name(key, &mut self.name);
                        let hidden = is_firewalled(&self.name);
                        *place = Some((key, hidden));
                        hidden
                    }
                }
            }
            Class::Map => heap.keyword_name(key).is_some_and(hides),
            _ => false,
        }
    }
}

/// Maps a word to an index; the lowest bits of a word vary little.
fn place_of(word: usize) -> usize {
    (word >> 4 ^ word >> 10) % PLACES
}
