//! Frames: operations that have begun and have not ended.
//!
//! An operation with a body has a frame while its body runs. An evaluation has its work while it runs or is suspended.
//! An operation over a list keeps its state in these, and nowhere else.

use super::demanded::Demanded;
use super::groups::Groups;
use super::kinds::Kinds;
use super::order::Sorting;
use super::table::Table;
use super::tally::Tally;
use crate::fault::Halt;
use crate::program::Pc;
use ptc_term::digits::Digits;
use ptc_term::heap::Heap;
use ptc_term::roots::Roots;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_text::Ongoing;

/// What an operation with a body does next.
pub enum Step<T> {
    /// Run the body with this item.
    Call(T),
    /// End with this value.
    Done(T),
}

/// The next step of an operation with a body, or the reason why it has none.
pub type Stepped<H> = Result<Step<<H as Heap>::Term>, Halt<<H as Heap>::Term>>;

/// An operation with a body that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame<T> {
    /// The address of its instruction.
    pub at: Pc,
    /// The items for which its body has not run, and the one that decides what it is.
    pub walk: Walk<T>,
    /// How far it is.
    pub progress: Passed,
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

impl<T> Rooted for Frame<T> {
    type Term = T;
    type With<U> = Frame<U>;

    #[inline(always)]
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Frame<X::Into>, X::Lost> {
        Ok(Frame {
            at: self.at,
            walk: self.walk.exchange(by)?,
            progress: self.progress,
        })
    }
}

impl<T> Frame<T> {
    /// Starts an operation over a list.
    #[inline]
    pub fn over(list: T, at: Pc) -> Self {
        Frame {
            at,
            walk: Walk::over(list),
            progress: Passed::default(),
        }
    }
}

/// A walk over a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk<T> {
    /// The items not visited yet.
    pub rest: T,
    /// The item at which the walk has ended: one that is invalid, or that was searched for. It counts only if the list
    /// turns out to be proper.
    pub ended_at: Option<T>,
}

impl<T> Rooted for Walk<T> {
    type Term = T;
    type With<U> = Walk<U>;

    #[inline(always)]
    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Walk<X::Into>, X::Lost> {
        Ok(Walk {
            rest: by.term(self.rest)?,
            ended_at: by.optional(self.ended_at)?,
        })
    }
}

impl<T> Walk<T> {
    fn over(list: T) -> Self {
        Walk {
            rest: list,
            ended_at: None,
        }
    }
}

/// How far an evaluation is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Whether the first of two stages is over.
    pub second: bool,
    /// A number of items or operands.
    pub count: usize,
    /// The tally so far.
    pub tally: Option<Tally>,
    /// The hash table of a set, if there is one; it refers to the terms by index.
    pub table: Option<Box<Table>>,
    /// Whether the list has been searched for values.
    pub searched: bool,
    /// The kinds of values that the search found.
    pub kinds: Kinds,
    /// The state of a sort.
    pub sorting: Option<Box<Sorting>>,
    /// The groups of the items.
    pub groups: Option<Box<Groups>>,
    /// Work on a long text.
    pub text: Option<Box<Ongoing>>,
    /// A long integer that is read.
    pub digits: Option<Box<Digits>>,
}

/// An evaluation that has begun.
#[derive(Debug, Clone, PartialEq)]
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
    /// The rows that items are joined with.
    pub rows: Option<Box<Roots<T>>>,
    /// The operation's value while it is built from its end.
    pub made: Option<T>,
    /// Number of items that are missing at its start.
    pub missing: usize,
}

impl<T> Rooted for Work<T> {
    type Term = T;
    type With<U> = Work<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Work<X::Into>, X::Lost> {
        Ok(Work {
            progress: self.progress,
            walk: self.walk.exchange(by)?,
            found: by.optional(self.found)?,
            field: by.optional(self.field)?,
            rests: by.all(self.rests)?,
            items: self.items.exchange(by)?,
            keys: self.keys.exchange(by)?,
            rows: self.rows.exchange(by)?,
            made: by.optional(self.made)?,
            missing: self.missing,
        })
    }
}

impl<T> Work<T> {
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
            rows: None,
            made: None,
            missing: 0,
        }
    }
}
