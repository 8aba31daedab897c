//! Where in the data the fields of objects come from, and which of them the program reads.

use crate::analysis::names::{NameId, Names};
use std::ops::Range;

/// The fields of the data, each after the one around it. Number 0 is none.
#[derive(Debug, Default)]
pub struct Sources {
    all: Vec<Source>,
}

#[derive(Debug, Clone, Copy)]
struct Source {
    parent: u32,
    name: NameId,
    is_read: bool,
    has_read: bool,
}

impl Sources {
    /// Adds a field inside another one.
    pub fn add(&mut self, parent: u32, name: NameId) -> u32 {
        if self.all.is_empty() {
            self.all.reserve(128);
        }
        self.all.push(Source {
            parent,
            name,
            is_read: false,
            has_read: false,
        });
        self.all.len() as u32
    }

    /// Notes that a field is read.
    #[inline]
    pub fn read(&mut self, from: u32) {
        if from != 0 {
            self.all[from as usize - 1].is_read = true;
        }
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        2 * self.all.len()
    }

    /// Forgets all, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    /// Returns the words of the memory.
    pub(super) fn room(&self) -> usize {
        2 * self.all.capacity()
    }

    /// Returns the number of fields.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Notes for these fields, after all later ones, that the ones around them have longer paths. For [`Sources::path`].
    pub fn note_longer(&mut self, places: Range<usize>) {
        for at in places.rev() {
            let source = self.all[at];
            if (source.is_read || source.has_read) && source.parent != 0 {
                self.all[source.parent as usize - 1].has_read = true;
            }
        }
    }

    /// Adds the path of a field that is read to a text, unless there are longer paths; returns whether there is one.
    pub fn path_at(&self, place: usize, names: &Names, text: &mut Vec<u8>) -> bool {
        let source = self.all[place];
        if !source.is_read || source.has_read {
            return false;
        }
        let (mut parts, mut count, mut next) = ([source.name; MOST_PARTS], 1, source.parent);
        while next != 0 && count < MOST_PARTS {
            let source = self.all[next as usize - 1];
            (parts[count], count, next) = (source.name, count + 1, source.parent);
        }
        for (at, name) in parts[..count].iter().rev().enumerate() {
            if at > 0 {
                text.push(b'.');
            }
            text.extend_from_slice(names.get(*name));
        }
        true
    }
}

/// Maximum number of parts of a path.
const MOST_PARTS: usize = 32;
