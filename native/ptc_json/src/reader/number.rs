//! Reading of numbers; small ones are converted without a parser.

use super::{Cursor, Phase, ReadError, Sink};
use crate::grammar::{unexpected, Number};
use crate::JsonError;
use ptc_term::number as term;

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

/// Returns the value of a number of a valid text; `None` if it is too large for a float. Only for short texts: see
/// [`Digits`](ptc_term::digits::Digits) for others.
pub fn number_of(token: &[u8], is_integer: bool) -> Option<term::Number> {
    if is_integer && token.len() <= SAFE_DIGITS {
        return Some(term::Number::Int(small_integer(token)));
    }
    match is_integer {
        true => Some(term::Number::from_digits(token)),
        false => float(std::str::from_utf8(token).ok()?).map(term::Number::Float),
    }
}

/// Returns the value of a number with a fraction or an exponent; `None` if it is too large.
#[inline]
fn float(token: &str) -> Option<f64> {
    let value: f64 = token.parse().ok().filter(|value: &f64| value.is_finite())?;
    // `-0e1` is the integer -0, which is 0, times a power of ten; `-0.0` keeps its sign.
    let signless = value == 0.0 && token.starts_with("-0") && !token.contains('.');
    Some(if signless { 0.0 } else { value })
}

impl<'t> Cursor<'_, 't> {
    /// Reads on in a number that began at `start`.
    #[inline(always)]
    pub(super) fn number<S: Sink<'t>>(
        &mut self,
        start: usize,
        mut number: Number,
        sink: &mut S,
    ) -> Result<Phase, ReadError> {
        loop {
            let at = self.reader.at;
            let bound = self.text.len().min(at + self.reader.bytes_between_looks);
            let end = number.advance(&self.text[..bound], at);
            let phase = Phase::Number(start, number);
            if S::IN_CHUNKS {
                sink.number(number);
            }
            if end == bound && (bound < self.text.len() || S::IN_CHUNKS) {
                self.reader.at = end;
                if end == self.text.len() {
                    return Err(self.end(phase));
                }
                self.look(sink, phase)?;
                continue;
            }
            if !number.may_end() {
                return Err(unexpected(self.text, end).into());
            }
            self.reader.at = end;
            return match S::IN_CHUNKS {
                true => Ok(Phase::After),
                false => self.number_value(start, number, sink),
            };
        }
    }

    /// Converts the number between `start` and the reader's offset.
    #[inline(always)]
    fn number_value<S: Sink<'t>>(
        &mut self,
        start: usize,
        number: Number,
        sink: &mut S,
    ) -> Result<Phase, ReadError> {
        let token = self.text.get(start..self.reader.at).unwrap_or_default();
        if number.is_integer() && token.len() <= SAFE_DIGITS {
            sink.integer(small_integer(token));
            return Ok(Phase::After);
        }
        // Its bytes are ASCII.
        let token = std::str::from_utf8(token).unwrap_or_default();
        if number.is_integer() {
            let too_long = |limit| JsonError::IntegerTooLong {
                limit,
                position: start,
            };
            if token.len() > self.reader.limits.integer {
                return Err(too_long(self.reader.limits.integer).into());
            }
            if token.len() - usize::from(token.starts_with('-')) > LONGEST_INTEGER {
                return Err(too_long(LONGEST_INTEGER).into());
            }
            return match token.parse().map(|value| sink.integer(value)) {
                Ok(()) => Ok(Phase::After),
                Err(_) => match sink.big_integer(token) {
                    Ok(()) => Ok(Phase::After),
                    Err(stop) => Err(self.leave(Phase::Number(start, number), stop)),
                },
            };
        }
        match float(token) {
            Some(value) => sink.float(value),
            None => return Err(JsonError::UnexpectedToken(start).into()),
        }
        Ok(Phase::After)
    }
}
