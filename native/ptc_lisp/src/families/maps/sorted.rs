//! The keys, values and entries of a map, by its keys in term order.

use super::super::flow::{flow, Call, Tools};
use crate::code::{Eval, Machine};
use crate::consts::EMPTY_LIST;
use crate::table::Builtin;
use crate::values::{class, items_of_set, Class};
use ptc_kernels::WORDS_OF_SORTED;
use ptc_term::heap::{Heap, WORDS_OF_CELL};

/// Fuel for reading an entry.
const ENTRY: usize = 4;

/// `keys`, `vals`, `entries`
pub(super) fn parts<H: Heap>(
    m: &mut Machine<'_, H>,
    call: Call<'_, H::Term>,
    map: H::Term,
) -> Eval<H> {
    match class(m, map) {
        Class::Map => {}
        Class::Nil if call.builtin != Builtin::Entries => return Ok(map),
        // A set has no entries, but none at all can be given.
        Class::Set if m.heap.map_size(items_of_set(m, map)) == Some(0) => {
            return Ok(m.constant(EMPTY_LIST))
        }
        _ => return Err(call.refuse()),
    }
    flow(m, &[], |m, flow| {
        if flow.part == 0 {
            let size = m.heap.map_size(map).unwrap_or(0);
            m.check_heap_limit(2 * WORDS_OF_SORTED * size)?;
            m.consume_fuel_at_once(ENTRY * size)?;
            // The keys are in one sequence, the values in the other.
            for (key, value) in m.heap.entries(map) {
                flow.kept.push(key);
                flow.lists.push(value);
            }
            (flow.part, flow.tools) = (1, Tools::Sorting(Box::default()));
            m.meter.advanced();
        }
        if let (1, Tools::Sorting(sorting)) = (flow.part, &mut flow.tools) {
            sorting.sort(m, &flow.kept, usize::MAX, &[false])?;
            flow.part = 2;
        }
        let Tools::Sorting(sorting) = &flow.tools else {
            return Err(call.refuse());
        };
        let places = sorting.places();
        match call.builtin {
            Builtin::Keys => return Ok(flow.listing.at_places(m, &flow.kept, Some(places))?),
            Builtin::Vals => return Ok(flow.listing.at_places(m, &flow.lists, Some(places))?),
            _ => {}
        }
        let mut list = flow.made.unwrap_or(m.constant(EMPTY_LIST));
        while let Some(left) = places.len().checked_sub(flow.at + 1) {
            m.consume_fuel(2)?;
            m.check_heap_limit(3 * WORDS_OF_CELL)?;
            let place = places[left] as usize;
            let key = flow.kept.get(m.heap, place);
            let value = flow.lists.get(m.heap, place);
            let pair = m.heap.make_list(&[key, value]);
            list = m.heap.make_list_onto(&[pair], list);
            (flow.made, flow.at) = (Some(list), flow.at + 1);
            m.meter.advanced();
        }
        Ok(list)
    })
}
