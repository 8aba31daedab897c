//! `join`: the items of two lists that have the same value in a field.

use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, ConstId, Eval, Halt, Machine, Slot, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors, Fault};
use crate::shape::OpShape;
use ptc_kernels::{joined, Early, JoinBy, JoinForm, JoinKind, Joining, Why, Wrong};
use ptc_term::heap::Heap;

/// What the result has of an item and its matches.
const INNER: u32 = 0;
const LEFT: u32 = 1;
const GROUP: u32 = 2;
const KIND: u32 = 3;
/// The match stands under a name.
const NAMED: u32 = 4;
/// The operand is only checked.
pub(super) const CHECK: u32 = 8;
/// The result has pairs, see [`makes_pairs`].
const PAIRS: u32 = 16;

/// The constants of an instruction: the fields of the two lists, and the name of the match.
const RIGHT: u32 = 1;
const NAME: u32 = 2;

fn requires<T>(phrase: &'static str, value: T) -> Halt<T> {
    let fault = Fault::new(Code::Requires, Some(OpCode::Join.name()), vec![value]);
    fault.about(phrase).into()
}

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
        let list = machine.slot(apply.input);
        let by = join_by(apply);
        machine.resumable(
            |_| Joining::over(list),
            |machine, work| {
                let items = joined(machine, (list, with), &by, work);
                if work.shares() {
                    machine.uses_values_again();
                }
                match items {
                    Err(Early::Wrong(Wrong {
                        why: Why::NotAMap,
                        term: Some(item),
                        ..
                    })) => Err(requires("lists of maps", item)),
                    items => machine.worked(apply.op, items),
                }
            },
        )
    }
}

fn join_by(apply: &Apply) -> JoinBy {
    JoinBy {
        left: apply.key,
        right: apply.key + RIGHT,
        kind: match apply.mode & KIND {
            GROUP => JoinKind::Group,
            LEFT => JoinKind::Left,
            _ => JoinKind::Inner,
        },
        form: match apply.mode & (NAMED | PAIRS) {
            0 => JoinForm::Merged,
            PAIRS => JoinForm::Pairs,
            _ => JoinForm::Named(apply.key + NAME),
        },
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
