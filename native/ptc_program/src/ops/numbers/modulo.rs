//! `mod`: the remainder of an integer division, with the sign of the divisor.

use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::{Code, Errors};
use crate::ops::{Field, FieldKind, Operation, Planned};
use crate::shape::{NumberOf, OpShape};
use ptc_term::heap::Heap;
use ptc_term::number::Number;

pub(in crate::ops) struct Mod;

impl Operation for Mod {
    const NAME: &'static str = "mod";
    const FAMILY: &'static str = "Arithmetic";
    const ABOUT: &'static str = "left modulo right, of integers; the sign is that of `right`.";
    const TYPES: &'static str = "two integers to integer";
    const SHAPE: OpShape = OpShape::Number(NumberOf::Modulo);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::required("left", FieldKind::Operand, "the integer that is divided"),
        Field::required(
            "right",
            FieldKind::Operand,
            "the integer that it is divided by",
        ),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        plan.operand("left");
        plan.operand("right");
        plan.apply(2, (NO_CONST, NO_CONST, 0));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let (left, right) = machine.two_operands(apply);
        let (a, b) = (machine.number(left)?, machine.number(right)?);
        let (Some(a), Some(b)) = (a.filter(Number::is_integer), b.filter(Number::is_integer))
        else {
            let what = (Code::RequiresBoth, "integer operands");
            return Err(machine.fault_about(apply.op, what, vec![left, right]));
        };
        machine.count_division(&a, &b)?;
        match a.modulo(&b) {
            Some(rest) => machine.make_number(apply.op, rest),
            None => Err(machine.fault(apply.op, Code::DivisionByZero, vec![])),
        }
    }
}
