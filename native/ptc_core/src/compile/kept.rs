//! The part of a suspended walk that earlier calls left: its nodes are indices in the caller's table.
//!
//! The nodes of a program that is given as terms are valid for one call only. A walk converts each node
//! once when it is suspended, and once more when it needs the node again. So a walk that is suspended
//! often takes linear time.

use super::walk::{Step, Walk};
use crate::program::{Const, ConstId};
use crate::source::Source;

/// Number of steps that are taken back at once.
const BATCH: usize = 256;

/// Steps and constants, which precede those of the walk.
#[derive(Debug, Default)]
pub(super) struct Kept {
    consts: Vec<Const<usize>>,
    todo: Vec<Step<usize>>,
}

impl<N: Copy> Walk<N> {
    /// Moves the steps and the constants to those that are kept; `index` returns the index of each node,
    /// for [`Source::kept`]. An observed walk needs its constants, so it keeps nothing: use [`Walk::map`].
    pub fn keep(&mut self, mut index: impl FnMut(N) -> usize) {
        if self.observer.is_some() {
            return;
        }
        let Kept { consts, todo } = &mut self.kept;
        consts.extend(self.consts.drain(..).map(|value| value.map(&mut index)));
        todo.extend(self.todo.drain(..).map(|step| step.map(&mut index)));
    }

    /// Returns whether the walk refers to kept nodes.
    pub fn has_kept(&self) -> bool {
        !(self.kept.consts.is_empty() && self.kept.todo.is_empty())
    }

    /// Returns the next step.
    #[inline]
    pub(super) fn next_step<S: Source<Node = N>>(&mut self, source: &S) -> Option<Step<N>> {
        if self.todo.is_empty() && !self.kept.todo.is_empty() {
            let from = self.kept.todo.len().saturating_sub(BATCH);
            let steps = self.kept.todo.drain(from..);
            self.todo
                .extend(steps.map(|step| step.map(|at| source.kept(at))));
        }
        self.todo.pop()
    }

    /// Returns the number of constants so far, kept ones included.
    pub(super) fn count_of_consts(&self) -> ConstId {
        (self.kept.consts.len() + self.consts.len()) as ConstId
    }

    /// Takes back the kept constants at the end of the walk.
    pub(super) fn all_consts<S: Source<Node = N>>(&mut self, source: &S) -> Vec<Const<N>> {
        let new = std::mem::take(&mut self.consts);
        if self.kept.consts.is_empty() {
            return new;
        }
        let kept = self.kept.consts.drain(..);
        let kept = kept.map(|value| value.map(|at| source.kept(at)));
        kept.chain(new).collect()
    }

    /// Returns the words of the kept steps and constants.
    pub(super) fn kept_words(&self) -> usize {
        let bytes = self.kept.consts.len() * size_of::<Const<usize>>()
            + self.kept.todo.len() * size_of::<Step<usize>>();
        bytes / 8
    }
}
