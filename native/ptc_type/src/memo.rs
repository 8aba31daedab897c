//! The memo of a very long walk: values that it has already found valid.

use super::TypeId;
use std::collections::HashSet;

/// Pairs of a value's identity and a type that the value is valid for. It stays empty until the walk is
/// so long that parts of the value must repeat: a small term with shared parts can represent a huge
/// one.
#[derive(Debug, Default)]
pub(super) struct Memo {
    pub right: HashSet<(usize, TypeId)>,
    pub on: bool,
    /// Pairs of a value and a union, of none of whose types the value is.
    pub wrong: HashSet<(usize, TypeId)>,
}

impl Memo {
    /// Returns whether the same term was found valid for this type.
    #[inline]
    pub fn has(&self, identity: impl FnOnce() -> usize, id: TypeId) -> bool {
        self.on && self.right.contains(&(identity(), id))
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
