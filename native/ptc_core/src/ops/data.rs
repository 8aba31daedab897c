//! Sources of values: `load`, `literal`, `var`.

use super::{Checked, Field, FieldKind, Operation};
use crate::compile::{Plan, INPUT_NAME};
use crate::fault::Code;
use crate::program::{Const, Instr};
use crate::source::{Shape, Source};

pub(super) struct Load;
pub(super) struct Literal;
pub(super) struct Var;

impl Operation for Load {
    const NAME: &'static str = "load";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str = "The context's value of that name, nil if there is none.";
    const FIELDS: &'static [Field] = &[Field::required(
        "name",
        FieldKind::String,
        "a key of the context",
    )];
    const SEES_INPUT: bool = false;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let key = plan.constant_of("name");
        match name(plan) {
            Some(_) => plan.emit(Instr::LoadContext(key)),
            None => no_name(plan, Code::ContextKey),
        }
        Ok(())
    }
}

impl Operation for Literal {
    const NAME: &'static str = "literal";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str = "The value itself, never evaluated.";
    const FIELDS: &'static [Field] = &[Field::required(
        "value",
        FieldKind::Any,
        "the value, operations in it too",
    )];
    const SEES_INPUT: bool = false;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let value = plan.constant_of("value");
        plan.emit(Instr::Const(value));
        Ok(())
    }
}

impl Operation for Var {
    const NAME: &'static str = "var";
    const FAMILY: &'static str = "Data";
    const ABOUT: &'static str =
        "The innermost let binding of that name, else the memory's value, else nil.";
    const FIELDS: &'static [Field] = &[Field::required(
        "name",
        FieldKind::String,
        "the name of a let, or a key of the memory",
    )];
    const SEES_INPUT: bool = false;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let key = plan.constant_of("name");
        match name(plan) {
            None => no_name(plan, Code::MemoryKey),
            Some(name) if name == INPUT_NAME.as_bytes() => plan.emit(Instr::Slot(plan.scope.input)),
            Some(name) => {
                plan.spend_bytes(name.len())?;
                match plan.binding(name) {
                    Some(slot) => plan.emit(Instr::Slot(slot)),
                    None => plan.emit(Instr::LoadMemory(key)),
                }
            }
        }
        Ok(())
    }
}

/// Returns the name if it is a string.
fn name<'s, S: Source>(plan: &Plan<'_, 's, S>) -> Option<&'s [u8]> {
    let source = plan.source();
    let node = plan.field("name")?;
    (source.shape(node) == Shape::String)
        .then(|| source.text(node))
        .flatten()
}

fn no_name<S: Source>(plan: &mut Plan<'_, '_, S>, code: Code) {
    let subject = plan.field("name").map_or(Const::Nil, Const::Node);
    plan.fail(code, "name", subject);
}
