//! Comparison of the reader with serde_json.

use super::{term, DEEP};
use ptc_json::{Document, JsonError, Table};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use serde_json::Value;
use std::collections::HashSet;

/// Fails unless both accept the text, with the same value, or both refuse it.
///
/// Three differences are intended: serde_json stops at 128 levels, converts integers beyond 64 bits to
/// floats (and refuses those that no double can represent), and uses the last of repeated keys.
pub fn agree(text: &[u8]) {
    let ours = Table::parse(text, DEEP);
    match (&ours, serde_json::from_slice::<Value>(text)) {
        (Ok(table), Ok(theirs)) => {
            let document = Document::new(text, table);
            let mut heap = PlainHeap::new();
            let built = document.build(0, &mut heap);
            let direct = std::str::from_utf8(text).map(|text| term(&mut heap, text));
            let direct = direct
                .expect("serde_json accepts no other")
                .expect("as above");
            assert!(heap.identical(built, direct), "{}", shown(text));
            let same = repeats_a_key(&document) || same(&mut heap, built, &theirs);
            assert!(same, "{}", shown(text));
        }
        (Ok(_), Err(error)) => {
            let said = error.to_string();
            let meant = said.contains("recursion limit") || said.contains("number out of range");
            assert!(meant, "only we accept {}: {said}", shown(text));
        }
        (Err(error), Ok(_)) => panic!("only we refuse {}: {error}", shown(text)),
        (Err(error), Err(_)) => position_is_first(text, *error),
    }
}

/// The text before an error could continue as valid text, and the text after it is never read.
fn position_is_first(text: &[u8], error: JsonError) {
    let at = match error {
        JsonError::UnexpectedToken(at) => at,
        JsonError::UnexpectedEnd(at) => {
            assert_eq!(at, text.len(), "{}", shown(text));
            return;
        }
        JsonError::TooDeep { position, .. } | JsonError::IntegerTooLong { position, .. } => {
            position
        }
    };
    assert!(at < text.len(), "{}", shown(text));
    match Table::parse(&text[..at], DEEP) {
        Ok(_) => {}
        Err(error) => assert_eq!(error, JsonError::UnexpectedEnd(at), "{}", shown(text)),
    }
}

fn repeats_a_key(document: &Document) -> bool {
    (0..document.end(0)).any(|object| {
        let mut keys = HashSet::new();
        let mut pairs = document.pairs(object);
        pairs.any(|(key, _)| !keys.insert(document.bytes(document.entry(key))))
    })
}

fn same(heap: &mut PlainHeap, ours: Term, theirs: &Value) -> bool {
    match theirs {
        Value::Null => heap.kind(ours) == Kind::Nil,
        Value::Bool(value) => ours == heap.boolean(*value),
        Value::String(text) => heap.bytes(ours) == Some(text.as_bytes()),
        Value::Number(number) => match heap.number(ours) {
            Some(Number::Int(value)) => {
                number.as_i64() == Some(value) || value == 0 && number.as_f64() == Some(0.0)
            }
            Some(Number::Float(value)) => number.as_f64() == Some(value),
            Some(Number::Big(value)) => match number.as_u64() {
                Some(number) => value == number.into(),
                None => number.is_f64(),
            },
            None => false,
        },
        Value::Array(elements) => {
            let mut rest = ours;
            for element in elements {
                match heap.uncons(rest) {
                    Some((head, tail)) if same(heap, head, element) => rest = tail,
                    _ => return false,
                }
            }
            heap.is_empty_list(rest)
        }
        Value::Object(pairs) => {
            heap.map_size(ours) == Some(pairs.len())
                && pairs.iter().all(|(key, value)| {
                    let key = heap.make_string(key.as_bytes());
                    match heap.lookup(ours, key, &mut 0) {
                        Lookup::Found(ours) => same(heap, ours, value),
                        _ => false,
                    }
                })
        }
    }
}

/// The text as it can be pasted into a test.
pub fn shown(text: &[u8]) -> String {
    format!("b\"{}\"", text.escape_ascii())
}
