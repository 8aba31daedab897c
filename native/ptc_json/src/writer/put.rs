//! Scalars as JSON text.

use crate::scan::{plain_word, to_unplain};

/// The offset of the first byte that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUtf8(pub usize);

/// Writes a quoted string with as few escapes as JSON allows.
pub fn put_string(out: &mut Vec<u8>, text: &[u8]) -> Result<(), NotUtf8> {
    // Reserves space for the last word in full.
    out.reserve(text.len() + 10);
    out.push(b'"');
    put_chars(out, text)?;
    out.push(b'"');
    Ok(())
}

/// Writes the characters of a string, without quotes, with as few escapes as JSON allows.
#[inline]
pub fn put_chars(out: &mut Vec<u8>, text: &[u8]) -> Result<(), NotUtf8> {
    let mut at = 0;
    loop {
        at = match text.len() {
            ..=SHORT => put_plain_words(out, text, at),
            _ => {
                let plain = to_unplain(text, at);
                out.extend_from_slice(&text[at..plain]);
                plain
            }
        };
        match text.get(at) {
            None => return Ok(()),
            Some(byte @ 0..=0x7F) => {
                put_escape(out, *byte);
                at += 1;
            }
            Some(_) => {
                let tail = &text[at..];
                let run = tail.iter().position(u8::is_ascii).unwrap_or(tail.len());
                match std::str::from_utf8(&tail[..run]) {
                    Ok(_) => out.extend_from_slice(&tail[..run]),
                    Err(error) => return Err(NotUtf8(at + error.valid_up_to())),
                }
                at += run;
            }
        }
    }
}

/// Up to this length, copying word by word is quicker than a scan and one copy.
const SHORT: usize = 40;

/// Writes the bytes from `at` on that need no escape, and returns their end.
#[inline]
fn put_plain_words(out: &mut Vec<u8>, text: &[u8], mut at: usize) -> usize {
    loop {
        let (word, plain) = plain_word(text, at);
        let length = out.len() + plain;
        out.extend_from_slice(&word);
        at += plain;
        if plain < word.len() {
            out.truncate(length);
            return at;
        }
    }
}

fn put_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        8 => b'b',
        12 => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |nibble: u8| b"0123456789ABCDEF"[nibble as usize];
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes a 64-bit integer.
#[inline]
pub fn put_integer(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// From this value on a float has an exponent, as on the BEAM: above it, not every integer is a float.
const ALL_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// Writes a finite float: the fewest digits that read back as the same float, in the layout of the
/// BEAM's `float_to_binary(value, [:short])`: `1.0`, `0.001`, `1.0e-5`, `1.0e22`.
pub fn put_float(out: &mut Vec<u8>, value: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    // Most floats are like 12.34, which both write in the same way.
    if (0.001..ALL_INTEGERS).contains(&value.abs()) && !text.ends_with(b".0") {
        return out.extend_from_slice(text);
    }
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    if text.len() > unsigned.len() {
        out.push(b'-');
    }
    lay_out(out, unsigned, value);
}

/// Writes `text`, the shortest form of the magnitude of `value`, in the BEAM's layout.
#[cold]
fn lay_out(out: &mut Vec<u8>, text: &[u8], value: f64) {
    let (mantissa, exponent) = match text.iter().position(|byte| *byte == b'e') {
        Some(at) => (&text[..at], small_number(&text[at + 1..])),
        None => (text, 0),
    };
    let whole = mantissa.iter().position(|byte| *byte == b'.');
    let whole = whole.unwrap_or(mantissa.len());
    let mut digits: Vec<u8> = mantissa.iter().copied().filter(|b| *b != b'.').collect();
    // The value is 0.digits × 10^point.
    let mut point = whole as i32 + exponent;
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..zeros);
    point -= zeros as i32;
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    if digits.is_empty() {
        return out.extend_from_slice(b"0.0");
    }
    let count = digits.len() as i32;
    // Takes the shorter form; of two of equal length the one without an exponent.
    let fixed_length = match point {
        ..=0 => 2 - point + count,
        _ => point.max(count - 1) + 2,
    };
    let exponent_length =
        (point - 1).unsigned_abs().max(1).ilog10() as i32 + 1 + i32::from(point < 1);
    let scientific_length = count.max(2) + 2 + exponent_length;
    let fixed = fixed_length <= scientific_length && value.abs() < ALL_INTEGERS;
    if !fixed {
        out.extend_from_slice(&[digits[0], b'.']);
        out.extend_from_slice(if count == 1 { b"0" } else { &digits[1..] });
        out.push(b'e');
        return put_integer(out, i64::from(point - 1));
    }
    if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend((point..0).map(|_| b'0'));
        return out.extend_from_slice(&digits);
    }
    let point = point as usize;
    digits.resize(digits.len().max(point + 1), b'0');
    out.extend_from_slice(&digits[..point]);
    out.push(b'.');
    out.extend_from_slice(&digits[point..]);
}

/// Returns the number in a float's exponent, which has at most four characters.
fn small_number(text: &[u8]) -> i32 {
    let text = text.strip_prefix(b"+").unwrap_or(text);
    std::str::from_utf8(text).map_or(0, |text| text.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64) -> String {
        let mut out = Vec::new();
        put_float(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_as_the_beam_writes_them() {
        let pairs = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (1.0e3, "1.0e3"),
            (120.0, "120.0"),
            (1200.0, "1.2e3"),
            (123_000.0, "1.23e5"),
            (526_443_291_300.0, "526443291300.0"),
            (5_264_432_913_000.0, "5.264432913e12"),
            (-8_769_852_551_736_800.0, "-8769852551736800.0"),
            (0.001, "0.001"),
            (0.0001, "0.0001"),
            (0.00012, "1.2e-4"),
            (0.0012, "0.0012"),
            (9_007_199_254_740_991.0, "9007199254740991.0"),
            (9_007_199_254_740_992.0, "9.007199254740992e15"),
            (123_456_789_012_345_680.0, "1.2345678901234568e17"),
            (1.0e22, "1.0e22"),
            (5.0e-324, "5.0e-324"),
            (f64::MAX, "1.7976931348623157e308"),
        ];
        for (value, text) in pairs {
            assert_eq!(float(value), text);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn strings() {
        let put = |text: &[u8]| {
            let mut out = Vec::new();
            put_string(&mut out, text).map(|()| String::from_utf8(out).unwrap())
        };
        assert_eq!(
            put(b"a\"\\/\n\x01\x7F"),
            Ok("\"a\\\"\\\\/\\n\\u0001\x7F\"".into())
        );
        assert_eq!(put("ä€😀x".as_bytes()), Ok("\"ä€😀x\"".into()));
        assert_eq!(put(b"abc\xFFd"), Err(NotUtf8(3)));
        assert_eq!(put(b"\xC3\xA4\xE2\x82 rest"), Err(NotUtf8(2)));
        assert_eq!(put(b"\xED\xA0\x80"), Err(NotUtf8(0)));
        assert_eq!(put(b""), Ok("\"\"".into()));
    }
}
