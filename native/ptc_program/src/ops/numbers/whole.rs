//! Operations on one number: `abs`, `floor`, `ceil`.

use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::{Code, Errors};
use crate::ops::{subject, Field, OpCode, Operation, Planned};
use crate::shape::{NumberOf, OpShape};
use ptc_kernels::{Why, Wrong};
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::Number;

/// Evaluates `of` on the input, which is a number or nil; the input itself where `of` returns none.
fn of_number<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    of: impl FnOnce(&mut H, Number) -> Option<Number>,
) -> Eval<H> {
    let value = subject::of(machine, apply)?;
    if machine.heap.kind(value) == Kind::Nil {
        return Ok(value);
    }
    if machine.is_decimal(value) {
        return of_exact(machine, apply, value);
    }
    let Some(number) = machine.number(value)? else {
        return Err(machine.fault_about(apply.op, NO_NUMBER, vec![value]));
    };
    machine.check_heap_limit(number.limbs() + 1)?;
    match of(machine.heap, number) {
        Some(number) => machine.make_number(apply.op, number),
        None => Ok(value),
    }
}

/// The error for an operand that is no number.
const NO_NUMBER: (Code, &str) = (Code::Requires, "a number");

/// Evaluates the operation on a decimal: its size is a decimal, a whole number is an integer.
#[cold]
fn of_exact<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, value: H::Term) -> Eval<H> {
    let exact = match machine.exact(value)? {
        Ok(exact) => exact,
        Err(Why::NotANumber) => return Err(machine.fault_about(apply.op, NO_NUMBER, vec![value])),
        Err(why) => return Err(machine.wrong(apply.op, Wrong::of(why, value))),
    };
    machine.consume_fuel(exact.cost())?;
    match apply.op {
        OpCode::Abs => machine.make_exact(apply.op, Ok(exact.absolute()), vec![value]),
        op => machine.make_number(op, exact.whole(op == OpCode::Ceil)),
    }
}

/// As the VM's `abs/1` has it: that of -0.0 is 0.0 where the two are different terms (from OTP 27 on), and -0.0 where they
/// are not.
fn absolute<H: Heap>(heap: &mut H, number: Number) -> Option<Number> {
    if matches!(number, Number::Float(value) if value == 0.0) {
        let zero = heap.make_number(Number::Float(0.0))?;
        let negative = heap.make_number(Number::Float(-0.0))?;
        return (!heap.identical(zero, negative)).then_some(Number::Float(0.0));
    }
    number.absolute()
}

macro_rules! of_number {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $of:expr) => {
        pub(in crate::ops) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Arithmetic";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const EDITION: Edition = Edition::Two;
            const FIELDS: &'static [Field] = &[subject::FIELD, subject::NUMBER];

            fn check(plan: &Plan) -> Planned {
                subject::check(plan)
            }

            fn plan(plan: &mut Plan) -> Planned {
                let (operands, key, mode) = subject::plan(plan, subject::NUMBER);
                plan.apply(operands, (key, NO_CONST, mode));
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                of_number(machine, apply, $of)
            }
        }
    };
}

of_number! { Abs, "abs", "The number without its sign.", "number to number; null to null", OpShape::Number(NumberOf::Absolute), absolute }
of_number! { Floor, "floor", "The largest integer that is not greater than the number.", "number to integer; null to null", OpShape::Number(NumberOf::Whole), |_, number| match number {
    Number::Float(value) => Number::of_whole(value.floor()),
    _ => None,
} }
of_number! { Ceil, "ceil", "The smallest integer that is not less than the number.", "number to integer; null to null", OpShape::Number(NumberOf::Whole), |_, number| match number {
    Number::Float(value) => Number::of_whole(value.ceil()),
    _ => None,
} }
