//! The keys of a list's items: a field of each, or the value of an expression for each.

use super::field::FIELD_OF_ITEMS;
use super::{Field, FieldKind, Planned};
use crate::code::{Apply, ConstId, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::Code;
use ptc_kernels::ItemKeys;
use ptc_term::heap::Heap;

/// The field `expr` of operations that have it in place of `field`.
pub(super) const EXPR: Field = Field::alternative(
    "expr",
    FieldKind::Expr,
    "what is evaluated for each item, in place of the field",
);

/// The fields of operations that read a field of the items, or evaluate an expression for each.
pub(super) const FIELD_OR_EXPR: &[Field] = &[
    EXPR,
    Field::alternative("field", FieldKind::String, FIELD_OF_ITEMS[0].about),
];

/// The error if both are given.
const NOT_BOTH: &str = "'field' or 'expr', not both";

/// Checks that one of `field` and `expr` is given.
pub(super) fn check_forms(plan: &Plan) -> Planned {
    if plan.edition() == Edition::One {
        return Ok(());
    }
    check_not_both(plan)?;
    match (plan.field("field"), plan.field("expr")) {
        (None, None) => plan.report(Code::FieldMissing, "field", vec![]),
        _ => Ok(()),
    }
}

/// Checks that not both of `field` and `expr` are given.
pub(super) fn check_not_both(plan: &Plan) -> Planned {
    plan.not_both(["field", "expr"], NOT_BOTH)
}

/// Returns whether the operation has a key that is evaluated.
pub(super) fn has_expr(plan: &Plan) -> bool {
    plan.edition() == Edition::Two && plan.field("expr").is_some()
}

/// Returns whether the operation has a key that is a field.
pub(super) fn has_field(plan: &Plan) -> bool {
    plan.edition() == Edition::Two && plan.field("field").is_some()
}

/// Applies the operation to its current value, with the key of each item. `otherwise` is the constant if the key is not
/// evaluated; `mode` as in [`Apply`].
pub(super) fn plan_keys(plan: &mut Plan, otherwise: ConstId, mode: u32) {
    match has_expr(plan) {
        true => {
            plan.each_item("expr");
            plan.apply(1, (NO_CONST, NO_CONST, mode));
        }
        false => {
            plan.needs_input();
            plan.apply(0, (otherwise, NO_CONST, mode));
        }
    }
}

/// Returns where the keys of the items are.
#[inline]
pub(super) fn keyed_by<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> ItemKeys<H::Term> {
    match (apply.operands, apply.key) {
        (1.., _) => ItemKeys::List(machine.one_operand(apply)),
        (0, NO_CONST) => ItemKeys::Items,
        (0, field) => ItemKeys::Field(field),
    }
}
