//! Loops over the current list with an operation per item: `filter`, `map`, `reject`.

use super::{Checked, Field, FieldKind, OpCode, Operation};
use crate::compile::Plan;
use crate::program::LoopKind;
use crate::source::Source;

pub(super) struct Filter;
pub(super) struct Map;
pub(super) struct Reject;

const WHERE: &[Field] = &[Field::required(
    "where",
    FieldKind::Expr,
    "the condition, evaluated for each item",
)];

impl Operation for Filter {
    const NAME: &'static str = "filter";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The items for which the condition holds.";
    const FIELDS: &'static [Field] = WHERE;
    const READS_INPUT_ONCE: bool = true;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.each_item(LoopKind::Filter, "where");
        Ok(())
    }
}

impl Operation for Map {
    const NAME: &'static str = "map";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The expression's value for each item.";
    const FIELDS: &'static [Field] = &[Field::required(
        "expr",
        FieldKind::Expr,
        "what is evaluated for each item",
    )];
    const READS_INPUT_ONCE: bool = true;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.each_item(LoopKind::Map, "expr");
        Ok(())
    }
}

impl Operation for Reject {
    const NAME: &'static str = "reject";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The items for which the condition does not hold.";
    const FIELDS: &'static [Field] = WHERE;
    const READS_INPUT_ONCE: bool = true;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.each_item(LoopKind::Reject, "where");
        Ok(())
    }
}

impl LoopKind {
    /// Returns the operation of this kind of loop.
    pub fn op(self) -> OpCode {
        match self {
            LoopKind::Filter => OpCode::Filter,
            LoopKind::Reject => OpCode::Reject,
            LoopKind::Map => OpCode::Map,
        }
    }
}
