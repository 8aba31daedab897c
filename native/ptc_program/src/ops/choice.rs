//! Values and choices: `it`, `coalesce`, `switch`.

use super::{Edition, Field, FieldKind, Operation, Planned};
use crate::code::Instr;
use crate::compile::Plan;
use crate::shape::{Branching, OpShape};

pub(super) struct It;
pub(super) struct Coalesce;
pub(super) struct Switch;

impl Operation for It {
    const NAME: &'static str = "it";
    const FAMILY: &'static str = "Values";
    const ABOUT: &'static str = "The current value.";
    const TYPES: &'static str = "the type of the current value";
    const SHAPE: OpShape = OpShape::Input;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        plan.emit(Instr::Slot(plan.scope.input));
        Ok(())
    }
}

impl Operation for Coalesce {
    const NAME: &'static str = "coalesce";
    const FAMILY: &'static str = "Values";
    const ABOUT: &'static str =
        "The first of the values that is not nil; the others are not evaluated.";
    const TYPES: &'static str = "the type of one of the values, without null";
    const SHAPE: OpShape = OpShape::FirstOf;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[Field::required(
        "values",
        FieldKind::TemplateList,
        "the values, the wanted one first",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        let end = plan.label();
        for value in plan.list("values")?.unwrap_or_default() {
            plan.template(value, plan.scope);
            plan.jump_if_some(end);
        }
        plan.emit(Instr::Nil);
        plan.mark(end);
        Ok(())
    }
}

impl Operation for Switch {
    const NAME: &'static str = "switch";
    const FAMILY: &'static str = "Flow";
    const ABOUT: &'static str = "The value of the first case whose condition holds.";
    const TYPES: &'static str =
        "the type of one of the values; a case sees what the conditions before it say";
    const SHAPE: OpShape = OpShape::Branch(Branching::Cases);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::required(
            "cases",
            FieldKind::Cases,
            "objects with the condition \"when\" and the value \"then\"",
        )
        .condition(),
        Field::optional(
            "else",
            FieldKind::Template,
            "the value if no condition holds",
        ),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        let end = plan.label();
        for case in plan.list("cases")?.unwrap_or_default() {
            let (when, then) = plan.case(case)?;
            let next = plan.label();
            plan.visit(when, plan.scope, false);
            plan.jump_if(false, next);
            plan.template(then, plan.scope);
            plan.jump(end);
            plan.mark(next);
        }
        match plan.field("else") {
            Some(value) => plan.template(value, plan.scope),
            None => plan.emit(Instr::Nil),
        }
        plan.mark(end);
        Ok(())
    }
}
