//! The way out: `call`.

use super::{Checked, Field, FieldKind, Operation};
use crate::compile::Plan;
use crate::fault::Code;
use crate::program::{Const, Instr};
use crate::source::{Shape, Source};

pub(super) struct Call;

impl Operation for Call {
    const NAME: &'static str = "call";
    const FAMILY: &'static str = "Tools";
    const ABOUT: &'static str = "The answer of a tool; its arguments are taken literally.";
    const FIELDS: &'static [Field] = &[
        Field::optional("args", FieldKind::Map),
        Field::required("tool", FieldKind::String),
    ];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let args = match plan.field("args") {
            None => plan.constant(Const::EmptyMap),
            Some(args) => {
                if !matches!(plan.shape(args), Shape::Map | Shape::Struct) {
                    plan.report(Code::FieldNotMap, "args", vec![])?;
                }
                plan.constant(Const::Node(args))
            }
        };
        let tool = plan.string("tool")?;
        plan.emit(Instr::Call { tool, args });
        Ok(())
    }
}
