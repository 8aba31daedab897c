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
        false => match short_float(token) {
            Some(value) => Some(term::Number::Float(value)),
            None => float(std::str::from_utf8(token).ok()?).map(term::Number::Float),
        },
    }
}

/// The bytes of the longest decimal that is converted without a parser: 15 digits and a point.
const SHORT_FLOAT: usize = 16;

/// Returns the value of a short number with a fraction and without an exponent; `None` for others. Integers of 15 digits and these
/// powers of ten are exact floats, so their quotient is the nearest float, as a parser finds it.
fn short_float(token: &[u8]) -> Option<f64> {
    const POWERS: [f64; SHORT_FLOAT] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    if digits.len() > SHORT_FLOAT {
        return None;
    }
    let (mut value, mut point) = (0, None);
    for (at, byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => value = value * 10 + i64::from(byte - b'0'),
            b'.' => point = Some(at),
            _ => return None,
        }
    }
    let power = POWERS.get(digits.len().checked_sub(1 + point?)?)?;
    let value = value as f64 / power;
    Some(match digits.len() < token.len() {
        true => -value,
        false => value,
    })
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
        if !number.is_integer() {
            if let Some(value) = short_float(token) {
                sink.float(value);
                return Ok(Phase::After);
            }
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
            Some(value) => sink.decimal(token, value),
            None => return Err(JsonError::UnexpectedToken(start).into()),
        }
        Ok(Phase::After)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_floats_are_what_the_parser_reads() {
        let mut state = 7_u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 20) % below
        };
        let mut texts: Vec<String> = [
            "0.0",
            "-0.0",
            "-0.5",
            "0.000000000000001",
            "99999999999999.9",
        ]
        .map(String::from)
        .into();
        texts.extend(["9.99999999999999", "-999999999.999999"].map(String::from));
        for _ in 0..200_000 {
            let (whole, fraction) = (random(15) as u32, random(15) as u32);
            let fraction = 1 + fraction.min(14 - whole.min(14));
            let sign = ["", "-"][random(2) as usize];
            let whole = random(10_u64.pow(whole));
            let width = fraction as usize;
            let rest = random(10_u64.pow(fraction));
            texts.push(format!("{sign}{whole}.{rest:0width$}"));
        }
        for text in texts {
            let parsed: f64 = text.parse().unwrap();
            let short = short_float(text.as_bytes());
            let is_short = text.trim_start_matches('-').len() <= SHORT_FLOAT;
            assert_eq!(
                short.map(f64::to_bits),
                is_short.then(|| parsed.to_bits()),
                "{text}"
            );
        }
        for other in ["1.5e3", "-0e1", "123456789012345.67", "1e5"] {
            assert_eq!(short_float(other.as_bytes()), None, "{other}");
        }
    }
}
