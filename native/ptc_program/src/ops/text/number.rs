//! `to_number`: a text as a number.

use super::*;
use crate::shape::{OpShape, TextOf};
use ptc_json::grammar;
use ptc_json::LONGEST_INTEGER;
use ptc_term::digits::Digits;
use ptc_term::number::Number;

pub(in super::super) struct ToNumber;

impl Operation for ToNumber {
    const NAME: &'static str = "to_number";
    const ABOUT: &'static str = "The number that the text is; null if it is none.";
    const TYPES: &'static str = "any value to number or null";
    const SHAPE: OpShape = OpShape::Text(TextOf::Number);
    input_only!();

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let input = input(machine, apply)?;
        if machine.kind(input) == Kind::Number || machine.is_decimal(input) {
            return Ok(input);
        }
        let Some(text) = input_string(machine, input)? else {
            return Ok(machine.heap.nil());
        };
        match number(machine, text)? {
            Some(number) => machine.make_number(apply.op, number),
            None => Ok(machine.heap.nil()),
        }
    }
}

/// Bytes of a text that are read per unit of fuel.
const BYTES_READ_A_UNIT: usize = 4;

/// Returns the number; `None` if the text is none, or one that is too large.
fn number<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
) -> Result<Option<Number>, Halt<H::Term>> {
    let length = machine.heap.byte_length(text).unwrap_or(0);
    machine.consume_fuel_at_once(length / BYTES_READ_A_UNIT)?;
    let (heap, meter) = machine.heap_and_meter();
    let trimmed = ptc_text::trim(heap.bytes(text).unwrap_or_default());
    let token = match trimmed {
        [b'+', digits @ ..] if digits.first() != Some(&b'-') => digits,
        token => token,
    };
    let mut read = grammar::Number::NEW;
    if read.advance(token, 0) < token.len() || !read.may_end() {
        return Ok(None);
    }
    let number = std::str::from_utf8(token).unwrap_or_default();
    if read.is_integer() {
        if let Ok(small) = number.parse() {
            return Ok(Some(Number::Int(small)));
        }
        let digits = token.len() - usize::from(token.starts_with(b"-"));
        if digits > LONGEST_INTEGER {
            return Ok(None);
        }
        meter.check_time_left(Digits::least_time(digits))?;
        meter.check_heap_limit(Digits::words(digits), heap)?;
        return long_integer(machine, text, digits).map(Some);
    }
    let value: f64 = number.parse().unwrap_or(f64::INFINITY);
    // `-0e1` is the integer -0, which is 0, times a power of ten, as in JSON.
    let signless = value == 0.0 && !token.contains(&b'.');
    Ok(value.is_finite().then_some(Number::Float(match signless {
        true => 0.0,
        false => value,
    })))
}

/// A long integer that is read.
#[derive(Debug, Clone, PartialEq)]
pub struct LongNumber<T> {
    pub(super) text: T,
    digits: Digits,
}

rooted!(LongNumber { terms: text; plain: digits });

/// Reads an integer of this many digits, the only ones in the text.
fn long_integer<H: Heap>(
    machine: &mut Machine<'_, H>,
    text: H::Term,
    digits: usize,
) -> Result<Number, Halt<H::Term>> {
    let begin = |_: &mut Machine<'_, H>| LongNumber {
        text,
        digits: Digits::new(digits),
    };
    machine.resumable(begin, |machine, work| {
        let (heap, meter) = machine.heap_and_meter();
        let token = ptc_text::trim(heap.bytes(text).unwrap_or_default());
        let token = token.strip_prefix(b"+").unwrap_or(token);
        let mut counting = counting(heap, meter, true);
        let value = work.digits.read(token, |cost| counting(cost, 0))?;
        Ok(Number::from_big(value))
    })
}
