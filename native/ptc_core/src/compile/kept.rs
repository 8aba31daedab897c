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
        let Kept { consts, todo } = &mut **self.kept.get_or_insert_default();
        consts.extend(self.consts.drain(..).map(|value| value.map(&mut index)));
        todo.extend(self.todo.drain(..).map(|step| step.map(&mut index)));
    }

    /// Returns whether the walk has kept anything.
    pub fn has_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns the next step.
    #[inline]
    pub(super) fn next_step<S: Source<Node = N>>(&mut self, source: &S) -> Option<Step<N>> {
        if let (Some(kept), true) = (&mut self.kept, self.todo.is_empty()) {
            let from = kept.todo.len().saturating_sub(BATCH);
            let steps = kept.todo.drain(from..);
            self.todo
                .extend(steps.map(|step| step.map(|at| source.kept(at))));
        }
        self.todo.pop()
    }

    /// Returns the number of constants so far, kept ones included.
    #[inline]
    pub(super) fn count_of_consts(&self) -> ConstId {
        let kept = self.kept.as_ref().map_or(0, |kept| kept.consts.len());
        (kept + self.consts.len()) as ConstId
    }

    /// Takes all constants at the end of the walk.
    pub(super) fn all_consts<S: Source<Node = N>>(&mut self, source: &S) -> Vec<Const<N>> {
        let new = std::mem::take(&mut self.consts);
        let Some(kept) = self.kept.take() else {
            return new;
        };
        let kept = kept.consts.into_iter();
        let kept = kept.map(|value| value.map(|at| source.kept(at)));
        kept.chain(new).collect()
    }
}

impl Kept {
    /// Returns the words of the steps and constants.
    pub fn words(&self) -> usize {
        let bytes = self.consts.len() * size_of::<Const<usize>>()
            + self.todo.len() * size_of::<Step<usize>>();
        bytes / 8
    }
}
