//! How far a run can go without the answer to a call: to the address at which something reads the answer, or could read it.
//!
//! Until then the answer stays on the stack: in a part of an object or list that is being built, or among the values that a loop keeps. So the
//! calls before that address do not depend on it.

use crate::activations::Returning;
use crate::execute::Execute;
use crate::frame::Frame;
use crate::program::{Branches, Instr, Pc, Program, NO_PC};
use crate::state::State;
use crate::turn::Turn;

/// Maximum number of instructions that are looked at.
const MOST: usize = 10_000;

impl<L: Execute, T: Copy> State<L, T> {
    /// Returns the state, at a call, as a run of its own that goes on without the answer, and ends where something could read it. A run that goes
    /// through a loop or through branches in turn does not leave its iteration or its branch. `None` if functions have been called.
    pub fn unanswered(mut self, program: &Program<L>) -> Option<Self> {
        let is_inside = (self.activations.as_ref()).is_some_and(|it| {
            !it.callers.is_empty() || !it.handlers.is_empty() || it.returning != Returning::Nothing
        });
        if is_inside {
            return None;
        }
        let unread = Unread {
            program,
            turn: self.turn,
            ends: (self.ends_at, self.ends_in as usize),
            frames: &self.frames,
            around: program.branches_around(self.pc),
            above: 0,
        };
        let end = match program.calls_on_error(self.pc) {
            true => None,
            false => unread.end(self.pc),
        };
        let (ends_at, ends_in) = end.unwrap_or((self.pc, self.frames.len()));
        self.ends_at = ends_at;
        self.ends_in = u32::try_from(ends_in).ok()?;
        self.is_round = true;
        self.turn = Turn::default();
        Some(self)
    }
}

impl<L: Execute> Program<L> {
    /// Returns whether the calls that follow a call, which ends before this address, depend on whether its tool fails: other tools are called then.
    fn calls_on_error(&self, pc: Pc) -> bool {
        let call = (pc.checked_sub(1)).and_then(|at| self.code.get(at as usize));
        let Some(Instr::Call { on_error, .. }) = call else {
            return true;
        };
        let is_call = |instr: &Instr<L>| matches!(instr, Instr::Call { .. });
        match self.code.get(pc as usize) {
            _ if *on_error == NO_PC => false,
            // What gives the value if it fails ends where the run goes on otherwise.
            Some(Instr::Jump(end)) => {
                let instead = self.code.get(*on_error as usize..*end as usize);
                instead.is_none_or(|code| code.iter().any(is_call))
            }
            _ => true,
        }
    }
}

/// A walk over the instructions behind a call.
struct Unread<'p, L: Execute, T> {
    program: &'p Program<L>,
    turn: Turn,
    /// Where the run ends, if it is a branch or goes on without an answer already.
    ends: (Pc, usize),
    /// The operations with a body around the instruction.
    frames: &'p [Frame<T>],
    /// The branches around the instruction, the outermost first.
    around: Vec<&'p Branches>,
    /// Number of values on the stack above the answer, or above what was built of it.
    above: u32,
}

impl<L: Execute, T> Unread<'_, L, T> {
    /// Returns the first address at which the answer could be read, and how many operations with a body are around it. `None` if it is too far
    /// away.
    fn end(mut self, mut pc: Pc) -> Option<(Pc, usize)> {
        for _ in 0..MOST {
            match self.behind(pc) {
                Some(next) if next > pc => pc = next,
                _ => return Some((pc, self.frames.len())),
            }
        }
        None
    }

    /// Returns the address that follows an instruction which does not read the answer.
    fn behind(&mut self, pc: Pc) -> Option<Pc> {
        if self.is_end_of_turn(pc) || self.ends == (pc, self.frames.len()) {
            return None;
        }
        // Other parts push their values, whatever they do.
        if let Some((end, count)) = self.parts_at(pc) {
            self.above = self.above.checked_add(u32::try_from(count).ok()?)?;
            return Some(end);
        }
        match self.program.code.get(pc as usize)? {
            Instr::Const(_)
            | Instr::Nil
            | Instr::Bool(_)
            | Instr::Slot(_)
            | Instr::LoadContext(_)
            | Instr::LoadMemory(_) => self.above += 1,
            Instr::Store(_) | Instr::StoreOnce(_) | Instr::Drop => {
                self.above = self.above.checked_sub(1)?;
            }
            // It pops its arguments, and pushes its answer.
            Instr::Call { .. } if self.above > 0 => {}
            Instr::Apply(apply) => match self.above.checked_sub(apply.operands) {
                Some(above) => self.above = above + 1,
                None if L::only_builds(apply.op) => self.above = 0,
                None => return None,
            },
            Instr::Jump(to) => return Some(*to),
            Instr::Enter(looped) => {
                self.above += 1;
                return Some(looped.end);
            }
            Instr::Next(at) => return self.kept(*at),
            _ => return None,
        }
        Some(pc + 1)
    }

    /// Returns the address behind the part, or all parts, of an object or list that begin at an address, and how many they are.
    fn parts_at(&mut self, pc: Pc) -> Option<(Pc, usize)> {
        while self.around.last().is_some_and(|it| it.end <= pc) {
            self.around.pop();
        }
        let around = self.around.last();
        match around.map(|it| (it, it.starts.binary_search(&pc))) {
            Some((it, Ok(index))) => Some((it.end_of(index), 1)),
            _ => {
                let branches = self.program.branches_at(pc)?;
                Some((branches.end, branches.starts.len()))
            }
        }
    }

    /// Returns the address behind a loop that only keeps the values of its body.
    fn kept(&mut self, at: Pc) -> Option<Pc> {
        let (frame, around) = self.frames.split_last()?;
        let looped = self.program.code.get(at as usize)?.as_loop()?;
        let is_turn = self.turn.at() == Some(at) && self.program.branches_at(at).is_none();
        let keeps = frame.at == at && looped.residue == NO_PC && L::collects(looped.op);
        // The value of a tally is made of what is kept.
        (keeps && !is_turn && looped.tally.is_none()).then_some(())?;
        self.frames = around;
        Some(looped.end)
    }

    /// Returns whether an address is that behind a branch that runs in turn.
    fn is_end_of_turn(&self, pc: Pc) -> bool {
        let branches = self.turn.at().and_then(|at| self.program.branches_at(at));
        branches.is_some_and(|it| it.starts.binary_search(&pc).is_ok() || it.end == pc)
    }
}
