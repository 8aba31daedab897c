//! `starts_with`, `ends_with`.

use super::*;
use crate::code::Slot;
use crate::shape::{Comparison, OpShape};

pub(in super::super) struct StartsWith;
pub(in super::super) struct EndsWith;

macro_rules! ends {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $holds:ident) => {
        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = FAMILY;
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const EDITION: Edition = Edition::Two;
            const FIELDS: &'static [Field] = compare::FIELD_AND_VALUE_2;

            fn check(plan: &Plan) -> Planned {
                compare::check(plan)
            }

            fn plan(plan: &mut Plan) -> Planned {
                compare::plan(plan)
            }

            fn expect<H: Heap>(
                machine: &mut Machine<'_, H>,
                input: Slot,
            ) -> Result<(), Halt<H::Term>> {
                compare::need_map(machine, OpCode::$op, input)
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let (text, part) = compare::sides(machine, apply)?;
                let (Some(text), Some(part)) = (string(machine, text)?, string(machine, part)?)
                else {
                    return Ok(machine.heap.boolean(false));
                };
                let length = machine.heap.byte_length(part).unwrap_or(0);
                machine.consume_fuel_at_once(length / BYTES_A_UNIT)?;
                let bytes = |term| machine.heap.bytes(term).unwrap_or_default();
                let holds = bytes(text).$holds(bytes(part));
                Ok(machine.heap.boolean(holds))
            }
        }
    };
}

ends! { StartsWith, "starts_with", "Whether the text begins with the value.", "boolean; of texts", OpShape::Compared(Comparison::Begins), starts_with }
ends! { EndsWith, "ends_with", "Whether the text ends with the value.", "boolean; of texts", OpShape::Compared(Comparison::Ends), ends_with }
