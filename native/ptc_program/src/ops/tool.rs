//! `call`: tool calls.

use super::{Edition, Field, FieldKind, Operation, Planned};
use crate::code::{Instr, NO_PC};
use crate::compile::Plan;
use crate::shape::OpShape;
use ptc_json::Shape;
use ptc_text::contains;

pub(super) struct Call;

/// Longest text that is looked through for a call before it is read, in bytes.
const LOOKED_THROUGH: usize = 1 << 16;
/// How a text names the operation, if it does not escape a letter of the name.
const QUOTED: &[u8] = b"\"call\"";

/// Returns whether a program's text seems to have a call, before it is read. A name that is written with escapes is not seen, and a
/// string of the data may look like one: only the [instructions](crate::code::Program::calls_tools) tell. A long text is not looked through.
pub fn seems_to_call(text: &[u8]) -> bool {
    text.len() > LOOKED_THROUGH || contains(text, QUOTED)
}

impl Operation for Call {
    const NAME: &'static str = "call";
    const FAMILY: &'static str = "Tools";
    const ABOUT: &'static str = "The answer of a tool; its arguments are taken literally.";
    const TYPES: &'static str = "the tool's answer; the arguments fit its parameters";
    const SHAPE: OpShape = OpShape::Call;
    const FIELDS: &'static [Field] = &[
        Field::optional("args", FieldKind::Map, "the arguments, never evaluated"),
        Field::required("tool", FieldKind::String, "the tool's name"),
    ];

    const ABOUT_2: &'static str = "The answer of a tool.";
    const FIELDS_2: &'static [Field] = &[
        Field::optional("args", FieldKind::TemplateMap, "the arguments"),
        Field::nullable(
            "on_error",
            FieldKind::Template,
            "the value if the tool fails; \"error\" names the text of the error",
        ),
        Field::required("tool", FieldKind::String, "the tool's name"),
    ];

    const CHECKED_IN_ORDER: bool = true;

    fn plan(plan: &mut Plan) -> Planned {
        if plan.edition() == Edition::Two {
            return plan_2(plan);
        }
        let args = plan.field("args").unwrap_or(plan.empty_map());
        let args = plan.constant(args);
        let tool = plan.constant_of("tool");
        plan.emit(Instr::Const(args));
        plan.emit_call(Instr::Call {
            tool,
            on_error: NO_PC,
        });
        Ok(())
    }
}

/// The name that the text of a tool's error has in `on_error`.
const ERROR: &str = "error";

/// The arguments are computed, and an error of the tool can be caught.
fn plan_2(plan: &mut Plan) -> Planned {
    plan.note_call();
    let scope = plan.scope;
    match plan.field("args") {
        Some(args) if plan.shape(args) == Shape::Map => plan.template_map(args, scope),
        args => {
            let args = args.unwrap_or(plan.empty_map());
            let args = plan.constant(args);
            plan.emit(Instr::Const(args));
        }
    }
    let tool = plan.constant_of("tool");
    let Some(value) = plan.field("on_error") else {
        let on_error = NO_PC;
        plan.emit_call(Instr::Call { tool, on_error });
        return Ok(());
    };
    let (failed, end) = (plan.label(), plan.label());
    let text = plan.take_slot();
    plan.emit_call(Instr::Call {
        tool,
        on_error: failed.number(),
    });
    plan.jump(end);
    plan.mark(failed);
    plan.emit(Instr::Store(text));
    plan.bind(ERROR, text);
    plan.template(value, plan.scope_of("on_error", plan.scope));
    plan.unbind(ERROR);
    plan.mark(end);
    Ok(())
}
