//! Converts keys. Rows repeat their keys, so the results are cached.

use crate::names::keyword_text;
use crate::raw::{Raw, TermKind, Terms};

/// Size of each cache; the content or the word of a key selects the index.
const PLACES: usize = 64;

/// Caches of converted keys.
pub struct Names<'a> {
    atoms: [Option<(Raw<'a>, Raw<'a>)>; PLACES],
    strings: [Option<(&'a [u8], Raw<'a>)>; PLACES],
    hidden: [Option<(Raw<'a>, bool)>; PLACES],
}

impl<'a> Names<'a> {
    pub fn new() -> Self {
        Names {
            atoms: [None; PLACES],
            strings: [None; PLACES],
            hidden: [None; PLACES],
        }
    }

    /// An atom or a string as a string with underscores; other keys are unchanged.
    #[inline]
    pub fn underscored(&mut self, terms: Terms<'a>, key: Raw<'a>) -> Raw<'a> {
        match terms.kind(key) {
            TermKind::Atom => self.of_atom(terms, key),
            TermKind::Binary => {
                let text = terms.bytes(key).unwrap_or(&[]);
                match text.contains(&b'-') {
                    true => self.of_string(terms, text),
                    false => key,
                }
            }
            _ => key,
        }
    }

    fn of_atom(&mut self, terms: Terms<'a>, key: Raw<'a>) -> Raw<'a> {
        let place = &mut self.atoms[place_of(key.identity())];
        if let Some((known, name)) = place {
            if known.word() == key.word() {
                return *name;
            }
        }
        let mut buffer = [0; 256];
        let length = terms.latin1_name(key, &mut buffer);
        let name = match length.map(|length| &mut buffer[..length]) {
            Some(name) if name.is_ascii() => {
                underscore(name);
                terms.make_binary(name)
            }
            _ => {
                let name = terms.atom_text(key).unwrap_or_default();
                terms.make_binary(name.replace('-', "_").as_bytes())
            }
        };
        *place = Some((key, name));
        name
    }

    fn of_string(&mut self, terms: Terms<'a>, text: &'a [u8]) -> Raw<'a> {
        let ends = [text.first(), text.last(), text.get(text.len() / 2)];
        let mix = |sum: usize, byte: Option<&u8>| sum * 31 + *byte.unwrap_or(&0) as usize;
        let place = &mut self.strings[place_of(ends.into_iter().fold(text.len(), mix) << 4)];
        if let Some((known, name)) = place {
            if *known == text {
                return *name;
            }
        }
        let mut name = text.to_vec();
        underscore(&mut name);
        let name = terms.make_binary(&name);
        *place = Some((text, name));
        name
    }

    /// Whether a key begins with an underscore, or with the hyphen that may stand for it.
    #[inline]
    pub fn is_hidden(&mut self, terms: Terms<'a>, key: Raw<'a>) -> bool {
        let hides = |name: &[u8]| matches!(name, [b'_' | b'-', ..]);
        match terms.kind(key) {
            TermKind::Binary => terms.bytes(key).is_some_and(hides),
            TermKind::Atom => {
                let place = &mut self.hidden[place_of(key.identity())];
                match place {
                    Some((known, hidden)) if known.word() == key.word() => *hidden,
                    _ => {
                        let name = terms.atom_text(key).unwrap_or_default();
                        let hidden = hides(name.as_bytes());
                        *place = Some((key, hidden));
                        hidden
                    }
                }
            }
            _ => keyword_text(terms, key).is_some_and(hides),
        }
    }
}

fn underscore(name: &mut [u8]) {
    for byte in name {
        if *byte == b'-' {
            *byte = b'_';
        }
    }
}

/// Maps a word to an index; the lowest bits of a word vary little.
fn place_of(word: usize) -> usize {
    (word >> 4 ^ word >> 10) % PLACES
}
