//! `join`: the items of two lists that have the same value in a field.
//!
//! The second list is grouped by its field, by hashing. Then each item of the first one finds its matches.

use super::joining::{join, requires, Joining, CHECK, GROUP, INNER, LEFT, NAME, NAMED, PAIRS};
use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, ConstId, Eval, Halt, Machine, Slot, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use crate::shape::OpShape;
use ptc_term::heap::Heap;

pub(super) struct Join;

impl Operation for Join {
    const NAME: &'static str = "join";
    const FAMILY: &'static str = "Group and join";
    const ABOUT: &'static str =
        "Each item with the items of another list whose field has the same value; \
         inner unless `kind` is given.";
    const TYPES: &'static str = "two lists of objects to a list of objects with the fields of both";
    const SHAPE: OpShape = OpShape::Joined;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "as",
            FieldKind::String,
            "the name under which a match stands in the result; \
             without it its keys are put beside those of the item, which win",
        ),
        Field::optional(
            "kind",
            FieldKind::Choice,
            "left keeps items without a match; group has one result \
             for each item, with the list of its matches",
        )
        .values("\"inner\", \"left\" or \"group\"")
        .choices(
            &["inner", "left", "group"],
            "'kind' must be 'inner', 'left' or 'group'",
        ),
        Field::alternative("left", FieldKind::String, "the items' key that is compared"),
        Field::alternative(
            "on",
            FieldKind::String,
            "the key that is compared in both lists",
        ),
        Field::alternative(
            "right",
            FieldKind::String,
            "the other items' key that is compared",
        ),
        Field::required("with", FieldKind::Template, "the other list"),
    ];

    fn check(plan: &Plan) -> Planned {
        let given = |name| plan.field(name).is_some();
        match (given("on"), given("left"), given("right")) {
            (true, false, false) | (false, true, true) => {}
            (true, ..) => {
                return plan.reject(
                    Code::Accepts,
                    "'on' or 'left' and 'right', not both",
                    vec![],
                )
            }
            (_, true, _) => return plan.reject(Code::FieldMissing, "right", vec![]),
            (_, _, true) => return plan.reject(Code::FieldMissing, "left", vec![]),
            _ => return plan.reject(Code::FieldMissing, "on", vec![]),
        }
        match kind(plan) == GROUP && !given("as") {
            true => plan.reject(Code::FieldMissing, "as", vec![]),
            false => Ok(()),
        }
    }

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        plan.expect();
        plan.template_of("with", plan.scope);
        plan.apply(1, (NO_CONST, NO_CONST, CHECK));
        let (on, nil) = (plan.field("on"), plan.nil());
        let name = plan.field("as");
        let field = |name| on.or(plan.field(name)).unwrap_or(nil);
        let consts = [field("left"), field("right"), name.unwrap_or(nil)];
        let first = plan.constants(consts.into_iter());
        let named = if name.is_some() { NAMED } else { 0 };
        plan.apply(1, (first, NO_CONST, kind(plan) | named));
        Ok(())
    }

    /// Checks that the current value is a list before the other one is evaluated.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, input: Slot) -> Result<(), Halt<H::Term>> {
        let input = machine.slot(input);
        match machine.is_proper_list(input)? {
            true => Ok(()),
            false => Err(machine.fault(OpCode::Join, Code::NeedsList, vec![input])),
        }
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let with = machine.one_operand(apply);
        if apply.mode == CHECK {
            return match machine.is_proper_list(with)? {
                true => Ok(with),
                false => Err(requires("a list in 'with'", with)),
            };
        }
        machine.resumable(
            |machine| Joining::over(machine.slot(apply.input)),
            |machine, work| join(machine, apply, work, with),
        )
    }
}

/// Returns the constant that is the name of a match, or [`NO_CONST`].
pub(super) fn name_of(apply: &Apply) -> ConstId {
    match apply.mode & (NAMED | CHECK) {
        NAMED => apply.key + NAME,
        _ => NO_CONST,
    }
}

/// Returns whether the result can have pairs: in place of each row that is made of an item and a match, a cell of the two.
/// Without a match the second one is nil.
pub(crate) fn makes_pairs(apply: &Apply) -> bool {
    apply.op == OpCode::Join && matches!(apply.mode, INNER | LEFT)
}

/// Lets the result have pairs.
pub(crate) fn make_pairs(apply: &mut Apply) {
    apply.mode |= PAIRS;
}

fn kind(plan: &Plan) -> u32 {
    let kind = plan.field("kind").and_then(|kind| plan.source().text(kind));
    match kind {
        Some(b"left") => LEFT,
        Some(b"group") => GROUP,
        _ => INNER,
    }
}
