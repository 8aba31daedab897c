//! Extremes by a field: `min`, `max`, `min_by`, `max_by`.

use super::field::FIELD_OF_ITEMS;
use super::{Field, Operation};
use crate::code::Apply;
use ptc_machine::fault::Halt;
use ptc_machine::{Eval, Machine};
use ptc_term::heap::{Heap, Kind};
use std::cmp::Ordering;

/// An item and its field.
type Extreme<T> = (T, T);

/// Returns the item whose field is first in an order, with that field; of equal ones the first.
fn extreme<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    better: Ordering,
) -> Result<Option<Extreme<H::Term>>, Halt<H::Term>> {
    machine.resumable(apply, |machine, work| {
        if machine.values() && !work.progress.searched {
            let kinds = &mut work.progress.kinds;
            machine.search_items(&mut work.walk.rest, kinds, |machine, item| {
                machine.value_or_nil(item, apply.key)
            })?;
            work.walk.rest = machine.slot(apply.input);
            work.progress.searched = true;
        }
        let kinds = &work.progress.kinds;
        let (found, best) = (&mut work.found, &mut work.field);
        machine.each_item(apply, &mut work.walk, |machine, item| {
            let value = machine.value_or_nil(item, apply.key)?;
            if machine.heap.kind(value) == Kind::Nil {
                return Ok(());
            }
            let is_better = match *best {
                Some(least) if kinds.is_empty() => machine.compare(value, least)? == better,
                Some(least) => machine.compare_among(kinds, value, least)? == better,
                None => true,
            };
            if is_better {
                (*found, *best) = (Some(item), Some(value));
            }
            Ok(())
        })?;
        Ok(work.found.zip(work.field))
    })
}

macro_rules! extreme {
    ($op:ident, $name:literal, $about:literal, $better:expr, $of:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Aggregate";
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [Field] = FIELD_OF_ITEMS;

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let best = extreme(machine, apply, $better)?;
                Ok(best.map_or(machine.heap.nil(), $of))
            }
        }
    };
}

extreme! { Min, "min", "The smallest value of a field.", Ordering::Less, |(_, value)| value }
extreme! { Max, "max", "The largest value of a field.", Ordering::Greater, |(_, value)| value }
extreme! { MinBy, "min_by", "The item with a field's smallest value.", Ordering::Less, |(item, _)| item }
extreme! { MaxBy, "max_by", "The item with a field's largest value.", Ordering::Greater, |(item, _)| item }
