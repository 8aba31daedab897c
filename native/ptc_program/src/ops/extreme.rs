//! Extremes by a field or an expression: `min`, `max`, `min_by`, `max_by`.

use super::field::FIELD_OF_ITEMS;
use super::{keyed, Field, Operation, Planned};
use crate::code::Apply;
use crate::compile::Plan;
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::Halt;
use ptc_machine::{Eval, Keeps, Machine};
use ptc_term::heap::{Heap, Kind};
use std::cmp::Ordering;

/// An item and its key.
type Extreme<T> = (T, T);

/// Returns the item whose key is first in an order, with that key; of equal ones the first.
fn extreme<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    better: Ordering,
) -> Result<Option<Extreme<H::Term>>, Halt<H::Term>> {
    machine.resumable(apply, |machine, work| {
        keyed::begin(machine, apply, work)?;
        let (kinds, rests) = (&work.progress.kinds, &mut work.rests);
        let (found, best) = (&mut work.found, &mut work.field);
        machine.each_item(apply, &mut work.walk, |machine, item| {
            let keyed = keyed::key_of(machine, apply, rests.first().copied(), item)?;
            let value = keyed.0;
            let is_better = match *best {
                _ if machine.heap.kind(value) == Kind::Nil => false,
                Some(least) if kinds.is_empty() => machine.compare(value, least)? == better,
                Some(least) => machine.compare_among(kinds, value, least)? == better,
                None => true,
            };
            if is_better {
                (*found, *best) = (Some(item), Some(value));
            }
            keyed::advance(rests, keyed);
            Ok(())
        })?;
        Ok(work.found.zip(work.field))
    })
}

macro_rules! extreme {
    ($op:ident, $name:literal, $about:literal, $types:literal, $about_2:literal, $better:expr, $of:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Aggregate";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const FIELDS: &'static [Field] = FIELD_OF_ITEMS;
            const FIELDS_2: &'static [Field] = keyed::FIELD_OR_EXPR;
            const ABOUT_2: &'static str = $about_2;
            const KEEPS: Keeps = Keeps::Value;

            fn check(plan: &Plan) -> Planned {
                keyed::check_forms(plan)
            }

            fn plan(plan: &mut Plan) -> Planned {
                let field = plan.constant_of("field");
                keyed::plan_keys(plan, field, 0);
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let best = extreme(machine, apply, $better)?;
                Ok(best.map_or(machine.heap.nil(), $of))
            }

            fn types(rule: &mut Rule) -> Next {
                rules::lists::aggregate(rule)
            }
        }
    };
}

extreme! {
    Min, "min", "The smallest value of a field.", "list of objects to the type of the field, or null", "The smallest value of a field or an expression.",
    Ordering::Less, |(_, value)| value
}
extreme! {
    Max, "max", "The largest value of a field.", "list of objects to the type of the field, or null", "The largest value of a field or an expression.",
    Ordering::Greater, |(_, value)| value
}
extreme! {
    MinBy, "min_by", "The item with a field's smallest value.", "[T] to T or null",
    "The item with a field's or an expression's smallest value.", Ordering::Less, |(item, _)| item
}
extreme! {
    MaxBy, "max_by", "The item with a field's largest value.", "[T] to T or null",
    "The item with a field's or an expression's largest value.", Ordering::Greater, |(item, _)| item
}
