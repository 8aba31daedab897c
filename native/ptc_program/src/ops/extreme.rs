//! Extremes by a field or an expression: `min`, `max`, `min_by`, `max_by`.

use super::field::FIELD_OF_ITEMS;
use super::{keyed, Field, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine};
use crate::compile::Plan;
use crate::shape::{Aggregate, OpShape, Which};
use ptc_kernels::{Best, Extreme};
use ptc_term::heap::Heap;
use ptc_vm::Keeps;
use std::cmp::Ordering;

/// Returns the item whose key is first in an order, with that key; of equal ones the first.
fn extreme<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    better: Ordering,
) -> Result<Option<Extreme<H::Term>>, Halt<H::Term>> {
    let list = machine.slot(apply.input);
    let by = keyed::keyed_by(machine, apply);
    machine.resumable(
        |_| Best::over(list),
        |machine, work| {
            let best = work.find(machine, (list, by), better);
            machine.worked(apply.op, best)
        },
    )
}

macro_rules! extreme {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $about_2:literal, $better:expr, $of:expr) => {
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
            const KEEPS: Keeps = Keeps::Value;

            fn check(plan: &Plan) -> Planned {
                keyed::check_forms(plan)
            }

            fn plan(plan: &mut Plan) -> Planned {
                let field = plan.constant_of("field");
                keyed::plan_keys(plan, field, 0);
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let best = extreme(machine, apply, $better)?;
                Ok(best.map_or(machine.heap.nil(), $of))
            }
        }
    };
}

extreme! {
    Min, "min", "The smallest value of a field.", "list of objects to the type of the field, or null", OpShape::Aggregate(Aggregate::Extreme), "The smallest value of a field or an expression.",
    Ordering::Less, |(_, value)| value
}
extreme! {
    Max, "max", "The largest value of a field.", "list of objects to the type of the field, or null", OpShape::Aggregate(Aggregate::Extreme), "The largest value of a field or an expression.",
    Ordering::Greater, |(_, value)| value
}
extreme! {
    MinBy, "min_by", "The item with a field's smallest value.", "[T] to T or null", OpShape::Item(Which::Keyed),
    "The item with a field's or an expression's smallest value.", Ordering::Less, |(item, _)| item
}
extreme! {
    MaxBy, "max_by", "The item with a field's largest value.", "[T] to T or null", OpShape::Item(Which::Keyed),
    "The item with a field's or an expression's largest value.", Ordering::Greater, |(item, _)| item
}
