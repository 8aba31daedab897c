//! What a walk found wrong, as data: where, what, and the values that have to be shown.

use super::kept::Kept;
use super::mismatch::{Got, Mismatch};
use crate::heap::Heap;

/// Paths share nothing: of deep values that are wrong at every depth, no more than this many
/// segments are reported.
pub const MOST_SEGMENTS: usize = 1 << 23;

/// A step on the way to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep {
    /// The index of a field in the table of types.
    Field(u32),
    /// The place in a list, from 0.
    Index(u32),
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// Something else than expected. The value is kept if it is [`Got::Other`], or the only finding.
    Mismatch(Mismatch),
    /// Keys that a closed map must not have; kept as a list.
    Unexpected,
    /// The term in the place of the type is none.
    Unsupported,
    /// What Elixir answered to a question; its reason is kept.
    Answered,
}

/// One thing that is wrong.
#[derive(Debug, Clone, Copy)]
pub struct Finding {
    /// What it is.
    pub wrong: Wrong,
    /// It stands in a firewalled field: no value from here may be shown.
    pub hidden: bool,
    steps: usize,
    /// How many values were kept before.
    values: usize,
}

/// The findings of one walk.
#[derive(Debug)]
pub struct Findings<T> {
    all: Vec<Finding>,
    steps: Vec<PathStep>,
    values: Kept<T>,
    /// Segments reported, those included that were taken back.
    segments: usize,
}

/// There are more findings than anybody can read, or keep in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

impl<T> Default for Findings<T> {
    fn default() -> Self {
        Findings {
            all: Vec::new(),
            steps: Vec::new(),
            values: Kept::default(),
            segments: 0,
        }
    }
}

impl<T: Copy> Findings<T> {
    /// How many there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The findings in order.
    pub fn all(&self) -> &[Finding] {
        &self.all
    }

    /// The way to the finding with that number.
    pub fn path(&self, number: usize) -> &[PathStep] {
        let start = self.all[number].steps;
        let next = self.all.get(number + 1);
        &self.steps[start..next.map_or(self.steps.len(), |next| next.steps)]
    }

    /// The kept values of all findings, oldest first, each with the number of its finding.
    pub fn values<H: Heap<Term = T>>(&mut self, heap: &H) -> &[T] {
        self.values.since(0, heap)
    }

    /// The place of a finding's value among [`Findings::values`], if one was kept.
    pub fn value_at(&self, number: usize) -> Option<usize> {
        let at = self.all[number].values;
        let next = self.all.get(number + 1);
        let end = next.map_or(self.values.len(), |next| next.values);
        (at < end).then_some(at)
    }

    /// Whether some messages have to show a value, or are about several keys.
    pub fn need_values(&self) -> bool {
        let shows = |finding: &Finding| match finding.wrong {
            Wrong::Mismatch(mismatch) => mismatch.got == Got::Other,
            _ => true,
        };
        !self.values.is_empty() && self.all.iter().any(shows)
    }

    pub(super) fn add(
        &mut self,
        wrong: Wrong,
        hidden: bool,
        path: impl Iterator<Item = PathStep>,
        value: Option<T>,
    ) -> Result<(), TooMany> {
        let steps = self.steps.len();
        let values = self.values.len();
        self.steps.extend(path);
        if let Some(value) = value {
            self.values.push(value);
        }
        self.all.push(Finding {
            wrong,
            hidden,
            steps,
            values,
        });
        self.report(1 + self.steps.len() - steps)
    }

    /// Counts what a message will show.
    pub(super) fn report(&mut self, segments: usize) -> Result<(), TooMany> {
        self.segments += segments;
        match self.segments > MOST_SEGMENTS {
            true => Err(TooMany),
            false => Ok(()),
        }
    }

    /// Takes back all but the first `count` findings.
    pub(super) fn truncate<H: Heap<Term = T>>(&mut self, count: usize, heap: &H) {
        if let Some(first) = self.all.get(count) {
            self.steps.truncate(first.steps);
            self.values.truncate(first.values, heap);
            self.all.truncate(count);
        }
    }

    /// Without its terms, and the list of them.
    pub(super) fn freeze<H: Heap<Term = T>>(self, heap: &mut H) -> (FrozenFindings, T) {
        let frozen = FrozenFindings {
            values: self.values.len(),
            all: self.all,
            steps: self.steps,
            segments: self.segments,
        };
        (frozen, self.values.freeze(heap))
    }

    pub(super) fn thaw(frozen: FrozenFindings, values: T) -> Self {
        Findings {
            all: frozen.all,
            steps: frozen.steps,
            values: Kept::thawed(values, frozen.values),
            segments: frozen.segments,
        }
    }
}

/// Findings without their terms.
#[derive(Debug)]
pub struct FrozenFindings {
    all: Vec<Finding>,
    steps: Vec<PathStep>,
    values: usize,
    segments: usize,
}
