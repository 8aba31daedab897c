//! Order: `sort_by`.

use super::{Checked, Field, FieldKind, Operation};
use crate::compile::Plan;
use crate::fault::Code;
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
            None => plan.complain(Code::FieldMissing, "field", vec![])?,
            Some(Shape::String) => {}
            Some(_) => plan.complain(Code::FieldNotString, "field", vec![])?,
        }
        let field = plan.constant_of("field");
        let order = match plan.non_null("order") {
            None => ASCENDING,
            Some(order) => match plan.source().text(order) {
                Some(b"asc") => ASCENDING,
                Some(b"desc") => DESCENDING,
                _ => {
                    plan.complain(Code::UnknownOrder, "order", vec![Const::Node(order)])?;
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
        // A comparison sort cannot be left in the middle: its whole length is counted beforehand.
        machine.tick(items.len() * (items.len().max(1).ilog2() as usize + 1) / 4)?;
        let keys = keys(machine, apply.a, &items);
        let order = |ordering: Ordering| match apply.b {
            DESCENDING => ordering.reverse(),
            _ => ordering,
        };
        let mut sorted: Vec<u32> = (0..items.len() as u32).collect();
        // Equal keys keep their order, whichever way the list is sorted.
        match keys {
            Keys::Integers(keys) => sort(&mut sorted, &keys, |a, b| order(a.cmp(b))),
            Keys::Floats(keys) => sort(&mut sorted, &keys, |a, b| order(compare_finite(a, b))),
            Keys::Terms(keys) => {
                let heap = &*machine.heap;
                sort(&mut sorted, &keys, |a, b| order(heap.compare(*a, *b)));
            }
        }
        let sorted: Vec<_> = sorted.iter().map(|index| items[*index as usize]).collect();
        machine.make_list(&sorted)
    }
}

fn sort<K>(order: &mut [u32], keys: &[K], compare: impl Fn(&K, &K) -> Ordering) {
    order.sort_by(|a, b| compare(&keys[*a as usize], &keys[*b as usize]));
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

fn keys<H: Heap>(machine: &mut Machine<'_, H>, field: ConstId, items: &[H::Term]) -> Keys<H::Term> {
    let terms: Vec<_> = items
        .iter()
        .map(|item| machine.value_or_nil(*item, field))
        .collect();
    let heap = &*machine.heap;
    if let Some(integers) = terms.iter().map(|key| heap.small_integer(*key)).collect() {
        return Keys::Integers(integers);
    }
    match terms.iter().map(|key| heap.float(*key)).collect() {
        Some(floats) => Keys::Floats(floats),
        None => Keys::Terms(terms),
    }
}
