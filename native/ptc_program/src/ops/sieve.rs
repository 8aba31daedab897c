//! Filters whose condition compares fields with constants, as one instruction: no item goes over the
//! stack, and no instruction is dispatched per item.

use super::compare::holds;
use super::keeping::Keeping;
use super::tally::empty;
use crate::code::{
    Apply, ConstId, Demand, Eval, Halt, Instr, Loop, Machine, Pc, Sieve, Tests, Vm, NO_CONST,
};
use crate::opcode::OpCode;
use ptc_kernels::{Tally, Walk, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_vm::{Demanded, Keeps};

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
    let demanded = Demanded::of(looped.demand, machine)?;
    let list = machine.slot(looped.list);
    let value = match looped.tally {
        None => machine.resumable(
            |_| Sifted {
                kept: Keeping::over(list),
                last: None,
            },
            |machine, work| sifting.keep(machine, work, demanded),
        )?,
        Some((op, field)) => machine.resumable(
            |_| SiftedTally {
                walk: Walk::over(list),
                tally: empty(op),
                wrong: None,
            },
            |machine, work| sifting.tally(machine, work, (op, field)),
        )?,
    };
    machine.check_heap_limit(0)?;
    machine.push(value);
    Ok(looped.end)
}

/// What a filter keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Sifted<T> {
    kept: Keeping<T>,
    /// The last item, if only that is read.
    last: Option<T>,
}

rooted!(Sifted { optional: last; states: kept; plain: });

/// The tally of what a filter keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct SiftedTally<T> {
    walk: Walk<T>,
    tally: Option<Tally>,
    /// The first item that could not be added.
    wrong: Option<T>,
}

rooted!(SiftedTally { optional: wrong; states: walk; plain: tally });

impl Sifting<'_> {
    /// Makes the list of the items that are kept.
    fn keep<H: Heap>(
        self,
        machine: &mut Machine<'_, H>,
        work: &mut Sifted<H::Term>,
        demanded: Demanded,
    ) -> Eval<H> {
        let (items, last) = (&mut work.kept.items, &mut work.last);
        self.each_kept(machine, &mut work.kept.walk, |machine, item| {
            match demanded {
                Demanded::Last => *last = Some(item),
                _ if items.len() < demanded.end() => items.push(item),
                _ => {}
            }
            match items.len() % KEPT_BETWEEN_CHECKS {
                0 => Ok(machine.check_heap_limit(2 * items.len())?),
                _ => Ok(()),
            }
        })?;
        items.extend(last.take());
        Ok(work.kept.list(machine)?)
    }

    /// Makes the tally of the items that are kept.
    fn tally<H: Heap>(
        self,
        machine: &mut Machine<'_, H>,
        work: &mut SiftedTally<H::Term>,
        (op, field): (OpCode, ConstId),
    ) -> Eval<H> {
        let SiftedTally { walk, tally, wrong } = work;
        let Some(tally) = tally else {
            return Ok(machine.heap.nil());
        };
        self.each_kept(machine, walk, |machine, item| {
            if wrong.is_none() {
                tally.count_cost(machine)?;
                if tally.add(machine, field, item)?.is_err() {
                    *wrong = Some(item);
                }
            }
            Ok(())
        })?;
        let total = tally.finish(machine, field, *wrong)?;
        total.map_err(|wrong| machine.wrong(op, wrong))
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
