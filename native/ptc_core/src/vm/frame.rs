//! Frames: operations that have begun and have not ended.
//!
//! An operation with a body has a frame while its body runs; an evaluation has one while it is suspended.
//! An operation over a list keeps its state in its frame, and nowhere else. The plain part goes to the
//! checkpoint; the terms go to the caller together with those of the run.

use super::demanded::Demanded;
use super::kinds::Kinds;
use super::order::Sorting;
use super::table::Table;
use super::tally::Tally;
use crate::fault::Halt;
use crate::heap::Heap;
use crate::program::Pc;
use crate::roots::Roots;

/// What an operation with a body does next.
pub enum Step<T> {
    /// Run the body with this item.
    Call(T),
    /// End with this value.
    Done(T),
}

/// The next step of an operation with a body, or the reason why it has none.
pub type Stepped<H> = Result<Step<<H as Heap>::Term>, Halt<<H as Heap>::Term>>;

/// An operation that has begun.
#[derive(Debug)]
pub struct Frame<T> {
    /// The address of its instruction.
    pub at: Pc,
    /// The items for which its body has not run, and the first one that it cannot use.
    pub walk: Walk<T>,
    /// How far it is.
    pub progress: Passed,
    /// The state of an evaluation.
    pub work: Option<Box<Work<T>>>,
}

/// How far an operation with a body is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Passed {
    /// Whether its body runs no more.
    pub second: bool,
    /// The value for the item is not read, and the residue is run instead of the body.
    pub skipping: bool,
    /// The indices of its value that the program reads.
    pub demanded: Demanded,
    /// Number of items, or values of the body, that it has kept.
    pub count: usize,
    /// Number of values on the stack that it has collected.
    pub collected: usize,
    /// The tally so far, if it tallies what it keeps.
    pub tally: Option<Tally>,
}

/// A frame without its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    pub at: Pc,
    wrong: bool,
    progress: Passed,
    work: Option<Box<OutlineOfWork>>,
}

impl<T: Copy> Frame<T> {
    /// Starts an operation over a list.
    #[inline]
    pub fn over(list: T, at: Pc) -> Self {
        Frame {
            at,
            walk: Walk::over(list),
            progress: Passed::default(),
            work: None,
        }
    }

    /// Takes the frame apart and adds its terms to `terms`, the rest of its list first; [`Frame::thaw`]
    /// rebuilds it.
    pub fn freeze<H: Heap<Term = T>>(self, heap: &mut H, terms: &mut Vec<T>) -> Outline {
        terms.push(self.walk.rest);
        terms.extend(self.walk.wrong);
        Outline {
            at: self.at,
            wrong: self.walk.wrong.is_some(),
            progress: self.progress,
            work: self.work.map(|work| Box::new(work.freeze(heap, terms))),
        }
    }

    /// Rebuilds the frame from the next terms; `None` if there are too few or they do not fit.
    pub fn thaw<H: Heap<Term = T>>(
        heap: &H,
        outline: Outline,
        terms: &mut impl Iterator<Item = T>,
    ) -> Option<Self> {
        let rest = terms.next()?;
        let wrong = match outline.wrong {
            true => Some(terms.next()?),
            false => None,
        };
        let work = match outline.work {
            Some(outline) => Some(Box::new(Work::thaw(heap, *outline, terms)?)),
            None => None,
        };
        Some(Frame {
            at: outline.at,
            walk: Walk { rest, wrong },
            progress: outline.progress,
            work,
        })
    }
}

/// A walk over a list.
#[derive(Debug, Clone, Copy)]
pub struct Walk<T> {
    /// The items not visited yet.
    pub rest: T,
    /// An invalid item, which counts only if the list turns out to be proper.
    pub wrong: Option<T>,
}

impl<T> Walk<T> {
    fn over(list: T) -> Self {
        Walk {
            rest: list,
            wrong: None,
        }
    }
}

/// The state of an evaluation without its terms.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
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
pub struct Work<T> {
    /// How far it is.
    pub progress: Progress,
    /// The items that are not visited yet.
    pub walk: Walk<T>,
    /// The item that has been found so far.
    pub found: Option<T>,
    /// The field by which it was found.
    pub field: Option<T>,
    /// Further terms.
    pub rests: Vec<T>,
    /// The items of the operation's value.
    pub items: Roots<T>,
    /// The terms of a set, or the sort keys.
    pub keys: Roots<T>,
    /// The operation's value while it is built from its end: the list, and the number of missing
    /// items.
    pub made: Option<(T, usize)>,
}

/// Work without its terms.
#[derive(Debug, Clone, PartialEq)]
struct OutlineOfWork {
    progress: Progress,
    /// Which of the terms there are that it may have.
    has: [bool; 4],
    rests: usize,
    items: usize,
    keys: usize,
    missing: usize,
}

impl<T: Copy> Work<T> {
    /// Starts an evaluation over a list.
    #[inline]
    pub fn over(list: T) -> Self {
        Work {
            progress: Progress::default(),
            walk: Walk::over(list),
            found: None,
            field: None,
            rests: Vec::new(),
            items: Roots::default(),
            keys: Roots::default(),
            made: None,
        }
    }

    fn freeze<H: Heap<Term = T>>(self, heap: &mut H, terms: &mut Vec<T>) -> OutlineOfWork {
        let made = self.made.map(|(list, _)| list);
        let optional = [self.walk.wrong, self.found, self.field, made];
        terms.push(self.walk.rest);
        terms.extend(optional.iter().flatten());
        terms.extend(&self.rests);
        OutlineOfWork {
            progress: self.progress,
            has: optional.map(|term| term.is_some()),
            rests: self.rests.len(),
            items: self.items.freeze(heap, terms),
            keys: self.keys.freeze(heap, terms),
            missing: self.made.map_or(0, |(_, missing)| missing),
        }
    }

    fn thaw<H: Heap<Term = T>>(
        heap: &H,
        outline: OutlineOfWork,
        terms: &mut impl Iterator<Item = T>,
    ) -> Option<Self> {
        let rest = terms.next()?;
        let mut optional = [None; 4];
        for (term, has) in optional.iter_mut().zip(outline.has) {
            *term = match has {
                true => Some(terms.next()?),
                false => None,
            };
        }
        let [wrong, found, field, made] = optional;
        let rests: Vec<T> = terms.take(outline.rests).collect();
        (rests.len() == outline.rests).then_some(())?;
        Some(Work {
            progress: outline.progress,
            walk: Walk { rest, wrong },
            found,
            field,
            made: made.map(|list| (list, outline.missing)),
            rests,
            items: Roots::thaw(heap, outline.items, terms)?,
            keys: Roots::thaw(heap, outline.keys, terms)?,
        })
    }
}
