//! The first candidate for the answer: the content of a fence, or the value at the first bracket.

use super::scan::is_blank;
use super::walks::Walks;
use ptc_term::stop::Stop;
use std::ops::Range;

/// The candidate that is tried first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// All of this range.
    Fenced(Range<usize>),
    /// The value at the first bracket of the text, if there is one.
    Raw,
}

/// The state of a choice that can be suspended.
#[derive(Debug, Default)]
pub struct Choosing {
    /// Offset from which fences are searched.
    from: usize,
    /// The fence that was found.
    fence: Option<Fence>,
    /// Offset from which JSON around the fence's marker is searched.
    at: usize,
}

impl Choosing {
    /// Chooses. `known` is a region that is valid JSON, start and end. Resumes where it was suspended.
    pub fn resume(
        &mut self,
        text: &[u8],
        known: Option<Range<usize>>,
        walks: &mut Walks,
    ) -> Result<Choice, Stop> {
        loop {
            let Fence { marker, content } = match &self.fence {
                Some(fence) => fence.clone(),
                None => match fence(text, self.from, walks)? {
                    Some(fence) => {
                        walks.next_step();
                        self.at = self.from;
                        self.fence.insert(fence).clone()
                    }
                    None => return Ok(Choice::Raw),
                },
            };
            match self.around(text, marker, &known, walks)? {
                // The marker is part of a string.
                Some(end) => {
                    walks.next_step();
                    (self.from, self.fence) = (end, None);
                }
                None if content.is_empty() => return Ok(Choice::Raw),
                None => return Ok(Choice::Fenced(content)),
            }
        }
    }

    /// Returns the end of the JSON that begins between `from` and `marker` and ends after `marker`.
    fn around(
        &mut self,
        text: &[u8],
        marker: usize,
        known: &Option<Range<usize>>,
        walks: &mut Walks,
    ) -> Result<Option<usize>, Stop> {
        loop {
            walks.count(1)?;
            let Some(start) = walks.find_bracket(text, self.at, marker)? else {
                return Ok(None);
            };
            if let Some(known) = known.as_ref().filter(|known| known.start == start) {
                if known.end > marker {
                    return Ok(Some(known.end));
                }
                walks.next_step();
                self.at = known.end;
                continue;
            }
            let Some(end) = walks.region_end(text, start)? else {
                return Ok(None);
            };
            if end > marker {
                let checked = walks.check(text, start)?;
                return Ok(checked.filter(|after| *after == end));
            }
            walks.next_step();
            self.at = end;
            walks.count(end - start)?;
        }
    }
}

#[derive(Debug, Clone)]
struct Fence {
    /// Offset of its opening marker.
    marker: usize,
    content: Range<usize>,
}

/// Returns the first fence from `from` on; a fence needs a closing marker.
fn fence(text: &[u8], from: usize, walks: &mut Walks) -> Result<Option<Fence>, Stop> {
    let Some(marker) = walks.find_backticks(text, from)? else {
        return Ok(None);
    };
    let mut start = marker + 3;
    if text[start..].starts_with(b"json") {
        start += 4;
    }
    let start = walks.skip(text, start, text.len(), is_blank)?;
    let Some(end) = walks.find_backticks(text, start)? else {
        return Ok(None);
    };
    let content = walks.trim(text, start..end)?;
    Ok(Some(Fence { marker, content }))
}
