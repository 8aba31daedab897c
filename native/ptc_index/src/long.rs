//! Numbers that are too large: integers of too many digits, and floats beyond a double.

use super::classes::Classes;
use super::BLOCK;
use ptc_json::LONGEST_INTEGER;

/// Bytes around an exponent that are looked at. A number that has more of them on either side contains a whole block.
const NEAR: usize = 2 * BLOCK;

/// Returns whether the number with this exponent letter is finite. A number of which more than [`NEAR`] bytes are on one side
/// counts as finite: it is a [`Long`].
pub fn is_finite(text: &[u8], e: usize) -> bool {
    let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let behind = text.get(e + 1..).unwrap_or_default();
    let behind = behind.get(..NEAR).unwrap_or(behind);
    let Some(exponent) = behind.split(|byte| !part(byte)).next() else {
        return true;
    };
    if exponent.first() == Some(&b'-') || exponent.len() == NEAR {
        return true;
    }
    // 128 digits before the point, and two digits of exponent.
    let zeros = |byte: &u8| matches!(byte, b'0' | b'+');
    let digits = exponent.iter().skip_while(|byte| zeros(byte)).count();
    if digits <= 2 {
        return true;
    }
    let before = text.get(e.saturating_sub(NEAR)..e).unwrap_or_default();
    let length = before.iter().rev().take_while(|byte| part(byte)).count();
    if length == NEAR {
        return true;
    }
    let token = text.get(e - length..e + 1 + exponent.len());
    token.is_none_or(is_finite_token)
}

fn is_finite_token(token: &[u8]) -> bool {
    // What is not a number is found by the caller.
    let value = std::str::from_utf8(token).ok().map(str::parse::<f64>);
    !matches!(value, Some(Ok(value)) if value.is_infinite())
}

/// A number of more bytes than a block.
#[derive(Debug, Clone)]
pub struct Long {
    /// The offset of its first byte.
    pub start: usize,
    /// The offset of its point.
    dot: Option<usize>,
    /// The offset of its exponent's letter.
    e: Option<usize>,
    /// The offset of the first digit that is not 0, before the exponent.
    digit: Option<usize>,
    /// The offset of the exponent's first digit that is not 0.
    exponent: Option<usize>,
}

/// The digits of the largest double, before the point.
const MOST_DIGITS: i64 = 309;
/// From this exponent on, more digits of it are ignored: so does the standard library when it reads a float, and so the reader.
const HUGE_EXPONENT: i64 = 0x10000;

impl Long {
    /// The number that contains the whole block at `at`, but not the one before it.
    pub fn begin(text: &[u8], at: usize) -> Self {
        let before = text.get(at.saturating_sub(BLOCK)..at).unwrap_or_default();
        let part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        let start = at - before.iter().rev().take_while(part).count();
        let mut long = Long {
            start,
            dot: None,
            e: None,
            digit: None,
            exponent: None,
        };
        for place in start..at {
            match text.get(place) {
                Some(b'.') => long.dot = Some(place),
                Some(b'e' | b'E') => long.e = Some(place),
                Some(b'1'..=b'9') => long.nonzero(place),
                _ => {}
            }
        }
        long
    }

    /// The first digit that is not 0 since the last part.
    fn nonzero(&mut self, place: usize) {
        let first = match self.e {
            None => &mut self.digit,
            Some(_) => &mut self.exponent,
        };
        first.get_or_insert(place);
    }

    /// Reads the bytes `within` of the block at `at`.
    pub fn read(&mut self, at: usize, classes: &Classes, within: u64, es: u64) {
        let first = |mask: u64| (mask != 0).then(|| at + mask.trailing_zeros() as usize);
        let e = first(es & within);
        let nonzero = classes.digit & !classes.zero & within;
        self.dot = self.dot.or(first(classes.dot & within));
        let before_e = e.map_or(u64::MAX, |e| (1 << (e - at)) - 1);
        if let Some(place) = first(nonzero & before_e) {
            self.nonzero(place);
        }
        self.e = self.e.or(e);
        if let Some(place) = first(nonzero & !before_e) {
            self.nonzero(place);
        }
    }

    /// Returns whether the number, which ends at `end`, is not too large.
    pub fn is_valid(&self, text: &[u8], end: usize) -> bool {
        let negative = text.get(self.start) == Some(&b'-');
        let first = self.start + usize::from(negative);
        if self.dot.is_none() && self.e.is_none() {
            return end - first <= LONGEST_INTEGER;
        }
        let Some(digit) = self.digit else {
            return true;
        };
        let point = self.dot.or(self.e).unwrap_or(end);
        // The number of digits from the first one that is not 0 to the point.
        let digits = match digit < point {
            true => (point - digit) as i64,
            false => point as i64 + 1 - digit as i64,
        };
        let size = digits + self.exponent(text, end);
        if size != MOST_DIGITS {
            return size < MOST_DIGITS;
        }
        // More digits than the largest double has decide nothing: where it would be rounded to infinity is an integer.
        let most = text.get(digit..self.e.unwrap_or(end)).unwrap_or_default();
        let most = most.iter().copied().filter(|byte| *byte != b'.');
        let mut token: Vec<u8> = most.take(MOST_DIGITS as usize).collect();
        let missing = MOST_DIGITS as usize - token.len();
        token.extend_from_slice(format!("e{missing}").as_bytes());
        is_finite_token(&token)
    }

    /// Returns the exponent, as the standard library reads it.
    fn exponent(&self, text: &[u8], end: usize) -> i64 {
        let (Some(e), Some(first)) = (self.e, self.exponent) else {
            return 0;
        };
        let mut exponent = 0;
        for digit in text.get(first..end).unwrap_or_default() {
            if exponent < HUGE_EXPONENT {
                exponent = 10 * exponent + i64::from(digit.wrapping_sub(b'0'));
            } else {
                break;
            }
        }
        match text.get(e + 1) {
            Some(b'-') => -exponent,
            _ => exponent,
        }
    }
}
