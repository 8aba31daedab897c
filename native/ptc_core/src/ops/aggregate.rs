//! One value out of the current list: `count`, `sum`, `avg`, `min`, `max`, `min_by`, `max_by`.

use super::{Checked, Field, Operation, ONE_FIELD};
use crate::compile::Plan;
use crate::fault::{Code, Halt};
use crate::heap::{Heap, Kind, Lookup};
use crate::number::{divide, Arithmetic, Number};
use crate::program::{Apply, NO_CONST};
use crate::source::Source;
use crate::vm::{Eval, Machine};
use std::cmp::Ordering;

pub(super) struct Count;
pub(super) struct Sum;
pub(super) struct Avg;

impl Operation for Count {
    const NAME: &'static str = "count";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "How many items the list has.";
    const FIELDS: &'static [Field] = &[];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.apply_to_input(NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let list = machine.slot(apply.input);
        match machine.list_length(list)? {
            Some(length) => machine.make_number(apply.op, Number::Int(length as i64)),
            None => Err(machine.fault(apply.op, Code::NeedsList, vec![list])),
        }
    }
}

impl Operation for Sum {
    const NAME: &'static str = "sum";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The sum of a field's numbers; missing and nil are left out.";
    const FIELDS: &'static [Field] = ONE_FIELD;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let field = plan.string("field")?;
        plan.apply_to_input(field);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let mut sum = Number::Int(0);
        machine.each_item(apply, |machine, item| {
            let value = match machine.lookup(item, apply.a) {
                Lookup::Found(value) => value,
                Lookup::Missing => return Ok(()),
                Lookup::NotAMap => {
                    return Err(machine.fault(apply.op, Code::NeedsListOfMaps, vec![item]))
                }
            };
            match machine.heap.number(value) {
                Some(number) => add(machine, apply, &mut sum, &number),
                None if machine.heap.kind(value) == Kind::Nil => Ok(()),
                None => Err(machine.fault(apply.op, Code::NeedsNumbers, vec![value])),
            }
        })?;
        machine.make_number(apply.op, sum)
    }
}

impl Operation for Avg {
    const NAME: &'static str = "avg";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The mean of a field's numbers, nil if there are none.";
    const FIELDS: &'static [Field] = ONE_FIELD;

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let field = plan.string("field")?;
        plan.apply_to_input(field);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let mut sum = Number::Int(0);
        let mut count = 0;
        machine.each_item(apply, |machine, item| {
            let value = machine.value_or_nil(item, apply.a);
            match machine.heap.number(value) {
                Some(number) => {
                    count += 1;
                    add(machine, apply, &mut sum, &number)
                }
                None => Ok(()),
            }
        })?;
        if count == 0 {
            return Ok(machine.heap.nil());
        }
        match divide(&sum, &Number::Int(count)) {
            Ok(mean) => machine.make_number(apply.op, Number::Float(mean)),
            Err(_) => Err(machine.fault(apply.op, Code::BadArith, vec![])),
        }
    }
}

#[inline]
fn add<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    sum: &mut Number,
    number: &Number,
) -> Result<(), Halt<H::Term>> {
    if let (Number::Int(total), Number::Int(number)) = (&mut *sum, number) {
        if let Some(next) = total.checked_add(*number) {
            *total = next;
            return Ok(());
        }
    }
    machine.tick(sum.limbs() / 64)?;
    *sum = match Arithmetic::Add.apply(sum, number) {
        Ok(sum) => sum,
        Err(_) => return Err(machine.fault(apply.op, Code::BadArith, vec![])),
    };
    Ok(())
}

/// An item and its field.
type Extreme<T> = (T, T);

/// The item whose field comes first in an order, with that field; the first of equals stays.
fn extreme<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    better: Ordering,
) -> Result<Option<Extreme<H::Term>>, Halt<H::Term>> {
    let mut best = None;
    machine.each_item(apply, |machine, item| {
        let value = machine.value_or_nil(item, apply.a);
        if machine.heap.kind(value) == Kind::Nil {
            return Ok(());
        }
        machine.tick_deep(value)?;
        match best {
            Some((_, least)) if machine.heap.compare(value, least) != better => {}
            _ => best = Some((item, value)),
        }
        Ok(())
    })?;
    Ok(best)
}

macro_rules! extreme {
    ($op:ident, $name:literal, $about:literal, $better:expr, $of:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Aggregate";
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [Field] = ONE_FIELD;

            fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
                let field = plan.string("field")?;
                plan.apply_to_input(field);
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let best = extreme(machine, apply, $better)?;
                Ok(best.map_or(machine.heap.nil(), $of))
            }
        }
    };
}

extreme!(
    Min,
    "min",
    "The smallest value of a field.",
    Ordering::Less,
    |(_, value)| value
);
extreme!(
    Max,
    "max",
    "The largest value of a field.",
    Ordering::Greater,
    |(_, value)| value
);
extreme!(
    MinBy,
    "min_by",
    "The item with a field's smallest value.",
    Ordering::Less,
    |(item, _)| item
);
extreme!(
    MaxBy,
    "max_by",
    "The item with a field's largest value.",
    Ordering::Greater,
    |(item, _)| item
);
