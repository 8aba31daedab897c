//! The suspended state of a walk, without its terms, which the caller holds.

use super::super::findings::{Findings, FrozenFindings};
use super::super::memo::Memo;
use super::super::values::{Rows, Values};
use super::super::{TypeId, Types};
use super::frame::{Frame, Stack};
use super::{Task, Walk};
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};

/// A suspended walk without its terms.
#[derive(Debug)]
pub struct Suspended<M, F> {
    task: F,
    frames: Vec<Frame<(), (), M>>,
    findings: FrozenFindings,
    fuel: usize,
    memo_after: usize,
    /// The type of the value, if the walk has not begun.
    begin: Option<TypeId>,
}

impl<M, F> Suspended<M, F> {
    /// Returns the fuel consumed since the walk began, in all its quanta.
    pub fn fuel(&self) -> usize {
        self.fuel
    }
}

/// A suspended walk, and its terms.
pub type Left<H, K> = (
    Suspended<<K as Task<H>>::Mark, <K as Task<H>>::Frozen>,
    Vec<<H as Heap>::Term>,
);

impl<'c, H: Values, K: Task<H>> Walk<'c, H, K> {
    /// Suspends the walk after a [`WalkEnd::SliceOver`](super::WalkEnd::SliceOver); [`Walk::resume`]
    /// continues it.
    pub fn suspend(mut self) -> Left<H, K> {
        let heap = self.heap;
        let mut terms = vec![self.stack.freeze(heap)];
        let (findings, values) = self.findings.freeze(heap);
        terms.push(values);
        let (begin, value) = match self.begin {
            Some((value, id)) => (Some(id), value),
            None => (None, heap.nil()),
        };
        terms.push(value);
        let task = self.task.freeze(heap, &mut terms);
        let suspended = Suspended {
            task,
            frames: self.stack.frozen,
            findings,
            fuel: self.fuel,
            memo_after: self.memo_after,
            begin,
        };
        (suspended, terms)
    }

    /// Resumes a walk along the same types. `None` if the terms do not fit.
    pub fn resume(
        heap: &'c mut H,
        types: &'c Types,
        suspended: Suspended<K::Mark, K::Frozen>,
        terms: &[H::Term],
        (meter, pace): (Meter, Pace),
    ) -> Option<Self> {
        let [frames, values, begin, rest @ ..] = terms else {
            return None;
        };
        let task = K::thaw(suspended.task, heap, &mut rest.iter().copied());
        let rows = H::Rows::new(heap, types, task.matching());
        Some(Walk {
            heap,
            types,
            meter,
            pace,
            fuel: suspended.fuel,
            pause_at: usize::MAX,
            overdrawn: 0,
            memo_after: suspended.memo_after,
            task,
            findings: Findings::thaw(suspended.findings, *values),
            rows,
            stack: Stack {
                live: Vec::with_capacity(8),
                frozen: suspended.frames,
                terms: Some(*frames),
            },
            memo: Memo {
                on: suspended.fuel >= suspended.memo_after,
                ..Memo::default()
            },
            begin: suspended.begin.map(|id| (*begin, id)),
        })
    }
}
