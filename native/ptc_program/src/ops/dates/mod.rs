//! Dates: `date_diff`, `date_add`, `date_part`, `now`. The calendar is in the crate `ptc_date`.
//!
//! A date is an ISO 8601 text, or a struct that is a date or a date and a time. Which structs these are does not depend
//! on the program's options.

mod add;
mod difference;
mod now;
mod part;

pub(super) use add::DateAdd;
pub(super) use difference::DateDiff;
pub(super) use now::Now;
pub(super) use part::DatePart;

use super::{Field, FieldKind};
use crate::code::{Apply, Halt, Machine};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use ptc_date::{Moment, Unit};
use ptc_term::heap::{Heap, Kind};
use ptc_term::value::{Form, Value};

/// Texts up to this length are read within the fuel of an operation.
const SHORT: usize = 64;

const UNITS: &[&str] = &["year", "month", "week", "day", "hour", "minute", "second"];

/// The field `unit`.
const UNIT: Field = Field::required("unit", FieldKind::Choice, "the unit").choices(
    UNITS,
    "'unit' must be one of year, month, week, day, hour, minute, second",
);

/// Returns the index of the choice in a field.
fn choice(plan: &Plan, name: &'static str, choices: &[&str]) -> u32 {
    let text = plan.field(name).and_then(|node| plan.source().text(node));
    let is_it = |choice: &&str| text == Some(choice.as_bytes());
    choices.iter().position(is_it).unwrap_or_default() as u32
}

fn unit(index: u32) -> Unit {
    Unit::ALL[index as usize % Unit::ALL.len()].1
}

/// Calls `read` with the bytes of a string, after it has counted a long one. `None` for other terms.
fn with_text<H: Heap, R>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    read: impl FnOnce(&[u8]) -> Option<R>,
) -> Result<Option<R>, Halt<H::Term>> {
    match machine.heap.byte_length(term) {
        None => return Ok(None),
        Some(length) if length > SHORT => machine.consume_fuel_at_once(length / SHORT)?,
        Some(_) => {}
    }
    Ok(machine.heap.bytes(term).and_then(read))
}

/// Returns the date that a term is, if it is one. Where structs are values, an atom is the text of its name.
#[inline]
fn moment<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<Option<Moment>, Halt<H::Term>> {
    match machine.heap.kind(term) {
        Kind::String => with_text(machine, term, Moment::read),
        Kind::Map if machine.heap.form(term) == Form::Value => match machine.heap.value(term) {
            Value::Iso(iso) => Ok(Moment::of(iso)),
            _ => Ok(None),
        },
        Kind::Other if machine.values() && machine.heap.is_name(term) => {
            Ok(machine.heap.with_name(term, Moment::read))
        }
        _ => Ok(None),
    }
}

/// The fault of an operation whose input is no date, or leads to none.
#[cold]
fn no_date<H: Heap>(machine: &Machine<'_, H>, apply: &Apply, value: H::Term) -> Halt<H::Term> {
    machine.fault(apply.op, Code::NeedsDates, vec![value])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_are_those_of_the_calendar() {
        let names: Vec<_> = Unit::ALL.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, UNITS);
    }
}
