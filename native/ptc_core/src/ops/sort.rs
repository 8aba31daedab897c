//! Order: `sort_by`.

use super::order::sorted;
use super::{Checked, Field, FieldKind, Operation};
use crate::compile::Plan;
use crate::fault::{Code, Halt};
use crate::heap::Heap;
use crate::program::{Apply, Const, ConstId};
use crate::source::{Shape, Source};
use crate::vm::{Eval, Machine};
use std::cmp::Ordering;

pub(super) struct SortBy;

const ASCENDING: u32 = 0;
const DESCENDING: u32 = 1;

impl Operation for SortBy {
    const NAME: &'static str = "sort_by";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The items in the order of a field, \"asc\" or \"desc\".";
    const FIELDS: &'static [Field] = &[
        Field::required("field", FieldKind::String),
        Field::optional("order", FieldKind::String),
    ];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        match plan.non_null("field").map(|field| plan.shape(field)) {
            None => plan.report(Code::FieldMissing, "field", vec![])?,
            Some(Shape::String) => {}
            Some(_) => plan.report(Code::FieldNotString, "field", vec![])?,
        }
        let field = plan.constant_of("field");
        let order = match plan.non_null("order") {
            None => ASCENDING,
            Some(order) => match plan.source().text(order) {
                Some(b"asc") => ASCENDING,
                Some(b"desc") => DESCENDING,
                _ => {
                    plan.report(Code::UnknownOrder, "order", vec![Const::Node(order)])?;
                    ASCENDING
                }
            },
        };
        plan.needs_input();
        plan.apply(0, [field, order, 0]);
        Ok(())
    }

    /// `a`: the field; `b`: the order.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let items = machine.items(apply)?;
        let descending = apply.b == DESCENDING;
        let order = |ordering: Ordering| match descending {
            true => ordering.reverse(),
            false => ordering,
        };
        let keys = keys(machine, apply.a, &items)?;
        if !matches!(keys, Keys::Terms(_)) {
            // Numbers are sorted in one go, which is counted beforehand.
            let rounds = items.len().max(1).ilog2() as usize + 1;
            machine.consume_fuel(items.len() * rounds / 4)?;
        }
        // Equal keys keep their order, whichever way the list is sorted.
        let places = match keys {
            Keys::Integers(keys) => places(&keys, |a, b| order(a.cmp(b))),
            Keys::Floats(keys) => places(&keys, |a, b| order(compare_finite(a, b))),
            Keys::Terms(keys) => sorted(machine, &keys, descending)?,
        };
        let items: Vec<_> = places.iter().map(|place| items[*place as usize]).collect();
        machine.make_list(&items)
    }
}

fn places<K>(keys: &[K], compare: impl Fn(&K, &K) -> Ordering) -> Vec<u32> {
    let mut places: Vec<u32> = (0..keys.len() as u32).collect();
    places.sort_by(|a, b| compare(&keys[*a as usize], &keys[*b as usize]));
    places
}

fn compare_finite(a: &f64, b: &f64) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

/// The sort keys, unwrapped where all are alike.
enum Keys<T> {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Terms(Vec<T>),
}

fn keys<H: Heap>(
    machine: &mut Machine<'_, H>,
    field: ConstId,
    items: &[H::Term],
) -> Result<Keys<H::Term>, Halt<H::Term>> {
    let mut terms = Vec::with_capacity(items.len());
    for item in items {
        machine.consume_fuel(1)?;
        terms.push(machine.value_or_nil(*item, field)?);
    }
    let heap = &*machine.heap;
    if let Some(integers) = terms.iter().map(|key| heap.small_integer(*key)).collect() {
        return Ok(Keys::Integers(integers));
    }
    match terms.iter().map(|key| heap.float(*key)).collect() {
        Some(floats) => Ok(Keys::Floats(floats)),
        None => Ok(Keys::Terms(terms)),
    }
}
