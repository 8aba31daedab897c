//! Checks for valid JSON at an offset of an answer, and finds its end. Builds nothing.

use super::scan::CountOrLeave;
use ptc_json::{JsonLimits, ReadError, Reader, Sink, TermBuilder, Text};
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;

/// Limits for an answer: deeper nesting, or longer integers, are of no use to a caller.
pub const LIMITS: JsonLimits = JsonLimits {
    depth: 1_000_000,
    integer: 1024,
};

/// Returns the end of the JSON at the reader, or `None` if it is invalid. It resumes where it was
/// stopped.
pub fn resume(
    reader: &mut Reader,
    text: &[u8],
    count: &mut CountOrLeave,
) -> Result<Option<usize>, Stop> {
    match reader.read(text, &mut Ignore { count }) {
        Ok(end) => Ok(Some(end)),
        Err(ReadError::Json(_)) => Ok(None),
        Err(ReadError::Stop(stop)) => Err(stop),
    }
}

/// A sink that ignores all events.
pub struct Ignore<'i, 'c> {
    /// Counts the bytes that are read.
    pub count: &'i mut CountOrLeave<'c>,
}

/// A sink of a value that may turn out not to be the answer.
pub trait Candidate<'t>: Sink<'t> {
    /// Drops the value so far.
    fn clear(&mut self);
    /// Counts other work; `leave`: at a point where it can be suspended.
    fn count(&mut self, units: usize, leave: bool) -> Result<(), Stop>;
}

impl<'t, H: Heap> Candidate<'t> for TermBuilder<'_, 't, H> {
    fn clear(&mut self) {
        TermBuilder::clear(self);
    }

    fn count(&mut self, units: usize, leave: bool) -> Result<(), Stop> {
        TermBuilder::count(self, units, leave)
    }
}

impl Candidate<'_> for Ignore<'_, '_> {
    fn clear(&mut self) {}

    fn count(&mut self, units: usize, leave: bool) -> Result<(), Stop> {
        (self.count)(units, leave)
    }
}

impl<'t> Sink<'t> for Ignore<'_, '_> {
    fn null(&mut self) {}
    fn boolean(&mut self, _value: bool) {}
    fn integer(&mut self, _value: i64) {}
    fn big_integer(&mut self, _digits: &'t str) -> Result<(), Stop> {
        Ok(())
    }
    fn float(&mut self, _value: f64) {}
    fn string(&mut self, _text: Text<'t, '_>) -> Result<(), Stop> {
        Ok(())
    }
    fn key(&mut self, _text: Text<'t, '_>) -> Result<(), Stop> {
        Ok(())
    }
    fn open(&mut self, _object: bool) {}
    fn close(&mut self, _object: bool) -> Result<(), Stop> {
        Ok(())
    }
    fn consume_fuel(&mut self, bytes: usize, _held: usize) -> Result<(), Stop> {
        (self.count)(bytes, true)
    }
}
