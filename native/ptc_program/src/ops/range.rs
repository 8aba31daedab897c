//! `range`.

use super::{Edition, Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Fault};
use crate::shape::OpShape;
use ptc_kernels::UNITS_A_LIMB;
use ptc_term::heap::Heap;
use ptc_term::number::{Arithmetic, Number};
use ptc_term::rooted;

pub(super) struct Range;

impl Operation for Range {
    const NAME: &'static str = "range";
    const FAMILY: &'static str = "Values";
    const ABOUT: &'static str = "The integers from the first to the last, both included.";
    const TYPES: &'static str = "two integers to [integer]";
    const SHAPE: OpShape = OpShape::Range;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::required("from", FieldKind::Template, "the first integer"),
        Field::required("to", FieldKind::Template, "the last integer"),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        plan.template_of("from", plan.scope);
        plan.template_of("to", plan.scope);
        plan.apply(2, (NO_CONST, NO_CONST, 0));
        Ok(())
    }

    /// The list is made from its end.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let (from, to) = machine.two_operands(apply);
        let (Some(first), Some(last)) = (integer(machine, from)?, integer(machine, to)?) else {
            let fault = Fault::new(Code::RequiresBoth, Some(Self::NAME), vec![from, to]);
            return Err(fault.about("integers").into());
        };
        let count = count(&first, &last);
        let start = |machine: &mut Machine<'_, H>| Numbers {
            list: machine.heap.make_list(&[]),
            count: 0,
        };
        machine.resumable(start, |machine, made: &mut Numbers<_>| {
            machine.check_heap_limit(count.saturating_sub(made.count).saturating_mul(2))?;
            while made.count < count {
                machine.consume_fuel(1 + UNITS_A_LIMB * last.limbs())?;
                let Some(number) = machine.heap.make_number(before(&last, made.count)) else {
                    break;
                };
                machine.check_heap_limit(2)?;
                made.list = machine.heap.make_list_onto(&[number], made.list);
                made.count += 1;
                machine.meter.advanced();
            }
            Ok(made.list)
        })
    }
}

/// The numbers that are in the list: the last ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers<T> {
    list: T,
    count: usize,
}

rooted!(Numbers { terms: list; plain: count });

/// Returns the integer if the term is one.
fn integer<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<Option<Number>, Halt<H::Term>> {
    let number = machine.number(term)?;
    Ok(number.filter(|number| !matches!(number, Number::Float(_))))
}

/// Returns how many integers there are from the first to the last; saturates.
fn count(first: &Number, last: &Number) -> usize {
    match Arithmetic::Sub.apply(last, first) {
        Ok(Number::Int(more)) => usize::try_from(more).map_or(0, |more| more.saturating_add(1)),
        Ok(more) if !more.is_negative() => usize::MAX,
        _ => 0,
    }
}

/// Returns `last - count`.
fn before(last: &Number, count: usize) -> Number {
    let count = Number::Int(i64::try_from(count).unwrap_or(i64::MAX));
    Arithmetic::Sub.apply(last, &count).unwrap_or(count)
}
