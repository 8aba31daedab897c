//! Whether there is JSON at some place of an answer, and where it ends. Nothing is built.

use super::walks::CountOrLeave;
use crate::json::{JsonLimits, ReadError, Reader, Sink, Text};
use crate::stop::Stop;

/// What an answer may ask for. A million brackets inside one another is no answer anybody can use;
/// an integer of more than 1024 digits neither.
pub const LIMITS: JsonLimits = JsonLimits {
    depth: 1_000_000,
    integer: 1024,
};

/// The end of the JSON that this reader is at, if it is any. Where it was stopped, it goes on.
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

/// Takes events for granted: what is asked is only whether they come.
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
