//! Where an execution stands, for who drives it and for the instructions of a language.

use crate::activations::Returning;
use crate::execute::Execute;
use crate::program::{Instr, Pc, NO_PC};
use crate::run::Vm;
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter};

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Returns the address of the current instruction.
    #[inline]
    pub fn pc(&self) -> Pc {
        self.pc
    }

    /// Returns the number of the iteration, or of the branch, whose call has just stopped the run, if these run in turn.
    pub fn turn(&self) -> Option<u32> {
        self.turn.number(self.program, self.pc.checked_sub(1)?)
    }

    /// Returns the terms that the program reads: the context and the environment.
    pub fn data(&self) -> (H::Term, H::Term) {
        (self.context, self.environment)
    }

    /// Returns whether the program was given a value to start with.
    pub fn has_input(&self) -> bool {
        self.has_input
    }

    /// Returns whether the run is one iteration of a loop, or one of the calls of a built-in, see [`State::round`](crate::State::round).
    pub fn is_round(&self) -> bool {
        self.is_round
    }

    /// Returns whether the terms that the run was resumed with have turned out not to be its
    /// own.
    pub fn is_broken(&self) -> bool {
        self.is_broken
            || self.machine.stack.is_broken()
            || self.machine.slots.is_broken()
            || self.built_ins.is_broken()
    }

    /// Returns whether the only remaining step is to return the next value.
    pub fn is_at_end(&self) -> bool {
        self.frames.is_empty()
            && self.callers.is_empty()
            && self.handlers.is_empty()
            && self.returning == Returning::Nothing
            && self.machine.stack.is_empty()
            && match self.program.code.get(self.pc as usize) {
                Some(Instr::Done) => true,
                Some(Instr::Next(_)) => self.is_round,
                _ => self.is_round && self.pc == self.ends_at,
            }
    }

    /// Returns whether the answer to the call at which the run has just stopped is only kept by the loop around it, and more
    /// rounds follow that run the same code. So the calls of these rounds do not depend on the answer.
    pub fn only_collects(&self) -> bool {
        let is_quiet = self.watch.is_none() && self.returning == Returning::Nothing;
        if is_quiet && L::collects_answer(&self.program.code, self.pc).is_some() {
            return true;
        }
        let is_last = matches!(
            self.program.code.get(self.pc as usize),
            Some(Instr::Next(_))
        );
        let frame = self
            .frames
            .last()
            .filter(|_| is_last && self.watch.is_none());
        let looped = frame.and_then(|it| self.program.code.get(it.at as usize)?.as_loop());
        let same_code = looped.is_some_and(|it| it.residue == NO_PC && L::collects(it.op));
        let more = frame.is_some_and(|it| self.machine.heap.uncons(it.walk.rest).is_some());
        same_code && more && self.returning == Returning::Nothing
    }

    /// Returns whether a handler is in force, which may catch the error of a tool.
    pub fn catches(&self) -> bool {
        !self.handlers.is_empty()
    }

    /// Returns whether the next step cannot be interrupted and is known to take longer than a
    /// slice.
    pub fn needs_quantum(&self) -> bool {
        self.machine.meter.needs_quantum()
    }

    /// Returns the limits, with the running clock of the deadline.
    pub fn limits(&self) -> Limits {
        self.machine.meter.limits
    }

    /// The meter, which may be exchanged for another one when the execution has ended.
    pub fn meter(&mut self) -> &mut Meter {
        &mut self.machine.meter
    }

    /// Returns the fuel consumed by this execution.
    pub fn fuel_consumed(&self) -> usize {
        self.machine.meter.fuel_consumed()
    }

    /// Returns how much of a scheduler's time slice has been used, in per cent.
    pub fn percent_of_slice(&self) -> i32 {
        self.machine.meter.percent_of_slice()
    }
}
