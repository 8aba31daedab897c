//! Tokens: numbers, strings and characters.

use super::blame::Wrong;
use super::classes::{self, is, DIGIT, FIRST, FURTHER};
use num_bigint::BigInt;
use std::borrow::Cow;

/// The most digits of an integer.
const MOST_DIGITS: usize = 100;
/// Digits that always fit 64 bits.
const SHORT: usize = 18;
/// Characters of a number that a message shows.
const SHOWN: usize = 40;

/// Characters that have a name.
const NAMED: [(&str, &str); 6] = [
    ("newline", "\n"),
    ("space", " "),
    ("tab", "\t"),
    ("return", "\r"),
    ("backspace", "\u{8}"),
    ("formfeed", "\u{c}"),
];

/// A number.
pub enum Number {
    /// An integer of 64 bits.
    Int(i64),
    /// A larger one.
    Large(BigInt),
    /// A float.
    Float(f64),
}

/// Returns whether a digit stands here.
pub fn is_digit(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|byte| is(*byte, DIGIT))
}

/// Returns where the symbol ends that begins here; here if there is none.
pub fn symbol_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(byte) if is(*byte, FIRST) => classes::end(bytes, at + 1, FURTHER),
        _ => at,
    }
}

/// Reads a number, and returns where it ends.
#[inline]
pub fn number(source: &str, start: usize) -> Result<(Number, usize), Wrong> {
    let bytes = source.as_bytes();
    let digits = start + usize::from(bytes[start] == b'-');
    let whole = classes::end(bytes, digits, DIGIT);
    let point = match bytes.get(whole) {
        Some(b'.') if is_digit(bytes, whole + 1) => classes::end(bytes, whole + 1, DIGIT),
        _ => whole,
    };
    let end = exponent(bytes, point);
    if end > whole {
        return float(&source[start..end], start, end);
    }
    if whole - digits > MOST_DIGITS {
        return Err(Wrong::between("long_integer", start, end));
    }
    let text = &source[start..end];
    let number = match text.len() <= SHORT {
        true => Number::Int(short(&bytes[digits..whole], digits > start)),
        false => match text.parse() {
            Ok(int) => Number::Int(int),
            Err(_) => {
                let large = BigInt::parse_bytes(text.as_bytes(), 10);
                Number::Large(large.ok_or_else(|| Wrong::at("no_form", start))?)
            }
        },
    };
    Ok((number, end))
}

fn short(digits: &[u8], negative: bool) -> i64 {
    let value = digits
        .iter()
        .fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    match negative {
        true => -value,
        false => value,
    }
}

/// Returns where the exponent ends that begins here; here if there is none.
fn exponent(bytes: &[u8], at: usize) -> usize {
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return at;
    }
    let sign = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
    let digits = at + 1 + usize::from(sign);
    match is_digit(bytes, digits) {
        true => classes::end(bytes, digits, DIGIT),
        false => at,
    }
}

fn float(text: &str, start: usize, end: usize) -> Result<(Number, usize), Wrong> {
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() => Ok((Number::Float(float), end)),
        _ => {
            let shown = match text.len() > SHOWN {
                true => format!("{}…", &text[..SHOWN]),
                false => text.to_string(),
            };
            Err(Wrong::between("bad_float", start, end).with(shown))
        }
    }
}

/// Reads a character, and returns where it ends.
pub fn character(source: &str, start: usize) -> Result<(&str, usize), Wrong> {
    let rest = &source[start + 1..];
    for (name, character) in NAMED {
        if rest.starts_with(name) {
            return Ok((character, start + 1 + name.len()));
        }
    }
    let Some(character) = rest.chars().next() else {
        return Err(Wrong::placed("bad_character", start));
    };
    let length = character.len_utf8();
    Ok((&rest[..length], start + 1 + length))
}

/// Reads a string up to its quote, and returns where it ends.
#[inline]
pub fn text(source: &str, start: usize) -> Result<(Cow<'_, str>, usize), Wrong> {
    let bytes = source.as_bytes();
    let mut at = start;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok((Cow::Borrowed(&source[start..at]), at + 1)),
            Some(b'\\') => return escaped(source, start, at),
            Some(_) => at += 1,
            None => return Err(Wrong::placed("unclosed_text", at)),
        }
    }
}

/// Reads a string whose first backslash is at `at`.
fn escaped(source: &str, start: usize, mut at: usize) -> Result<(Cow<'_, str>, usize), Wrong> {
    let bytes = source.as_bytes();
    let mut text = String::new();
    let mut plain = start;
    loop {
        match bytes.get(at) {
            Some(b'"') => {
                text.push_str(&source[plain..at]);
                return Ok((Cow::Owned(text), at + 1));
            }
            Some(b'\\') => {
                let character = match bytes.get(at + 1) {
                    None | Some(b'\n') => return Err(Wrong::placed("unclosed_text", at)),
                    Some(b'\\') => "\\",
                    Some(b'"') => "\"",
                    Some(b'n') => "\n",
                    Some(b't') => "\t",
                    Some(b'r') => "\r",
                    // The backslash stays, and so does what follows it.
                    Some(_) => {
                        at += 2;
                        continue;
                    }
                };
                text.push_str(&source[plain..at]);
                text.push_str(character);
                at += 2;
                plain = at;
            }
            Some(_) => at += 1,
            None => return Err(Wrong::placed("unclosed_text", at)),
        }
    }
}
