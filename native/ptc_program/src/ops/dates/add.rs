//! `date_add`: a date a number of units later.

use super::{choice, moment, no_date, unit, with_text, UNIT, UNITS};
use crate::code::{Apply, Eval, Instr, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::{Code, Errors};
use crate::ops::{subject, Field, FieldKind, Operation, Planned};
use crate::shape::{DateOf, OpShape};
use ptc_date::{add, to_text};
use ptc_term::heap::{Heap, Kind};

pub(in crate::ops) struct DateAdd;

/// Mode of the evaluation that gives the input, if it is a date or nil: the last of the own modes.
const CHECK: u32 = UNITS.len() as u32;

impl Operation for DateAdd {
    const NAME: &'static str = "date_add";
    const FAMILY: &'static str = "Dates";
    const ABOUT: &'static str =
        "The date so many units later, in the same form. A month later is the same day, or the last day of the month.";
    const TYPES: &'static str = "date and integer to text; null to null";
    const SHAPE: OpShape = OpShape::Date(DateOf::Sum);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::required(
            "amount",
            FieldKind::Template,
            "how many units; negative: earlier",
        ),
        subject::FIELD,
        UNIT,
        subject::VALUE,
    ];

    fn check(plan: &Plan) -> Planned {
        subject::check(plan)
    }

    /// The amount is evaluated once the input is known to be a date.
    fn plan(plan: &mut Plan) -> Planned {
        let unit = choice(plan, "unit", UNITS);
        let (operands, key, mode) = subject::plan(plan, subject::VALUE);
        plan.apply(operands, (key, NO_CONST, subject::mode(CHECK, mode)));
        let slot = plan.take_slot();
        plan.emit(Instr::Store(slot));
        plan.emit(Instr::Slot(slot));
        let (none, end) = (plan.label(), plan.label());
        plan.jump_if(false, none);
        plan.template_of("amount", plan.scope);
        let around = plan.scope;
        plan.scope = around.with_input(slot);
        plan.apply(1, (NO_CONST, NO_CONST, subject::mode(unit, 0)));
        plan.scope = around;
        plan.jump(end);
        plan.mark(none);
        plan.emit(Instr::Nil);
        plan.mark(end);
        Ok(())
    }

    /// The mode is the unit, or that the input is checked.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let own = subject::own_mode(apply);
        if own == CHECK {
            let value = subject::of(machine, apply)?;
            return match moment(machine, value)? {
                Some(_) if machine.values() => Ok(machine.string_of_name(value)),
                Some(_) => Ok(value),
                None if machine.kind(value) == Kind::Nil => Ok(value),
                None => Err(no_date(machine, apply, value)),
            };
        }
        let (date, amount) = (machine.slot(apply.input), machine.one_operand(apply));
        let is_integer =
            machine.heap.kind(amount) == Kind::Number && machine.heap.float(amount).is_none();
        if !is_integer {
            let what = (Code::Requires, "an integer amount");
            return Err(machine.fault_about(apply.op, what, vec![amount]));
        }
        // A longer integer leads to a year beyond the calendar.
        let amount = machine.heap.small_integer(amount);
        let sum = match (amount, machine.heap.kind(date)) {
            (None, _) => None,
            (Some(amount), Kind::String) => {
                let words = machine.heap.byte_length(date).unwrap_or(0) / 8 + 8;
                machine.check_heap_limit(words)?;
                with_text(machine, date, |text| add(text, amount, unit(own)))?
            }
            (Some(amount), _) => {
                moment(machine, date)?.and_then(|moment| add(&to_text(&moment), amount, unit(own)))
            }
        };
        match sum {
            Some(text) => Ok(machine.heap.make_string(&text)),
            // The years of dates are 0 to 9999.
            None => Err(no_date(machine, apply, date)),
        }
    }
}
