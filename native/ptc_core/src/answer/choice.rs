//! Which part of a text is tried first: the content of a fence, or what a bracket opens.

use super::read::check;
use super::scan::{backticks, bracket, region_end, skip_blanks, trim};
use std::ops::Range;

/// The part that is tried first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// All of this range.
    Fenced(Range<usize>),
    /// What the first bracket of the text opens, if there is one.
    Raw,
}

/// Chooses. `known` is a region that is JSON, start and end.
pub fn choose(text: &[u8], known: Option<Range<usize>>) -> Choice {
    let mut from = 0;
    loop {
        let Some(fence) = fence(text, from) else {
            return Choice::Raw;
        };
        match around(text, from, fence.marker, &known) {
            // The marker is part of a string.
            Some(end) => from = end,
            None if fence.content.is_empty() => return Choice::Raw,
            None => return Choice::Fenced(fence.content),
        }
    }
}

struct Fence {
    /// Where its opening marker stands.
    marker: usize,
    content: Range<usize>,
}

/// The first fence from `from` on. One without a closing marker is none.
fn fence(text: &[u8], from: usize) -> Option<Fence> {
    let marker = backticks(text, from)?;
    let mut start = marker + 3;
    if text[start..].starts_with(b"json") {
        start += 4;
    }
    let start = skip_blanks(text, start);
    let end = backticks(text, start)?;
    Some(Fence {
        marker,
        content: trim(text, start..end),
    })
}

/// The end of the JSON that begins between `from` and `marker` and ends after `marker`.
fn around(text: &[u8], from: usize, marker: usize, known: &Option<Range<usize>>) -> Option<usize> {
    let mut from = from;
    loop {
        let start = bracket(text, from, marker)?;
        if let Some(known) = known.as_ref().filter(|known| known.start == start) {
            match known.end > marker {
                true => return Some(known.end),
                false => from = known.end,
            }
            continue;
        }
        let end = region_end(text, start)?;
        if end > marker {
            return check(text, start).filter(|after| *after == end);
        }
        from = end;
    }
}
