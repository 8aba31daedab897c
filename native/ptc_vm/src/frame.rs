//! Frames: operations with a body that have begun and have not ended.

use crate::demanded::Demanded;
use crate::machine::HaltOf;
use crate::program::Pc;
use ptc_kernels::{Tally, Walk};
use ptc_term::heap::Heap;
use ptc_term::suspend::{Exchange, Rooted};

/// What an operation with a body does next.
pub enum Step<T> {
    /// Run the body with this item.
    Call(T),
    /// End with this value.
    Done(T),
}

/// The next step of an operation with a body, or the reason why it has none.
pub type Stepped<H, L> = Result<Step<<H as Heap>::Term>, HaltOf<H, L>>;

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
