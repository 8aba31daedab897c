//! Numbers and words in the syntax of other languages.

use crate::repair::readings::log::Event;
use ptc_json::grammar::number;
use ptc_type::lenient;

/// Maximum number of digits of an integer with separators.
const DIGITS: usize = 18;

/// Returns the value of a word of JavaScript or Python, those of JSON included.
pub fn foreign(word: &[u8]) -> Option<Event> {
    let is = |other: &str| word.eq_ignore_ascii_case(other.as_bytes());
    let unsigned = word.strip_prefix(b"-").or(word.strip_prefix(b"+"));
    let is_infinity = unsigned.unwrap_or(word).eq_ignore_ascii_case(b"infinity");
    match () {
        () if is("true") => Some(Event::Bool(true)),
        () if is("false") => Some(Event::Bool(false)),
        () if is_infinity => Some(Event::Null),
        () => ["null", "none", "nil", "undefined", "nan"]
            .into_iter()
            .any(is)
            .then_some(Event::Null),
    }
}

/// Returns the end of a possible number at `at`.
pub fn loose_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(&byte) = text.get(end) {
        let sign = matches!(byte, b'+' | b'-');
        let signed = end == at || matches!(text[end - 1], b'e' | b'E');
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'e' | b'E') || sign && signed) {
            break;
        }
        end += 1;
    }
    end
}

/// A number in JSON syntax.
#[derive(Debug, PartialEq)]
pub struct Clean {
    /// Its text.
    pub text: String,
    /// Whether it has no fraction and no exponent.
    pub integer: bool,
}

/// Returns a number without the sign that JSON does not have.
pub fn unsigned(token: &[u8]) -> &[u8] {
    token.strip_prefix(b"+").unwrap_or(token)
}

/// Converts a token to a JSON number. Leading zeros are removed only where a number is `wanted`; where
/// any value is, they may be part of a name.
pub fn clean(token: &[u8], wanted: bool) -> Option<Clean> {
    let negative = token.first() == Some(&b'-');
    let signed = negative || token.first() == Some(&b'+');
    let mut rest: &[u8] = &token[usize::from(signed)..];
    if rest.len() > crate::LIMITS.integer
        || rest.windows(2).any(|pair| pair == b"__")
        || rest.first() == Some(&b'_')
    {
        return None;
    }
    while let [b'0', b'0'..=b'9' | b'_', ..] = rest {
        if !wanted {
            return None;
        }
        rest = &rest[1..];
    }
    let mut text = String::with_capacity(rest.len() + 3);
    if negative {
        text.push('-');
    }
    if rest.first() == Some(&b'.') {
        text.push('0');
    }
    for (index, byte) in rest.iter().enumerate() {
        match byte {
            b'_' | b',' => {}
            b'.' => {
                text.push('.');
                if !rest.get(index + 1).is_some_and(u8::is_ascii_digit) {
                    text.push('0');
                }
            }
            byte => text.push(char::from(*byte)),
        }
    }
    let (end, integer) = number(text.as_bytes(), 0)?;
    let whole = end == text.len() && rest.iter().any(u8::is_ascii_digit);
    let fits = match integer {
        true => text.len() <= DIGITS || unsigned(token) == text.as_bytes(),
        false => text.parse().is_ok_and(f64::is_finite),
    };
    (whole && fits).then_some(Clean { text, integer })
}

/// Returns the end of `1,234` or `1,234.5` at `at`, and whether it is an integer.
pub fn thousands(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter()
            .take_while(|byte| byte.is_ascii_digit())
            .take(20)
            .count()
    };
    let start = at + usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let first = digits(start);
    if !(1..=3).contains(&first) || text[start] == b'0' {
        return None;
    }
    let mut end = start + first;
    while text.get(end) == Some(&b',') && digits(end + 1) == 3 && end - start < DIGITS {
        end += 4;
    }
    if end == start + first {
        return None;
    }
    match (text.get(end), digits(end + 1)) {
        (Some(b'.'), fraction @ 1..) => Some((end + 1 + fraction, false)),
        _ => Some((end, true)),
    }
}

/// Returns whether a string is an integer, by the rules of coercion.
pub fn is_integer(content: &[u8]) -> bool {
    content.len() <= crate::LIMITS.integer && lenient::integer(content).is_some()
}

/// Returns the float that a string is, by the rules of coercion.
pub fn float(content: &[u8]) -> Option<f64> {
    lenient::float(content)
}
