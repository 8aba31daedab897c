//! Landmarks in a text: brackets, backticks, blanks.

use crate::stop::Stop;
use memchr::{memchr2, memchr3_iter, memmem};
use std::ops::Range;

/// The first `{` or `[` from `at` on, before `end`.
pub fn bracket(text: &[u8], at: usize, end: usize) -> Option<usize> {
    memchr2(b'{', b'[', text.get(at..end)?).map(|offset| at + offset)
}

/// `{` and `[`
pub fn opens(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

/// What is asked before so many bytes are looked at.
pub type Count<'c> = dyn FnMut(usize) -> Result<(), Stop> + 'c;

/// As many bytes are looked at between two questions.
pub const BYTES_BETWEEN_LOOKS: usize = 4096;

/// The offset after the region that the bracket at `at` opens: only brackets of its own kind count,
/// and none inside of strings.
pub fn region_end(text: &[u8], at: usize, count: &mut Count) -> Result<Option<usize>, Stop> {
    let open = text[at];
    let close = open + 2;
    let mut depth = 0_usize;
    let mut inside = false;
    let mut at = at;
    let mut next_look = at + BYTES_BETWEEN_LOOKS;
    while let Some(&byte) = text.get(at) {
        if at >= next_look {
            next_look += BYTES_BETWEEN_LOOKS;
            count(BYTES_BETWEEN_LOOKS)?;
        }
        at += 1;
        match byte {
            b'"' => inside = !inside,
            b'\\' if inside => at += 1,
            _ if inside => {}
            _ if byte == open => depth += 1,
            _ if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(at));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The first three backticks in a row from `at` on.
pub fn backticks(text: &[u8], at: usize) -> Option<usize> {
    memmem::find(text.get(at..)?, b"```").map(|offset| at + offset)
}

/// How many backticks stand at `at`.
pub fn run_length(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| **byte == b'`').count()
}

/// What `backticks` and `bracket` look for, whichever comes first.
pub fn landmark(text: &[u8]) -> Option<usize> {
    let is_landmark = |at: &usize| opens(text[*at]) || text[*at..].starts_with(b"```");
    memchr3_iter(b'{', b'[', b'`', text).find(is_landmark)
}

/// The offset of the first byte from `at` on that is no ASCII whitespace.
pub fn skip_blanks(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let blank = |byte: &&u8| matches!(**byte, 9..=13 | b' ');
    at + rest.iter().take_while(blank).count()
}

/// The range without the whitespace, that of Unicode included, at both ends.
pub fn trim(text: &[u8], range: Range<usize>) -> Range<usize> {
    let mut part = &text[range.clone()];
    while let Some(rest) = SPACES.iter().find_map(|space| part.strip_prefix(*space)) {
        part = rest;
    }
    let start = range.end - part.len();
    while let Some(rest) = SPACES.iter().find_map(|space| part.strip_suffix(*space)) {
        part = rest;
    }
    start..start + part.len()
}

/// Unicode's whitespace in UTF-8.
const SPACES: [&[u8]; 25] = [
    b"\t",
    b"\n",
    b"\x0B",
    b"\x0C",
    b"\r",
    b" ",
    "\u{85}".as_bytes(),
    "\u{A0}".as_bytes(),
    "\u{1680}".as_bytes(),
    "\u{2000}".as_bytes(),
    "\u{2001}".as_bytes(),
    "\u{2002}".as_bytes(),
    "\u{2003}".as_bytes(),
    "\u{2004}".as_bytes(),
    "\u{2005}".as_bytes(),
    "\u{2006}".as_bytes(),
    "\u{2007}".as_bytes(),
    "\u{2008}".as_bytes(),
    "\u{2009}".as_bytes(),
    "\u{200A}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{2029}".as_bytes(),
    "\u{202F}".as_bytes(),
    "\u{205F}".as_bytes(),
    "\u{3000}".as_bytes(),
];
