//! Syntax of Clojure that is refused before anything is read: `#_`, `@name`, quoted collections.

use super::blame;
use crate::ast::Problem;

/// What is refused, the most important first.
const CODES: [&str; 3] = ["discard", "deref", "quoted_collection"];

/// Refuses a text with such syntax outside of strings and comments.
pub fn check(source: &str) -> Result<(), Problem> {
    let bytes = source.as_bytes();
    // Almost no text has such a pair anywhere.
    if !bytes.windows(2).any(|pair| kind(pair).is_some()) {
        return Ok(());
    }
    match first(bytes) {
        Some((kind, at)) => Err(blame::refused(CODES[kind], at)),
        None => Ok(()),
    }
}

/// Returns which of the kinds two bytes are.
#[inline]
fn kind(pair: &[u8]) -> Option<usize> {
    match pair {
        [b'#', b'_'] => Some(0),
        [b'@', letter] if letter.is_ascii_alphabetic() => Some(1),
        [b'\'', b'(' | b'[' | b'{'] => Some(2),
        _ => None,
    }
}

/// Returns the first place of the most important kind. Strings are left out first, in comments too; then comments.
fn first(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut found: [Option<usize>; 3] = [None; 3];
    let mut comment = false;
    let mut at = 0;
    // A quote that begins no string: no quote up to here begins one, as it would end at the same place.
    let mut no_string_before = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' if at >= no_string_before => {
                match string_end(bytes, at + 1) {
                    Ok(end) => {
                        at = end;
                        continue;
                    }
                    Err(end) => no_string_before = end,
                };
            }
            b'\n' => comment = false,
            b';' => comment = true,
            _ if comment => {}
            _ => {
                let pair = &bytes[at..bytes.len().min(at + 2)];
                if let Some(kind) = kind(pair) {
                    found[kind].get_or_insert(at);
                }
            }
        }
        at += 1;
    }
    let kind = found.iter().position(Option::is_some)?;
    Some((kind, found[kind]?))
}

/// Returns where the string ends that begins here, or where it turns out to be none.
fn string_end(bytes: &[u8], mut at: usize) -> Result<usize, usize> {
    loop {
        match bytes.get(at) {
            None => return Err(at),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') if matches!(bytes.get(at + 1), None | Some(b'\n')) => return Err(at),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}
