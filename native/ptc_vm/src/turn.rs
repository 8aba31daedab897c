//! Iterations of a loop, or branches, that could run concurrently and that the run itself runs one after another.

use crate::language::Language;
use crate::program::{Pc, Program, NO_PC};

/// Where the loop or the branches are that run in turn, and how far they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The address at which they begin, or [`NO_PC`].
    at: Pc,
    /// The number of the iteration of the loop.
    round: u32,
}

impl Default for Turn {
    fn default() -> Self {
        Turn::new(NO_PC)
    }
}

impl Turn {
    /// The start of what begins at an address.
    pub fn new(at: Pc) -> Self {
        Turn { at, round: 0 }
    }

    /// Returns the address at which it begins; `None` if nothing runs in turn.
    #[inline]
    pub fn at(&self) -> Option<Pc> {
        (self.at != NO_PC).then_some(self.at)
    }

    /// Notes that the loop at an address begins its next iteration.
    #[inline(always)]
    pub fn next(&mut self, at: Pc) {
        if at == self.at {
            self.round += 1;
        }
    }

    /// Notes that the loop at an address has ended. Branches may begin with a loop, and go on after it.
    #[inline(always)]
    pub fn ended<L: Language>(&mut self, program: &Program<L>, at: Pc) {
        if at == self.at && program.branches_at(at).is_none() {
            *self = Turn::default();
        }
    }

    /// Notes that the run is at an address, which may be that behind the branches.
    pub fn reached<L: Language>(&mut self, program: &Program<L>, pc: Pc) {
        let branches = self.at().and_then(|at| program.branches_at(at));
        if branches.is_some_and(|it| it.end == pc) {
            *self = Turn::default();
        }
    }

    /// Returns the number of the iteration, or of the branch, that has the code at an address; `None` if nothing runs in turn.
    pub fn number<L: Language>(&self, program: &Program<L>, pc: Pc) -> Option<u32> {
        let at = self.at()?;
        match program.branches_at(at) {
            Some(branches) => {
                let begun = branches.starts.partition_point(|start| *start <= pc);
                u32::try_from(begun.saturating_sub(1)).ok()
            }
            None => Some(self.round),
        }
    }
}
