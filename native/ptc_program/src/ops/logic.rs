//! Logic: `and`, `or`, `not`. Only nil and false are false; the result is always a boolean.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Eval, Instr, Machine, NO_CONST};
use crate::compile::Plan;
use crate::shape::OpShape;
use ptc_term::heap::Heap;

pub(super) struct And;
pub(super) struct Or;
pub(super) struct Not;

const CONDITIONS: &[Field] =
    &[Field::required("conditions", FieldKind::ExprList, "what may hold or not").condition()];

impl Operation for And {
    const NAME: &'static str = "and";
    const FAMILY: &'static str = "Logic";
    const ABOUT: &'static str = "Whether all conditions hold; stops at the first that does not.";
    const TYPES: &'static str = "boolean; each condition sees what those before it say";
    const SHAPE: OpShape = OpShape::Connective(false);
    const FIELDS: &'static [Field] = CONDITIONS;

    fn plan(plan: &mut Plan) -> Planned {
        stop_at(plan, false)
    }
}

impl Operation for Or {
    const NAME: &'static str = "or";
    const FAMILY: &'static str = "Logic";
    const ABOUT: &'static str = "Whether any condition holds; stops at the first that does.";
    const TYPES: &'static str = "boolean; each condition sees what those before it say";
    const SHAPE: OpShape = OpShape::Connective(true);
    const FIELDS: &'static [Field] = CONDITIONS;

    fn plan(plan: &mut Plan) -> Planned {
        stop_at(plan, true)
    }
}

/// Evaluates the conditions up to the first one whose truth is `decisive`.
fn stop_at(plan: &mut Plan, decisive: bool) -> Planned {
    let Some(conditions) = plan.list("conditions")? else {
        return Ok(());
    };
    let (decided, end) = (plan.label(), plan.label());
    for condition in conditions {
        plan.visit(condition, plan.scope, false);
        plan.jump_if(decisive, decided);
    }
    plan.emit(Instr::Bool(!decisive));
    plan.jump(end);
    plan.mark(decided);
    plan.emit(Instr::Bool(decisive));
    plan.mark(end);
    Ok(())
}

impl Operation for Not {
    const NAME: &'static str = "not";
    const FAMILY: &'static str = "Logic";
    const ABOUT: &'static str = "Whether the condition does not hold.";
    const TYPES: &'static str = "boolean";
    const SHAPE: OpShape = OpShape::Negation;
    const FIELDS: &'static [Field] =
        &[Field::required("condition", FieldKind::Expr, "what may hold or not").condition()];

    fn plan(plan: &mut Plan) -> Planned {
        plan.expr("condition");
        plan.apply(1, (NO_CONST, NO_CONST, 0));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let value = machine.one_operand(apply);
        Ok(machine.heap.boolean(!machine.heap.truthy(value)))
    }

    fn can_fail(_apply: &Apply) -> bool {
        false
    }
}
