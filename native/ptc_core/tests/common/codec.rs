//! Properties of every JSON text and its terms.

use super::oracle::shown;
use super::term;
use ptc_core::heap::{Heap, Kind};
use ptc_core::json::{write, JsonView, Readable};
use ptc_core::number::Number;
use ptc_core::plain::{PlainHeap, Term};

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
        &Plain(heap),
        value,
        usize::MAX,
        &mut out,
        &mut |_, _| Ok(()),
    )
    .expect("JSON can be written");
    assert!(gaps.is_empty());
    out
}

/// Plain values in the writer's view.
struct Plain<'h>(&'h PlainHeap);

impl Readable for Plain<'_> {
    type Term = Term;

    fn view(&self, term: Term) -> JsonView<'_, Term> {
        match self.0.kind(term) {
            Kind::Nil => JsonView::Null,
            Kind::Bool => JsonView::Bool(self.0.truthy(term)),
            Kind::Number => match self.0.number(term) {
                Some(Number::Int(value)) => JsonView::Int(value),
                Some(Number::Big(value)) => JsonView::Big(value),
                Some(Number::Float(value)) => JsonView::Float(value),
                None => JsonView::Foreign,
            },
            Kind::String => self.0.bytes(term).map_or(JsonView::Foreign, JsonView::Text),
            Kind::List => JsonView::List,
            Kind::Map => JsonView::LargeMap(self.0.map_size(term).unwrap_or(0)),
            Kind::Other => JsonView::Foreign,
        }
    }

    fn name(&self, _atom: Term) -> String {
        String::new()
    }

    fn uncons(&self, term: Term) -> Option<(Term, Term)> {
        self.0.uncons(term)
    }

    fn is_empty_list(&self, term: Term) -> bool {
        self.0.is_empty_list(term)
    }

    fn entries(&self, map: Term) -> Vec<(Term, Term)> {
        self.0.entries(map)
    }

    fn identity(&self, term: Term) -> usize {
        self.0.identity(term) + 1
    }
}
