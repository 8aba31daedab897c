//! `call`: tool calls.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::Instr;
use crate::compile::Plan;

pub(super) struct Call;

impl Operation for Call {
    const NAME: &'static str = "call";
    const FAMILY: &'static str = "Tools";
    const ABOUT: &'static str = "The answer of a tool; its arguments are taken literally.";
    const FIELDS: &'static [Field] = &[
        Field::optional("args", FieldKind::Map, "the arguments, never evaluated"),
        Field::required("tool", FieldKind::String, "the tool's name"),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        let args = plan.field("args").unwrap_or(plan.empty_map());
        let args = plan.constant(args);
        let tool = plan.constant_of("tool");
        plan.emit(Instr::Const(args));
        plan.emit(Instr::Call { tool });
        Ok(())
    }
}
