//! `date_diff`: the whole units between two dates.

use super::{choice, moment, unit, UNIT, UNITS};
use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::{Code, Errors};
use crate::ops::{Field, FieldKind, Operation, Planned};
use crate::shape::{DateOf, OpShape};
use ptc_date::difference;
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::Number;

pub(in crate::ops) struct DateDiff;

impl Operation for DateDiff {
    const NAME: &'static str = "date_diff";
    const FAMILY: &'static str = "Dates";
    const ABOUT: &'static str =
        "Whole units from one date to another, towards zero; negative if `to` is earlier.";
    const TYPES: &'static str = "two dates to integer; null to null";
    const SHAPE: OpShape = OpShape::Date(DateOf::Difference);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::required("from", FieldKind::Template, "the first date"),
        Field::required("to", FieldKind::Template, "the second date"),
        UNIT,
    ];

    fn plan(plan: &mut Plan) -> Planned {
        let unit = choice(plan, "unit", UNITS);
        plan.template_of("from", plan.scope);
        plan.template_of("to", plan.scope);
        plan.apply(2, (NO_CONST, NO_CONST, unit));
        Ok(())
    }

    /// The mode is the unit.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let (from, to) = machine.two_operands(apply);
        if [from, to]
            .iter()
            .any(|term| machine.kind(*term) == Kind::Nil)
        {
            return Ok(machine.heap.nil());
        }
        match (moment(machine, from)?, moment(machine, to)?) {
            (Some(first), Some(last)) => {
                let units = difference(&first, &last, unit(apply.mode));
                machine.make_number(apply.op, Number::Int(units))
            }
            _ => Err(machine.fault(apply.op, Code::NeedsDates, vec![from, to])),
        }
    }
}
