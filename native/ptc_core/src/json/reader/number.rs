//! Reading of numbers; small ones are converted without a parser.

use super::{Cursor, Phase, ReadError, Sink, BYTES_BETWEEN_LOOKS};
use crate::json::JsonError;

/// The digits of the longest integer; a longer one is an overflow, like a float beyond a double.
/// Reading digits takes more than linear time, and the BEAM holds no more than ten times as many.
pub const LONGEST_INTEGER: usize = 1_000_000;

/// Every number of this many digits fits 64 bits.
const SAFE_DIGITS: usize = 18;

/// Returns the value of a token of at most [`SAFE_DIGITS`] bytes, with or without a sign.
fn small_integer(token: &[u8]) -> i64 {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let next = |value, digit: &u8| value * 10 + i64::from(digit - b'0');
    let size = digits.iter().fold(0, next);
    if digits.len() < token.len() {
        -size
    } else {
        size
    }
}

impl<'t> Cursor<'_, 't> {
    /// Reads a number without suspending: if it is stopped, it starts again.
    #[inline]
    pub(super) fn number(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let start = self.reader.at;
        let negative = self.text[start] == b'-';
        let mut at = start + usize::from(negative);
        match self.text.get(at) {
            Some(b'0') => at += 1,
            _ => at = self.digits(at, sink)?,
        }
        let whole_end = at;
        if self.text.get(at) == Some(&b'.') {
            at = self.digits(at + 1, sink)?;
        }
        let fraction_end = at;
        if matches!(self.text.get(at), Some(b'e' | b'E')) {
            at += 1;
            if matches!(self.text.get(at), Some(b'+' | b'-')) {
                at += 1;
            }
            at = self.digits(at, sink)?;
        }
        // The bytes between `start` and `at` are ASCII.
        let token = std::str::from_utf8(&self.text[start..at]).unwrap_or_default();
        if at == whole_end {
            if token.len() <= SAFE_DIGITS {
                sink.integer(small_integer(token.as_bytes()));
                self.reader.at = at;
                return Ok(Phase::After);
            }
            let too_long = |limit| JsonError::IntegerTooLong {
                limit,
                position: start,
            };
            if token.len() > self.reader.limits.integer {
                return Err(too_long(self.reader.limits.integer).into());
            }
            if token.len() - usize::from(negative) > LONGEST_INTEGER {
                return Err(too_long(LONGEST_INTEGER).into());
            }
            self.reader.at = at;
            return match token.parse() {
                Ok(value) => {
                    sink.integer(value);
                    Ok(Phase::After)
                }
                Err(_) => self.integer(start, sink),
            };
        }
        let value: f64 = token.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            return Err(JsonError::UnexpectedToken(start).into());
        }
        // `-0e1` is the integer -0, which is 0, times a power of ten; `-0.0` keeps its sign.
        let signless = fraction_end == whole_end && value == 0.0 && token.starts_with("-0");
        sink.float(if signless { 0.0 } else { value });
        self.reader.at = at;
        Ok(Phase::After)
    }

    /// Reads the integer between `start` and the reader's offset, which is beyond 64 bits.
    #[cold]
    pub(super) fn integer(
        &mut self,
        start: usize,
        sink: &mut impl Sink<'t>,
    ) -> Result<Phase, ReadError> {
        let token = self.text.get(start..self.reader.at).unwrap_or_default();
        let token = std::str::from_utf8(token).unwrap_or_default();
        match sink.big_integer(token) {
            Ok(()) => Ok(Phase::After),
            Err(stop) => Err(self.leave(Phase::Integer(start), stop)),
        }
    }

    /// Returns the end of the digits at `at`: one or more.
    #[inline]
    fn digits(&mut self, at: usize, sink: &mut impl Sink<'t>) -> Result<usize, ReadError> {
        let start = at;
        let mut at = at;
        loop {
            let bound = self.text.len().min(at + BYTES_BETWEEN_LOOKS);
            while at < bound && self.text[at].is_ascii_digit() {
                at += 1;
            }
            if at < bound || bound == self.text.len() {
                break;
            }
            if let Err(stop) = sink.count(BYTES_BETWEEN_LOOKS) {
                return Err(self.leave(Phase::Value, stop));
            }
        }
        match at > start {
            true => Ok(at),
            false => Err(self.unexpected_at(at).into()),
        }
    }
}
