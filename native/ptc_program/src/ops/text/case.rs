//! `upper`, `lower`, `trim`.

use super::*;
use crate::shape::{OpShape, TextOf};
use ptc_text::{Case, Ongoing, Sides};

pub(in super::super) struct Upper;
pub(in super::super) struct Lower;
pub(in super::super) struct Trim;

macro_rules! case {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $case:expr) => {
        impl Operation for $op {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            input_only!();

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                in_case(machine, apply, $case)
            }
        }
    };
}

case! { Upper, "upper", "The text in upper case.", "text to text; null to null", OpShape::Text(TextOf::Form), Case::Upper }
case! { Lower, "lower", "The text in lower case.", "text to text; null to null", OpShape::Text(TextOf::Form), Case::Lower }

fn in_case<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, case: Case) -> Eval<H> {
    let Some(text) = text(machine, apply)? else {
        return Ok(machine.heap.nil());
    };
    if let Some(made) = machine.ascii_in_case(text, case)? {
        return Ok(made);
    }
    if machine.heap.byte_length(text).unwrap_or(0) <= SHORT_TEXT {
        return Ok(machine.in_case(text, case, &mut Ongoing::default(), false)?);
    }
    machine.resumable(
        |_| OnText::new(text),
        |machine, work| Ok(machine.in_case(text, case, &mut work.ongoing, true)?),
    )
}

impl Operation for Trim {
    const NAME: &'static str = "trim";
    const ABOUT: &'static str = "The text without white space around it.";
    const TYPES: &'static str = "text to text; null to null";
    const SHAPE: OpShape = OpShape::Text(TextOf::Form);
    input_only!();

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let Some(text) = text(machine, apply)? else {
            return Ok(machine.heap.nil());
        };
        let length = machine.heap.byte_length(text).unwrap_or(0);
        if length <= SHORT_TEXT {
            return trimmed(machine, text, (&mut 0, &mut { length }), false);
        }
        let begin = |_: &mut Machine<'_, H>| OnText {
            text,
            ongoing: Ongoing {
                count: length,
                ..Ongoing::default()
            },
        };
        machine.resumable(begin, |machine, work| {
            let Ongoing { at, count, .. } = &mut work.ongoing;
            trimmed(machine, text, (at, count), true)
        })
    }
}

fn trimmed<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    (start, end): (&mut usize, &mut usize),
    is_kept: bool,
) -> Eval<H> {
    machine.pass_white_space(text, Sides::Both, (start, end), is_kept)?;
    Ok(machine.make_part(text, *start, *end)?)
}
