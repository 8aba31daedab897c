//! Counts and sums: `count`, `sum`, `avg`.
//!
//! Each is a tally to which items are added. A list is tallied by one instruction; a loop tallies the
//! items that it keeps immediately, and then the intermediate list is never made.

use super::field::FIELD_OF_ITEMS;
use super::{keyed, Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, Demand, Eval, Loop, Machine, Stepped, NO_CONST};
use crate::compile::Plan;
use crate::shape::{Aggregate, OpShape};
use ptc_kernels::{Tally, Walk};
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_vm::Frame;

pub(super) struct Count;

impl Operation for Count {
    const NAME: &'static str = "count";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "How many items the list has.";
    const TYPES: &'static str = "[T] to integer";
    const SHAPE: OpShape = OpShape::Aggregate(Aggregate::Count);
    const FIELDS: &'static [Field] = &[];
    const FIELDS_2: &'static [Field] = &[Field::optional(
        "where",
        FieldKind::Expr,
        "the condition, evaluated for each item",
    )
    .condition()];
    const ABOUT_2: &'static str =
        "How many items the list has, or for how many of them the condition holds.";
    const READS_INPUT_ONCE: bool = true;
    const KEEPS: Keeps = Keeps::Item(true);

    /// With a condition, a loop counts the items for which it holds.
    fn plan(plan: &mut Plan) -> Planned {
        match plan.field("where") {
            Some(_) if plan.edition() == Edition::Two => {
                let looped = plan.begin_over_input(Some((OpCode::Count, NO_CONST)));
                plan.expr_in("where", looped.scope, true);
                plan.end_loop(looped);
            }
            _ => plan.apply_to_input(NO_CONST),
        }
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        tally(machine, apply)
    }

    fn needs(_apply: &Apply, _demand: Demand) -> Demand {
        Demand::Number
    }
}

macro_rules! tally_of_field {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $about_2:literal) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Aggregate";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const FIELDS: &'static [Field] = FIELD_OF_ITEMS;
            const FIELDS_2: &'static [Field] = keyed::FIELD_OR_EXPR;
            const ABOUT_2: &'static str = $about_2;
            const READS_INPUT_ONCE: bool = true;

            fn check(plan: &Plan) -> Planned {
                keyed::check_forms(plan)
            }

            /// The values of an expression are tallied by the loop that evaluates it.
            fn plan(plan: &mut Plan) -> Planned {
                match keyed::has_expr(plan) {
                    true => plan.each_item("expr"),
                    false => {
                        let field = plan.constant_of("field");
                        plan.apply_to_input(field);
                    }
                }
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                tally(machine, apply)
            }

            fn step<H: Heap>(
                machine: &mut Machine<'_, H>,
                looped: &Loop,
                frame: &mut Frame<H::Term>,
                returned: Option<H::Term>,
            ) -> Stepped<H> {
                machine.tally_values(looped, frame, returned)
            }
        }
    };
}

tally_of_field! {
    Sum, "sum", "The sum of a field's numbers; missing and nil are left out.", "list of objects with numbers in the field to number", OpShape::Aggregate(Aggregate::Sum),
    "The sum of a field's or an expression's numbers; missing and nil are left out."
}
tally_of_field! {
    Avg, "avg", "The mean of a field's numbers, nil if there are none.", "list of objects with numbers in the field to number or null", OpShape::Aggregate(Aggregate::Mean),
    "The mean of a field's or an expression's numbers, nil if there are none."
}

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

/// The tally of the items so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Tallying<T> {
    walk: Walk<T>,
    tally: Option<Tally>,
}

rooted!(Tallying { states: walk; plain: tally });

/// Computes the tally of the operation's current value.
fn tally<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    let begin = |machine: &mut Machine<'_, H>| Tallying {
        walk: Walk::over(machine.slot(apply.input)),
        tally: empty(apply.op),
    };
    machine.resumable(begin, |machine, work| {
        let Some(tally) = &mut work.tally else {
            return Ok(machine.heap.nil());
        };
        machine.each_item(apply, &mut work.walk, |machine, item| {
            tally.count_cost(machine)?;
            let added = tally.add(machine, apply.key, item)?;
            added.map_err(|wrong| machine.wrong(apply.op, wrong))
        })?;
        let total = tally.finish(machine, apply.key, None)?;
        total.map_err(|wrong| machine.wrong(apply.op, wrong))
    })
}
