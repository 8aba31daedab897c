//! JSON strings: finding the end, checking UTF-8, undoing escapes.

use super::scan::to_special;
use super::JsonError;

/// The content of a JSON string: a part of the text itself, or the reader's scratch buffer when
/// escapes had to be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'t, 's> {
    /// No escapes: these very bytes of the text.
    Source(&'t [u8]),
    /// Escapes undone: valid until the reader goes on.
    Scratch(&'s [u8]),
}

impl Text<'_, '_> {
    /// The bytes, wherever they live. Always valid UTF-8.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Text::Source(bytes) => bytes,
            Text::Scratch(bytes) => bytes,
        }
    }
}

/// Reads the string whose opening quote stands at `open`; gives the content and the offset after
/// the closing quote.
pub(super) fn read_string<'t, 's>(
    text: &'t [u8],
    open: usize,
    scratch: &'s mut Vec<u8>,
) -> Result<(Text<'t, 's>, usize), JsonError> {
    let start = open + 1;
    let end = run(text, start)?;
    if text[end] == b'"' {
        return Ok((Text::Source(&text[start..end]), end + 1));
    }
    scratch.clear();
    scratch.extend_from_slice(&text[start..end]);
    let mut at = end;
    loop {
        // `at` stands on a backslash here.
        at = unescape(text, at, scratch)?;
        let end = run(text, at)?;
        scratch.extend_from_slice(&text[at..end]);
        at = end;
        if text[at] == b'"' {
            return Ok((Text::Scratch(scratch), at + 1));
        }
    }
}

/// The offset of the quote or backslash that ends the run of ordinary characters at `start`.
fn run(text: &[u8], start: usize) -> Result<usize, JsonError> {
    let (at, ascii) = to_special(text, start);
    let stop = match text.get(at) {
        None => Err(JsonError::UnexpectedEnd(at)),
        Some(b'"' | b'\\') => Ok(at),
        Some(_) => Err(JsonError::UnexpectedToken(at)),
    };
    if !ascii {
        if let Err(error) = std::str::from_utf8(&text[start..at]) {
            return Err(JsonError::UnexpectedToken(start + error.valid_up_to()));
        }
    }
    stop
}

/// Undoes the escape at `at` (a backslash) and gives the offset after it.
fn unescape(text: &[u8], at: usize, out: &mut Vec<u8>) -> Result<usize, JsonError> {
    let bad = JsonError::UnexpectedToken(at);
    let byte = match text.get(at + 1).ok_or(bad)? {
        b'"' => b'"',
        b'\\' => b'\\',
        b'/' => b'/',
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'u' => return unescape_unicode(text, at, out),
        _ => return Err(bad),
    };
    out.push(byte);
    Ok(at + 2)
}

/// Undoes a `\uXXXX` or a surrogate pair at `at`.
fn unescape_unicode(text: &[u8], at: usize, out: &mut Vec<u8>) -> Result<usize, JsonError> {
    let bad = JsonError::UnexpectedToken(at);
    let first = hex4(text, at + 2).ok_or(bad)?;
    let (code, next) = match first {
        0xD800..=0xDBFF => {
            // A high surrogate alone is reported behind it: that is where the low one is missing.
            let after = at + 6;
            let missing = JsonError::UnexpectedToken(after);
            if text.get(after) != Some(&b'\\') || text.get(after + 1) != Some(&b'u') {
                return Err(match text.len() > after {
                    true => missing,
                    false => JsonError::UnexpectedEnd(after),
                });
            }
            let low = hex4(text, after + 2).ok_or(missing)?;
            if !(0xDC00..=0xDFFF).contains(&low) {
                return Err(bad);
            }
            (0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00), at + 12)
        }
        code => (code, at + 6),
    };
    // A low surrogate alone is no character.
    let character = char::from_u32(code).ok_or(bad)?;
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(next)
}

fn hex4(text: &[u8], at: usize) -> Option<u32> {
    text.get(at..at + 4)?.iter().try_fold(0, |code, byte| {
        (*byte as char).to_digit(16).map(|digit| code * 16 + digit)
    })
}
