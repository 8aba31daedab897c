//! Filters whose condition compares fields with constants, as one instruction: no item goes over the
//! stack, and no instruction is dispatched per item.

use super::machine::{Eval, Machine, KEPT_BETWEEN_CHECKS};
use super::places::Places;
use super::run::Vm;
use super::work::{Walk, Work};
use crate::fault::Halt;
use crate::heap::Heap;
use crate::opcode::OpCode;
use crate::ops::{holds, Tally};
use crate::program::{Apply, ConstId, Demand, Instr, Loop, LoopKind, Pc, Tests, NO_CONST};

/// A filter and its comparisons.
#[derive(Clone, Copy)]
struct Sieve<'p> {
    looped: &'p Loop,
    tests: &'p Tests,
    code: &'p [Instr],
}

impl<H: Heap> Vm<'_, H> {
    /// Runs the loop from its start to its end; returns the address of the next instruction.
    pub(super) fn sieve(&mut self, looped: &Loop, tests: &Tests) -> Result<Pc, Halt<H::Term>> {
        let machine = &mut self.machine;
        let sieve = Sieve {
            looped,
            tests,
            code: &self.program.code[tests.first as usize..],
        };
        let places = machine.places(looped.demand)?;
        let list = machine.slot(looped.list);
        let value = machine.resumable_over(list, |machine, work| match looped.tally {
            None => sieve.keep(machine, work, places),
            Some((op, field)) => sieve.tally(machine, work, op, field),
        })?;
        machine.check_heap_limit(0)?;
        machine.stack.push(value);
        // Skips the instructions behind the loop that would store and tally the list.
        Ok(looped.to + 2 * Pc::from(looped.tally.is_some()))
    }
}

impl Sieve<'_> {
    /// Makes the list of the items that are kept.
    fn keep<H: Heap>(
        self,
        machine: &mut Machine<'_, H>,
        work: &mut Work<H::Term>,
        places: Places,
    ) -> Eval<H> {
        let (items, last) = (&mut work.items, &mut work.best);
        self.each_kept(machine, &mut work.walk, |machine, item| {
            match places {
                Places::Last => *last = Some((item, item)),
                _ if items.len() < places.end() => items.push(item),
                _ => {}
            }
            match items.len() % KEPT_BETWEEN_CHECKS {
                0 => machine.check_heap_limit(2 * items.len()),
                _ => Ok(()),
            }
        })?;
        items.extend(last.take().map(|(item, _)| item));
        machine.list_of(work)
    }

    /// Makes the tally of the items that are kept.
    fn tally<H: Heap>(
        self,
        machine: &mut Machine<'_, H>,
        work: &mut Work<H::Term>,
        op: OpCode,
        field: ConstId,
    ) -> Eval<H> {
        let so_far = work.progress.tally.take();
        let Some(mut tally) = so_far.or_else(|| Tally::of(op)) else {
            return Ok(machine.heap.nil());
        };
        // An item that cannot be added is an error at the end of the list, because the original
        // program tallies the list only then. It is added again there.
        let wrong = &mut work.best;
        let walked = self.each_kept(machine, &mut work.walk, |machine, item| {
            if wrong.is_none() {
                machine.consume_fuel(tally.cost())?;
                if tally.add(machine, field, item)?.is_err() {
                    *wrong = Some((item, item));
                }
            }
            Ok(())
        });
        let added = walked.and_then(|()| match *wrong {
            Some((item, _)) => tally.add(machine, field, item),
            None => Ok(Ok(())),
        });
        let halt = match added {
            Ok(Err(wrong)) => return Err(wrong.halt(machine, op)),
            Ok(Ok(())) => match machine.consume_fuel(tally.cost_of_finish()) {
                Ok(()) => return tally.finish(machine, op),
                Err(halt) => halt,
            },
            Err(halt) => halt,
        };
        work.progress.tally = Some(tally);
        Err(halt)
    }

    /// Passes the items that are kept to `keep`, see [`Machine::each_item`].
    #[inline]
    fn each_kept<H: Heap>(
        self,
        machine: &mut Machine<'_, H>,
        walk: &mut Walk<H::Term>,
        mut keep: impl FnMut(&mut Machine<'_, H>, H::Term) -> Result<(), Halt<H::Term>>,
    ) -> Result<(), Halt<H::Term>> {
        let Loop { kind, list, .. } = *self.looped;
        let all = Apply {
            op: kind.op(),
            input: list,
            operands: 0,
            a: NO_CONST,
            b: NO_CONST,
            c: NO_CONST,
            demand: Demand::All,
        };
        let wanted = kind == LoopKind::Filter;
        let count = self.tests.count as usize;
        if let ([Instr::Apply(test), ..], 1) = (self.code, count) {
            return machine.each_item(&all, walk, |machine, item| {
                match holds(machine, test, item)? == wanted {
                    true => keep(machine, item),
                    false => Ok(()),
                }
            });
        }
        let tests = &self.code[..2 * count];
        let decisive = self.tests.decisive;
        machine.each_item(&all, walk, |machine, item| {
            machine.consume_fuel(count)?;
            let mut decided = false;
            for instr in tests.iter().step_by(2) {
                if let Instr::Apply(test) = instr {
                    if holds(machine, test, item)? == decisive {
                        decided = true;
                        break;
                    }
                }
            }
            match (decided == decisive) == wanted {
                true => keep(machine, item),
                false => Ok(()),
            }
        })
    }
}
