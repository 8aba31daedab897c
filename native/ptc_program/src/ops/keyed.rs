//! The keys of a list's items: a field of each, or the value of an expression for each.

use super::field::FIELD_OF_ITEMS;
use super::{Field, FieldKind, Planned};
use crate::code::{Apply, ConstId, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use ptc_machine::fault::{Code, Halt};
use ptc_machine::{Machine, Work};
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

/// An item's key, and the keys of the items after it if they are in a list.
pub(super) type Keyed<T> = (T, Option<T>);

/// Begins to read the keys: before the first item is visited.
pub(super) fn begin<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Work<H::Term>,
) -> Result<(), Halt<H::Term>> {
    if work.rests.is_empty() && apply.operands > 0 {
        work.rests.push(machine.one_operand(apply));
    }
    if machine.values() && !work.progress.searched {
        search(machine, apply, work)?;
    }
    Ok(())
}

/// Searches the keys for values.
fn search<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Work<H::Term>,
) -> Result<(), Halt<H::Term>> {
    let progress = &mut work.progress;
    let kinds = &mut progress.kinds;
    match work.rests.first() {
        Some(keys) => {
            if !progress.second {
                (work.walk.rest, progress.second) = (*keys, true);
            }
            machine.search_items(&mut work.walk.rest, kinds, |_, key| Ok(key))?;
        }
        None => machine.search_items(&mut work.walk.rest, kinds, |machine, item| {
            key_of(machine, apply, None, item).map(|(key, _)| key)
        })?,
    }
    work.walk.rest = machine.slot(apply.input);
    progress.searched = true;
    Ok(())
}

/// Returns the key of an item: the next one in the list of the keys, a field of the item, or the item itself.
#[inline]
pub(super) fn key_of<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    keys: Option<H::Term>,
    item: H::Term,
) -> Result<Keyed<H::Term>, Halt<H::Term>> {
    Ok(match (keys, apply.key) {
        (Some(keys), _) => match machine.heap.uncons(keys) {
            Some((key, rest)) => (key, Some(rest)),
            None => (machine.heap.nil(), Some(keys)),
        },
        (None, NO_CONST) => (item, None),
        (None, field) => (machine.value_or_nil(item, field)?, None),
    })
}

/// Goes on to the next key.
#[inline]
pub(super) fn advance<T>(rests: &mut [T], (_, rest): Keyed<T>) {
    if let (Some(place), Some(rest)) = (rests.first_mut(), rest) {
        *place = rest;
    }
}
