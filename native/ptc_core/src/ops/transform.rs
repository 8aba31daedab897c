//! Loops over the current list with an operation per item: `filter`, `map`, `reject`.

use super::{Checked, Field, FieldKind, OpCode, Operation};
use crate::compile::Plan;
use crate::program::LoopKind;

const CONDITION: Field = Field::required(
    "where",
    FieldKind::Expr,
    "the condition, evaluated for each item",
);
const EXPR: Field = Field::required("expr", FieldKind::Expr, "what is evaluated for each item");

macro_rules! transform {
    ($op:ident, $name:literal, $about:literal, $field:ident) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Filter/Transform";
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [Field] = &[$field];
            const READS_INPUT_ONCE: bool = true;

            fn plan(plan: &mut Plan) -> Checked {
                plan.each_item(LoopKind::$op, $field.name);
                Ok(())
            }
        }
    };
}

transform! { Filter, "filter", "The items for which the condition holds.", CONDITION }
transform! { Map, "map", "The expression's value for each item.", EXPR }
transform! { Reject, "reject", "The items for which the condition does not hold.", CONDITION }

impl LoopKind {
    /// Returns the operation of this kind of loop.
    pub fn op(self) -> OpCode {
        match self {
            LoopKind::Filter => OpCode::Filter,
            LoopKind::Reject => OpCode::Reject,
            LoopKind::Map => OpCode::Map,
        }
    }
}
