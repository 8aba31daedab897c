//! Operations with a body: the frames around the program counter, and operations that collect items.

use crate::demanded::Demanded;
use crate::execute::Execute;
use crate::frame::{Frame, Step, Stepped};
use crate::machine::{HaltOf, Machine};
use crate::program::{Loop, Pc, NO_CONST, NO_PC};
use crate::run::Vm;
use ptc_kernels::{Tally, LIST_BATCH};
use ptc_term::heap::Heap;

impl<H: Heap, L: Execute> Vm<'_, H, L> {
    /// Returns the list of a loop that may fork; `None` if it is empty, or if the body forks for its only item.
    pub(super) fn list_to_fork(
        &mut self,
        looped: &Loop<L>,
    ) -> Result<Option<H::Term>, HaltOf<H, L>> {
        let list = self.machine.slot(looped.list);
        if !self.machine.is_proper_list(list)? {
            return Err(self.machine.not_a_list(looped.op, list));
        }
        // Of one item, the branches of the body may run at the same time.
        let Some((_, rest)) = self.machine.heap.uncons(list) else {
            return Ok(None);
        };
        let is_only = self.machine.heap.is_empty_list(rest);
        let has_branches = || self.program.has_branches(self.pc..looped.end);
        Ok((!is_only || !has_branches()).then_some(list))
    }

    /// Begins an operation with a body; returns the next address.
    pub(super) fn enter(&mut self, looped: &Loop<L>) -> Result<Pc, HaltOf<H, L>> {
        let machine = &mut self.machine;
        let list = machine.slot(looped.list);
        // A tool must not be called for a list that turns out to be improper.
        if self.program.calls_tools && !machine.is_proper_list(list)? {
            return Err(machine.not_a_list(looped.op, list));
        }
        let mut frame = Frame::over(list, self.pc);
        match L::step(machine, looped, &mut frame, None)? {
            Step::Call(item) => {
                machine.slots[looped.item as usize] = item;
                self.frames.push(frame);
                Ok(self.pc + 1)
            }
            Step::Done(value) => {
                machine.stack.push(value);
                self.turn.ended(self.program, self.pc);
                Ok(looped.end)
            }
        }
    }

    /// Passes the body's value to the operation of the innermost frame; returns the next address. `None`
    /// at the end of a round, whose operation is elsewhere.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Pc>, HaltOf<H, L>> {
        let (machine, program) = (&mut self.machine, self.program);
        let frame = self.frames.last_mut();
        let looped = |frame: &Frame<_>| program.code[frame.at as usize].as_loop();
        let Some((looped, frame)) = frame.and_then(|frame| Some((looped(frame)?, frame))) else {
            self.is_broken |= !self.is_round;
            return Ok(None);
        };
        let returned = match &frame.progress {
            progress if progress.second => None,
            progress if progress.skipping => Some(machine.slot(looped.item)),
            _ => {
                if let Some(values) = machine.stack.needs_room() {
                    machine.consume_fuel(values)?;
                }
                Some(machine.pop())
            }
        };
        match L::step(machine, looped, frame, returned) {
            Ok(Step::Call(item)) => {
                machine.slots[looped.item as usize] = item;
                self.turn.next(frame.at);
                Ok(Some(match frame.progress.skipping {
                    true => looped.residue,
                    false => frame.at + 1,
                }))
            }
            Ok(Step::Done(value)) => {
                self.turn.ended(program, frame.at);
                self.frames.pop();
                machine.stack.push(value);
                Ok(Some(looped.end))
            }
            Err(halt) => {
                if let (Some(value), false, false) =
                    (returned, frame.progress.second, frame.progress.skipping)
                {
                    machine.stack.push(value);
                }
                Err(halt)
            }
        }
    }
}

/// What an operation with a body keeps of each item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// The value of the body.
    Value,
    /// The item, if this is the truth of the body's value.
    Item(bool),
    /// Something else.
    Other,
}

impl<H: Heap, L: Execute> Machine<'_, H, L> {
    /// The step of an operation that makes a list, or a tally, of items or of its body's values.
    #[inline(always)]
    pub fn collect(
        &mut self,
        looped: &Loop<L>,
        frame: &mut Frame<H::Term>,
        returned: Option<H::Term>,
        keeps: Keeps,
    ) -> Stepped<H, L> {
        if frame.progress.second {
            return self.collected(looped, frame);
        }
        let following = self.following(looped, frame)?;
        match returned {
            Some(value) => self.collect_value(looped, frame, value, keeps)?,
            None => self.begin_to_collect(looped, frame)?,
        }
        let Some((item, rest)) = following else {
            frame.progress.second = true;
            return self.collected(looped, frame);
        };
        frame.walk.rest = rest;
        // With the first item, the whole body runs.
        if looped.residue != NO_PC && returned.is_some() {
            let last = self.heap.uncons(rest).is_none();
            let progress = &mut frame.progress;
            progress.skipping = !progress.demanded.holds(progress.count, last);
        }
        Ok(Step::Call(item))
    }

    #[cold]
    fn begin_to_collect(
        &mut self,
        looped: &Loop<L>,
        frame: &mut Frame<H::Term>,
    ) -> Result<(), HaltOf<H, L>> {
        frame.progress.demanded = Demanded::of(looped.demand, self)?;
        frame.progress.tally = looped.tally.and_then(|(op, _)| L::tally(op));
        Ok(())
    }

    /// Takes a value of the body, unless it halts.
    #[inline(always)]
    fn collect_value(
        &mut self,
        looped: &Loop<L>,
        frame: &mut Frame<H::Term>,
        value: H::Term,
        keeps: Keeps,
    ) -> Result<(), HaltOf<H, L>> {
        let progress = &mut frame.progress;
        self.check_heap_limit(2 * progress.collected)?;
        let kept = match keeps {
            Keeps::Value => value,
            Keeps::Item(truth) if self.heap.truthy(value) == truth => self.slot(looped.item),
            Keeps::Item(_) | Keeps::Other => return Ok(()),
        };
        match &mut progress.tally {
            Some(Tally::Count(count)) => *count += 1,
            // An item that cannot be added is an error at the end of the list, because the original
            // program tallies the list only then. It is added again there.
            Some(_) if frame.walk.ended_at.is_some() => {}
            Some(tally) => {
                if !self.add_to_tally(looped, tally, kept)? {
                    frame.walk.ended_at = Some(kept);
                }
            }
            None => {
                if progress.demanded == Demanded::Last && progress.collected == 1 {
                    self.drop_top(1);
                    progress.collected = 0;
                }
                if progress.count < progress.demanded.end() {
                    self.stack.push(kept);
                    progress.collected += 1;
                }
            }
        }
        progress.count += 1;
        Ok(())
    }

    /// Adds an item to the tally of a loop; returns whether that was possible. Stands here once, so that
    /// [`Tally::add`] is inlined.
    #[inline(never)]
    fn add_to_tally(
        &mut self,
        looped: &Loop<L>,
        tally: &mut Tally,
        item: H::Term,
    ) -> Result<bool, HaltOf<H, L>> {
        tally.count_cost(self)?;
        let field = looped.tally.map_or(NO_CONST, |(_, field)| field);
        Ok(tally.add(self, field, item)?.is_ok())
    }

    /// Ends the operation with the tally, or with the list of the values on the stack.
    fn collected(&mut self, looped: &Loop<L>, frame: &mut Frame<H::Term>) -> Stepped<H, L> {
        let progress = &mut frame.progress;
        if let (Some(tally), Some(of)) = (&mut progress.tally, looped.tally) {
            return match tally.finish(self, of.1, frame.walk.ended_at)? {
                Ok(value) => Ok(Step::Done(value)),
                Err(wrong) => Err(self.wrong(of.0, wrong)),
            };
        }
        while progress.collected > 0 {
            let batch = progress.collected.min(LIST_BATCH);
            self.consume_fuel(batch)?;
            // What is left of the operation's list is an empty list.
            frame.walk.rest = self.list_of_top(batch, frame.walk.rest);
            self.drop_top(batch);
            progress.collected -= batch;
            self.meter.advanced();
        }
        Ok(Step::Done(frame.walk.rest))
    }
}
