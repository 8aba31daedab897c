//! The suspended state of an evaluation over a list.
//!
//! Every operation over a list keeps its state here, and nowhere else. The plain part goes to
//! the checkpoint; the terms go to the caller together with those of the run.

use super::buffer::Buffer;
use super::kinds::Kinds;
use crate::heap::Heap;
use crate::ops::{Sorting, Table, Tally};

/// A walk over a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk<T> {
    /// The items not visited yet.
    pub rest: T,
    /// An invalid item, which counts only if the list turns out to be proper.
    pub wrong: Option<T>,
}

impl<T> Walk<T> {
    /// Creates a walk at the start of the list.
    pub fn over(list: T) -> Self {
        Walk {
            rest: list,
            wrong: None,
        }
    }
}

/// The state of an evaluation without its terms.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Progress {
    /// Whether the first of two stages is over.
    pub second: bool,
    /// A number of items or operands.
    pub count: usize,
    /// The tally so far.
    pub tally: Option<Tally>,
    /// The hash table of a set; it refers to the terms by index.
    pub table: Table,
    /// Whether the list has been searched for values.
    pub searched: bool,
    /// The kinds of values that the search found.
    pub kinds: Kinds,
    /// The state of a sort.
    pub sorting: Option<Box<Sorting>>,
}

/// An evaluation that has begun.
#[derive(Debug)]
pub(crate) struct Work<T> {
    pub progress: Progress,
    pub walk: Walk<T>,
    /// The best item so far and its field.
    pub best: Option<(T, T)>,
    /// Further terms.
    pub rests: Vec<T>,
    /// The items of the operation's value.
    pub items: Buffer<T>,
    /// The terms of a set, or the sort keys.
    pub keys: Buffer<T>,
    /// The operation's value while it is built from its end: the list, and the number of missing
    /// items.
    pub made: Option<(T, usize)>,
}

/// Suspended work without its terms.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outline {
    progress: Progress,
    wrong: bool,
    best: bool,
    rests: usize,
    items: usize,
    keys: usize,
    missing: Option<usize>,
}

impl<T: Copy> Work<T> {
    /// Starts an evaluation over a list.
    #[inline]
    pub fn over(list: T) -> Self {
        Work {
            progress: Progress::default(),
            walk: Walk::over(list),
            best: None,
            rests: Vec::new(),
            items: Buffer::default(),
            keys: Buffer::default(),
            made: None,
        }
    }

    /// Takes the work apart; [`Work::thaw`] rebuilds it.
    pub fn freeze<H: Heap<Term = T>>(self, heap: &mut H) -> (Outline, Vec<T>) {
        let mut terms = vec![self.walk.rest];
        terms.extend(self.walk.wrong);
        terms.extend(self.best.iter().flat_map(|(item, field)| [*item, *field]));
        terms.extend(self.made.map(|(list, _)| list));
        terms.extend(&self.rests);
        let outline = Outline {
            progress: self.progress,
            wrong: self.walk.wrong.is_some(),
            best: self.best.is_some(),
            rests: self.rests.len(),
            items: self.items.freeze(heap, &mut terms),
            keys: self.keys.freeze(heap, &mut terms),
            missing: self.made.map(|(_, missing)| missing),
        };
        (outline, terms)
    }

    /// Rebuilds the work; `None` if the terms do not fit the outline.
    pub fn thaw<H: Heap<Term = T>>(heap: &H, outline: Outline, terms: &[T]) -> Option<Self> {
        let mut terms = terms.iter().copied();
        let rest = terms.next()?;
        let wrong = match outline.wrong {
            true => Some(terms.next()?),
            false => None,
        };
        let best = match outline.best {
            true => Some((terms.next()?, terms.next()?)),
            false => None,
        };
        let made = match outline.missing {
            Some(missing) => Some((terms.next()?, missing)),
            None => None,
        };
        let rests: Vec<T> = terms.by_ref().take(outline.rests).collect();
        let work = Work {
            progress: outline.progress,
            walk: Walk { rest, wrong },
            best,
            made,
            items: Buffer::thaw(heap, outline.items, &mut terms)?,
            keys: Buffer::thaw(heap, outline.keys, &mut terms)?,
            rests,
        };
        (work.rests.len() == outline.rests && terms.next().is_none()).then_some(work)
    }
}
