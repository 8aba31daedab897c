//! Conversion of decimal digits to an integer, one product at a time.
//!
//! Reading digit by digit takes quadratic time. So only short parts are read that way; they are then
//! combined in pairs, in several rounds. All products of one round share one power, a power of five,
//! because a power of two is a shift.

use crate::stop::Stop;
use num_bigint::{BigInt, BigUint, Sign};
use std::time::Duration;

/// Number of digits of a part that is read digit by digit.
const PART: usize = 2048;
/// Number of digits that fit 64 bits, approximately.
const DIGITS_IN_A_LIMB: usize = 19;

/// An integer that is being read. It can be suspended before any of its products and resumed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Digits {
    /// Number of digits that are in no part yet; the parts are made from the end of the number.
    rest: usize,
    /// The values of the parts, lowest first. During a round the first `done` belong to the next round,
    /// and those from `next` on still to this one.
    parts: Vec<BigUint>,
    done: usize,
    next: usize,
    /// Five to the power of `length`.
    power: BigUint,
    /// Number of digits of a part of this round.
    length: usize,
}

impl Digits {
    /// Creates the state for a number of this many digits.
    pub fn new(digits: usize) -> Self {
        // One part is not combined with others. The power takes longer than reading a short number.
        let power = match digits > PART {
            true => BigUint::from(5_u8).pow(PART as u32),
            false => BigUint::default(),
        };
        Digits {
            rest: digits,
            power,
            length: PART,
            ..Digits::default()
        }
    }

    /// Returns the words that an integer of this many digits takes.
    pub fn words(digits: usize) -> usize {
        1 + digits / DIGITS_IN_A_LIMB
    }

    /// Returns the words that an integer of this many digits takes at least: it is not less than a power of ten.
    pub fn least_words(digits: usize) -> usize {
        let bits = (digits.saturating_sub(1) * 3321).div_ceil(1000);
        1 + bits.div_ceil(64).max(1)
    }

    /// Returns the time that a fast machine needs for this many digits.
    pub fn least_time(digits: usize) -> Duration {
        let millions = digits as f64 / 1e6;
        Duration::from_secs_f64(0.02 * millions * millions.sqrt())
    }

    /// Reads on; the text `token` must be the same each time: digits, maybe with a sign. Calls `count`
    /// before each step, with its cost in units of fuel.
    pub fn read(
        &mut self,
        token: &[u8],
        mut count: impl FnMut(usize) -> Result<(), Stop>,
    ) -> Result<BigInt, Stop> {
        let (sign, digits) = match token.split_first() {
            Some((b'-', digits)) => (Sign::Minus, digits),
            _ => (Sign::Plus, token),
        };
        while self.rest > 0 {
            count(PART / 8)?;
            let start = self.rest.saturating_sub(PART);
            let part = digits.get(start..self.rest).unwrap_or_default();
            let value = BigUint::parse_bytes(part, 10);
            self.parts.push(value.unwrap_or_default());
            self.rest = start;
        }
        while self.parts.len() > 1 {
            self.round(&mut count)?;
        }
        Ok(BigInt::from_biguint(
            sign,
            self.parts.pop().unwrap_or_default(),
        ))
    }

    /// Combines the parts in pairs.
    fn round(&mut self, count: &mut impl FnMut(usize) -> Result<(), Stop>) -> Result<(), Stop> {
        while self.next < self.parts.len() {
            let (low, high) = (self.next, self.next + 1);
            if high < self.parts.len() {
                count(cost(&self.parts[high], &self.power))?;
                let product = (&self.parts[high] * &self.power) << self.length;
                self.parts[low] += product;
            }
            self.parts.swap(self.done, low);
            self.done += 1;
            self.next += 2;
        }
        if self.done > 1 {
            count(cost(&self.power, &self.power))?;
            self.power = &self.power * &self.power;
            self.length *= 2;
        }
        self.parts.truncate(self.done);
        (self.done, self.next) = (0, 0);
        Ok(())
    }
}

/// Returns the cost of a product, in units of fuel.
fn cost(left: &BigUint, right: &BigUint) -> usize {
    let limbs = |value: &BigUint| value.bits().div_ceil(64);
    let (a, b) = (limbs(left), limbs(right));
    (a.max(b) * a.min(b).isqrt() * 3 / 5) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lengths_around_the_edges_of_parts() {
        for parts in 0..6 {
            for edge in [0, 1, PART - 1] {
                let length = (parts * PART + edge).max(1);
                let text: String = (0..length)
                    .map(|at| (b'1' + (at % 9) as u8) as char)
                    .collect();
                let read = Digits::new(length).read(text.as_bytes(), |_| Ok(()));
                assert_eq!(read.unwrap().to_string(), text);
            }
        }
        let negative = Digits::new(3).read(b"-120", |_| Ok(()));
        assert_eq!(negative, Ok(BigInt::from(-120)));
    }

    #[test]
    fn it_can_be_left_before_each_step() {
        let text = "9876543210".repeat(2_000);
        let mut digits = Digits::new(text.len());
        let mut left = 0;
        let value = loop {
            let mut first = true;
            let read = digits.read(text.as_bytes(), |_| match std::mem::take(&mut first) {
                true => Ok(()),
                false => Err(Stop::SliceOver),
            });
            match read {
                Ok(value) => break value,
                Err(_) => left += 1,
            }
        };
        assert_eq!(value.to_string(), text);
        assert!(left > 15, "{left}");
    }

    #[test]
    fn no_step_is_free_of_charge_and_none_costs_too_much() {
        let text = vec![b'7'; 200_000];
        let (mut all, mut most) = (0, 0);
        let read = Digits::new(text.len()).read(&text, |cost| {
            all += cost;
            most = most.max(cost);
            Ok(())
        });
        assert!(read.is_ok());
        // The cost grows more than linearly, but far less than quadratically.
        assert!((200_000..4_000_000).contains(&all), "{all}");
        assert!(most < 600_000, "{most}");
    }
}
