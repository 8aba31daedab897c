//! Scanner for landmarks in a text: brackets, backticks, blanks.

use memchr::{memchr2, memchr3_iter, memmem};
use ptc_term::stop::Stop;

/// Returns the first `{` or `[` from `at` on, before `end`.
pub fn bracket(text: &[u8], at: usize, end: usize) -> Option<usize> {
    memchr2(b'{', b'[', text.get(at..end)?).map(|offset| at + offset)
}

/// Returns whether the byte is `{` or `[`.
pub fn opens(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

/// A function that counts this many bytes before they are read.
pub type Count<'c> = dyn FnMut(usize) -> Result<(), Stop> + 'c;

/// A function that counts work; if the flag is set, the work may be suspended there and resumed later.
pub type CountOrLeave<'c> = dyn FnMut(usize, bool) -> Result<(), Stop> + 'c;

/// Number of bytes between two checks of the limits.
pub const BYTES_BETWEEN_LOOKS: usize = 4096;

/// Number of bytes that are searched in the time of one byte that is read.
pub const SEARCHED_PER_UNIT: usize = 16;

/// Number of bytes that are searched between two checks of the limits.
const PIECE: usize = BYTES_BETWEEN_LOOKS * SEARCHED_PER_UNIT;

/// Searches with `find` from `from` on, before `end`, piece by piece; two consecutive pieces overlap by
/// `overlap` bytes.
fn in_pieces(
    text: &[u8],
    from: &mut usize,
    end: usize,
    overlap: usize,
    count: &mut Count,
    find: impl Fn(&[u8]) -> Option<usize>,
) -> Result<Option<usize>, Stop> {
    loop {
        let to = end.min(from.saturating_add(PIECE));
        let found = text.get(*from..to).and_then(&find);
        let searched = found.unwrap_or(to.saturating_sub(*from));
        if searched > 0 {
            count(1 + searched / SEARCHED_PER_UNIT)?;
        }
        match found {
            Some(offset) => return Ok(Some(*from + offset)),
            None if to == end => return Ok(None),
            None => *from = to - overlap,
        }
    }
}

/// Returns the first `{` or `[` from `at` on, before `end`.
pub fn find_bracket(
    text: &[u8],
    at: &mut usize,
    end: usize,
    count: &mut Count,
) -> Result<Option<usize>, Stop> {
    in_pieces(text, at, end, 0, count, |piece| memchr2(b'{', b'[', piece))
}

/// Returns the first three consecutive backticks from `at` on.
pub fn find_backticks(
    text: &[u8],
    at: &mut usize,
    count: &mut Count,
) -> Result<Option<usize>, Stop> {
    let find = |piece: &[u8]| memmem::find(piece, b"```");
    in_pieces(text, at, text.len(), 2, count, find)
}

/// Returns the first offset from `at` on, before `end`, of a byte that is not `such`. If it is stopped,
/// it resumes from `at`.
pub fn skip_on(
    text: &[u8],
    at: &mut usize,
    end: usize,
    count: &mut Count,
    such: impl Fn(u8) -> bool,
) -> Result<usize, Stop> {
    while *at < end {
        let to = end.min(*at + BYTES_BETWEEN_LOOKS);
        let piece = text.get(*at..to).unwrap_or_default();
        match piece.iter().position(|byte| !such(*byte)) {
            Some(offset) => return Ok(*at + offset),
            None => count(piece.len())?,
        }
        *at = to;
    }
    Ok(end.max(*at))
}

/// Returns whether the byte is ASCII white space.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, 9..=13 | b' ')
}

/// A scan of the region that a bracket opens: only brackets of the same kind count, and none inside
/// strings.
#[derive(Debug)]
pub struct Region {
    /// Offset of its bracket.
    start: usize,
    at: usize,
    depth: usize,
    inside: bool,
}

/// The bytes that matter to a region.
const MARKS: [bool; 256] = {
    let (mut marks, mut at) = ([false; 256], 0);
    let bytes = b"\"\\{}[]";
    while at < bytes.len() {
        marks[bytes[at] as usize] = true;
        at += 1;
    }
    marks
};

impl Region {
    /// The region of the bracket at this offset.
    pub fn at(start: usize) -> Self {
        Region {
            start,
            at: start,
            depth: 0,
            inside: false,
        }
    }

    /// Returns the offset after the region. Resumes where it was stopped.
    pub fn end(&mut self, text: &[u8], count: &mut Count) -> Result<Option<usize>, Stop> {
        let open = text[self.start];
        let close = open + 2;
        let (mut depth, mut inside, mut at) = (self.depth, self.inside, self.at);
        let mut next_look = at + BYTES_BETWEEN_LOOKS;
        while let Some(&byte) = text.get(at) {
            if at >= next_look {
                next_look += BYTES_BETWEEN_LOOKS;
                (self.depth, self.inside, self.at) = (depth, inside, at);
                count(BYTES_BETWEEN_LOOKS)?;
            }
            at += 1;
            match byte {
                _ if !MARKS[byte as usize] => {}
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
}

/// Returns the offset after the region that the bracket at `at` opens.
pub fn region_end(text: &[u8], at: usize, count: &mut Count) -> Result<Option<usize>, Stop> {
    Region::at(at).end(text, count)
}

/// Returns the first three consecutive backticks from `at` on.
pub fn backticks(text: &[u8], at: usize) -> Option<usize> {
    memmem::find(text.get(at..)?, b"```").map(|offset| at + offset)
}

/// Returns the number of backticks at `at`.
pub fn run_length(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| **byte == b'`').count()
}

/// Returns the first match of `backticks` or `bracket` from `at` on.
pub fn landmark(text: &[u8], at: &mut usize, count: &mut Count) -> Result<Option<usize>, Stop> {
    in_pieces(text, at, text.len(), 2, count, |piece| {
        let is_landmark = |at: &usize| opens(piece[*at]) || piece[*at..].starts_with(b"```");
        memchr3_iter(b'{', b'[', b'`', piece).find(is_landmark)
    })
}

/// Returns the first offset from `start` on, before `end`, that is not white space, Unicode included.
pub fn trim_start(
    text: &[u8],
    start: &mut usize,
    end: usize,
    count: &mut Count,
) -> Result<usize, Stop> {
    loop {
        *start = skip_on(text, start, end, count, is_blank)?;
        let part = &text[*start..end];
        match SPACES.iter().find(|space| part.starts_with(space)) {
            Some(space) => *start += space.len(),
            None => return Ok(*start),
        }
        count(SPACE)?;
    }
}

/// Returns the offset after the last character before `end`, from `start` on, that is not white space.
pub fn trim_end(
    text: &[u8],
    start: usize,
    end: &mut usize,
    count: &mut Count,
) -> Result<usize, Stop> {
    loop {
        skip_back(text, start, end, count)?;
        let part = &text[start..*end];
        match SPACES.iter().find(|space| part.ends_with(space)) {
            Some(space) => *end -= space.len(),
            None => return Ok(*end),
        }
        count(SPACE)?;
    }
}

/// Cost of checking whether a character is white space.
const SPACE: usize = 2;

/// Moves `end` back to the offset after the last byte, from `start` on, that is not ASCII white space.
fn skip_back(text: &[u8], start: usize, end: &mut usize, count: &mut Count) -> Result<(), Stop> {
    while start < *end {
        let from = start.max(end.saturating_sub(BYTES_BETWEEN_LOOKS));
        match text[from..*end].iter().rposition(|byte| !is_blank(*byte)) {
            Some(offset) => {
                *end = from + offset + 1;
                return Ok(());
            }
            None => count(*end - from)?,
        }
        *end = from;
    }
    Ok(())
}

/// Unicode's white space in UTF-8.
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
