//! Decoding of escapes, invalid ones included.

use ptc_json::grammar::escape;

/// Returns the length of the invalid escape at `at` (a backslash) if its meaning is known.
pub fn lenient(text: &[u8], at: usize) -> Option<usize> {
    let hex = |at: usize| text.get(at).is_some_and(u8::is_ascii_hexdigit);
    match text.get(at + 1)? {
        // `\x41` as in JavaScript and Python, below 0x80
        b'x' if hex(at + 2) && hex(at + 3) && text[at + 2] < b'8' => Some(4),
        b'u' => None,
        b'\n' | b'\'' | b'`' | b'_' => Some(2),
        // `\d` of a regular expression, `C:\Users`: a literal backslash
        byte if byte.is_ascii_alphanumeric() => Some(1),
        // `\$`, `\*`: with the backslash or without it
        _ => None,
    }
}

/// Appends the content of a string with its escapes decoded.
pub fn unescape(content: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(&byte) = content.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        match escape(content, at) {
            Ok((character, next)) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at = next;
            }
            Err(_) => at += rough(content, at, out),
        }
    }
}

fn rough(text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let length = lenient(text, at).unwrap_or(1);
    match (length, text.get(at + 1)) {
        (4, _) => {
            let digits = std::str::from_utf8(&text[at + 2..at + 4]).unwrap_or_default();
            out.push(u8::from_str_radix(digits, 16).unwrap_or_default());
        }
        // A line continuation.
        (2, Some(b'\n')) => {}
        (2, Some(byte)) => out.push(*byte),
        _ => out.push(b'\\'),
    }
    length
}
