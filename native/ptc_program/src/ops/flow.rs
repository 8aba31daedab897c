//! Control flow, current value and bindings: `pipe`, `let`, `if`.

use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::Instr;
use crate::compile::{Plan, INPUT_NAME};
use crate::fault::Code;
use crate::shape::{Branching, OpShape};
use ptc_json::Node;

pub(super) struct Pipe;
pub(super) struct Let;
pub(super) struct If;

impl Operation for Pipe {
    const NAME: &'static str = "pipe";
    const FAMILY: &'static str = "Flow";
    const ABOUT: &'static str = "Runs the steps in order; each gets the value of the one before.";
    const TYPES: &'static str =
        "the type of the last step; each step reads the value of the one before";
    const SHAPE: OpShape = OpShape::Chained;
    const FIELDS: &'static [Field] = &[Field::required(
        "steps",
        FieldKind::ExprList,
        "what runs, first step first",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        let Some(steps) = plan.list("steps")? else {
            return Ok(());
        };
        let around = plan.scope.input;
        let current = plan.take_slot();
        // A first step that names the input continues with the value around the pipe.
        let names_input = steps.first().is_some_and(|step| plan.names_input(*step));
        // In edition 2 the first step gets the value around the pipe.
        let reads = |step: &Node| {
            plan.operation(*step)
                .is_none_or(|op| op.shape().sees_input())
        };
        let reads_input = plan.edition() == Edition::Two && !names_input;
        match reads_input && steps.first().is_some_and(reads) {
            true => plan.emit(Instr::Slot(around)),
            false => plan.emit(Instr::Nil),
        }
        for (index, step) in steps.into_iter().enumerate() {
            if index == 0 && names_input {
                plan.emit(Instr::Store(current));
                plan.emit(Instr::Slot(around));
                plan.unknown_fields(step, OpCode::Var, 1);
                continue;
            }
            // It stays so if the step reads the slot once, see `Compiler::visit`.
            plan.emit(Instr::StoreOnce(current));
            plan.visit(step, plan.scope.with_input(current), true);
        }
        Ok(())
    }
}

impl Operation for Let {
    const NAME: &'static str = "let";
    const FAMILY: &'static str = "Flow";
    const ABOUT: &'static str = "Binds the value to the name within the body.";
    const TYPES: &'static str = "the type of the body, where the name has the type of the value";
    const SHAPE: OpShape = OpShape::Bind;
    const FIELDS: &'static [Field] = &[
        Field::required("in", FieldKind::Expr, "the body, where the name holds"),
        Field::required("name", FieldKind::String, "the name"),
        Field::required("value", FieldKind::Expr, "what the name stands for"),
    ];
    const FIELDS_2: &'static [Field] = &[
        Field::required("in", FieldKind::Template, "the body, where the name holds"),
        Field::required("name", FieldKind::String, "the name"),
        Field::required("value", FieldKind::Template, "what the name stands for"),
    ];

    /// Checks that all fields exist before any of them is checked.
    fn check(plan: &Plan) -> Planned {
        Self::FIELDS
            .iter()
            .try_for_each(|field| plan.required(field.name))
    }

    fn plan(plan: &mut Plan) -> Planned {
        plan.branch("value", plan.scope);
        let source = plan.source();
        let node = plan.field("name");
        let text = node.and_then(|node| Some((node, source.text(node)?)));
        let Some((name, text)) = text else {
            plan.fail(Code::LetName, "name", node.unwrap_or(plan.nil()));
            return Ok(());
        };
        let slot = plan.take_slot();
        plan.emit(Instr::Store(slot));
        if text == INPUT_NAME.as_bytes() {
            plan.branch("in", plan.scope.with_input(slot));
        } else {
            plan.consume_fuel_for_bytes(2 * text.len())?;
            plan.bind(name, slot);
            plan.branch("in", plan.scope);
            plan.unbind(name);
        }
        Ok(())
    }
}

const CONDITION: Field = Field::required("condition", FieldKind::Expr, "what decides").condition();

impl Operation for If {
    const NAME: &'static str = "if";
    const FAMILY: &'static str = "Flow";
    const ABOUT: &'static str = "One of two values, by the truth of a condition.";
    const TYPES: &'static str = "the type of one of the branches, which see what the condition says about the current value";
    const SHAPE: OpShape = OpShape::Branch(Branching::Two);
    const FIELDS: &'static [Field] = &[
        CONDITION,
        Field::required("else", FieldKind::Expr, "the value if it does not hold"),
        Field::required("then", FieldKind::Expr, "the value if it holds"),
    ];
    const FIELDS_2: &'static [Field] = &[
        CONDITION,
        Field::required("else", FieldKind::Template, "the value if it does not hold"),
        Field::required("then", FieldKind::Template, "the value if it holds"),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        let (then, end) = (plan.label(), plan.label());
        plan.expr("condition");
        plan.jump_if(true, then);
        plan.branch("else", plan.scope);
        plan.jump(end);
        plan.mark(then);
        plan.branch("then", plan.scope);
        plan.mark(end);
        Ok(())
    }
}
