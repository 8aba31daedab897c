//! Items by their place: `first`, `last`, `nth`, `take`, `drop`.

use super::{Checked, Field, FieldKind, Operation};
use crate::compile::Plan;
use crate::fault::{Code, Fault, Halt};
use crate::heap::Heap;
use crate::number::Number;
use crate::program::{Apply, NO_CONST};
use crate::source::Source;
use crate::vm::{Eval, Machine};

pub(super) struct First;
pub(super) struct Last;
pub(super) struct Nth;
pub(super) struct Take;
pub(super) struct Drop;

impl Operation for First {
    const NAME: &'static str = "first";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The first item, nil if there is none.";
    const FIELDS: &'static [Field] = &[];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.apply_to_input(NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        item_at(machine, apply, 0)
    }
}

impl Operation for Last {
    const NAME: &'static str = "last";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The last item, nil if there is none.";
    const FIELDS: &'static [Field] = &[];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.apply_to_input(NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let mut last = machine.heap.nil();
        machine.each_item(apply, |_, item| {
            last = item;
            Ok(())
        })?;
        Ok(last)
    }
}

impl Operation for Nth {
    const NAME: &'static str = "nth";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The item at an index counted from 0, nil if there is none.";
    const FIELDS: &'static [Field] = &[Field::required("index", FieldKind::Count)];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let index = plan.count("index")?;
        plan.apply_to_input(index);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let index = count(machine, apply, "index")?;
        item_at(machine, apply, index)
    }
}

impl Operation for Take {
    const NAME: &'static str = "take";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The first items, at most as many as the count.";
    const FIELDS: &'static [Field] = &[Field::required("count", FieldKind::Count)];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let count = plan.count("count")?;
        plan.apply_to_input(count);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let count = count(machine, apply, "count")?;
        let mut taken = Vec::new();
        machine.each_item(apply, |_, item| {
            if taken.len() < count {
                taken.push(item);
            }
            Ok(())
        })?;
        machine.make_list(&taken)
    }
}

impl Operation for Drop {
    const NAME: &'static str = "drop";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items after the first ones, as many as the count.";
    const FIELDS: &'static [Field] = &[Field::required("count", FieldKind::Count)];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        let count = plan.count("count")?;
        plan.apply_to_input(count);
        Ok(())
    }

    /// The answer is the end of the list itself: nothing is built.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let count = count(machine, apply, "count")?;
        let list = machine.slot(apply.input);
        let (mut rest, mut dropped) = (list, 0);
        while let Some((_, tail)) = machine.heap.uncons(rest).filter(|_| dropped < count) {
            machine.consume_fuel(1)?;
            rest = tail;
            dropped += 1;
        }
        match machine.list_length(rest)? {
            Some(_) => Ok(rest),
            None => Err(machine.not_a_list(apply.op, list)),
        }
    }
}

fn item_at<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, index: usize) -> Eval<H> {
    let (mut found, mut at) = (None, 0);
    machine.each_item(apply, |_, item| {
        if at == index {
            found = Some(item);
        }
        at += 1;
        Ok(())
    })?;
    Ok(found.unwrap_or(machine.heap.nil()))
}

/// The constant `a`, which must be an integer from 0; one beyond any list stands for all larger.
///
/// What it is, is looked at after the list: only an unchecked part can be wrong here.
fn count<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    field: &'static str,
) -> Result<usize, Halt<H::Term>> {
    let term = machine.constant(apply.a);
    match machine.number(term)? {
        Some(Number::Int(value)) if value >= 0 => Ok(value as usize),
        Some(Number::Big(value)) if value.sign() == num_bigint::Sign::Plus => Ok(usize::MAX),
        _ => {
            machine.each_item(apply, |_, _| Ok(()))?;
            let fault = Fault::new(Code::NotACount, Some(apply.op), vec![term]);
            Err(fault.about(field).into())
        }
    }
}
