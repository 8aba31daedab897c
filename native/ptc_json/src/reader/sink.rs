//! The interface of the reader's event sinks, and the reasons why a reader stops.

use super::text::Text;
use crate::grammar::{Number, Token};
use crate::JsonError;
use ptc_term::stop::Stop;

/// Receives the events of one JSON text, in order.
///
/// If an event returns an error, the reader repeats it when it resumes.
pub trait Sink<'t> {
    /// `null`
    fn null(&mut self);
    /// `true` or `false`
    fn boolean(&mut self, value: bool);
    /// A number without fraction and exponent that fits 64 bits; `-0` is 0.
    fn integer(&mut self, value: i64);
    /// Any other number without fraction and exponent, as written in the text.
    fn big_integer(&mut self, digits: &'t str) -> Result<(), Stop>;
    /// A number with a fraction or exponent: the nearest double, never infinite.
    fn float(&mut self, value: f64);
    /// A number with a fraction or exponent, as written in the text, and the nearest double. Numbers of few digits come as
    /// [`Sink::float`] only.
    #[inline]
    fn decimal(&mut self, _digits: &str, value: f64) {
        self.float(value);
    }
    /// A string value.
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop>;
    /// A key; its value follows. Duplicates are passed on.
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop>;
    /// `[` or `{`
    fn open(&mut self, object: bool);
    /// `]` or `}` of the innermost open bracket.
    fn close(&mut self, object: bool) -> Result<(), Stop>;

    /// Reports the bytes read since the last call, and the bytes that the reader itself holds. Also
    /// checks the limits for the terms built.
    fn consume_fuel(&mut self, bytes: usize, held: usize) -> Result<(), Stop>;

    /// Whether the text comes in chunks, and is read only to be checked: then the end of a chunk is
    /// [`JsonError::UnexpectedEnd`], after which the reader goes on in the next one. Numbers are not
    /// converted; strings are neither validated as UTF-8 nor decoded. The sink takes `token`, `number` and
    /// `complete` too, and errors are at the first byte that is invalid.
    const IN_CHUNKS: bool = false;
    /// The first byte of a token other than a closing bracket, before its event.
    #[inline(always)]
    fn token(&mut self, _token: Token, _at: usize) {}
    /// A part of a number, its last one included.
    fn number(&mut self, _so_far: Number) {}
    /// The value up to here is complete, but for its open brackets.
    #[inline(always)]
    fn complete(&mut self, _at: usize) {}
}

/// Why a reader stopped before the end of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadError {
    /// The text is invalid.
    Json(JsonError),
    /// A limit. After [`Stop::SliceOver`] the reader can be resumed.
    Stop(Stop),
}

impl From<JsonError> for ReadError {
    fn from(error: JsonError) -> Self {
        ReadError::Json(error)
    }
}

impl From<Stop> for ReadError {
    fn from(stop: Stop) -> Self {
        ReadError::Stop(stop)
    }
}
