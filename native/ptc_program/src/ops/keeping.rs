//! The state of operations that keep a part of the items.

use crate::code::Machine;
use ptc_kernels::{Listing, Made, Walk};
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// A list of what is kept of the items.
#[derive(Debug, Clone, PartialEq)]
pub struct Keeping<T> {
    pub(super) walk: Walk<T>,
    pub(super) items: Roots<T>,
    pub(super) listing: Listing<T>,
}

rooted!(Keeping { states: walk, items, listing; plain: });

impl<T: Copy> Keeping<T> {
    /// Returns the start of a walk over a list.
    pub(super) fn over(list: T) -> Self {
        Keeping {
            walk: Walk::over(list),
            items: Roots::default(),
            listing: Listing::default(),
        }
    }

    /// Makes the list.
    pub(super) fn list<H: Heap<Term = T>>(&mut self, machine: &mut Machine<'_, H>) -> Made<H> {
        self.listing.all(machine, &self.items)
    }
}
