//! Walks over a text that can be suspended: a step made of walks resumes where it was.

use super::check::{self, LIMITS};
use super::scan::{self, CountOrLeave, Region};
use ptc_json::{Extent, Reader};
use ptc_term::stop::Stop;
use std::ops::Range;

/// The results of the walks of the current step, in order. If the step is suspended and begins again,
/// the finished walks are not repeated, and the last one is resumed.
#[derive(Debug, Default)]
pub struct Journal {
    ended: Vec<Option<usize>>,
    underway: Option<Place>,
}

impl Journal {
    /// Begins a new step.
    pub fn clear(&mut self) {
        self.ended.clear();
        self.underway = None;
    }
}

/// The state of a walk.
#[derive(Debug)]
enum Place {
    At(usize),
    Region(Region),
    Read(Box<Reader>),
}

/// The walks of a step. A step must make the same walks each time it begins.
pub struct Walks<'c, 'd> {
    journal: &'c mut Journal,
    /// Number of finished walks whose result was requested again.
    again: usize,
    count: &'c mut CountOrLeave<'d>,
}

impl<'c, 'd> Walks<'c, 'd> {
    /// Begins the step, or begins it again.
    pub fn new(journal: &'c mut Journal, count: &'c mut CountOrLeave<'d>) -> Self {
        Walks {
            journal,
            again: 0,
            count,
        }
    }

    /// Ends the step, so that it does not begin again: the following work is a step of its own.
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
        resume: impl FnOnce(&mut Place, &mut CountOrLeave) -> Result<Option<usize>, Stop>,
    ) -> Result<Option<usize>, Stop> {
        let known = self.journal.ended.get(self.again).copied();
        self.again += 1;
        if let Some(known) = known {
            return Ok(known);
        }
        let mut place = self.journal.underway.take().unwrap_or_else(begin);
        let end = resume(&mut place, self.count);
        match end {
            Ok(end) => self.journal.ended.push(end),
            Err(_) => self.journal.underway = Some(place),
        }
        end
    }

    /// Like `walk`, for a walk whose state is only an offset.
    fn from(
        &mut self,
        at: usize,
        resume: impl FnOnce(&mut usize, &mut scan::Count) -> Result<Option<usize>, Stop>,
    ) -> Result<Option<usize>, Stop> {
        self.walk(
            || Place::At(at),
            |place, count| match place {
                Place::At(at) => resume(at, &mut |units| count(units, true)),
                _ => Err(Stop::Abandoned),
            },
        )
    }

    /// See [`scan::skip_on`].
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

    /// Returns the number of backticks at `at`.
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

    /// Returns the end of the JSON at `start`, if it is valid.
    pub fn check(&mut self, text: &[u8], start: usize) -> Result<Option<usize>, Stop> {
        self.walk(
            || Place::Read(Box::new(Reader::new(start, Extent::Value, LIMITS))),
            |place, count| match place {
                Place::Read(reader) => check::resume(reader, text, count),
                _ => Err(Stop::Abandoned),
            },
        )
    }
}
