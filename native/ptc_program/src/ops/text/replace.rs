//! `replace`: a text with other parts.

use super::part::{given, plan_parts, Phrases, TextsGiven};
use super::*;
use crate::code::Slot;
use crate::typing::{rules, Next, Rule};
use ptc_text::Occurrences;

pub(in super::super) struct Replace;

const TEXTS: &[Phrases] = &[
    Phrases {
        string: "a string in 'find'",
        not_empty: "a non-empty string in 'find'",
    },
    Phrases {
        string: "a string in 'with'",
        not_empty: "",
    },
];

impl Operation for Replace {
    const NAME: &'static str = "replace";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "The text with all occurrences of one text replaced by another, literally.";
    const TYPES: &'static str = "text to text; null to null";
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        FIELD,
        Field::required("find", FieldKind::NonEmptyText, "what is replaced")
            .must_be("'find' must not be empty"),
        VALUE_FIELD,
        Field::required("with", FieldKind::Text, "what stands in its place"),
    ];

    fn check(plan: &Plan) -> Planned {
        check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        plan_parts(plan, &["find", "with"])
    }

    /// Checks `find` before `with` is evaluated.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        let find = machine.top();
        TEXTS[0].check(machine, OpCode::Replace, find).map(drop)
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let (text, find, with) = match given(machine, apply, TEXTS)? {
            TextsGiven::Value(value) => return Ok(value),
            TextsGiven::Texts(text, texts) => (text, texts[0], texts[1]),
        };
        machine.consume_fuel_to_copy(find)?;
        let find = machine.heap.bytes(find).unwrap_or_default().to_vec();
        machine.consume_fuel_at_once(Occurrences::cost(&find))?;
        machine.consume_fuel_to_copy(with)?;
        let with = machine.heap.bytes(with).unwrap_or_default().to_vec();
        let (heap, meter) = (&*machine.heap, &mut machine.meter);
        let bytes = heap.bytes(text).unwrap_or_default();
        let mut places = Occurrences::new(bytes, &find, 0);
        let (mut out, mut end) = (Vec::new(), 0);
        while let Some(place) = places.next(|cost| meter.consume_fuel(cost, heap))? {
            let more = place - end + with.len();
            meter.consume_fuel(1 + more / BYTES_A_UNIT, heap)?;
            meter.check_heap_limit(words_of(out.len() + more), heap)?;
            out.extend_from_slice(&bytes[end..place]);
            out.extend_from_slice(&with);
            end = place + find.len();
        }
        if end == 0 {
            return Ok(text);
        }
        meter.check_heap_limit(words_of(out.len() + bytes.len() - end), heap)?;
        out.extend_from_slice(&bytes[end..]);
        make_string(machine, &out)
    }

    fn types(rule: &mut Rule) -> Next {
        rules::values::text(rule)
    }
}
