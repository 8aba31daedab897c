//! Lenient parsing of numbers from strings, as LLMs quote them.

use crate::number::Number;

/// Maximum number of digits of an integer: the BEAM has none of that size.
pub const MOST_DIGITS: usize = 4_000_000;

/// Returns the integer if the whole text is one: digits after at most one sign.
pub fn integer(text: &[u8]) -> Option<Number> {
    let digits = match text.first() {
        Some(b'+' | b'-') => &text[1..],
        _ => text,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let negative = text[0] == b'-';
    if digits.len() <= 18 {
        let value = digits
            .iter()
            .fold(0i64, |value, digit| value * 10 + i64::from(digit - b'0'));
        return Some(Number::Int(if negative { -value } else { value }));
    }
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    if digits.len() - zeros > MOST_DIGITS {
        return None;
    }
    Some(Number::from_digits(if negative { text } else { digits }))
}

/// Returns the double at the start of a text, after white space; `None` if there is none, or if it is
/// out of range.
pub fn float(text: &[u8]) -> Option<f64> {
    let text = trim_start(text);
    let end = float_prefix(text)?;
    // The text before `end` is ASCII.
    let value: f64 = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// Returns the end of the longest prefix that is a number: digits, then an optional fraction and
/// exponent, each with digits.
fn float_prefix(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let run = text.get(from..).unwrap_or_default();
        from + run.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = |at: usize| usize::from(matches!(text.get(at), Some(b'+' | b'-')));
    let start = sign(0);
    let mut end = digits(start);
    if end == start {
        return None;
    }
    if text.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let exponent = end + 1 + sign(end + 1);
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    Some(end)
}

/// Removes leading Unicode white space.
fn trim_start(mut text: &[u8]) -> &[u8] {
    loop {
        let blank = match text {
            [9..=13 | 32, ..] => 1,
            // U+0085, U+00A0
            [0xC2, 0x85 | 0xA0, ..] => 2,
            // U+1680
            [0xE1, 0x9A, 0x80, ..] => 3,
            // U+2000..U+200A, U+2028, U+2029, U+202F
            [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..] => 3,
            // U+205F
            [0xE2, 0x81, 0x9F, ..] => 3,
            // U+3000
            [0xE3, 0x80, 0x80, ..] => 3,
            _ => return text,
        };
        text = &text[blank..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_fill_the_text() {
        for (text, value) in [("42", 42), ("-5", -5), ("+007", 7), ("-0", 0)] {
            assert_eq!(integer(text.as_bytes()), Some(Number::Int(value)));
        }
        for text in ["", "+", "-", " 1", "1 ", "1_000", "1.0", "--1", "0x1", "١"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
        let least = i64::MIN.to_string();
        assert_eq!(integer(least.as_bytes()), Some(Number::Int(i64::MIN)));
        let zeros = "0".repeat(MOST_DIGITS) + "12";
        assert_eq!(integer(zeros.as_bytes()), Some(Number::Int(12)));
        assert_eq!(integer(&vec![b'9'; MOST_DIGITS + 1]), None);
    }

    #[test]
    fn floats_are_the_longest_prefix() {
        for (text, value) in [
            ("3.25abc", 3.25),
            ("1_000", 1.0),
            ("1,5", 1.0),
            ("0x10", 0.0),
            ("5.", 5.0),
            ("1e", 1.0),
            ("1e+", 1.0),
            ("1.e3", 1.0),
            ("1.5E-2x", 0.015),
            ("\u{2009}\u{3000}\n+7 ", 7.0),
            ("1e-999", 0.0),
        ] {
            assert_eq!(float(text.as_bytes()), Some(value), "{text}");
        }
        for text in [
            ".5",
            "-.5",
            "$1",
            "",
            "NaN",
            "Infinity",
            "1e309",
            "\u{200B}1",
            "e1",
        ] {
            assert_eq!(float(text.as_bytes()), None, "{text}");
        }
        assert!(float(b"-0").is_some_and(f64::is_sign_negative));
    }
}
