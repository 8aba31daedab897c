//! `upper`, `lower`, `trim`.

use super::*;
use crate::shape::{OpShape, TextOf};
use ptc_text::{put_case, trim, trim_long, Case, Ongoing};

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

/// Longer texts have space of their own while they are made.
const VERY_SHORT: usize = 256;

fn in_case<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, case: Case) -> Eval<H> {
    let Some(text) = text(machine, apply)? else {
        return Ok(machine.heap.nil());
    };
    let (heap, meter) = machine.heap_and_meter();
    let bytes = heap.bytes(text).unwrap_or_default();
    // Most texts are short and of ASCII.
    if bytes.len() <= VERY_SHORT && bytes.is_ascii() {
        let mut short = [0; VERY_SHORT];
        let length = bytes.len();
        short[..length].copy_from_slice(bytes);
        match case {
            Case::Upper => short[..length].make_ascii_uppercase(),
            Case::Lower => short[..length].make_ascii_lowercase(),
        }
        return make_string(machine, &short[..length]);
    }
    if bytes.len() <= SHORT {
        let mut out = Vec::with_capacity(bytes.len() + bytes.len().min(VERY_SHORT) / 4);
        put_case(bytes, case, &mut 0, &mut out, |cost, length| {
            meter.check_heap_limit(words_of(length), heap)?;
            meter.consume_fuel(cost, heap)
        })?;
        return make_string(machine, &out);
    }
    machine.resumable(
        |_| OnText::new(text),
        |machine, work| {
            let (heap, meter) = machine.heap_and_meter();
            let bytes = heap.bytes(text).unwrap_or_default();
            let Ongoing { at, out, .. } = &mut work.ongoing;
            {
                if out.capacity() == 0 {
                    meter.check_heap_limit(words_of(bytes.len()), heap)?;
                    out.reserve_exact(bytes.len() + bytes.len() / 16);
                }
                let mut counting = counting(heap, meter);
                let count = |cost, length| counting(cost, words_of(length));
                put_case(bytes, case, at, out, count)?;
            }
            make_string(machine, out)
        },
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
        if length > SHORT {
            return trim_in_pieces(machine, text);
        }
        machine.consume_fuel_at_once(length / BYTES_TRIMMED_A_UNIT)?;
        let bytes = machine.heap.bytes(text).unwrap_or_default();
        let trimmed = trim(bytes);
        if trimmed.len() == bytes.len() {
            return Ok(text);
        }
        let trimmed = trimmed.to_vec();
        make_string(machine, &trimmed)
    }
}

/// White space that is passed per unit of fuel.
const BYTES_TRIMMED_A_UNIT: usize = 4;

fn trim_in_pieces<H: Heap>(machine: &mut Machine<'_, H>, text: H::Term) -> Eval<H> {
    let begin = |machine: &mut Machine<'_, H>| OnText {
        text,
        ongoing: Ongoing {
            count: machine.heap.byte_length(text).unwrap_or(0),
            ..Ongoing::default()
        },
    };
    machine.resumable(begin, |machine, work| {
        let (heap, meter) = machine.heap_and_meter();
        let bytes = heap.bytes(text).unwrap_or_default();
        let Ongoing { at, count, .. } = &mut work.ongoing;
        let trimmed = {
            let mut counting = counting(heap, meter);
            trim_long(bytes, at, count, |cost| counting(cost, 0))?
        };
        if trimmed.len() == bytes.len() {
            return Ok(text);
        }
        meter.check_heap_limit(words_of(trimmed.len()), heap)?;
        let trimmed = trimmed.to_vec();
        make_string(machine, &trimmed)
    })
}
