//! The keys, values and entries of a map, by its keys in term order.

use super::super::flow::Call;
use crate::code::{Eval, Machine};
use crate::consts::EMPTY_LIST;
use crate::table::Builtin;
use crate::values::{class, items_of_set, Class};
use ptc_kernels::SortedEntries;
use ptc_term::heap::{Heap, WORDS_OF_CELL};

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
    let pair = |heap: &mut H, pair: [H::Term; 2]| heap.make_list(&pair);
    m.resumable(
        |_| SortedEntries::default(),
        |m, work| {
            Ok(match call.builtin {
                Builtin::Keys => work.keys(m, map)?,
                Builtin::Vals => work.values(m, map)?,
                _ => work.list(m, map, 2 * WORDS_OF_CELL, pair)?,
            })
        },
    )
}
