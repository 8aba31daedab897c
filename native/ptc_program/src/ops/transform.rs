//! Loops over the current list with an operation per item: `filter`, `map`, `reject`.

use super::{Field, FieldKind, Keeps, Operation, Planned};
use crate::compile::Plan;

const CONDITION: Field = Field::required(
    "where",
    FieldKind::Expr,
    "the condition, evaluated for each item",
);
const EXPR: Field = Field::required("expr", FieldKind::Expr, "what is evaluated for each item");

macro_rules! transform {
    ($op:ident, $name:literal, $about:literal, $field:ident, $keeps:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Filter/Transform";
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [Field] = &[$field];
            const READS_INPUT_ONCE: bool = true;
            const KEEPS: Keeps = $keeps;
            const FORKS: bool = true;

            fn plan(plan: &mut Plan) -> Planned {
                plan.each_item($field.name);
                Ok(())
            }
        }
    };
}

transform! { Filter, "filter", "The items for which the condition holds.", CONDITION, Keeps::Item(true) }
transform! { Map, "map", "The expression's value for each item.", EXPR, Keeps::Value }
transform! { Reject, "reject", "The items for which the condition does not hold.", CONDITION, Keeps::Item(false) }
