//! Who takes the events of a text, and why a text is not read to its end.

use super::text::Text;
use crate::json::JsonError;
use crate::stop::Stop;

/// Takes the events of one JSON text, in order.
///
/// An event that it stops at comes again when the reader goes on.
pub trait Sink<'t> {
    /// `null`
    fn null(&mut self);
    /// `true` or `false`
    fn boolean(&mut self, value: bool);
    /// A number without fraction and exponent that fits 64 bits; `-0` is 0.
    fn integer(&mut self, value: i64);
    /// Any other number without fraction and exponent, as it stands in the text.
    fn big_integer(&mut self, digits: &'t str) -> Result<(), Stop>;
    /// A number with fraction or exponent: the nearest double, never infinite.
    fn float(&mut self, value: f64);
    /// A string value.
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop>;
    /// A key; its value follows. Duplicates are passed on as they come.
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop>;
    /// `[` or `{`
    fn open(&mut self, object: bool);
    /// `]` or `}` of the innermost open bracket.
    fn close(&mut self, object: bool) -> Result<(), Stop>;

    /// So many bytes were read since this was last asked, and the reader itself holds so many. Also
    /// looks at the limits of what was built.
    fn spend(&mut self, bytes: usize, held: usize) -> Result<(), Stop>;
    /// Counts bytes where the reader cannot be left.
    fn count(&mut self, bytes: usize) -> Result<(), Stop>;
}

/// Why a reader did not come to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadError {
    /// The text is not what it should be.
    Json(JsonError),
    /// A limit. After [`Stop::SliceOver`] the reader can go on.
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
