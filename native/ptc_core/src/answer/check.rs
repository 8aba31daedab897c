//! Checks for valid JSON at an offset of an answer, and finds its end. Builds nothing.

use super::scan::CountOrLeave;
use crate::json::{JsonLimits, ReadError, Reader, Sink, Text};
use crate::stop::Stop;

/// Limits for an answer: deeper nesting, or longer integers, are of no use to a caller.
pub const LIMITS: JsonLimits = JsonLimits {
    depth: 1_000_000,
    integer: 1024,
};

/// Returns the end of the JSON at the reader, or `None` if it is invalid. It resumes where it was
/// stopped.
pub fn go_on(
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
struct Ignore<'i, 'c> {
    count: &'i mut CountOrLeave<'c>,
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
    fn spend(&mut self, bytes: usize, _held: usize) -> Result<(), Stop> {
        (self.count)(bytes, true)
    }
    fn count(&mut self, bytes: usize) -> Result<(), Stop> {
        (self.count)(bytes, false)
    }
}
