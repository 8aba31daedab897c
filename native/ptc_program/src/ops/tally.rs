//! Counts and sums: `count`, `sum`, `avg`.
//!
//! Each is a tally to which items are added. A list is tallied by one instruction; a loop tallies the
//! items that it keeps immediately, and then the intermediate list is never made.

use super::field::FIELD_OF_ITEMS;
use super::{Field, OpCode, Operation};
use crate::code::{Apply, Demand};
use ptc_machine::{Eval, Machine, Tally};
use ptc_term::heap::Heap;
use ptc_term::number::Number;

pub(super) struct Count;

impl Operation for Count {
    const NAME: &'static str = "count";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "How many items the list has.";
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        tally(machine, apply)
    }

    fn needs(_apply: &Apply, _demand: Demand) -> Demand {
        Demand::Number
    }
}

macro_rules! tally_of_field {
    ($op:ident, $name:literal, $about:literal) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Aggregate";
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [Field] = FIELD_OF_ITEMS;
            const READS_INPUT_ONCE: bool = true;

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                tally(machine, apply)
            }
        }
    };
}

tally_of_field! { Sum, "sum", "The sum of a field's numbers; missing and nil are left out." }
tally_of_field! { Avg, "avg", "The mean of a field's numbers, nil if there are none." }

/// Returns the empty tally of an operation, if it is one of these.
#[inline]
pub(super) fn empty(op: OpCode) -> Option<Tally> {
    match op {
        OpCode::Count => Some(Tally::Count(0)),
        OpCode::Sum => Some(Tally::Sum(Number::Int(0))),
        OpCode::Avg => Some(Tally::Mean(Number::Int(0), 0)),
        _ => None,
    }
}

/// Computes the tally of the operation's current value.
fn tally<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    machine.resumable(apply, |machine, work| {
        let so_far = work.progress.tally.take();
        let Some(mut tally) = so_far.or_else(|| empty(apply.op)) else {
            return Ok(machine.heap.nil());
        };
        let walked = machine.each_item(apply, &mut work.walk, |machine, item| {
            machine.consume_fuel(tally.cost())?;
            let added = tally.add(machine, apply.key, item)?;
            added.map_err(|wrong| wrong.halt(machine, apply.op))
        });
        let value = walked.and_then(|()| tally.finish(machine, (apply.op, apply.key), None));
        work.progress.tally = Some(tally);
        value
    })
}
