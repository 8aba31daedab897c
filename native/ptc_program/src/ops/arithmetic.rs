//! Arithmetic on two numbers: `add`, `sub`, `mul`, `div`, `pct`.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use crate::shape::{NumberOf, OpShape};
use ptc_kernels::{Why, Wrong};
use ptc_term::heap::Heap;
use ptc_term::number::{divide, finite, Arithmetic, BadArith, Number};
use ptc_term::value::{Exact, TooLong};

const LEFT_AND_RIGHT: &[Field] = &[
    Field::required("left", FieldKind::Operand, "the first number"),
    Field::required("right", FieldKind::Operand, "the second number"),
];

/// Returns both operands if they are numbers other than decimals.
#[inline]
fn numbers<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
) -> Result<Option<(Number, Number)>, Halt<H::Term>> {
    let (left, right) = machine.two_operands(apply);
    let (left, right) = (machine.number(left)?, machine.number(right)?);
    Ok(left.zip(right))
}

/// Computes with decimals: one operand is a decimal, the other one too, or an integer, or the text of a number. The
/// errors contain the operand terms.
#[cold]
fn with_decimals<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    compute: impl FnOnce(&Exact, &Exact) -> Option<Result<Exact, TooLong>>,
) -> Eval<H> {
    let (left, right) = machine.two_operands(apply);
    let both = vec![left, right];
    if !machine.is_decimal(left) && !machine.is_decimal(right) {
        return Err(machine.fault(apply.op, Code::NeedsNumericOperands, both));
    }
    let mut read = [Exact::ZERO, Exact::ZERO];
    for (term, into) in [left, right].into_iter().zip(&mut read) {
        match machine.exact_or_text(term)? {
            Ok(exact) => *into = exact,
            Err(Why::NotANumber) => {
                return Err(machine.fault(apply.op, Code::NeedsNumericOperands, both))
            }
            Err(Why::DecimalAndFloat) => {
                return Err(machine.fault(apply.op, Code::DecimalAndFloat, both))
            }
            Err(why) => return Err(machine.wrong(apply.op, Wrong::of(why, term))),
        }
    }
    let [a, b] = read;
    machine.consume_fuel(a.cost().saturating_mul(b.limbs()) + b.cost())?;
    match compute(&a, &b) {
        Some(exact) => machine.make_exact(apply.op, exact, both),
        None => Err(machine.fault(apply.op, Code::DivisionByZero, vec![])),
    }
}

/// Returns `left op right`.
fn exactly(arithmetic: Arithmetic, left: &Exact, right: &Exact) -> Result<Exact, TooLong> {
    match arithmetic {
        Arithmetic::Add => left.plus(right),
        Arithmetic::Sub => left.plus(&right.clone().negated()),
        Arithmetic::Mul => left.times(right),
    }
}

fn made<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    number: Result<Number, BadArith>,
) -> Eval<H> {
    match number {
        Ok(number) => machine.make_number(apply.op, number),
        Err(BadArith) => Err(machine.fault(apply.op, Code::BadArith, vec![])),
    }
}

macro_rules! arithmetic {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Arithmetic";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const FIELDS: &'static [Field] = LEFT_AND_RIGHT;

            fn plan(plan: &mut Plan) -> Planned {
                plan.operand("left");
                plan.operand("right");
                plan.apply(2, (NO_CONST, NO_CONST, 0));
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let Some((left, right)) = numbers(machine, apply)? else {
                    return with_decimals(machine, apply, |left, right| {
                        Some(exactly(Arithmetic::$op, left, right))
                    });
                };
                machine.count_limbs(Arithmetic::$op, &left, &right)?;
                made(machine, apply, Arithmetic::$op.apply(&left, &right))
            }
        }
    };
}

arithmetic! { Add, "add", "left + right, exact on integers.", "two numbers to number; two integers to integer", OpShape::Number(NumberOf::Sum) }
arithmetic! { Sub, "sub", "left - right, exact on integers.", "two numbers to number; two integers to integer", OpShape::Number(NumberOf::Sum) }
arithmetic! { Mul, "mul", "left * right, exact on integers.", "two numbers to number; two integers to integer", OpShape::Number(NumberOf::Sum) }

macro_rules! quotient {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $fields:expr, $factor:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Arithmetic";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const FIELDS: &'static [Field] = $fields;

            fn plan(plan: &mut Plan) -> Planned {
                for field in Self::FIELDS {
                    plan.operand(field.name);
                }
                plan.apply(2, (NO_CONST, NO_CONST, 0));
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let Some((left, right)) = numbers(machine, apply)? else {
                    return with_decimals(machine, apply, |left, right| {
                        let times = Exact::of_integer(Number::Int($factor as i64))?;
                        let left = times.and_then(|times| left.times(&times));
                        (!right.is_zero()).then(|| left?.over(right))
                    });
                };
                if right.is_zero() {
                    return Err(machine.fault(apply.op, Code::DivisionByZero, vec![]));
                }
                let quotient = divide(&left, &right).and_then(|value| finite(value * $factor));
                made(machine, apply, quotient.map(Number::Float))
            }
        }
    };
}

const PART_AND_WHOLE: &[Field] = &[
    Field::required(
        "part",
        FieldKind::Operand,
        "the number that is a part of the other",
    ),
    Field::required(
        "whole",
        FieldKind::Operand,
        "the number that is 100 per cent",
    ),
];

quotient! { Div, "div", "left / right, always a float.", "two numbers to number", OpShape::Number(NumberOf::Quotient), LEFT_AND_RIGHT, 1.0 }
quotient! { Pct, "pct", "part / whole * 100, always a float.", "two numbers to number", OpShape::Number(NumberOf::Quotient), PART_AND_WHOLE, 100.0 }
