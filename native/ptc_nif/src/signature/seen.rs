//! What a very long walk has seen and found right, so that it need not look again.

use super::budget::Budget;
use crate::raw::Raw;
use ptc_core::signature::TypeId;
use rustler::sys::ErlNifTerm;
use std::collections::HashSet;

/// Empty until the walk is so long that its value must repeat itself: parts of a term may be
/// shared, and a small term can stand for a huge one.
#[derive(Default)]
pub struct Seen(HashSet<(ErlNifTerm, TypeId)>);

impl Seen {
    /// The very term was found right as this type.
    #[inline]
    pub fn has(&self, budget: &Budget, value: Raw, id: TypeId) -> bool {
        budget.is_endless() && self.0.contains(&(value.word(), id))
    }

    #[inline]
    pub fn add(&mut self, budget: &Budget, value: Raw, id: TypeId) {
        if budget.is_endless() {
            self.0.insert((value.word(), id));
        }
    }
}
