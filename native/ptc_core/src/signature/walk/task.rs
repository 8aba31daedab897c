//! What is done at the places of a walk.

use super::super::names::Matching;
use super::super::values::{Found, Rows, Values};
use super::super::{Scalar, TypeId};
use super::frame::{ListFrame, MapFrame};
use super::{Walk, WalkEnd};

/// What a walk does at the places it comes to.
pub trait Task<H: Values>: Sized {
    /// What a part of the value becomes.
    type Done: Copy;
    /// How things stood when a list or map was entered; no terms.
    type Mark: Copy;
    /// The task without its terms.
    type Frozen;

    /// It stays as it is.
    const SAME: Self::Done;

    /// Which keys are meant by the declared names.
    fn matching(&self) -> Matching;
    /// Whether structs pass as maps.
    fn takes_structs(&self) -> bool;
    /// Whether the first finding ends the walk.
    fn ends_at_first(&self) -> bool;
    /// How things stand.
    fn mark(&self) -> Self::Mark;
    /// Whether nothing was said since, so that the value need not be looked at again.
    fn is_silent_since(&self, mark: &Self::Mark) -> bool;

    /// A value of a type without parts. `place`: its field, if the map is not on the stack.
    fn scalar(
        walk: &mut Walk<H, Self>,
        of: (Scalar, TypeId),
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Self::Done, WalkEnd>;
    /// A field was found, before the walk looks at its value.
    fn found(walk: &mut Walk<H, Self>, open: Open<H>, found: &Found<H::Term>);
    /// What a field became.
    fn field(
        walk: &mut Walk<H, Self>,
        map: &mut MapFrame<H::Term, Open<H>, Self::Mark>,
        found: &Found<H::Term>,
        done: Self::Done,
    );
    /// What an element of the list on top of the stack became.
    fn element(walk: &mut Walk<H, Self>, was: H::Term, done: Self::Done);
    /// The end of a list, or of what can be walked of an improper one.
    fn list_end(
        walk: &mut Walk<H, Self>,
        list: &ListFrame<H::Term, Self::Mark>,
        is_proper: bool,
    ) -> Result<Self::Done, WalkEnd>;
    /// The end of a map.
    fn map_end(
        walk: &mut Walk<H, Self>,
        map: &MapFrame<H::Term, Open<H>, Self::Mark>,
    ) -> Result<Self::Done, WalkEnd>;

    /// Moves its terms to `terms`.
    fn freeze(self, heap: &mut H, terms: &mut Vec<H::Term>) -> Self::Frozen;
    /// Takes them back, in the same order.
    fn thaw(frozen: Self::Frozen, heap: &H, terms: &mut dyn Iterator<Item = H::Term>) -> Self;
}

/// An open map of a heap.
pub type Open<H> = <<H as Values>::Rows as Rows<H>>::Open;

/// A field of a map that is not on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub(super) field: usize,
    /// The map stands in a firewalled field.
    pub(super) hidden: bool,
}
