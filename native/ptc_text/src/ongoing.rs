//! How far work on a long text is.

use crate::occurrences::Occurrences;
use crate::search::{Matches, Search};

/// How far work on a long text is, when it is interrupted between two pieces. What the fields mean depends on the work.
#[derive(Debug, Clone, Default)]
pub struct Ongoing {
    /// Where it goes on.
    pub at: usize,
    /// Another place, or a number.
    pub count: usize,
    /// The length of the next piece.
    pub piece: usize,
    /// What it has written.
    pub out: Vec<u8>,
    /// The search for a part.
    pub places: Option<Box<Occurrences>>,
    /// A search for a pattern.
    pub search: Search,
    /// The matches of a pattern.
    pub matches: Matches,
}

impl PartialEq for Ongoing {
    fn eq(&self, other: &Self) -> bool {
        let place = |it: &Self| (it.at, it.count);
        place(self) == place(other) && self.out == other.out
    }
}
