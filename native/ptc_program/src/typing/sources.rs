//! Where in the data the fields of objects come from, and which of them the program reads.

use super::names::{NameId, Names};
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

    /// Returns the path of a field that is read, unless there are longer ones.
    pub fn path_at(&self, place: usize, names: &Names) -> Option<Vec<u8>> {
        let source = self.all[place];
        (source.is_read && !source.has_read).then(|| self.path(source, names))
    }

    fn path(&self, source: Source, names: &Names) -> Vec<u8> {
        let (mut parts, mut next) = (vec![source.name], source.parent);
        while next != 0 && parts.len() < MOST_PARTS {
            let source = self.all[next as usize - 1];
            parts.push(source.name);
            next = source.parent;
        }
        parts.reverse();
        let parts: Vec<&[u8]> = parts.iter().map(|name| names.get(*name)).collect();
        parts.join(&b'.')
    }
}

/// Maximum number of parts of a path.
const MOST_PARTS: usize = 32;
