//! PTC-JSON as a language that the machine runs.

use super::work::Work;
use super::{constants, data, formula, sieve, tally, OpCode};
use crate::code::{
    Apply, ConstId, Eval, Halt, LateError, Loop, Machine, Own, Pc, PtcJson, Slot, Stepped, Vm,
    INPUT, NO_CONST,
};
use crate::fault::{Code, Errors, Fault};
use ptc_kernels::{Tally, Why};
use ptc_term::heap::Heap;
use ptc_term::named::Named;
use ptc_term::suspend::{Exchange, Rooted};
use ptc_vm::language::{Contained, Flow};
use ptc_vm::{Execute, Frame, Keeps, Language, Name, Report};
use std::borrow::Cow;

impl Language for PtcJson {
    const INPUT: &'static str = "__input";
    type Op = OpCode;
    type Own = Own;
    type Failure = LateError;
    type Cache<T> = ();
    type Work<T> = Work<T>;
    type Fault<T> = Fault<T>;

    fn exchange_work<T, X: Exchange<T>>(
        work: Work<T>,
        by: &mut X,
    ) -> Result<Work<X::Into>, X::Lost> {
        work.exchange(by)
    }

    fn exchange_fault<T, X: Exchange<T>>(
        fault: Fault<T>,
        by: &mut X,
    ) -> Result<Fault<X::Into>, X::Lost> {
        fault.exchange(by)
    }

    fn report<T>(fault: Fault<T>) -> Report<T> {
        Report {
            code: fault.code.name(),
            name: fault.name.map(Cow::from),
            field: fault.field.map(Cow::from),
            terms: fault.terms,
            expensive_to_inspect: fault.expensive_to_inspect,
            inside: None,
            at: Vec::new(),
        }
    }

    fn terms<T>(fault: &Fault<T>) -> &[T] {
        &fault.terms
    }

    fn limit_inspection<T>(fault: &mut Fault<T>) {
        fault.expensive_to_inspect = true;
    }

    fn wrong<T>(op: OpCode, why: Why, terms: Vec<T>) -> Fault<T> {
        Fault::new(Code::of(why), Some(op.name()), terms)
    }

    fn flow(own: &Own) -> Flow {
        match own {
            Own::Sieve(sieve) => Flow {
                reads: sieve.looped.list,
                next: Some(sieve.looped.end),
                branch: None,
                depth: (0, 1),
            },
            Own::Formula(formula) => formula::flow(formula),
            // It reads whether there is one.
            Own::NeedInput(_) => Flow {
                reads: INPUT,
                next: None,
                branch: None,
                depth: (0, 0),
            },
        }
    }

    fn reads_input(op: OpCode) -> bool {
        !op.shape().combines()
    }

    fn keeps_item(op: OpCode) -> bool {
        op.keeps() != Keeps::Value
    }

    fn reads_names(&self) -> bool {
        self.strict
    }
}

impl Execute for PtcJson {
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

    fn constants_in(apply: &Apply) -> Contained {
        constants::constants_in(apply)
    }

    fn forks(op: OpCode) -> bool {
        op.forks()
    }

    fn only_builds(op: OpCode) -> bool {
        op == OpCode::IMPLICIT_OBJECT || op == OpCode::IMPLICIT_LIST
    }

    fn collects(op: OpCode) -> bool {
        op.keeps() != Keeps::Other
    }

    #[inline]
    fn execute<H: Heap>(vm: &mut Vm<'_, H>, own: &Own) -> Result<Pc, Halt<H::Term>> {
        match own {
            Own::Sieve(sieve) => sieve::run(vm, sieve),
            Own::Formula(formula) => formula::run(vm, formula),
            Own::NeedInput(_) if vm.has_input() => Ok(vm.pc() + 1),
            Own::NeedInput(op) => Err(vm.parts().0.fault(*op, Code::NoInput, vec![])),
        }
    }

    fn missing<H: Heap>(
        &self,
        machine: &mut Machine<'_, H>,
        context: H::Term,
        key: ConstId,
    ) -> Eval<H> {
        match self.strict {
            true => Err(data::unknown_name(machine, context, key)?),
            false => Ok(machine.heap.nil()),
        }
    }

    fn fail<H: Heap>(machine: &mut Machine<'_, H>, failure: &LateError) -> Fault<H::Term> {
        let terms = match failure.subject {
            NO_CONST => vec![],
            id => vec![machine.constant(id)],
        };
        let mut fault = Fault::new(failure.code, failure.name, terms);
        fault.field = failure.field;
        fault
    }
}

impl From<OpCode> for Name {
    fn from(op: OpCode) -> Name {
        op.name()
    }
}
