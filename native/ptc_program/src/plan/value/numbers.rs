//! The numbers that a `range` makes: what is decided among them tells a number exactly, so that it flows.

use super::{ValueId, Values};
use crate::plan::sets::{Extent, SetId};
use crate::plan::sources::SourceRoot;

impl Values {
    /// Whether the numbers of a `range` are among these parts.
    pub fn has_numbers(&self, set: SetId) -> bool {
        let parts = self.sets.get(set).iter();
        let mut roots = parts.map(|part| self.tree.root_of(part.source));
        roots.any(|root| root == SourceRoot::Numbers)
    }

    /// Returns the set of the numbers of a `range`.
    pub fn numbers(&mut self) -> SetId {
        let numbers = self.tree.root(SourceRoot::Numbers);
        self.sets.one(numbers, Extent::Whole)
    }

    /// Returns a value into which these parts flow.
    pub fn with(&mut self, id: ValueId, set: SetId) -> ValueId {
        match set {
            SetId::EMPTY => id,
            set => {
                let made = self.made(set);
                self.join(id, made)
            }
        }
    }

    /// Returns a value into which what decides about it flows too, if it is made in the rounds of a loop over numbers of a `range`: a
    /// decision in each round tells a number exactly.
    pub fn in_rounds(&mut self, id: ValueId, spine: SetId) -> ValueId {
        match self.has_numbers(spine) {
            true => self.with(id, self.decides(id)),
            false => id,
        }
    }
}
