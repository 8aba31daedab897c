//! `matches`: whether a text has a match of a pattern.

use super::*;
use crate::shape::{Comparison, OpShape};
use ptc_vm::program::PatternId;

pub(in super::super) struct Matches;

/// The field of a pattern.
pub(super) const PATTERN: Field = Field::required(
    "pattern",
    FieldKind::Pattern,
    "a regular expression of RE2's kind: no look-around, no back-references",
);

/// Bytes that are checked to be UTF-8 per unit of fuel.
const BYTES_CHECKED_A_UNIT: usize = 16;

impl Operation for Matches {
    const NAME: &'static str = "matches";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str = "Whether a part of the text matches the pattern.";
    const TYPES: &'static str = "boolean; of a text";
    const SHAPE: OpShape = OpShape::Compared(Comparison::Pattern);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "field",
            FieldKind::String,
            "the key that is read; without it the current value itself is meant",
        ),
        Field::optional("left", FieldKind::Template, "the text, instead of a field"),
        PATTERN,
    ];

    fn check(plan: &Plan) -> Planned {
        compare::check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let field = plan.field("field");
        let (operands, key, mode) = match plan.field("left") {
            Some(left) => {
                plan.template(left, plan.scope);
                (1, NO_CONST, VALUE)
            }
            None => {
                plan.needs_input();
                (0, field.map_or(NO_CONST, |field| plan.constant(field)), 0)
            }
        };
        let pattern = plan.pattern_of("pattern");
        plan.apply(operands, (key, pattern, mode));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let text = input(machine, apply)?;
        let found = match input_string(machine, text)? {
            Some(text) => is_match(machine, text, apply.value)?,
            None => false,
        };
        Ok(machine.heap.boolean(found))
    }
}

fn is_match<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    pattern: PatternId,
) -> Result<bool, Halt<H::Term>> {
    let Some(pattern) = machine.pattern(pattern) else {
        return Ok(false);
    };
    let (heap, meter) = machine.heap_and_meter();
    let bytes = heap.bytes(text).unwrap_or_default();
    if bytes.len() <= SHORT_TEXT && pattern.is_short(bytes.len()) {
        meter.consume_fuel(bytes.len() / BYTES_CHECKED_A_UNIT, heap)?;
        if std::str::from_utf8(bytes).is_err() {
            return Ok(false);
        }
        return Ok(pattern.is_in_short(bytes, |cost| meter.consume_fuel(cost, heap))?);
    }
    machine.resumable(
        |_| OnText::new(text),
        |machine, work| {
            let ongoing = &mut work.ongoing;
            if !is_utf8(machine, text, ongoing)? {
                return Ok(false);
            }
            let (heap, meter) = machine.heap_and_meter();
            let bytes = heap.bytes(text).unwrap_or_default();
            let mut counting = counting(heap, meter, true);
            let count = |cost| counting(cost, 0);
            Ok(match pattern.is_short(bytes.len()) {
                true => pattern.is_in_short(bytes, count)?,
                false => pattern.is_in_long(bytes, &mut ongoing.search, count)?,
            })
        },
    )
}

/// Returns whether a string is UTF-8. Can be suspended and resumed.
pub(super) fn is_utf8<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    ongoing: &mut Ongoing,
) -> Result<bool, Halt<H::Term>> {
    let (heap, meter) = machine.heap_and_meter();
    let bytes = heap.bytes(text).unwrap_or_default();
    let mut counting = counting(heap, meter, true);
    Ok(ptc_text::is_utf8(bytes, &mut ongoing.at, |cost| {
        counting(cost, 0)
    })?)
}
