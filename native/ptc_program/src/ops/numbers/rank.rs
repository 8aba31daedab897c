//! Numbers by their rank: `median`, `percentile`.

use crate::code::{Apply, ConstId, Eval, Instr, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::ops::keyed::check_forms;
use crate::ops::{Field, FieldKind, Operation, Planned};
use crate::shape::{Aggregate, OpShape};
use ptc_kernels::{Ranking, Wanted};
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_vm::Keeps;

/// Returns the number of a rank among the items, or among the values of a field of the items.
fn at_rank<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, wanted: Wanted) -> Eval<H> {
    let list = machine.slot(apply.input);
    let field = (apply.key != NO_CONST).then_some(apply.key);
    machine.resumable(
        |_| Ranking::over(list),
        |machine, work| {
            let number = work.number(machine, (list, field), &wanted);
            machine.worked(apply.op, number)
        },
    )
}

/// With `expr` the operation is applied to the list of its values.
fn plan(plan: &mut Plan, value: ConstId) {
    if plan.field("expr").is_some() {
        plan.each_item("expr");
        let values = plan.take_slot();
        plan.emit(Instr::Store(values));
        plan.scope = plan.scope.with_input(values);
        plan.apply(0, (NO_CONST, value, 0));
    } else {
        let field = plan.constant_of("field");
        plan.needs_input();
        plan.apply(0, (field, value, 0));
    }
}

const EXPR: Field = Field::alternative("expr", FieldKind::Expr, "the number of an item, computed");
const FIELD: Field = Field::alternative("field", FieldKind::String, "the items' key that is read");

pub(in crate::ops) struct Median;

impl Operation for Median {
    const NAME: &'static str = "median";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str =
        "The middle number, or the mean of the two middle ones; others are left out; nil if there are none.";
    const TYPES: &'static str =
        "list of numbers, or of objects with numbers in the field, to number or null";
    const SHAPE: OpShape = OpShape::Aggregate(Aggregate::Rank);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[EXPR, FIELD];
    const KEEPS: Keeps = Keeps::Value;

    fn check(plan: &Plan) -> Planned {
        check_forms(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        self::plan(plan, NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        at_rank(machine, apply, Wanted::Middle)
    }
}

pub(in crate::ops) struct Percentile;

impl Operation for Percentile {
    const NAME: &'static str = "percentile";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str =
        "The number that so many per cent of the numbers do not exceed, between the closest two; nil if there are none.";
    const TYPES: &'static str =
        "list of numbers, or of objects with numbers in the field, to number or null";
    const SHAPE: OpShape = OpShape::Aggregate(Aggregate::Rank);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        EXPR,
        FIELD,
        Field::required("p", FieldKind::Percent, "how many per cent")
            .must_be("'p' must be a number from 0 to 100"),
    ];
    const KEEPS: Keeps = Keeps::Value;

    fn check(plan: &Plan) -> Planned {
        check_forms(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let per_cent = plan.constant_of("p");
        self::plan(plan, per_cent);
        Ok(())
    }

    /// The value is the number of per cent.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let per_cent = machine.constant(apply.value);
        let per_cent = machine.number(per_cent)?.unwrap_or(Number::Int(0));
        at_rank(machine, apply, Wanted::PerCent(per_cent))
    }
}
