//! Filters whose condition compares fields with constants, as one instruction: no item goes over the
//! stack, and no instruction is dispatched per item.

use super::compare::holds;
use super::tally::empty;
use crate::code::{Apply, ConstId, Demand, Instr, Loop, Pc, Sieve, Tests, Vm, NO_CONST};
use crate::opcode::OpCode;
use ptc_machine::fault::Halt;
use ptc_machine::{Demanded, Eval, Keeps, Machine, Walk, Work, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::Heap;

/// A filter and its comparisons.
#[derive(Clone, Copy)]
struct Sifting<'p> {
    looped: &'p Loop,
    tests: &'p Tests,
    code: &'p [Instr],
}

/// Runs the loop from its start to its end; returns the address of the next instruction.
pub(super) fn run<H: Heap>(vm: &mut Vm<'_, H>, sieve: &Sieve) -> Result<Pc, Halt<H::Term>> {
    let Sieve { looped, tests } = sieve;
    let (machine, program) = vm.parts();
    let sifting = Sifting {
        looped,
        tests,
        code: &program.code[tests.first as usize..],
    };
    let demanded = machine.demanded(looped.demand)?;
    let list = machine.slot(looped.list);
    let value = machine.resumable_over(list, |machine, work| match looped.tally {
        None => sifting.keep(machine, work, demanded),
        Some((op, field)) => sifting.tally(machine, work, op, field),
    })?;
    machine.check_heap_limit(0)?;
    machine.push(value);
    Ok(looped.end)
}

impl Sifting<'_> {
    /// Makes the list of the items that are kept.
    fn keep<H: Heap>(
        self,
        machine: &mut Machine<'_, H>,
        work: &mut Work<H::Term>,
        demanded: Demanded,
    ) -> Eval<H> {
        let (items, last) = (&mut work.items, &mut work.found);
        self.each_kept(machine, &mut work.walk, |machine, item| {
            match demanded {
                Demanded::Last => *last = Some(item),
                _ if items.len() < demanded.end() => items.push(item),
                _ => {}
            }
            match items.len() % KEPT_BETWEEN_CHECKS {
                0 => machine.check_heap_limit(2 * items.len()),
                _ => Ok(()),
            }
        })?;
        items.extend(last.take());
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
        let Some(mut tally) = so_far.or_else(|| empty(op)) else {
            return Ok(machine.heap.nil());
        };
        let wrong = &mut work.found;
        let walked = self.each_kept(machine, &mut work.walk, |machine, item| {
            if wrong.is_none() {
                tally.count_cost(machine)?;
                if tally.add(machine, field, item)?.is_err() {
                    *wrong = Some(item);
                }
            }
            Ok(())
        });
        let value = walked.and_then(|()| tally.finish(machine, (op, field), *wrong));
        work.progress.tally = Some(tally);
        value
    }

    /// Passes the items that are kept to `keep`, see [`Machine::each_item`].
    #[inline]
    fn each_kept<H: Heap>(
        self,
        machine: &mut Machine<'_, H>,
        walk: &mut Walk<H::Term>,
        mut keep: impl FnMut(&mut Machine<'_, H>, H::Term) -> Result<(), Halt<H::Term>>,
    ) -> Result<(), Halt<H::Term>> {
        let Loop { op, list, .. } = *self.looped;
        let all: Apply = Apply {
            op,
            input: list,
            operands: 0,
            key: NO_CONST,
            value: NO_CONST,
            mode: 0,
            demand: Demand::All,
        };
        let wanted = op.keeps() == Keeps::Item(true);
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
