//! Which part of a text is tried first: the content of a fence, or what a bracket opens.

use super::check::check;
use super::scan::{find_backticks, find_bracket, is_blank, region_end, skip, trim, Count};
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
        let Some(fence) = fence(text, from, count)? else {
            return Ok(Choice::Raw);
        };
        match around(text, from, fence.marker, &known, count)? {
            // The marker is part of a string.
            Some(end) => from = end,
            None if fence.content.is_empty() => return Ok(Choice::Raw),
            None => return Ok(Choice::Fenced(fence.content)),
        }
    }
}

struct Fence {
    /// Where its opening marker stands.
    marker: usize,
    content: Range<usize>,
}

/// The first fence from `from` on. One without a closing marker is none.
fn fence(text: &[u8], from: usize, count: &mut Count) -> Result<Option<Fence>, Stop> {
    let Some(marker) = find_backticks(text, from, count)? else {
        return Ok(None);
    };
    let mut start = marker + 3;
    if text[start..].starts_with(b"json") {
        start += 4;
    }
    let start = skip(text, start, text.len(), count, is_blank)?;
    let Some(end) = find_backticks(text, start, count)? else {
        return Ok(None);
    };
    let content = trim(text, start..end, count)?;
    Ok(Some(Fence { marker, content }))
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
        let Some(start) = find_bracket(text, from, marker, count)? else {
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
