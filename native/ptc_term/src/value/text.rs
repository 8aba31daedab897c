//! Texts: strings, and names where they are texts. A name is an atom other than `nil`, `true` and `false`.

use crate::heap::{Heap, Kind};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher};

/// Calls `read` with the bytes of a text; returns `None` for all other terms.
pub fn with_text<H: Heap, R>(heap: &H, term: H::Term, read: impl FnOnce(&[u8]) -> R) -> Option<R> {
    match heap.kind(term) {
        Kind::String => heap.bytes(term).map(read),
        Kind::Other if heap.is_name(term) => Some(heap.with_name(term, read)),
        _ => None,
    }
}

/// Returns the term order of a name and another term, if one of the two is a name and the other is not. Two
/// names have the order of their atoms.
pub fn order_of_name<H: Heap>(heap: &H, a: H::Term, b: H::Term) -> Option<Ordering> {
    match (heap.is_name(a), heap.is_name(b)) {
        (true, false) => Some(heap.with_name(a, |name| heap.compare_text(name, b))),
        (false, true) => Some(
            heap.with_name(b, |name| heap.compare_text(name, a))
                .reverse(),
        ),
        _ => None,
    }
}

/// Returns a hash that is equal for identical terms, and for a name and its string.
pub fn hash_of_text<H: Heap>(heap: &H, term: H::Term, seed: u64) -> u64 {
    let hash = |text: &[u8]| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        hasher.write(text);
        hasher.finish()
    };
    with_text(heap, term, hash).unwrap_or_else(|| heap.hash(term, seed))
}
