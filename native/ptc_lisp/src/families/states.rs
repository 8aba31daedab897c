//! The states of what the families do with many values: data alone.

use ptc_kernels::{GroupListing, Groups};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// A map whose lists get what was added to them.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathering<T> {
    /// The map as far as it is made.
    pub(super) map: T,
    /// The pairs that are not in order yet, newest first; then those that are in order and in no group yet.
    pub(super) rest: T,
    /// The pairs that are in order, while others are not.
    pub(super) ordered: Option<T>,
    /// The items of the list in the map that are not in its group yet.
    pub(super) former: Option<T>,
    pub(super) groups: Box<Groups>,
    pub(super) keys: Roots<T>,
    pub(super) items: Roots<T>,
    pub(super) listing: GroupListing<T>,
    /// The groups that are not in the map yet.
    pub(super) lists: Option<T>,
}

rooted!(Gathering {
    terms: map, rest; optional: ordered, former, lists; states: keys, items, listing; plain: groups
});
