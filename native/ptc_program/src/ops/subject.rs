//! The input of operations on one value: the value that is given, a field of the current value, or the current value.

use super::{Field, FieldKind};
use crate::code::{Apply, ConstId, NO_CONST};
use crate::compile::{Failure, Plan};
use ptc_machine::fault::Code;
use ptc_machine::{Eval, Machine};
use ptc_term::heap::{Heap, Lookup};

/// Mode of an operation whose input is its first operand: the first bit.
pub(super) const GIVEN: u32 = 1;

/// The field of the current value that is the input.
pub(super) const FIELD: Field = Field::optional(
    "field",
    FieldKind::String,
    "the key of the current value whose value is read",
);

/// The input, if it is a template.
pub(super) const VALUE: Field = Field::optional(
    "value",
    FieldKind::Template,
    "what is read instead of the current value",
);

/// The input, if it is a node or a number.
pub(super) const NUMBER: Field = Field::optional(
    "value",
    FieldKind::Operand,
    "what is read instead of the current value",
);

/// Checks that not both `field` and `value` are given.
pub(super) fn check(plan: &Plan) -> Result<(), Failure> {
    plan.not_both(["field", "value"], "'field' or 'value', not both")
}

/// Evaluates the input, which is [`VALUE`] or [`NUMBER`] if it is given. Returns the number of operands, the key and the mode
/// for the operation's [`Apply`].
pub(super) fn plan(plan: &mut Plan, value: Field) -> (u32, ConstId, u32) {
    let key = match plan.field("field") {
        Some(field) => plan.constant(field),
        None => NO_CONST,
    };
    if plan.field("value").is_none() {
        plan.needs_input();
        return (0, key, 0);
    }
    match value.kind {
        FieldKind::Operand => plan.operand("value"),
        _ => plan.template_of("value", plan.scope),
    }
    plan.note_value();
    (1, NO_CONST, GIVEN)
}

/// Returns the mode of an operation without that of its input.
pub(super) fn own_mode(apply: &Apply) -> u32 {
    apply.mode >> 1
}

/// Returns the mode of an operation with that of its input.
pub(super) fn mode(own: u32, of_input: u32) -> u32 {
    own << 1 | of_input
}

/// Returns the input.
#[inline]
pub(super) fn of<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    if apply.mode & GIVEN != 0 {
        return match machine.operands(apply).first() {
            Some(value) => Ok(*value),
            None => Ok(machine.heap.nil()),
        };
    }
    let input = machine.slot(apply.input);
    match apply.key {
        NO_CONST => Ok(input),
        field => match machine.lookup(input, field)? {
            Lookup::Found(value) => Ok(value),
            Lookup::Missing => Ok(machine.heap.nil()),
            Lookup::NotAMap => Err(machine.fault(apply.op, Code::NeedsMap, vec![input])),
        },
    }
}
