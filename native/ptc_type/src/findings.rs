//! The errors that a walk has found, as data: path, kind, and the values to show.

use super::mismatch::{Got, Mismatch};
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::suspend::{Exchange, Rooted};

/// Maximum number of path segments that are reported: paths are not shared, so deep values with errors
/// at every depth could have very many.
pub const MOST_SEGMENTS: usize = 1 << 23;

/// Least bytes of an error in a line of errors, without its path: `expected int, got map` and the
/// separators. A segment of the path has at least one byte.
const LEAST_TEXT: usize = 24;

/// Maximum bytes of a path in a line of errors.
pub const LONGEST_PATH: usize = 2_000;

/// A step of the path to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep {
    /// The index of a field in the table of types.
    Field(u32),
    /// An index in a list, from 0.
    Index(u32),
    /// A key of a map with any keys; its place among [`Findings::keys`].
    Key(u32),
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// A type mismatch. The value is kept if it is [`Got::Other`], or if this is the only finding.
    Mismatch(Mismatch),
    /// Keys that a closed map must not have; they are kept as a list.
    Unexpected,
    /// The term given as a type is not a type.
    Unsupported,
    /// A value of the type that a rule refuses; the pair of the rule's key and value, and the value are kept.
    Rule,
    /// Elixir's negative answer to a question; its reason is kept.
    Answered,
}

/// One error.
#[derive(Debug, Clone, Copy)]
pub struct Finding {
    /// Its kind.
    pub wrong: Wrong,
    /// Whether it is in a firewalled field: no value from there may be shown.
    pub hidden: bool,
    /// Number of path steps before this finding, at most [`MOST_SEGMENTS`].
    steps: u32,
    /// Number of values kept before this finding, at most one for each.
    values: u32,
}

/// The findings of one walk.
#[derive(Debug)]
pub struct Findings<T> {
    all: Vec<Finding>,
    steps: Vec<PathStep>,
    values: Roots<T>,
    /// The keys in paths.
    keys: Vec<T>,
    /// Number of segments reported, including those of removed findings.
    segments: usize,
    /// Bytes of text that the findings to come can fill.
    room: usize,
    /// Number of findings that are counted and not kept.
    omitted: usize,
    /// Some message must show a value, or is about several keys.
    needs_values: bool,
}

/// There are too many findings to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

impl<T> Default for Findings<T> {
    fn default() -> Self {
        Findings {
            all: Vec::new(),
            steps: Vec::new(),
            values: Roots::default(),
            keys: Vec::new(),
            segments: 0,
            room: usize::MAX,
            omitted: 0,
            needs_values: false,
        }
    }
}

impl<T: Copy> Findings<T> {
    /// Findings of which those are kept that a text of this many bytes can show, and perhaps more. The
    /// others are counted.
    pub fn for_text(bytes: usize) -> Self {
        Findings {
            room: bytes,
            ..Findings::default()
        }
    }

    /// Returns the number of findings.
    #[inline]
    pub fn count(&self) -> usize {
        self.all.len() + self.omitted
    }

    /// Returns the number of findings that are not kept.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Returns the findings that are kept, in order.
    pub fn all(&self) -> &[Finding] {
        &self.all
    }

    /// Returns the path of a finding by its number.
    pub fn path(&self, number: usize) -> &[PathStep] {
        let start = self.all[number].steps as usize;
        let next = self.all.get(number + 1);
        &self.steps[start..next.map_or(self.steps.len(), |next| next.steps as usize)]
    }

    /// Returns the kept values of all findings, oldest first, each with the number of its finding.
    pub fn values<H: Heap<Term = T>>(&mut self, heap: &H) -> &[T] {
        self.values.since(0, heap)
    }

    /// Returns a key by its place in paths.
    pub fn key(&self, place: u32) -> T {
        self.keys[place as usize]
    }

    /// Keeps a key for a path.
    pub(super) fn add_key(&mut self, key: T) -> PathStep {
        self.keys.push(key);
        PathStep::Key(self.keys.len() as u32 - 1)
    }

    /// Returns the index of a finding's value in [`Findings::values`], if one was kept.
    pub fn value_at(&self, number: usize) -> Option<usize> {
        let at = self.all[number].values as usize;
        let next = self.all.get(number + 1);
        let end = next.map_or(self.values.len(), |next| next.values as usize);
        (at < end).then_some(at)
    }

    /// Returns whether some messages must show a value, or are about several keys.
    pub fn need_values(&self) -> bool {
        self.needs_values
    }

    pub(super) fn add(
        &mut self,
        wrong: Wrong,
        hidden: bool,
        path: impl Iterator<Item = PathStep>,
        value: Option<T>,
    ) -> Result<(), TooMany> {
        self.needs_values |= match wrong {
            Wrong::Mismatch(mismatch) => mismatch.got == Got::Other,
            _ => true,
        };
        if self.omitted > 0 {
            self.omitted += 1;
            return Ok(());
        }
        let steps = self.steps.len();
        let values = self.values.len();
        self.steps.extend(path);
        let text = LEAST_TEXT + (self.steps.len() - steps).min(LONGEST_PATH);
        if text > self.room {
            self.steps.truncate(steps);
            self.omitted = 1;
            return Ok(());
        }
        self.room -= text;
        if let Some(value) = value {
            self.values.push(value);
        }
        self.all.push(Finding {
            wrong,
            hidden,
            steps: steps as u32,
            values: values as u32,
        });
        self.report(1 + self.steps.len() - steps)
    }

    /// Counts the path segments that a message will show.
    pub(super) fn report(&mut self, segments: usize) -> Result<(), TooMany> {
        self.segments += segments;
        match self.segments > MOST_SEGMENTS {
            true => Err(TooMany),
            false => Ok(()),
        }
    }

    /// Removes all but the first `count` findings.
    pub(super) fn truncate<H: Heap<Term = T>>(&mut self, count: usize, heap: &H) {
        self.omitted = self.omitted.min(count.saturating_sub(self.all.len()));
        if let Some(first) = self.all.get(count) {
            self.steps.truncate(first.steps as usize);
            self.values.truncate(first.values as usize, heap);
            self.all.truncate(count);
        }
    }

    /// Takes the last finding that is kept, with its value; its path replaces the contents of `path`.
    pub fn pop<H: Heap<Term = T>>(
        &mut self,
        heap: &H,
        path: &mut Vec<PathStep>,
    ) -> Option<(Finding, Option<T>)> {
        let finding = self.all.pop()?;
        path.clear();
        path.extend(self.steps.drain(finding.steps as usize..));
        let has_value = self.values.len() > finding.values as usize;
        let value = has_value.then(|| self.values.pop(heap));
        Some((finding, value))
    }
}

impl<T> Rooted for Findings<T> {
    type Term = T;
    type With<U> = Findings<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Findings<X::Into>, X::Lost> {
        Ok(Findings {
            all: self.all,
            steps: self.steps,
            values: self.values.exchange(by)?,
            keys: by.all(self.keys)?,
            segments: self.segments,
            room: self.room,
            omitted: self.omitted,
            needs_values: self.needs_values,
        })
    }
}
