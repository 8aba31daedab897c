//! Numbers by their rank: `median`, `percentile`.

use crate::code::{Apply, ConstId, Instr, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::ops::keyed::check_forms;
use crate::ops::sort::WORDS_OF_SORTED;
use crate::ops::{Field, FieldKind, Operation, Planned};
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::Code;
use ptc_machine::{Eval, Keeps, Machine, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::{divide, Arithmetic, BadArith, Number};
use ptc_term::value::Value;

/// What is computed of the sorted numbers: it lies at a rank, or between that and the next one.
struct Rank {
    /// The number of numbers before it.
    before: usize,
    /// How far it is from there to the next number: 0 to 1.
    beyond: f64,
}

impl Rank {
    /// Returns the middle of a number of numbers, at least one.
    fn middle(count: usize) -> Rank {
        Rank {
            before: (count - 1) / 2,
            beyond: if count.is_multiple_of(2) { 0.5 } else { 0.0 },
        }
    }

    /// Returns the rank at this part of a number of numbers, at least one.
    fn of(part: f64, count: usize) -> Rank {
        let rank = part * (count - 1) as f64;
        Rank {
            before: (rank as usize).min(count - 1),
            beyond: rank - rank.floor(),
        }
    }
}

/// Collects the numbers among the items, or among the values of a field of the items, and sorts as many as are read.
/// `rank` gives the rank for their number; `between` computes what lies between two numbers.
fn at_rank<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    rank: impl FnOnce(usize) -> Rank,
    between: impl FnOnce(&Number, &Number, f64) -> Result<Number, BadArith>,
) -> Eval<H> {
    machine.resumable(apply, |machine, work| {
        let keys = &mut work.keys;
        machine.each_item(apply, &mut work.walk, |machine, item| {
            let value = match apply.key {
                NO_CONST => item,
                field => machine.value_or_nil(item, field)?,
            };
            if machine.heap.kind(value) == Kind::Number {
                if keys.len() % KEPT_BETWEEN_CHECKS == 0 {
                    machine.check_heap_limit(WORDS_OF_SORTED * keys.len())?;
                }
                keys.push(value);
            } else if let Some(Value::Decimal { .. }) = machine.value(value) {
                // As in `avg`: others are skipped, but a result without the decimals would be a wrong one.
                return Err(machine.fault(apply.op, Code::NeedsNumbers, vec![value]));
            }
            Ok(())
        })?;
        if keys.is_empty() {
            return Ok(machine.heap.nil());
        }
        let rank = rank(keys.len());
        let wanted = rank.before + 1 + usize::from(rank.beyond > 0.0);
        let mut sorting = work.progress.sorting.take().unwrap_or_default();
        let sorted = sorting.sort(machine, &work.keys, wanted, &[false]);
        let place =
            |index: usize| sorting.places().get(index).copied().unwrap_or_default() as usize;
        let places = (place(rank.before), place(wanted - 1));
        work.progress.sorting = Some(sorting);
        sorted?;
        let terms = (
            work.keys.get(machine.heap, places.0),
            work.keys.get(machine.heap, places.1),
        );
        if rank.beyond == 0.0 {
            return Ok(terms.0);
        }
        let (Some(a), Some(b)) = (machine.number(terms.0)?, machine.number(terms.1)?) else {
            return Ok(machine.heap.nil());
        };
        match between(&a, &b, rank.beyond) {
            Ok(number) => machine.make_number(apply.op, number),
            Err(BadArith) => Err(machine.fault(apply.op, Code::BadArith, vec![])),
        }
    })
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
        at_rank(machine, apply, Rank::middle, |a, b, _| {
            let sum = Arithmetic::Add.apply(a, b)?;
            divide(&sum, &Number::Int(2)).map(Number::Float)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::aggregate(rule)
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
        let per_cent = match machine.number(per_cent)?.map(|number| number.to_float()) {
            Some(Ok(number)) => number,
            _ => 0.0,
        };
        let rank = |count| Rank::of(per_cent / 100.0, count);
        at_rank(machine, apply, rank, |a, b, beyond| {
            let difference = Arithmetic::Sub.apply(b, a)?;
            let part = Arithmetic::Mul.apply(&difference, &Number::Float(beyond))?;
            Arithmetic::Add.apply(a, &part)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::aggregate(rule)
    }
}
