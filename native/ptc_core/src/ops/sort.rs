//! Order: `sort_by`.

use super::{Checked, Field, FieldKind, Operation};
use crate::compile::Plan;
use crate::fault::{Code, Halt};
use crate::heap::{Heap, Kind};
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
        let keys = keys(machine, apply.a, &items)?;
        // A comparison sort cannot be left in the middle: its whole length is counted beforehand.
        let rounds = items.len().max(1).ilog2() as usize + 1;
        machine.tick(items.len() * rounds * keys.cost_of_comparison() / 4)?;
        let order = |ordering: Ordering| match apply.b {
            DESCENDING => ordering.reverse(),
            _ => ordering,
        };
        let mut sorted: Vec<u32> = (0..items.len() as u32).collect();
        // Equal keys keep their order, whichever way the list is sorted.
        match keys {
            Keys::Integers(keys) => sort(&mut sorted, &keys, |a, b| order(a.cmp(b))),
            Keys::Floats(keys) => sort(&mut sorted, &keys, |a, b| order(compare_finite(a, b))),
            Keys::Terms { terms, .. } => {
                let heap = &*machine.heap;
                sort(&mut sorted, &terms, |a, b| order(heap.compare(*a, *b)));
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
    Terms {
        terms: Vec<T>,
        /// Whether a comparison may have to look inside.
        compound: bool,
    },
}

impl<T> Keys<T> {
    /// In units, times four.
    fn cost_of_comparison(&self) -> usize {
        match self {
            Keys::Integers(_) | Keys::Floats(_) => 1,
            Keys::Terms {
                compound: false, ..
            } => 4,
            Keys::Terms { compound: true, .. } => 256,
        }
    }
}

fn keys<H: Heap>(
    machine: &mut Machine<'_, H>,
    field: ConstId,
    items: &[H::Term],
) -> Result<Keys<H::Term>, Halt<H::Term>> {
    let mut terms = Vec::with_capacity(items.len());
    for item in items {
        machine.tick(1)?;
        terms.push(machine.value_or_nil(*item, field));
    }
    let heap = &*machine.heap;
    if let Some(integers) = terms.iter().map(|key| heap.small_integer(*key)).collect() {
        return Ok(Keys::Integers(integers));
    }
    if let Some(floats) = terms.iter().map(|key| heap.float(*key)).collect() {
        return Ok(Keys::Floats(floats));
    }
    let is_compound =
        |key: &H::Term| matches!(heap.kind(*key), Kind::List | Kind::Map | Kind::Other);
    let compound = terms.iter().any(is_compound);
    Ok(Keys::Terms { terms, compound })
}
