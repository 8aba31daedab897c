//! The interface of a walk's task.

use super::super::values::{Found, Rows, Values};
use super::super::Scalar;
use super::frame::{ListFrame, OpenMap};
use super::{Walk, WalkEnd};
use ptc_term::names::Matching;

/// The actions of a walk for each part of a value.
pub trait Task<H: Values>: Sized {
    /// The result of a part.
    type Done: Copy;
    /// The state at the start of a list or map; contains no terms.
    type Mark: Copy;

    /// The result of a part that does not change.
    const SAME: Self::Done;

    /// How keys are matched with the declared names.
    fn matching(&self) -> Matching;
    /// Whether structs are accepted as maps.
    fn takes_structs(&self) -> bool;
    /// Whether findings call structs maps.
    #[inline(always)]
    fn calls_structs_maps(&self) -> bool {
        false
    }
    /// Whether the first finding ends the walk.
    fn ends_at_first(&self) -> bool;
    /// Goes back to a state: what was made and warned of since is removed.
    fn reset(&mut self, mark: &Self::Mark, heap: &H);
    /// Returns the current state.
    fn mark(&self) -> Self::Mark;
    /// Returns whether the task has reported nothing since, so that the memo can contain the value.
    fn is_silent_since(&self, mark: &Self::Mark) -> bool;

    /// Handles a value of a type without parts. `place`: its field, if the map is not on the stack.
    fn scalar(
        walk: &mut Walk<H, Self>,
        scalar: Scalar,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Self::Done, WalkEnd>;
    /// Returns the value that a part has become.
    fn value(done: Self::Done, was: H::Term) -> H::Term;
    /// Returns the number of questions that have no answer yet.
    fn unanswered(&self) -> usize;
    /// Returns the result of a part that has become this value.
    fn made(value: H::Term) -> Self::Done;
    /// Returns what a value becomes by the rules of its type, before the type itself is looked at; `None` if it stays.
    fn by_rules(
        walk: &mut Walk<H, Self>,
        scalar: Scalar,
        rules: u32,
        value: H::Term,
        place: Option<Place>,
    ) -> Result<Option<H::Term>, WalkEnd>;
    /// Handles a field that a map lacks.
    #[inline(always)]
    fn absent(&mut self) {}
    /// Handles a field that was found, before its value is walked.
    fn found(walk: &mut Walk<H, Self>, open: Open<H>, found: &Found<H::Term>);
    /// Handles the result of a field.
    fn field(
        walk: &mut Walk<H, Self>,
        map: &mut OpenMap<H::Term, Open<H>, Self::Mark>,
        found: &Found<H::Term>,
        done: Self::Done,
    );
    /// Whether elements that stay as they are need not be handled in a list with this state.
    fn passes(list: &Self::Mark) -> bool;
    /// Handles the result of an element of the list on top of the stack.
    fn element(walk: &mut Walk<H, Self>, was: H::Term, done: Self::Done);
    /// Handles the end of a list, proper or not.
    fn list_end(
        walk: &mut Walk<H, Self>,
        value: H::Term,
        list: &ListFrame<Self::Mark>,
        is_proper: bool,
    ) -> Result<Self::Done, WalkEnd>;
    /// Handles the end of a map; `RARE`: see [`Types::has_rare`](super::super::Types::has_rare).
    fn map_end<const RARE: bool>(
        walk: &mut Walk<H, Self>,
        map: &OpenMap<H::Term, Open<H>, Self::Mark>,
    ) -> Result<Self::Done, WalkEnd>;
}

/// An open map of a heap.
pub type Open<H> = <<H as Values>::Rows as Rows<H>>::Open;

/// A field of a map that is not on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub(super) field: usize,
    /// Whether the map is in a firewalled field.
    pub(super) hidden: bool,
}
