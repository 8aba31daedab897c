//! `to_text` with `decimals`: a number with so many digits after the point.

use super::join::put_part;
use super::*;
use ptc_term::number::Number;

/// Digits after the point that every double ends within.
const DIGITS_OF_FLOAT: usize = 1_074;
/// Fuel for the digits of a double.
const FUEL_PER_FLOAT: usize = 200;

/// The maximum number of digits after the point.
pub(super) const MOST_PLACES: i64 = 20;

/// Returns the text of a number with `places` digits after the point, rounded half away from zero. A float counts as the number
/// that it is, and not as its shortest text.
pub(super) fn fixed<H: Heap>(
    machine: &mut Machine<'_, H>,
    op: OpCode,
    value: H::Term,
    places: usize,
) -> Eval<H> {
    let mut text = Vec::new();
    match machine.number(value)? {
        Some(Number::Float(float)) => {
            machine.consume_fuel(FUEL_PER_FLOAT)?;
            text = format!("{float:.DIGITS_OF_FLOAT$}").into_bytes();
        }
        Some(_) => put_part(machine, op, value, &mut text)?,
        None if machine.is_decimal(value) => put_part(machine, op, value, &mut text)?,
        None => {}
    }
    match rounded(&text, places) {
        Some(text) => Ok(machine.make_text(&text)?),
        None => Err(machine.fault(op, Code::NeedsNumberForDecimals, vec![value])),
    }
}

/// Rounds the text of a number without an exponent; `None` if it is none. A number that becomes zero has no sign.
fn rounded(text: &[u8], places: usize) -> Option<Vec<u8>> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let point = digits.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = match point {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &[][..]),
    };
    if whole.is_empty() || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return None;
    }
    let mut kept: Vec<u8> = whole.to_vec();
    kept.extend(fraction.iter().chain(std::iter::repeat(&b'0')).take(places));
    if fraction.get(places).is_some_and(|next| *next >= b'5') && carried(&mut kept) {
        kept.insert(0, b'1');
    }
    let is_zero = kept.iter().all(|digit| *digit == b'0');
    if places > 0 {
        kept.insert(kept.len() - places, b'.');
    }
    if negative && !is_zero {
        kept.insert(0, b'-');
    }
    Some(kept)
}

/// Adds one to the last digit; returns whether a digit is missing in front.
fn carried(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    true
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn rounds_half_away_from_zero() {
        for (text, places, expected) in [
            ("12.5", 2, "12.50"),
            ("0.125", 2, "0.13"),
            ("-0.125", 2, "-0.13"),
            ("-0.004", 2, "0.00"),
            ("9.995", 2, "10.00"),
            ("99", 0, "99"),
            ("99.5", 0, "100"),
            ("7", 3, "7.000"),
            ("0.4999", 0, "0"),
        ] {
            let text = rounded(text.as_bytes(), places).unwrap();
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_number_has_no_text() {
        for text in ["", "-", "NaN", "Infinity", "-Infinity", "1e5", "a1", ".5"] {
            assert_eq!(rounded(text.as_bytes(), 2), None, "{text}");
        }
    }
}
