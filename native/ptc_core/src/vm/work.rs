//! An evaluation over a list in the middle of it: what it needs to go on where it was left.
//!
//! Every operation over a list keeps its state here, and in nothing else. The plain part goes to
//! the checkpoint, the terms go to the caller together with those of the run.

use super::buffer::Buffer;
use crate::heap::Heap;
use crate::ops::{Sorting, Table, Tally};

/// A walk over a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk<T> {
    /// What has not been visited yet.
    pub rest: T,
    /// An item that is wrong, which counts only if the list turns out to be a proper one.
    pub wrong: Option<T>,
}

impl<T> Walk<T> {
    /// A walk from the start.
    pub fn over(list: T) -> Self {
        Walk {
            rest: list,
            wrong: None,
        }
    }
}

/// What an evaluation keeps besides terms.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Progress {
    /// Whether the first of two stages is over.
    pub second: bool,
    /// How many items, operands, …
    pub count: usize,
    /// What was counted so far.
    pub tally: Option<Tally>,
    /// Where the terms of a set stand.
    pub table: Table,
    /// How far a sort has come.
    pub sorting: Option<Box<Sorting>>,
}

/// An evaluation in the middle of it.
#[derive(Debug)]
pub(crate) struct Work<T> {
    pub progress: Progress,
    pub walk: Walk<T>,
    /// What the operation is looking for: an item and its field.
    pub best: Option<(T, T)>,
    /// A few terms more.
    pub rests: Vec<T>,
    /// What goes into the operation's value.
    pub items: Buffer<T>,
    /// The terms of a set, or those to sort by.
    pub keys: Buffer<T>,
    /// The operation's value while it is made from its end: the list, and how many items are missing.
    pub made: Option<(T, usize)>,
}

/// What is left of an evaluation less its terms.
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
    /// An evaluation that starts, over a list.
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

    /// Takes it apart; [`Work::thaw`] puts it together again.
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

    /// The evaluation; `None` if these are not its terms.
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
