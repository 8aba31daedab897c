//! `distinct`.

use super::{keyed, Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::shape::{Chosen, OpShape};
use ptc_kernels::Distinction;
use ptc_term::heap::Heap;
use ptc_vm::Keeps;

pub(super) struct Distinct;

impl Operation for Distinct {
    const NAME: &'static str = "distinct";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items without repetitions; 1 and 1.0 are two.";
    const TYPES: &'static str = "[T] to [T]";
    const SHAPE: OpShape = OpShape::Subset(Chosen::Distinct);
    const FIELDS: &'static [Field] = &[];
    const FIELDS_2: &'static [Field] = &[
        Field::optional(
            "expr",
            FieldKind::Expr,
            "the key of an item, evaluated for each",
        ),
        Field::optional("field", FieldKind::String, "the items' key that is read"),
    ];
    const ABOUT_2: &'static str =
        "The items without repetitions, or the first one of each key; 1 and 1.0 are two.";
    const KEEPS: Keeps = Keeps::Value;

    fn check(plan: &Plan) -> Planned {
        keyed::check_not_both(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let key = match keyed::has_field(plan) {
            true => plan.constant_of("field"),
            false => NO_CONST,
        };
        keyed::plan_keys(plan, key, 0);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let list = machine.slot(apply.input);
        let by = keyed::keyed_by(machine, apply);
        machine.resumable(
            |_| Distinction::over(list),
            |machine, work| {
                let items = work.list(machine, (list, by));
                machine.worked(apply.op, items)
            },
        )
    }
}
