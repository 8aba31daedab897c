//! Floats as `str` and `pr-str` write them, and strings as `pr-str` does.

use ptc_json::{put_float, put_integer};

/// Below this size, a float without a fraction is written without an exponent.
const MOST_WHOLE: f64 = 1e16;

/// Writes a float as `inspect/1` does.
pub(crate) fn put_shortest(out: &mut Vec<u8>, value: f64) {
    if value.fract() == 0.0 && (1.0..MOST_WHOLE).contains(&value.abs()) {
        put_integer(out, value as i64);
        return out.extend_from_slice(b".0");
    }
    put_float(out, value);
}

/// Digits after the point.
const PLACES: usize = 10;
const POWER: f64 = 1e10;
/// From this size on, no float has a fraction.
const NO_FRACTION: f64 = 9_007_199_254_740_992.0;

/// Writes a float with at most ten digits after the point, as Erlang's `float_to_binary(value, [compact, {decimals, 10}])`. It
/// takes the fraction times the power of ten, which may be rounded, and rounds that.
pub(super) fn put_rounded(out: &mut Vec<u8>, value: f64) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let size = value.abs();
    if size >= NO_FRACTION {
        return out.extend_from_slice(format!("{size:.1}").as_bytes());
    }
    let mut whole = size as u64;
    let scaled = (size - whole as f64) * POWER;
    let mut fraction = (scaled + 0.5).floor() as u64;
    if fraction >= POWER as u64 {
        whole += 1;
        fraction -= POWER as u64;
    }
    let digits = format!("{fraction:0PLACES$}");
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    out.extend_from_slice(format!("{whole}.{digits}").as_bytes());
}

/// Characters of a string that are written.
const MOST_CHARACTERS: usize = 4_096;
/// Bytes of a string that are read for that, at most.
pub(super) const MOST_READ: usize = 4 * (2 * MOST_CHARACTERS + 1);
/// Bytes of what is no text that are written.
const MOST_BYTES: usize = 50;

/// Writes a string as `inspect/1` does: in quotes, if its first characters are printable, else as its bytes.
pub(super) fn put_string(out: &mut Vec<u8>, text: &[u8]) {
    if !is_printable(text) {
        return put_bytes(out, text);
    }
    out.push(b'"');
    let (mut rest, mut left) = (text, MOST_CHARACTERS);
    loop {
        let plain = plain(rest, left);
        out.extend_from_slice(&rest[..plain]);
        (rest, left) = (&rest[plain..], left - plain);
        if left == 0 || rest.is_empty() {
            break;
        }
        left -= 1;
        // Two characters that are escaped together count as one.
        if let Some(others) = rest.strip_prefix(b"#{") {
            out.extend_from_slice(b"\\#{");
            rest = others;
            continue;
        }
        match next(rest) {
            Some((char, length)) => {
                put_char(out, char);
                rest = &rest[length..];
            }
            None => {
                out.extend_from_slice(format!("\\x{:02X}", rest[0]).as_bytes());
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(if rest.is_empty() { b"\"" } else { b"\" <> ..." });
}

/// Returns the next character and its length in bytes.
fn next(text: &[u8]) -> Option<(char, usize)> {
    if text[0].is_ascii() {
        return Some((char::from(text[0]), 1));
    }
    let start = &text[..text.len().min(4)];
    let char = start.utf8_chunks().next()?.valid().chars().next()?;
    Some((char, char.len_utf8()))
}

/// As `String.printable?/2` decides it for as many characters as are written.
fn is_printable(text: &[u8]) -> bool {
    let (mut rest, mut left) = (text, MOST_CHARACTERS);
    loop {
        let plain = plain(rest, left);
        (rest, left) = (&rest[plain..], left - plain);
        if left == 0 || rest.is_empty() {
            return true;
        }
        match next(rest) {
            Some((char, length)) if is_printable_char(char) => rest = &rest[length..],
            _ => return false,
        }
        left -= 1;
    }
}

/// Returns how many of the first bytes are characters of ASCII that are written as they are, at most so many.
fn plain(text: &[u8], most: usize) -> usize {
    let text = &text[..text.len().min(most)];
    let is_special = |byte: &u8| !matches!(byte, b' '..=b'~') || b"\"\\#".contains(byte);
    text.iter().position(is_special).unwrap_or(text.len())
}

fn is_printable_char(char: char) -> bool {
    matches!(char,
        '\x07'..='\r' | '\x1B' | ' '..='\x7F' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

fn put_char(out: &mut Vec<u8>, char: char) {
    let escape: &[u8] = match char {
        '"' => b"\\\"",
        '\\' => b"\\\\",
        '\x07' => b"\\a",
        '\x08' => b"\\b",
        '\x7F' => b"\\d",
        '\x1B' => b"\\e",
        '\x0C' => b"\\f",
        '\n' => b"\\n",
        '\r' => b"\\r",
        '\t' => b"\\t",
        '\x0B' => b"\\v",
        '\0' => b"\\0",
        '\u{FEFF}' => b"\\uFEFF",
        char if is_printable_char(char) => {
            return out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        }
        char if u32::from(char) < 0x100 => {
            return out.extend_from_slice(format!("\\x{:02X}", u32::from(char)).as_bytes());
        }
        char => {
            return out.extend_from_slice(format!("\\u{:04X}", u32::from(char)).as_bytes());
        }
    };
    out.extend_from_slice(escape);
}

/// Writes `<<1, 2, 3>>`, with dots in the place of the bytes that are too many.
fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"<<");
    for (place, byte) in bytes.iter().take(MOST_BYTES).enumerate() {
        let before = if place > 0 { ", " } else { "" };
        out.extend_from_slice(format!("{before}{byte}").as_bytes());
    }
    out.extend_from_slice(if bytes.len() > MOST_BYTES {
        b", ...>>"
    } else {
        b">>"
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_erlang_writes_them() {
        for (value, text) in [
            (0.1 + 0.2, "0.3"),
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e-11, "0.0"),
            (-1e-11, "-0.0"),
            (5e-11, "0.0000000001"),
            (0.12345678915, "0.1234567892"),
            (0.12345678905, "0.1234567891"),
            (1.00000000005, "1.0000000001"),
            (99.99999999999, "100.0"),
            (123_456_789.123_456_79, "123456789.123456791"),
            (256174158.60982874, "256174158.6098287404"),
            (9007199254740991.0, "9007199254740991.0"),
            (1e21, "1000000000000000000000.0"),
            (1.2345678901234567e20, "123456789012345667584.0"),
            (1.5e-5, "0.000015"),
            (-2.5, "-2.5"),
        ] {
            let mut out = Vec::new();
            put_rounded(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn shortest_floats() {
        for (value, text) in [
            (1e10, "10000000000.0"),
            (-1e15, "-1000000000000000.0"),
            (9007199254740994.0, "9007199254740994.0"),
            (1e16, "1.0e16"),
            (1e20, "1.0e20"),
            (1e21, "1.0e21"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.5e-5, "1.5e-5"),
            (0.0001, "0.0001"),
            (0.00012, "1.2e-4"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (123456789012.5, "123456789012.5"),
        ] {
            let mut out = Vec::new();
            put_shortest(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    fn inspected(text: &[u8]) -> String {
        let mut out = Vec::new();
        put_string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_as_elixir_inspects_them() {
        for (text, expected) in [
            (&b""[..], "\"\""),
            (b"a\nb\t\"q\"\\\r", r#""a\nb\t\"q\"\\\r""#),
            (b"\x07\x08\x0B\x0C\x1B\x7F", r#""\a\b\v\f\e\d""#),
            (b"#{x} # #a", "\"\\#{x} # #a\""),
            ("é☕\u{A0}".as_bytes(), "\"é☕\u{A0}\""),
            ("\u{FEFF}\u{202A}".as_bytes(), "\"\\uFEFF\u{202A}\""),
            (b"\0", "<<0>>"),
            (b"a\xFF", "<<97, 255>>"),
            ("a\u{85}".as_bytes(), "<<97, 194, 133>>"),
        ] {
            assert_eq!(inspected(text), expected);
        }
    }

    #[test]
    fn long_strings_are_cut() {
        let text = "a".repeat(5_000);
        let cut = format!("\"{}\" <> ...", "a".repeat(4_096));
        assert_eq!(inspected(text.as_bytes()), cut);
        let bytes = [text.as_bytes(), b"\xFF"].concat();
        assert_eq!(inspected(&bytes), cut);
        assert_eq!(inspected(&text.as_bytes()[..4_096]), cut[..4_098]);
        let fifty = format!("<<{}>>", vec!["255"; 50].join(", "));
        assert_eq!(inspected(&[255; 50]), fifty);
        assert_eq!(inspected(&[255; 51]), fifty.replace(">>", ", ...>>"));
    }
}
