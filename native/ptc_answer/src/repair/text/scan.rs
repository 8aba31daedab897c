//! Scanner helpers: blanks, comments, quotes and words at an offset.

use crate::repair::readings::branch::Quote;
use ptc_json::grammar::is_blank;

/// Returns the offset of the first byte from `at` on that is not JSON white space.
#[inline]
pub fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).copied().is_some_and(is_blank) {
        at += 1;
    }
    at
}

/// Same as `skip_blanks`; also skips Unicode blanks and byte order marks.
pub fn skip_all_blanks(text: &[u8], mut at: usize) -> usize {
    loop {
        at = skip_blanks(text, at);
        match text.get(at..).unwrap_or_default() {
            [0xC2, 0xA0, ..] => at += 2,
            [0xEF, 0xBB, 0xBF, ..] | [0xE2, 0x80, 0x8B | 0xA8 | 0xA9 | 0xAF, ..] => at += 3,
            [0x0B | 0x0C, ..] => at += 1,
            _ => return at,
        }
    }
}

/// Returns the end of the comment at `at`, if there is one.
pub fn comment(text: &[u8], at: usize) -> Option<usize> {
    let line = |from: usize| {
        let rest = &text[from..];
        from + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    };
    match text.get(at..)? {
        [b'/', b'/', ..] => Some(line(at + 2)),
        [b'#', ..] => Some(line(at + 1)),
        [b'/', b'*', ..] => {
            memchr::memmem::find(&text[at + 2..], b"*/").map(|offset| at + 2 + offset + 2)
        }
        [b'<', b'!', b'-', b'-', ..] => {
            memchr::memmem::find(&text[at..], b"-->").map(|offset| at + offset + 3)
        }
        _ => None,
    }
}

/// Returns the end of the ellipsis at `at`, if there is one.
pub fn ellipsis(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at..)? {
        [b'.', b'.', b'.', ..] => {
            let dots = text[at..].iter().take_while(|byte| **byte == b'.');
            Some(at + dots.count())
        }
        [0xE2, 0x80, 0xA6, ..] => Some(at + 3),
        _ => None,
    }
}

/// Returns the quote at `at`, and its length in bytes.
pub fn quote(text: &[u8], at: usize) -> Option<(Quote, usize)> {
    Some(match text.get(at..)? {
        [b'"', b'"', b'"', ..] => (Quote::Triple(b'"'), 3),
        [b'\'', b'\'', b'\'', ..] => (Quote::Triple(b'\''), 3),
        [b'"', ..] => (Quote::Double, 1),
        [b'`', b'`', b'`', ..] => return None,
        [byte @ (b'\'' | b'`'), ..] => (Quote::Single(*byte), 1),
        [0xC2, 0xAB | 0xBB, ..] => (Quote::Smart, 2),
        [0xE2, 0x80, 0x9C..=0x9F, ..] => (Quote::Smart, 3),
        [0xE2, 0x80, 0x98..=0x9B, ..] => (Quote::SmartSingle, 3),
        [0xEF, 0xBC, 0x82, ..] => (Quote::Smart, 3),
        _ => return None,
    })
}

/// Returns whether a quote of one kind may end a string that one of another kind began.
pub fn ends(opened: Quote, by: Quote) -> bool {
    match opened {
        Quote::Double | Quote::Triple(b'"') => matches!(by, Quote::Double | Quote::Triple(b'"')),
        Quote::Single(byte) => by == Quote::Single(byte) || by == Quote::Triple(byte),
        Quote::Triple(byte) => by == Quote::Triple(byte) || by == Quote::Single(byte),
        Quote::Smart => matches!(by, Quote::Smart | Quote::Double),
        Quote::SmartSingle => matches!(by, Quote::SmartSingle | Quote::Single(b'\'')),
    }
}

/// Returns whether a value may end before this byte.
#[inline]
pub fn is_delimiter(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b';' | b'#') => true,
        Some(b'/') => matches!(text.get(at + 1), Some(b'/' | b'*')),
        Some(b'`') => text[at..].starts_with(b"```"),
        // Markdown bold.
        Some(b'*') => text.get(at + 1) == Some(&b'*'),
        _ => false,
    }
}

/// Returns the end of the word at `at`.
pub fn word(text: &[u8], at: usize) -> usize {
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_$-".contains(byte) || **byte >= 0x80;
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(part).count()
}
