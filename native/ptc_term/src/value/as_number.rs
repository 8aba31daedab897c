//! The integer or the float that a decimal is.

use super::decimal::Decimal;
use crate::number::Number;
use num_bigint::{BigInt, BigUint, Sign};

/// Maximum number of digits of an integer that is made of a decimal.
const MOST_DIGITS: usize = 400;
/// Maximum number of bits of a coefficient that is made a float, and of zeros at the end of one that is made an integer.
const LIMIT: u32 = 4_000;

impl Decimal {
    /// Returns the integer that this is; `None` if it has a fraction or more than [`MOST_DIGITS`] digits.
    pub fn as_integer(&self) -> Option<Number> {
        let shift = u32::try_from(self.exponent.unsigned_abs()).ok()?;
        if !self.is_finite() || self.digits().0 > MOST_DIGITS as i128 || shift > LIMIT {
            return None;
        }
        let power = BigUint::from(10u32).pow(shift);
        let size = match self.exponent >= 0 {
            true => &self.coefficient * power,
            false if &self.coefficient % &power == BigUint::ZERO => &self.coefficient / power,
            false => return None,
        };
        if size.to_string().len() > MOST_DIGITS {
            return None;
        }
        let sign = match self.negative {
            true => Sign::Minus,
            false => Sign::Plus,
        };
        Some(Number::from_big(BigInt::from_biguint(sign, size)))
    }

    /// Returns the float whose shortest text is this number; `None` if there is none.
    pub fn as_float(&self) -> Option<f64> {
        if !self.is_finite() || self.coefficient.bits() > u64::from(LIMIT) {
            return None;
        }
        let sign = if self.negative { "-" } else { "" };
        let text = format!("{sign}{}e{}", self.coefficient, self.exponent);
        let float: f64 = text.parse().ok().filter(|float: &f64| float.is_finite())?;
        let same = Decimal::of_number(Number::Float(float))?;
        same.order(self).is_eq().then_some(float)
    }
}
