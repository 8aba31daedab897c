//! The table of operations as terms, for the schema functions.

use super::{Field, OpCode};
use crate::edition::Edition;
use ptc_term::heap::Heap;

/// Returns a list of `{name, family, about, types, shape, [{field, kind, presence, about, values, choices}]}`: the operations of an
/// edition, in the order for readers.
pub fn listing<H: Heap>(heap: &mut H, edition: Edition) -> H::Term {
    let known = OpCode::ALL.iter().filter(|op| op.edition() <= edition);
    let entries: Vec<_> = known.map(|op| entry(heap, *op, edition)).collect();
    heap.make_list(&entries)
}

fn entry<H: Heap>(heap: &mut H, op: OpCode, edition: Edition) -> H::Term {
    let definition = op.definition();
    let about = match edition {
        Edition::One => definition.about,
        Edition::Two => definition.about_2,
    };
    let fields: Vec<_> = op
        .fields(edition)
        .iter()
        .map(|it| field(heap, it))
        .collect();
    let fields = heap.make_list(&fields);
    let texts = [definition.name, definition.family, about, definition.types];
    let [name, family, about, types] = texts.map(|text| heap.make_string(text.as_bytes()));
    let shape = heap.make_string(op.shape().name().as_bytes());
    heap.make_tuple(&[name, family, about, types, shape, fields])
}

fn field<H: Heap>(heap: &mut H, field: &Field) -> H::Term {
    let choices = field.choices.iter();
    let choices: Vec<_> = choices
        .map(|choice| heap.make_string(choice.as_bytes()))
        .collect();
    let choices = heap.make_list(&choices);
    let (kind, presence) = (heap.word(field.kind), heap.word(field.presence));
    let [name, about, values] =
        [field.name, field.about, field.values].map(|text| heap.make_string(text.as_bytes()));
    heap.make_tuple(&[name, kind, presence, about, values, choices])
}
