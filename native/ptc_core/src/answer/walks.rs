//! Walks over a text that can be left: a step made of them begins again where it was.

use super::check::{self, LIMITS};
use super::scan::{self, Region};
use crate::json::{Extent, Reader};
use crate::stop::Stop;
use std::ops::Range;

/// A way to count; if the flag is set, the work may be left there and goes on later.
pub type CountOrLeave<'c> = dyn FnMut(usize, bool) -> Result<(), Stop> + 'c;

/// What the walks of the present step came to, in their order. Where the step is left and begins
/// again, those that have ended are not done again, and the last one goes on.
#[derive(Debug, Default)]
pub struct Journal {
    ended: Vec<Option<usize>>,
    underway: Option<Place>,
}

impl Journal {
    /// A new step begins.
    pub fn clear(&mut self) {
        self.ended.clear();
        self.underway = None;
    }
}

/// How far a walk is.
#[derive(Debug)]
enum Place {
    At(usize),
    Region(Region),
    Read(Box<Reader>),
}

/// The walks of a step. A step must make the same ones each time it begins.
pub struct Walks<'c, 'd> {
    journal: &'c mut Journal,
    /// So many of those that have ended were asked for again.
    again: usize,
    count: &'c mut CountOrLeave<'d>,
}

impl<'c, 'd> Walks<'c, 'd> {
    /// The step begins, maybe again.
    pub fn new(journal: &'c mut Journal, count: &'c mut CountOrLeave<'d>) -> Self {
        Walks {
            journal,
            again: 0,
            count,
        }
    }

    /// The step has come further and would not begin again: what follows is a step of its own.
    pub fn next_step(&mut self) {
        self.journal.clear();
        self.again = 0;
    }

    /// Counts other work.
    pub fn count(&mut self, units: usize) -> Result<(), Stop> {
        (self.count)(units, true)
    }

    fn walk(
        &mut self,
        begin: impl FnOnce() -> Place,
        go_on: impl FnOnce(&mut Place, &mut CountOrLeave) -> Result<Option<usize>, Stop>,
    ) -> Result<Option<usize>, Stop> {
        let known = self.journal.ended.get(self.again).copied();
        self.again += 1;
        if let Some(known) = known {
            return Ok(known);
        }
        let mut place = self.journal.underway.take().unwrap_or_else(begin);
        let end = go_on(&mut place, self.count);
        match end {
            Ok(end) => self.journal.ended.push(end),
            Err(_) => self.journal.underway = Some(place),
        }
        end
    }

    /// Like `walk` for one that needs only its offset.
    fn from(
        &mut self,
        at: usize,
        go_on: impl FnOnce(&mut usize, &mut scan::Count) -> Result<Option<usize>, Stop>,
    ) -> Result<Option<usize>, Stop> {
        self.walk(
            || Place::At(at),
            |place, count| match place {
                Place::At(at) => go_on(at, &mut |units| count(units, true)),
                _ => Err(Stop::Abandoned),
            },
        )
    }

    /// See [`scan::skip`].
    pub fn skip(
        &mut self,
        text: &[u8],
        at: usize,
        end: usize,
        such: impl Fn(u8) -> bool,
    ) -> Result<usize, Stop> {
        let end = self.from(at, |at, count| {
            scan::skip_on(text, at, end, count, such).map(Some)
        })?;
        Ok(end.unwrap_or(at))
    }

    /// How many backticks stand at `at`.
    pub fn run_length(&mut self, text: &[u8], at: usize) -> Result<usize, Stop> {
        Ok(self.skip(text, at, text.len(), |byte| byte == b'`')? - at)
    }

    /// See [`scan::find_bracket`].
    pub fn find_bracket(
        &mut self,
        text: &[u8],
        at: usize,
        end: usize,
    ) -> Result<Option<usize>, Stop> {
        self.from(at, |at, count| scan::find_bracket(text, at, end, count))
    }

    /// See [`scan::find_backticks`].
    pub fn find_backticks(&mut self, text: &[u8], at: usize) -> Result<Option<usize>, Stop> {
        self.from(at.min(text.len()), |at, count| {
            scan::find_backticks(text, at, count)
        })
    }

    /// See [`scan::landmark`].
    pub fn landmark(&mut self, text: &[u8]) -> Result<Option<usize>, Stop> {
        self.from(0, |at, count| scan::landmark(text, at, count))
    }

    /// See [`scan::region_end`].
    pub fn region_end(&mut self, text: &[u8], at: usize) -> Result<Option<usize>, Stop> {
        self.walk(
            || Place::Region(Region::at(at)),
            |place, count| match place {
                Place::Region(region) => region.end(text, &mut |units| count(units, true)),
                _ => Err(Stop::Abandoned),
            },
        )
    }

    /// See [`scan::trim_start`] and [`scan::trim_end`].
    pub fn trim(&mut self, text: &[u8], range: Range<usize>) -> Result<Range<usize>, Stop> {
        let Range { start, end } = range;
        let trimmed = self.from(start, |at, count| {
            scan::trim_start(text, at, end, count).map(Some)
        })?;
        let start = trimmed.unwrap_or(start);
        let trimmed = self.from(end, |at, count| {
            scan::trim_end(text, start, at, count).map(Some)
        })?;
        Ok(start..trimmed.unwrap_or(end))
    }

    /// The end of the JSON at `start`, if there is any.
    pub fn check(&mut self, text: &[u8], start: usize) -> Result<Option<usize>, Stop> {
        self.walk(
            || Place::Read(Box::new(Reader::new(start, Extent::Value, LIMITS))),
            |place, count| match place {
                Place::Read(reader) => check::go_on(reader, text, count),
                _ => Err(Stop::Abandoned),
            },
        )
    }
}
