//! The memo of a very long walk: values that it has already found valid.

use super::TypeId;
use std::collections::HashSet;

/// Pairs of a value's identity and a type that the value is valid for; with the complement of the number of a union, if the value
/// has none of its types. It stays empty until the walk is
/// so long that parts of the value must repeat: a small term with shared parts can represent a huge
/// one.
#[derive(Debug, Default)]
pub(super) struct Memo {
    pub right: HashSet<(usize, TypeId)>,
    pub on: bool,
}

impl Memo {
    /// Returns whether the same term was found valid for this type.
    #[inline]
    pub fn has(&self, identity: impl FnOnce() -> usize, id: TypeId) -> bool {
        self.on && self.right.contains(&(identity(), id))
    }

    /// Returns whether a term has none of the types of a union.
    pub fn is_wrong(&self, identity: usize, union: TypeId) -> bool {
        self.right.contains(&(identity, TypeId(!union.0)))
    }

    /// Adds a term that has none of the types of a union.
    pub fn add_wrong(&mut self, identity: usize, union: TypeId) {
        self.right.insert((identity, TypeId(!union.0)));
    }

    /// Removes a term that is not valid after all.
    pub fn forget(&mut self, identity: impl FnOnce() -> usize, id: TypeId) {
        if self.on {
            self.right.remove(&(identity(), id));
        }
    }

    #[inline]
    pub fn add(&mut self, identity: impl FnOnce() -> usize, id: TypeId) {
        if self.on {
            self.right.insert((identity(), id));
        }
    }
}
