//! Lenient parsing of numbers from strings, as LLMs quote them.

use ptc_term::number::Number;

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

/// Returns the double if the whole text is a number, between white space: digits after at most one
/// sign, then an optional fraction and exponent, each with digits. `None` if it is out of range.
pub fn float(text: &[u8]) -> Option<f64> {
    let text = trimmed(text);
    if !is_number(text) {
        return None;
    }
    // A number contains only ASCII.
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

fn is_number(text: &[u8]) -> bool {
    let digits = |from: usize| {
        let run = text.get(from..).unwrap_or_default();
        from + run.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let sign = |at: usize| usize::from(matches!(text.get(at), Some(b'+' | b'-')));
    let start = sign(0);
    let mut end = digits(start);
    if end == start {
        return false;
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
    end == text.len()
}

/// Removes Unicode white space at both ends.
fn trimmed(mut text: &[u8]) -> &[u8] {
    while let length @ 1.. = leading_blank(text) {
        text = &text[length..];
    }
    loop {
        let end = text.len();
        // The longest white space has three bytes, and no byte of one is the last of a shorter one.
        let blank = (1..=end.min(3)).find(|length| leading_blank(&text[end - length..]) == *length);
        match blank {
            Some(length) => text = &text[..end - length],
            None => return text,
        }
    }
}

/// Returns the length of the white space at the start of a text, 0 if there is none.
fn leading_blank(text: &[u8]) -> usize {
    match text {
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
        _ => 0,
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
    fn floats_fill_the_text() {
        for (text, value) in [
            ("3.25", 3.25),
            ("7", 7.0),
            ("+007.50", 7.5),
            ("1.5E-2", 0.015),
            ("1e+3", 1000.0),
            ("\u{2009}\u{3000}\n+7 ", 7.0),
            ("\u{85}7\u{A0}\u{1680}\u{205F}\u{202F}\t", 7.0),
            ("1e-999", 0.0),
        ] {
            assert_eq!(float(text.as_bytes()), Some(value), "{text}");
        }
        for text in [
            ".5",
            "-.5",
            "$1",
            "",
            " ",
            "NaN",
            "Infinity",
            "1e309",
            "\u{200B}1",
            "e1",
            "3.25abc",
            "1_000",
            "1,5",
            "1,234.50",
            "1/2",
            "2026-01-01",
            "3 apples",
            "0x10",
            "5.",
            "1e",
            "1e+",
            "1.e3",
            "1.5E-2x",
            "1..2",
            "1.2.3",
            "1 2",
            "+ 1",
            "--1",
            "1%",
            "1-",
            "1\0",
            "1\u{200B}",
        ] {
            assert_eq!(float(text.as_bytes()), None, "{text}");
        }
        for bytes in [
            &b"1\xFF"[..],
            b"1\xA0",
            b"1\x85",
            b"1\x80\x80",
            b"\xE2\x801",
        ] {
            assert_eq!(float(bytes), None, "{bytes:?}");
        }
        assert!(float(b"-0").is_some_and(f64::is_sign_negative));
    }
}
