//! How long a walk may hold its scheduler.

use crate::raw::{Raw, Terms};

/// Why a walk ends before its end.
pub enum Stop {
    /// It is too long for a scheduler's own thread, or nobody waits for it any more.
    Busy,
    /// A term in the place of a type, by its number.
    Unknown(u32),
    /// There is more to report than anybody can read, or keep in memory.
    TooMuch,
    /// The value cannot be coerced; the walk knows why.
    Failed,
}

/// About 3 ns of work each: half a millisecond, or one on a slow machine.
const STEPS_IN_A_SLICE: i64 = 160_000;
/// Between two looks at whether the caller is still there.
const STEPS_BETWEEN_LOOKS: i64 = 1 << 20;
/// From here on a walk remembers what it has seen: no value takes so long unless its parts are
/// shared over and over.
const STEPS_BEFORE_MEMORY: i64 = 1 << 27;

/// Where the walk runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// On a scheduler's own thread, for so many steps.
    Slice,
    /// On a dirty scheduler, for as long as it takes.
    Whole,
}

/// The steps that are left.
pub struct Budget {
    pace: Pace,
    left: i64,
    looks: i64,
}

impl Budget {
    pub fn new(pace: Pace) -> Self {
        let left = match pace {
            Pace::Slice => STEPS_IN_A_SLICE,
            Pace::Whole => STEPS_BETWEEN_LOOKS,
        };
        Budget {
            pace,
            left,
            looks: 0,
        }
    }

    #[inline]
    pub fn spend(&mut self, terms: Terms, steps: usize) -> Result<(), Stop> {
        self.left -= steps as i64;
        match self.left < 0 {
            false => Ok(()),
            true => self.look(terms),
        }
    }

    #[cold]
    fn look(&mut self, terms: Terms) -> Result<(), Stop> {
        if self.pace == Pace::Slice || !terms.caller_is_alive() {
            return Err(Stop::Busy);
        }
        self.looks += 1;
        self.left = STEPS_BETWEEN_LOOKS;
        Ok(())
    }

    pub fn left(&self) -> i64 {
        self.left
    }

    /// It is time to remember what was seen.
    #[inline]
    pub fn is_endless(&self) -> bool {
        self.looks > STEPS_BEFORE_MEMORY / STEPS_BETWEEN_LOOKS
    }

    /// Gives up early on a list that is too long for the slice, to judge by its first elements.
    #[cold]
    pub fn foresee<'a>(
        &self,
        terms: Terms<'a>,
        begun: i64,
        taken: i64,
        rest: Raw<'a>,
    ) -> Result<(), Stop> {
        if self.pace == Pace::Whole {
            return Ok(());
        }
        let used = (begun - self.left).max(taken);
        let (mut rest, mut more) = (rest, self.left * taken / used);
        while let Some((_, tail)) = terms.uncons(rest) {
            if more == 0 {
                return Err(Stop::Busy);
            }
            (rest, more) = (tail, more - 1);
        }
        Ok(())
    }

    /// Charges the caller for a slice.
    pub fn settle(&self, terms: Terms) {
        let used = STEPS_IN_A_SLICE - self.left;
        let percent = (used * 50 / STEPS_IN_A_SLICE).clamp(0, 100);
        if self.pace == Pace::Slice && percent > 0 {
            rustler::schedule::consume_timeslice(terms.env, percent as i32);
        }
    }
}
