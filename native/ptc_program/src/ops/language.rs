//! The operations as the language that the machine runs.

use super::{constants, formula, sieve, tally, OpCode};
use crate::code::{Apply, Loop, Own, Pc, PtcJson, Slot, Vm};
use ptc_machine::fault::{Halt, Name};
use ptc_machine::language::{Contained, Flow, Language};
use ptc_machine::{Eval, Frame, Keeps, Machine, Stepped, Tally};
use ptc_term::heap::Heap;

impl Language for PtcJson {
    type Op = OpCode;
    type Own = Own;
    const LOAD: OpCode = OpCode::Load;

    #[inline]
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        apply.op.eval(machine, apply)
    }

    fn expect<H: Heap>(
        machine: &mut Machine<'_, H>,
        op: OpCode,
        input: Slot,
    ) -> Result<(), Halt<H::Term>> {
        op.expect(machine, input)
    }

    #[inline]
    fn tally(op: OpCode) -> Option<Tally> {
        tally::empty(op)
    }

    #[inline(always)]
    fn step<H: Heap>(
        machine: &mut Machine<'_, H>,
        looped: &Loop,
        frame: &mut Frame<H::Term>,
        returned: Option<H::Term>,
    ) -> Stepped<H> {
        // What keeps items or values has one step, which stands in the machine's loop.
        match looped.op.keeps() {
            Keeps::Other => looped.op.own_step(machine, looped, frame, returned),
            keeps => machine.collect(looped, frame, returned, keeps),
        }
    }

    fn reads_input(op: OpCode) -> bool {
        !op.combines()
    }

    fn constants_in(apply: &Apply) -> Contained {
        constants::constants_in(apply)
    }

    fn keeps_item(op: OpCode) -> bool {
        op.keeps() != Keeps::Value
    }

    fn forks(op: OpCode) -> bool {
        op.forks()
    }

    fn flow(own: &Own) -> Flow {
        match own {
            Own::Sieve(sieve) => Flow {
                reads: sieve.looped.list,
                next: sieve.looped.end,
            },
            Own::Formula(formula) => formula::flow(formula),
        }
    }

    #[inline]
    fn execute<H: Heap>(vm: &mut Vm<'_, H>, own: &Own) -> Result<Pc, Halt<H::Term>> {
        match own {
            Own::Sieve(sieve) => sieve::run(vm, sieve),
            Own::Formula(formula) => formula::run(vm, formula),
        }
    }
}

impl From<OpCode> for Name {
    fn from(op: OpCode) -> Name {
        op.name()
    }
}
