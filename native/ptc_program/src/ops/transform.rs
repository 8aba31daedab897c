//! Loops over the current list with an operation per item: `filter`, `map`, `reject`.

use super::{Edition, Field, FieldKind, Keeps, Operation, Planned};
use crate::code::NO_CONST;
use crate::compile::{Plan, INPUT_NAME};
use crate::shape::{Chosen, OpShape};

pub(super) const AS: Field = Field::optional(
    "as",
    FieldKind::String,
    "a name of the item, which loops inside can use",
);
pub(super) const CONDITION: Field = Field::required(
    "where",
    FieldKind::Expr,
    "the condition, evaluated for each item",
)
.condition();
pub(super) const EXPR: Field =
    Field::required("expr", FieldKind::Expr, "what is evaluated for each item");

macro_rules! transform {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $field:ident, $keeps:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Filter/Transform";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const FIELDS: &'static [Field] = &[$field];
            const FIELDS_2: &'static [Field] = &[AS, $field];
            const READS_INPUT_ONCE: bool = true;
            const KEEPS: Keeps = $keeps;
            const FORKS: bool = true;

            fn plan(plan: &mut Plan) -> Planned {
                plan_loop(plan, $field.name, false)
            }
        }
    };
}

transform! { Filter, "filter", "The items for which the condition holds.", "[T] to [T], as far as the condition can hold", OpShape::Subset(Chosen::Where(true)), CONDITION, Keeps::Item(true) }
transform! { Map, "map", "The expression's value for each item.", "[T] to the list of the values", OpShape::ListOfBody, EXPR, Keeps::Value }
transform! { Reject, "reject", "The items for which the condition does not hold.", "[T] to [T], as far as the condition may not hold", OpShape::Subset(Chosen::Where(false)), CONDITION, Keeps::Item(false) }

/// Runs the body in a field once for each item of the current value, which has the name in `as`, too. If `combines`, the
/// operation checks each value of the body, and is applied to the list of these values.
pub(super) fn plan_loop(plan: &mut Plan, body: &'static str, combines: bool) -> Planned {
    let looped = plan.begin_over_input(None);
    let (source, inside) = (plan.source(), looped.scope);
    let name = match plan.edition() {
        Edition::One => None,
        Edition::Two => plan.field("as"),
    };
    let text = name.and_then(|name| source.text(name));
    // The item is the current value already.
    match name.zip(text.filter(|text| *text != INPUT_NAME.as_bytes())) {
        Some((name, text)) => {
            plan.consume_fuel_for_bytes(2 * text.len())?;
            plan.bind(name, looped.item);
            plan.expr_in(body, inside, true);
            plan.unbind(name);
        }
        None => plan.expr_in(body, inside, true),
    }
    if combines {
        plan.expect();
    }
    plan.end_loop(looped);
    if combines {
        plan.apply(1, (NO_CONST, NO_CONST, 0));
    }
    Ok(())
}
