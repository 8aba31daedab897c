//! What a plan knows of a part that is visited, and of an operation whose parts are visited.

use super::calls::Effects;
use super::loops::Looped;
use super::sets::SetId;

/// How often a part is evaluated when the operation around it is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum When {
    /// Once.
    #[default]
    Always,
    /// Once or never.
    Maybe,
    /// It is one of several, of which one is evaluated.
    Branch,
    /// Once for each item.
    Each,
    /// For each item until one decides.
    Until,
}

/// What holds in a part.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanHeld {
    pub(super) when: When,
    /// What decides whether it is evaluated, beside what decides about the operation.
    pub(super) guard: SetId,
}

/// What is kept of an operation whose parts are being visited.
#[derive(Debug, Default)]
pub struct PlanOwn {
    /// The loop of its body.
    pub(super) looped: Option<Looped>,
    /// What the conditions so far depend on.
    pub(super) decides: SetId,
    /// The number of what it accumulates.
    pub(super) folded: u32,
    pub(super) effects: Effects,
    pub(super) branches: Option<Effects>,
    /// What to undo after the part that is being visited.
    pub(super) guard: SetId,
    pub(super) counted: SetId,
    pub(super) calls: u32,
}
