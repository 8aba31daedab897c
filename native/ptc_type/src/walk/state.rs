//! The state of a walk: all of it that outlives a quantum.

use super::super::findings::Findings;
use super::super::TypeId;
use super::frame::Stack;
use super::FUEL_BEFORE_MEMO;
use ptc_term::suspend::{Exchange, Rooted};

/// The state of a walk with the task `K`, which marks its lists and maps with `M`.
#[derive(Debug)]
pub struct State<T, K, M> {
    /// The task.
    pub task: K,
    /// The errors found.
    pub findings: Findings<T>,
    pub(in super::super) stack: Stack<T, M>,
    /// The value and its type, until the walk begins.
    pub(super) begin: Option<(T, TypeId)>,
    /// The keyword lists of the types' rules, by their numbers.
    pub(in super::super) rules: Vec<T>,
    /// The number of values on the stack that are tried as one of several types; one more if the first error ends the walk.
    pub(super) trials: u32,
    /// The fuel consumed in all quanta.
    pub(super) fuel: usize,
    pub(super) memo_after: usize,
}

impl<T, K, M> State<T, K, M> {
    /// Returns the state before the walk over a value begins.
    pub fn new((value, id): (T, TypeId), task: K) -> Self
    where
        T: Copy,
    {
        State {
            task,
            findings: Findings::default(),
            stack: Stack::new(value),
            begin: Some((value, id)),
            rules: Vec::new(),
            trials: 0,
            fuel: 0,
            memo_after: FUEL_BEFORE_MEMO,
        }
    }

    /// Adds the keyword lists of the types' rules.
    pub fn ruled(mut self, rules: Vec<T>) -> Self
    where
        T: Copy,
    {
        self.rules = rules;
        self
    }

    /// Makes the walk end at the first error, with [`Refuted`](super::WalkEnd::Refuted) and without a finding. The value has no part in
    /// two places, so that the walk needs no memo.
    pub fn first_error_only(mut self) -> Self {
        self.trials = 1;
        self.memo_after = usize::MAX;
        self
    }

    /// Returns whether a value is tried as one of several types.
    pub(in super::super) fn is_trial(&self) -> bool {
        self.trials > 0
    }

    /// Returns the fuel consumed since the walk began, in all its quanta.
    pub fn fuel(&self) -> usize {
        self.fuel
    }
}

impl<T, K: Rooted<Term = T>, M> Rooted for State<T, K, M> {
    type Term = T;
    type With<U> = State<U, K::With<U>, M>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Self::With<X::Into>, X::Lost> {
        Ok(State {
            task: self.task.exchange(by)?,
            findings: self.findings.exchange(by)?,
            stack: self.stack.exchange(by)?,
            begin: match self.begin {
                None => None,
                Some((value, id)) => Some((by.term(value)?, id)),
            },
            rules: by.all(self.rules)?,
            trials: self.trials,
            fuel: self.fuel,
            memo_after: self.memo_after,
        })
    }
}
