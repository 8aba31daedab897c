//! Which part of a text is tried first: the content of a fence, or what a bracket opens.

use super::check::check;
use super::scan::{backticks, bracket, region_end, skip_blanks, trim, Count};
use crate::stop::Stop;
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
pub fn choose(text: &[u8], known: Option<Range<usize>>, count: &mut Count) -> Result<Choice, Stop> {
    let mut from = 0;
    loop {
        let Some(fence) = fence(text, from) else {
            return Ok(Choice::Raw);
        };
        count(fence.content.end.saturating_sub(from) / BYTES_PER_UNIT)?;
        match around(text, from, fence.marker, &known, count)? {
            // The marker is part of a string.
            Some(end) => from = end,
            None if fence.content.is_empty() => return Ok(Choice::Raw),
            None => return Ok(Choice::Fenced(fence.content)),
        }
    }
}

/// What is looked at only for markers takes less.
const BYTES_PER_UNIT: usize = 16;

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
fn around(
    text: &[u8],
    from: usize,
    marker: usize,
    known: &Option<Range<usize>>,
    count: &mut Count,
) -> Result<Option<usize>, Stop> {
    let mut from = from;
    loop {
        count(1)?;
        let Some(start) = bracket(text, from, marker) else {
            return Ok(None);
        };
        if let Some(known) = known.as_ref().filter(|known| known.start == start) {
            match known.end > marker {
                true => return Ok(Some(known.end)),
                false => from = known.end,
            }
            continue;
        }
        let Some(end) = region_end(text, start, count)? else {
            return Ok(None);
        };
        count(end - start)?;
        if end > marker {
            let checked = check(text, start, count)?;
            return Ok(checked.filter(|after| *after == end));
        }
        from = end;
    }
}
