//! `list`: a list of computed values.

use super::{Edition, Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::shape::OpShape;
use ptc_term::heap::Heap;

pub(super) struct List;

impl Operation for List {
    const NAME: &'static str = "list";
    const FAMILY: &'static str = "Values";
    const ABOUT: &'static str = "A list of the items' values.";
    const TYPES: &'static str = "list of the types of its items";
    const SHAPE: OpShape = OpShape::ListOfParts;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[Field::required(
        "items",
        FieldKind::TemplateList,
        "the items",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        let items = plan.list("items")?.unwrap_or_default();
        let count = items.len() as u32;
        plan.templates(&items, plan.scope);
        plan.apply(count, (NO_CONST, NO_CONST, 0));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let count = apply.operands as usize;
        machine.consume_fuel_at_once(count)?;
        machine.check_heap_limit(2 * count)?;
        let items = machine.operands(apply).to_vec();
        Ok(machine.make_list(&items)?)
    }

    fn can_fail(_apply: &Apply) -> bool {
        false
    }
}
