//! `date_part`: a part of a date.

use super::{choice, moment, no_date};
use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::Errors;
use crate::ops::{subject, Field, FieldKind, Operation, Planned};
use crate::shape::{DateOf, OpShape};
use ptc_date::{Part, PartValue};
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::Number;

pub(in crate::ops) struct DatePart;

const PARTS: &[&str] = &[
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "weekday",
    "yearday",
    "hour",
    "minute",
    "second",
    "date",
    "month_start",
    "week_start",
    "year_month",
];

impl Operation for DatePart {
    const NAME: &'static str = "date_part";
    const FAMILY: &'static str = "Dates";
    const ABOUT: &'static str =
        "A part of a date, in its own offset: a number (weekday 1 is Monday), or a text like 2024-02-29.";
    const TYPES: &'static str = "date to integer or text; null to null";
    const SHAPE: OpShape = OpShape::Date(DateOf::Part);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        subject::FIELD,
        Field::required("part", FieldKind::Choice, "which part").choices(
            PARTS,
            "'part' must be one of year, quarter, month, week, day, weekday, yearday, hour, minute, second, date, \
             month_start, week_start, year_month",
        ),
        subject::VALUE,
    ];

    fn check(plan: &Plan) -> Planned {
        subject::check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let part = choice(plan, "part", PARTS);
        let (operands, key, mode) = subject::plan(plan, subject::VALUE);
        plan.apply(operands, (key, NO_CONST, subject::mode(part, mode)));
        Ok(())
    }

    /// The mode is the part.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let value = subject::of(machine, apply)?;
        if machine.kind(value) == Kind::Nil {
            return Ok(value);
        }
        let Some(moment) = moment(machine, value)? else {
            return Err(no_date(machine, apply, value));
        };
        let part = Part::ALL[subject::own_mode(apply) as usize % Part::ALL.len()].1;
        match moment.part(part) {
            PartValue::Number(number) => machine.make_number(apply.op, Number::Int(number)),
            PartValue::Text(text) => {
                machine.check_heap_limit(text.bytes().len() / 8 + 2)?;
                Ok(machine.heap.make_string(text.bytes()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_those_of_the_calendar() {
        let names: Vec<_> = Part::ALL.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, PARTS);
    }
}
