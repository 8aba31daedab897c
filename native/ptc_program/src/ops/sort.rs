//! `sort_by`.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Demand, NO_CONST};
use crate::compile::Plan;
use ptc_machine::{Demanded, Eval, Machine, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::Heap;

pub(super) struct SortBy;

/// Words of native memory for an item that is sorted: the item, its key, a copy of the key, and two
/// indices.
pub(super) const WORDS_OF_SORTED: usize = 4;

const ASCENDING: u32 = 0;
const DESCENDING: u32 = 1;

impl Operation for SortBy {
    const NAME: &'static str = "sort_by";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The items in the order of a field, \"asc\" or \"desc\".";
    const FIELDS: &'static [Field] = &[
        Field::not_null("field", FieldKind::String, "the items' key that is read"),
        Field::optional(
            "order",
            FieldKind::Order,
            "the smallest or the largest first",
        )
        .values("\"asc\" or \"desc\""),
    ];
    const READS_INPUT_ONCE: bool = true;

    fn plan(plan: &mut Plan) -> Planned {
        let field = plan.constant_of("field");
        let order = match plan
            .field("order")
            .and_then(|order| plan.source().text(order))
        {
            Some(b"desc") => DESCENDING,
            _ => ASCENDING,
        };
        plan.needs_input();
        plan.apply(0, (field, NO_CONST, order));
        Ok(())
    }

    /// The mode is the order.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let demanded = machine.demanded(apply.demand)?;
        machine.resumable(apply, |machine, work| {
            if demanded == Demanded::Number {
                machine.each_item(apply, &mut work.walk, |_, _| Ok(()))?;
                return Ok(machine.slot(apply.input));
            }
            let (items, keys) = (&mut work.items, &mut work.keys);
            machine.each_item(apply, &mut work.walk, |machine, item| {
                machine.consume_fuel(1)?;
                let key = machine.value_or_nil(item, apply.key)?;
                if items.len() % KEPT_BETWEEN_CHECKS == 0 {
                    machine.check_heap_limit(WORDS_OF_SORTED * items.len())?;
                }
                keys.push(key);
                items.push(item);
                Ok(())
            })?;
            let sorting = work.progress.sorting.get_or_insert_default();
            let (first, descending) = (demanded.end(), apply.mode == DESCENDING);
            sorting.sort(machine, &work.keys, first, descending)?;
            machine.list_in_order(work)
        })
    }

    /// An item that is not a map has no field, so no item is an error.
    fn needs(_apply: &Apply, demand: Demand) -> Demand {
        match demand {
            Demand::Number => Demand::Number,
            _ => Demand::All,
        }
    }
}
