//! `round`: rounding to decimals.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use crate::shape::{NumberOf, OpShape};
use ptc_kernels::{Why, Wrong};
use ptc_term::heap::Heap;
use ptc_term::number::{round, Number};

pub(super) struct Round;

/// Maximum number of places.
const MOST_PLACES: u32 = 15;

impl Operation for Round {
    const NAME: &'static str = "round";
    const FAMILY: &'static str = "Arithmetic";
    const ABOUT: &'static str = "The value to so many decimals, 0 to 15; always a float.";
    const TYPES: &'static str = "number to number";
    const SHAPE: OpShape = OpShape::Number(NumberOf::Rounded);
    const FIELDS: &'static [Field] = &[
        Field::optional("precision", FieldKind::Any, "how many decimals stay").values("0 to 15"),
        Field::required("value", FieldKind::Operand, "the number"),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        let precision = plan.field("precision").unwrap_or(plan.zero());
        let precision = plan.constant(precision);
        plan.operand("value");
        plan.apply(1, (precision, NO_CONST, 0));
        Ok(())
    }

    /// The key is the precision, which is a constant.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let value = machine.one_operand(apply);
        let precision = machine.constant(apply.key);
        if machine.is_decimal(value) {
            return of_decimal(machine, apply, value, precision);
        }
        let (number, places) = match (machine.number(value)?, machine.number(precision)?) {
            (Some(number), Some(Number::Int(places))) => (number, u32::try_from(places).ok()),
            (Some(number), Some(Number::Big(_))) => (number, None),
            _ => {
                let terms = vec![value, precision];
                return Err(machine.fault(apply.op, Code::NeedsValueAndPrecision, terms));
            }
        };
        let Some(places) = places.filter(|places| *places <= MOST_PLACES) else {
            return Err(machine.fault(apply.op, Code::PrecisionOutOfRange, vec![precision]));
        };
        match number.to_float() {
            Ok(value) => machine.make_number(apply.op, Number::Float(round(value, places))),
            Err(_) => Err(machine.fault(apply.op, Code::BadArith, vec![])),
        }
    }
}

/// Rounds a decimal half up, to a decimal with this number of places.
#[cold]
fn of_decimal<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    value: H::Term,
    precision: H::Term,
) -> Eval<H> {
    let places = match machine.number(precision)? {
        Some(Number::Int(places)) => u32::try_from(places).ok(),
        Some(Number::Big(_)) => None,
        _ => {
            let terms = vec![value, precision];
            return Err(machine.fault(apply.op, Code::NeedsValueAndPrecision, terms));
        }
    };
    let Some(places) = places.filter(|places| *places <= MOST_PLACES) else {
        return Err(machine.fault(apply.op, Code::PrecisionOutOfRange, vec![precision]));
    };
    match machine.exact(value)? {
        Ok(exact) => machine.make_exact(apply.op, exact.rounded(places), vec![value]),
        Err(Why::NotANumber) => {
            let terms = vec![value, precision];
            Err(machine.fault(apply.op, Code::NeedsValueAndPrecision, terms))
        }
        Err(why) => Err(machine.wrong(apply.op, Wrong::of(why, value))),
    }
}
