//! How texts are found in a context.

use ptc_term::heap::{Heap, Kind};

/// Returns whether a value of a context is a text: a struct with one field. `key` and `name`: the key and the value of its other
/// entry. Looks at each value, but into none that is not a map.
#[inline]
pub fn has_text<H: Heap>(heap: &H, context: H::Term, [key, name]: [H::Term; 2]) -> bool {
    let is_word = |a: H::Term, b: H::Term| heap.identity(a) == heap.identity(b);
    let is_text = |value: H::Term| match heap.flat(value) {
        Some((keys, values)) if keys.len() == 2 => {
            let mut entries = keys.iter().zip(values);
            entries.any(|(at, value)| is_word(*value, name) && is_word(*at, key))
        }
        _ => false,
    };
    let is_map = |value: H::Term| heap.kind(value) == Kind::Map;
    match heap.flat(context) {
        Some((_, values)) => values.iter().any(|value| is_map(*value) && is_text(*value)),
        None if is_map(context) => heap
            .entries(context)
            .iter()
            .any(|(_, value)| is_text(*value)),
        None => false,
    }
}
