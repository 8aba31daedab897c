//! Numbers of texts, as `Integer.parse/1` and `Float.parse/1` read the whole text; `nil` for what is none.

use super::operand::{made, Operand};
use crate::code::{Eval, Machine};
use crate::table::Builtin;
use crate::values::make_int;
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;

/// Bytes of a text that are read per unit of fuel.
const BYTES_A_UNIT: usize = 8;

/// Returns a text without a copy, after it was counted; `None` for another value.
fn text<'m, H: Heap>(m: &'m mut Machine<'_, H>, term: H::Term) -> Result<Option<&'m [u8]>, Stop> {
    let Some(length) = m.heap.byte_length(term) else {
        return Ok(None);
    };
    m.consume_fuel_to_copy(term)?;
    m.consume_fuel_at_once(length / BYTES_A_UNIT)?;
    Ok(m.heap.bytes(term))
}

/// `parse-long`: an integer of 64 bits.
pub(super) fn long<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Eval<H> {
    match text(m, term)?.and_then(integer) {
        Some(value) => Ok(make_int(m, value)),
        None => Ok(m.heap.nil()),
    }
}

/// Returns the integer that a text is, if it has at most 64 bits.
fn integer(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_i64;
    for digit in digits {
        let digit = i64::from(char::from(*digit).to_digit(10)?);
        // The value is never positive: the least integer has no positive counterpart.
        value = value.checked_mul(10)?.checked_sub(digit)?;
    }
    match is_negative {
        true => Some(value),
        false => value.checked_neg(),
    }
}

/// `parse-double`: a float, or a special.
pub(super) fn double<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Eval<H> {
    let value = match text(m, term)? {
        Some(b"Infinity") => Some(f64::INFINITY),
        Some(b"-Infinity") => Some(f64::NEG_INFINITY),
        Some(b"NaN") => Some(f64::NAN),
        Some(text) => float(text),
        None => None,
    };
    match value {
        Some(value) => made(m, Builtin::ParseDouble, Operand::of_float(value)),
        None => Ok(m.heap.nil()),
    }
}

/// Returns the finite float that a text is: digits, perhaps a fraction, perhaps an exponent.
fn float(text: &[u8]) -> Option<f64> {
    let digits = |at: usize| {
        text[at..]
            .iter()
            .take_while(|it| it.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let whole = digits(at);
    at += whole;
    if whole == 0 {
        return None;
    }
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return None;
        }
        at += 1 + sign + exponent;
    }
    if at < text.len() {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// `parse-boolean`
pub(super) fn boolean<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Eval<H> {
    let value = match m.heap.byte_length(term) {
        Some(4 | 5) => text(m, term)?,
        _ => None,
    };
    Ok(match value {
        Some(b"true") => m.heap.boolean(true),
        Some(b"false") => m.heap.boolean(false),
        _ => m.heap.nil(),
    })
}

#[cfg(test)]
mod tests {
    use super::{float, integer};

    #[test]
    fn integers_of_texts() {
        for (text, value) in [
            ("42", Some(42)),
            ("-42", Some(-42)),
            ("+5", Some(5)),
            ("-0", Some(0)),
            ("0000000000000000000000000000001", Some(1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("99999999999999999999", None),
            ("", None),
            ("-", None),
            ("1_0", None),
            (" 1", None),
            ("1.0", None),
        ] {
            assert_eq!(integer(text.as_bytes()), value, "{text}");
        }
        assert_eq!(integer("٣".as_bytes()), None);
    }

    #[test]
    fn floats_of_texts() {
        for (text, value) in [
            ("1.5", Some(1.5)),
            ("5", Some(5.0)),
            ("+5", Some(5.0)),
            ("-00.50", Some(-0.5)),
            ("1.5e3", Some(1500.0)),
            ("1E5", Some(1e5)),
            ("1e-400", Some(0.0)),
            ("1e400", None),
            ("1.5e", None),
            ("5.", None),
            (".5", None),
            ("-.5", None),
            ("1e+", None),
            ("1.5x", None),
            ("inf", None),
            ("", None),
        ] {
            assert_eq!(float(text.as_bytes()), value, "{text}");
        }
    }
}
