//! Sources of values: `load`, `literal`, `var`.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::Instr;
use crate::compile::{Plan, INPUT_NAME};
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::Code;

pub(super) struct Load;
pub(super) struct Literal;
pub(super) struct Var;

impl Operation for Load {
    const NAME: &'static str = "load";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str = "The context's value of that name, nil if there is none.";
    const TYPES: &'static str = "the type of the data of that name";
    const FIELDS: &'static [Field] = &[Field::required(
        "name",
        FieldKind::String,
        "a key of the context",
    )];
    const SEES_INPUT: bool = false;

    fn plan(plan: &mut Plan) -> Planned {
        let key = plan.constant_of("name");
        match name(plan) {
            Some(_) => plan.emit(Instr::LoadContext(key)),
            None => no_name(plan, Code::ContextKey),
        }
        Ok(())
    }

    fn types(rule: &mut Rule) -> Next {
        rules::names::load(rule)
    }
}

impl Operation for Literal {
    const NAME: &'static str = "literal";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str = "The value itself, never evaluated.";
    const TYPES: &'static str = "the type of the value";
    const FIELDS: &'static [Field] = &[Field::required(
        "value",
        FieldKind::Any,
        "the value, operations in it too",
    )];
    const SEES_INPUT: bool = false;

    fn plan(plan: &mut Plan) -> Planned {
        let value = plan.constant_of("value");
        plan.emit(Instr::Const(value));
        Ok(())
    }

    fn types(rule: &mut Rule) -> Next {
        rules::flow::literal(rule)
    }
}

impl Operation for Var {
    const NAME: &'static str = "var";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str =
        "The innermost let binding of that name, else the memory's value, else nil.";
    const TYPES: &'static str = "the type of the name, of the current value or of the memory";
    const FIELDS: &'static [Field] = &[Field::required(
        "name",
        FieldKind::String,
        "the name of a let, or a key of the memory",
    )];
    const SEES_INPUT: bool = false;

    fn plan(plan: &mut Plan) -> Planned {
        let key = plan.constant_of("name");
        match name(plan) {
            None => no_name(plan, Code::MemoryKey),
            Some(name) if name == INPUT_NAME.as_bytes() => plan.emit(Instr::Slot(plan.scope.input)),
            Some(name) => {
                plan.consume_fuel_for_bytes(name.len())?;
                match plan.binding(name) {
                    Some(slot) => plan.emit(Instr::Slot(slot)),
                    None => plan.emit(Instr::LoadMemory(key)),
                }
            }
        }
        Ok(())
    }

    fn types(rule: &mut Rule) -> Next {
        rules::names::var(rule)
    }
}

/// Returns the name if it is a string.
fn name<'s>(plan: &Plan<'_, 's>) -> Option<&'s [u8]> {
    plan.source().text(plan.field("name")?)
}

fn no_name(plan: &mut Plan, code: Code) {
    let subject = plan.field("name").unwrap_or(plan.nil());
    plan.fail(code, "name", subject);
}
