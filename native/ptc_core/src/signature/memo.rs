//! What a very long walk has found right, so that it need not look again.

use super::TypeId;
use std::collections::HashSet;

/// Values by their identity, with the type they are right for. Empty until the walk is so long that
/// its value must repeat itself: parts of a term may be shared, and a small term can stand for a huge
/// one.
#[derive(Debug, Default)]
pub(super) struct Memo {
    pub right: HashSet<(usize, TypeId)>,
    pub on: bool,
}

impl Memo {
    /// The very term was found right as this type.
    #[inline]
    pub fn has(&self, identity: impl FnOnce() -> usize, id: TypeId) -> bool {
        self.on && self.right.contains(&(identity(), id))
    }

    #[inline]
    pub fn add(&mut self, identity: impl FnOnce() -> usize, id: TypeId) {
        if self.on {
            self.right.insert((identity(), id));
        }
    }
}
