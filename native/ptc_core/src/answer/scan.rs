//! Landmarks in a text: brackets, backticks, blanks.

use crate::stop::Stop;
use memchr::{memchr2, memchr3_iter, memmem};

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

/// What is looked at only for landmarks takes less time than what is read.
pub const SEARCHED_PER_UNIT: usize = 16;

/// As many bytes are searched between two questions.
const PIECE: usize = BYTES_BETWEEN_LOOKS * SEARCHED_PER_UNIT;

/// What `find` finds from `from` on, before `end`, in the pieces that it is shown; `overlap` bytes of a
/// piece are shown again with the next one.
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

/// The first `{` or `[` from `at` on, before `end`.
pub fn find_bracket(
    text: &[u8],
    at: &mut usize,
    end: usize,
    count: &mut Count,
) -> Result<Option<usize>, Stop> {
    in_pieces(text, at, end, 0, count, |piece| memchr2(b'{', b'[', piece))
}

/// The first three backticks in a row from `at` on.
pub fn find_backticks(
    text: &[u8],
    at: &mut usize,
    count: &mut Count,
) -> Result<Option<usize>, Stop> {
    let find = |piece: &[u8]| memmem::find(piece, b"```");
    in_pieces(text, at, text.len(), 2, count, find)
}

/// The first offset from `at` on, before `end`, of a byte that is not `such`. Where it was stopped, it
/// goes on from `at`.
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

/// ASCII whitespace.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, 9..=13 | b' ')
}

/// The way through a region that a bracket opens: only brackets of its own kind count, and none
/// inside of strings.
#[derive(Debug)]
pub struct Region {
    /// Where its bracket is.
    start: usize,
    at: usize,
    depth: usize,
    inside: bool,
}

impl Region {
    /// The region of the bracket there.
    pub fn at(start: usize) -> Self {
        Region {
            start,
            at: start,
            depth: 0,
            inside: false,
        }
    }

    /// The offset after it. Where it was stopped, it goes on.
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

/// The offset after the region that the bracket at `at` opens.
pub fn region_end(text: &[u8], at: usize, count: &mut Count) -> Result<Option<usize>, Stop> {
    Region::at(at).end(text, count)
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

/// What `backticks` and `bracket` look for from `at` on, whichever comes first.
pub fn landmark(text: &[u8], at: &mut usize, count: &mut Count) -> Result<Option<usize>, Stop> {
    in_pieces(text, at, text.len(), 2, count, |piece| {
        let is_landmark = |at: &usize| opens(piece[*at]) || piece[*at..].starts_with(b"```");
        memchr3_iter(b'{', b'[', b'`', piece).find(is_landmark)
    })
}

/// The first offset from `start` on, before `end`, of what is no whitespace, that of Unicode included.
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

/// The offset after the last character before `end`, from `start` on, that is no whitespace.
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

/// What it takes to find out whether a character is whitespace.
const SPACE: usize = 2;

/// Takes `end` back to the offset after the last byte, from `start` on, that is no ASCII whitespace.
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
