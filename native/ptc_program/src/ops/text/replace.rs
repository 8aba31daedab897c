//! `replace`: a text with other parts.

use super::part::{given, plan_parts, Phrases, TextsGiven};
use super::*;
use crate::code::Slot;
use crate::shape::{OpShape, TextOf};
use ptc_text::Ongoing;

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
    const SHAPE: OpShape = OpShape::Text(TextOf::Replaced);
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
        machine.consume_fuel_to_copy(with)?;
        let with = machine.heap.bytes(with).unwrap_or_default().to_vec();
        let length = machine.heap.byte_length(text).unwrap_or(0);
        if length.max(with.len()) <= SHORT_TEXT {
            let ongoing = &mut Ongoing::default();
            return Ok(machine.replaced(text, (find, &with), ongoing, false)?);
        }
        machine.resumable(
            |_| OnText::new(text),
            |machine, work| Ok(machine.replaced(text, (find, &with), &mut work.ongoing, true)?),
        )
    }
}
