//! Properties of every JSON text and its terms.

use super::oracle::shown;
use super::term;
use ptc_json::{write, OnHeap};
use ptc_term::plain::{PlainHeap, Term};

/// A JSON text reads as the same value after it was written; the length of the written text is bounded
/// by its escapes and digits.
pub fn round_trip(text: &[u8]) {
    let Some((heap, value)) = read(text) else {
        return;
    };
    let written = written(&heap, value);
    let (again, same) = read(&written).unwrap_or_else(|| panic!("not JSON: {}", shown(&written)));
    assert_eq!(heap.show(value), again.show(same), "{}", shown(text));
    // What was written once is written the same way.
    assert_eq!(written, self::written(&again, same), "{}", shown(text));
}

/// Reads and writes a text, to measure its cost.
pub fn cost(text: &[u8]) {
    if let Some((heap, value)) = read(text) {
        written(&heap, value);
    }
}

fn read(text: &[u8]) -> Option<(PlainHeap, Term)> {
    let mut heap = PlainHeap::new();
    let value = term(&mut heap, std::str::from_utf8(text).ok()?).ok()?;
    Some((heap, value))
}

fn written(heap: &PlainHeap, value: Term) -> Vec<u8> {
    let mut out = Vec::new();
    let gaps = write(
        &OnHeap {
            heap,
            in_slice: false,
        },
        value,
        usize::MAX,
        &mut out,
        &mut |_, _| Ok(()),
    )
    .expect("JSON can be written");
    assert!(gaps.is_empty());
    out
}
