//! Loops over a list: iteration, collected values and tallies.

use super::checkpoint::Running;
use super::machine::LIST_BATCH;
use super::places::Places;
use super::run::Vm;
use crate::fault::Halt;
use crate::heap::Heap;
use crate::ops::{Tally, Wrong};
use crate::program::{Loop, LoopKind, Pc, NO_PC};

impl<H: Heap> Vm<'_, H> {
    /// Returns the list of a loop that may fork; `None` if it is empty.
    pub(super) fn list_to_fork(&mut self, enter: &Loop) -> Result<Option<H::Term>, Halt<H::Term>> {
        let list = self.machine.slot(enter.list);
        if !self.machine.is_proper_list(list)? {
            return Err(self.machine.not_a_list(enter.kind.op(), list));
        }
        let is_empty = self.machine.heap.is_empty_list(list);
        Ok((!is_empty).then_some(list))
    }

    /// Prepares the first iteration; returns false, with the empty list as the value, if there
    /// is none.
    pub(super) fn enter(&mut self, enter: &Loop) -> Result<bool, Halt<H::Term>> {
        let machine = &mut self.machine;
        let list = machine.slot(enter.list);
        let places = machine.places(enter.demand)?;
        // A tool must not be called for a list that turns out to be improper.
        if self.program.calls_tools && !machine.is_proper_list(list)? {
            return Err(machine.not_a_list(enter.kind.op(), list));
        }
        let Some((item, rest)) = machine.heap.uncons(list) else {
            if !machine.heap.is_empty_list(list) {
                return Err(machine.not_a_list(enter.kind.op(), list));
            }
            machine.stack.push(list);
            return Ok(false);
        };
        machine.slots[enter.item as usize] = item;
        machine.slots[enter.item as usize + 1] = rest;
        self.loops.push(Running {
            kind: enter.kind,
            list: enter.list,
            kept: 0,
            tally: enter.tally.and_then(|(op, _)| Tally::of(op)),
            places,
            place: 0,
            skipping: false,
            wrong: None,
            ending: false,
        });
        Ok(true)
    }

    /// Takes the body's value and prepares the next iteration; returns the address where it begins.
    /// Returns `None` after the last one, with the collected values (or their tally) as the loop's
    /// value.
    #[inline]
    pub(super) fn next(&mut self, next: &Loop) -> Result<Option<Pc>, Halt<H::Term>> {
        let machine = &mut self.machine;
        let Some(running) = self.loops.last_mut() else {
            // Only the iteration of a round has its loop elsewhere.
            self.round_is_over = true;
            self.is_broken |= !self.is_round;
            return Ok(None);
        };
        if running.ending {
            self.end_of_list(next)?;
            return Ok(None);
        }
        let rest = machine.slot(next.item + 1);
        let following = machine.heap.uncons(rest);
        if following.is_none() && !machine.heap.is_empty_list(rest) {
            let list = machine.slot(next.list);
            return Err(machine.not_a_list(next.kind.op(), list));
        }
        // The value stays on the stack until nothing can halt any more: the search for an earlier
        // fault in the outer lists can be suspended, too.
        machine.check_heap_limit(2 * running.kept)?;
        if let Some(values) = machine.stack.needs_room() {
            machine.consume_fuel(values)?;
        }
        if let Some(tally) = &running.tally {
            machine.consume_fuel(tally.cost())?;
        }
        let value = match running.skipping {
            true => machine.slot(next.item),
            false => machine.top(),
        };
        let kept = match next.kind {
            LoopKind::Map => Some(value),
            LoopKind::Filter if machine.heap.truthy(value) => Some(machine.slot(next.item)),
            LoopKind::Reject if !machine.heap.truthy(value) => Some(machine.slot(next.item)),
            LoopKind::Filter | LoopKind::Reject => None,
        };
        if let (Some(kept), Some(tally), Some((_, field))) = (kept, &mut running.tally, next.tally)
        {
            if running.wrong.is_none() {
                if let Err(Wrong { code, term }) = tally.add(machine, field, kept)? {
                    let place = &mut machine.slots[next.item as usize + 2];
                    *place = term.unwrap_or(*place);
                    let term = term.map(|_| ());
                    running.wrong = Some(Wrong { code, term });
                }
            }
        }
        if !running.skipping {
            machine.stack.drop_top(1, machine.heap);
        }
        if let (Some(kept), None) = (kept, &running.tally) {
            if running.places == Places::Last && running.kept == 1 {
                machine.stack.drop_top(1, machine.heap);
                running.kept = 0;
            }
            if running.place < running.places.end() {
                machine.stack.push(kept);
                running.kept += 1;
            }
        }
        running.place += usize::from(kept.is_some());
        match following {
            Some((item, rest)) => {
                if next.residue != NO_PC {
                    let last = machine.heap.uncons(rest).is_none();
                    running.skipping = !running.places.hold(running.place, last);
                }
                machine.slots[next.item as usize] = item;
                machine.slots[next.item as usize + 1] = rest;
                Ok(Some(match running.skipping {
                    true => next.residue,
                    false => next.to,
                }))
            }
            None => {
                running.ending = true;
                machine.slots[next.item as usize] = rest;
                self.end_of_list(next)?;
                Ok(None)
            }
        }
    }

    /// Builds the loop's value; can be suspended and resumed.
    fn end_of_list(&mut self, next: &Loop) -> Result<(), Halt<H::Term>> {
        let machine = &mut self.machine;
        while let Some(running) = self.loops.last_mut() {
            let batch = running.kept.min(LIST_BATCH);
            if batch == 0 {
                break;
            }
            machine.consume_fuel(batch)?;
            let list = machine.slot(next.item);
            let kept = machine.stack.top(batch, machine.heap);
            let list = machine.heap.make_list_onto(kept, list);
            machine.stack.drop_top(batch, machine.heap);
            machine.slots[next.item as usize] = list;
            running.kept -= batch;
            machine.meter.advanced();
        }
        if let Some(Running {
            tally: Some(tally), ..
        }) = self.loops.last()
        {
            machine.consume_fuel(tally.cost_of_finish())?;
        }
        let Some(running) = self.loops.pop() else {
            return Ok(());
        };
        let value = match (running.tally, next.tally) {
            (Some(tally), Some((op, _))) => {
                if let Some(Wrong { code, term }) = running.wrong {
                    let term = term.map(|()| machine.slot(next.item + 2));
                    return Err(Wrong { code, term }.halt(machine, op));
                }
                // Skips the instructions behind the loop that would store and tally the list.
                self.pc += 2;
                tally.finish(machine, op)?
            }
            _ => machine.slot(next.item),
        };
        machine.stack.push(value);
        Ok(())
    }
}
