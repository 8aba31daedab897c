//! Exact decimal arithmetic, on decimals of at most [`MOST_DIGITS`] digits before and after the point.
//!
//! Exponents and signs follow the General Decimal Arithmetic, as the package Decimal has them: a sum has the
//! smaller exponent, a product the sum of both. Only a quotient is rounded: to [`PRECISION`] digits, half up.

use super::decimal::{parts_of_text, LONGEST_DECIMAL};
use crate::number::Number;
use num_bigint::{BigInt, BigUint, Sign};

/// Maximum number of digits before the point, and after it.
pub const MOST_DIGITS: u32 = 1_000;

/// Maximum number of limbs of a coefficient: twice as many digits.
pub const MOST_LIMBS: usize = 104;

/// Number of digits of a quotient that does not end.
pub const PRECISION: u32 = 28;

/// A finite decimal.
#[derive(Debug, Clone, PartialEq)]
pub struct Exact {
    negative: bool,
    coefficient: BigUint,
    exponent: i64,
}

/// A decimal has too many digits before the point or after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl Exact {
    /// The integer 0.
    pub const ZERO: Exact = Exact {
        negative: false,
        coefficient: BigUint::ZERO,
        exponent: 0,
    };

    /// Returns `coefficient * 10^exponent`; `None` unless the coefficient is an integer that is not negative.
    pub fn new(
        negative: bool,
        coefficient: Number,
        exponent: i64,
    ) -> Option<Result<Self, TooLong>> {
        let coefficient = match coefficient {
            Number::Int(value) => BigUint::from(u64::try_from(value).ok()?),
            Number::Big(value) => value.to_biguint()?,
            Number::Float(_) => return None,
        };
        Some(Exact::checked(negative, coefficient, exponent))
    }

    /// Returns the decimal that is an integer; `None` for a float.
    pub fn of_integer(number: Number) -> Option<Result<Self, TooLong>> {
        let (negative, size) = match number {
            Number::Int(value) => (value < 0, BigUint::from(value.unsigned_abs())),
            Number::Big(value) => (value.sign() == Sign::Minus, value.into_parts().1),
            Number::Float(_) => return None,
        };
        Some(Exact::checked(negative, size, 0))
    }

    /// Reads the text of a number as JSON has it, with an optional `+`.
    pub fn read(text: &[u8]) -> Option<Result<Self, TooLong>> {
        if text.len() > LONGEST_DECIMAL {
            return None;
        }
        let (negative, coefficient, exponent) = parts_of_text(text)?;
        Some(Exact::checked(negative, coefficient, exponent))
    }

    fn checked(negative: bool, coefficient: BigUint, exponent: i64) -> Result<Self, TooLong> {
        let most = i64::from(MOST_DIGITS);
        let fits = (-most..most).contains(&exponent)
            && digits(&coefficient) as i64 + exponent <= most
            && coefficient.bits() <= 64 * MOST_LIMBS as u64;
        match fits {
            true => Ok(Exact {
                negative,
                coefficient,
                exponent,
            }),
            false => Err(TooLong),
        }
    }

    /// Returns the sign, the coefficient and the exponent.
    pub fn into_parts(self) -> (bool, Number, i64) {
        let coefficient = Number::from_big(BigInt::from(self.coefficient));
        (self.negative, coefficient, self.exponent)
    }

    /// Returns whether this is zero, of either sign.
    pub fn is_zero(&self) -> bool {
        self.coefficient == BigUint::ZERO
    }

    /// Returns the number of limbs of the coefficient.
    pub fn limbs(&self) -> usize {
        1 + self.coefficient.bits() as usize / 64
    }

    /// Returns the cost of arithmetic with it, in units of fuel.
    pub fn cost(&self) -> usize {
        let limbs = self.limbs();
        let shift = self.exponent.unsigned_abs() as usize;
        6 + limbs + shift / 64 + limbs * shift / 256
    }

    /// Returns the decimal without its sign.
    pub fn absolute(mut self) -> Self {
        self.negative = false;
        self
    }

    /// Returns the decimal with the other sign.
    pub fn negated(mut self) -> Self {
        self.negative = !self.negative;
        self
    }

    /// Returns the sum, with the smaller exponent.
    pub fn plus(&self, other: &Exact) -> Result<Exact, TooLong> {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.signed(exponent), other.signed(exponent));
        let (sign, coefficient) = (a + b).into_parts();
        let negative = match sign {
            Sign::Minus => true,
            Sign::Plus => false,
            Sign::NoSign => self.negative && other.negative,
        };
        Exact::checked(negative, coefficient, exponent)
    }

    /// Returns the signed coefficient for an exponent that is not larger.
    fn signed(&self, exponent: i64) -> BigInt {
        let sign = match self.negative {
            true => Sign::Minus,
            false => Sign::Plus,
        };
        let more = self.exponent - exponent;
        BigInt::from_biguint(sign, &self.coefficient * power(more))
    }

    /// Returns the product, with the sum of the exponents.
    pub fn times(&self, other: &Exact) -> Result<Exact, TooLong> {
        Exact::checked(
            self.negative != other.negative,
            &self.coefficient * &other.coefficient,
            self.exponent + other.exponent,
        )
    }

    /// Returns the quotient: exact if it has at most [`PRECISION`] digits, else rounded to as many, half up. Its
    /// exponent is the difference of the exponents, or the largest smaller one that it needs. The divisor is not zero.
    pub fn over(&self, other: &Exact) -> Result<Exact, TooLong> {
        let negative = self.negative != other.negative;
        let exponent = self.exponent - other.exponent;
        if self.is_zero() || other.is_zero() {
            return Exact::checked(negative, BigUint::ZERO, exponent);
        }
        // The first digit of the quotient is that of `self * 10^first / other`.
        let mut first = digits(&other.coefficient) as i64 - digits(&self.coefficient) as i64;
        let (left, right) = scaled(&self.coefficient, &other.coefficient, first);
        first += i64::from(left < right);
        let mut places = first + i64::from(PRECISION);
        let (left, right) = scaled(&self.coefficient, &other.coefficient, places);
        let mut quotient = &left / &right;
        if &quotient * &right == left {
            let least = first.max(0);
            while places > least && (&quotient % 10u32) == BigUint::ZERO {
                quotient /= 10u32;
                places -= 1;
            }
        }
        if digits(&quotient) > u64::from(PRECISION) {
            quotient = (quotient + 5u32) / 10u32;
            places -= 1;
        }
        Exact::checked(negative, quotient, exponent - places)
    }

    /// Returns the decimal rounded to so many places, half up; its exponent is the number of places.
    pub fn rounded(&self, places: u32) -> Result<Exact, TooLong> {
        let target = -i64::from(places);
        let coefficient = match target - self.exponent {
            more @ 1.. => (&self.coefficient * 2u32 + power(more)) / (power(more) * 2u32),
            less => &self.coefficient * power(-less),
        };
        Exact::checked(self.negative, coefficient, target)
    }

    /// Returns the largest integer that is not greater, or the smallest one that is not less.
    pub fn whole(&self, up: bool) -> Number {
        let size = match self.exponent {
            0.. => &self.coefficient * power(self.exponent),
            _ => {
                let power = power(-self.exponent);
                let size = &self.coefficient / &power;
                let rest = &size * &power != self.coefficient;
                match rest && up != self.negative {
                    true => size + 1u32,
                    false => size,
                }
            }
        };
        let size = BigInt::from(size);
        Number::from_big(if self.negative { -size } else { size })
    }

    /// Returns the text without an exponent.
    pub fn text(&self) -> String {
        let mut text = self.coefficient.to_string();
        match self.exponent {
            0.. => text.extend(std::iter::repeat_n('0', self.exponent as usize)),
            _ => {
                let places = self.exponent.unsigned_abs() as usize;
                let missing = (places + 1).saturating_sub(text.len());
                text.insert_str(0, &"0".repeat(missing));
                text.insert(text.len() - places, '.');
            }
        }
        if self.negative {
            text.insert(0, '-');
        }
        text
    }
}

/// Returns two numbers whose quotient is `left * 10^places / right`.
fn scaled(left: &BigUint, right: &BigUint, places: i64) -> (BigUint, BigUint) {
    match places {
        0.. => (left * power(places), right.clone()),
        _ => (left.clone(), right * power(-places)),
    }
}

fn power(exponent: i64) -> BigUint {
    BigUint::from(10u32).pow(exponent as u32)
}

/// Returns the number of decimal digits; 1 for zero.
fn digits(coefficient: &BigUint) -> u64 {
    if let Ok(small) = u64::try_from(coefficient) {
        return u64::from(small.checked_ilog10().unwrap_or(0)) + 1;
    }
    let least = (coefficient.bits() - 1) * 30_102 / 100_000;
    // Too small by one at most, for numbers that are not too long anyhow.
    match *coefficient < power(least as i64 + 1) {
        true => least + 1,
        false => least + 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        Exact::read(text.as_bytes()).expect(text).expect(text)
    }

    #[test]
    fn sums_and_products_have_the_exponents_of_decimal_arithmetic() {
        for (a, b, sum, product) in [
            ("1.10", "2.205", "3.305", "2.42550"),
            ("0.1", "0.2", "0.3", "0.02"),
            ("-1.50", "1.5", "0.00", "-2.250"),
            ("1e3", "1", "1001", "1000"),
            ("0", "-5", "-5", "-0"),
            ("-0", "-0.0", "-0.0", "0.0"),
            ("0.000", "-0", "0.000", "-0.000"),
        ] {
            assert_eq!(exact(a).plus(&exact(b)).unwrap().text(), sum, "{a} + {b}");
            assert_eq!(
                exact(a).times(&exact(b)).unwrap().text(),
                product,
                "{a} * {b}"
            );
        }
    }

    #[test]
    fn quotients_have_28_digits_rounded_half_up() {
        for (a, b, quotient) in [
            ("1", "3", "0.3333333333333333333333333333"),
            ("2", "3", "0.6666666666666666666666666667"),
            ("100", "4", "25"),
            ("3", "4", "0.75"),
            ("1.00", "1", "1.00"),
            ("10.00", "2.5", "4.0"),
            ("1e3", "5", "2E+2"),
            ("-7", "8", "-0.875"),
            ("0.00", "4", "0.00"),
            (
                "12345678901234567890123456785",
                "1",
                "1.234567890123456789012345679E+28",
            ),
            (
                "100000000000000000000000000000",
                "1",
                "1.000000000000000000000000000E+29",
            ),
        ] {
            let value = exact(a).over(&exact(b)).unwrap();
            let coefficient = value.coefficient.to_string();
            let shown = match value.exponent > 0 {
                true => {
                    let (first, rest) = coefficient.split_at(1);
                    let point = if rest.is_empty() { "" } else { "." };
                    let exponent = value.exponent + rest.len() as i64;
                    format!("{first}{point}{rest}E+{exponent}")
                }
                false => value.text(),
            };
            assert_eq!(shown, quotient, "{a} / {b}");
        }
    }

    #[test]
    fn rounding_is_half_up_and_pads() {
        for (text, places, rounded) in [
            ("2.5", 0, "3"),
            ("-2.5", 0, "-3"),
            ("2.675", 2, "2.68"),
            ("1.5", 3, "1.500"),
            ("1e2", 1, "100.0"),
            ("0.0049", 2, "0.00"),
            ("-0.004", 2, "-0.00"),
            ("99.995", 2, "100.00"),
        ] {
            assert_eq!(exact(text).rounded(places).unwrap().text(), rounded);
        }
        for (text, floor, ceil) in [
            ("2.5", 2, 3),
            ("-2.5", -3, -2),
            ("3.00", 3, 3),
            ("-0.1", -1, 0),
        ] {
            assert_eq!(exact(text).whole(false), Number::Int(floor), "{text}");
            assert_eq!(exact(text).whole(true), Number::Int(ceil), "{text}");
        }
    }

    #[test]
    fn digits_are_counted() {
        for count in 1..2_200 {
            let least = power(count - 1);
            assert_eq!(digits(&least), count as u64);
            assert_eq!(digits(&(power(count) - 1u32)), count as u64);
        }
        assert_eq!(digits(&BigUint::ZERO), 1);
    }

    #[test]
    fn no_more_than_a_thousand_digits_stand_on_a_side_of_the_point() {
        let of = |digits: &str| Exact::read(digits.as_bytes()).unwrap();
        for fits in ["1e999", "9e-1000", "-0e999", "0e-1000"] {
            assert!(of(fits).is_ok(), "{fits}");
        }
        for long in [
            "1e1000",
            "10e999",
            "1e-1001",
            "0e1000000000",
            "1e1000000000",
            "1e-9223372036854775807",
        ] {
            assert_eq!(of(long), Err(TooLong), "{long}");
        }
        assert_eq!(exact("9e999").plus(&exact("1e999")), Err(TooLong));
        assert_eq!(exact("1e-600").times(&exact("1e-600")), Err(TooLong));
        assert_eq!(exact("1e600").over(&exact("1e-600")), Err(TooLong));
        let widest = exact("9e999").plus(&exact("1e-1000")).unwrap();
        assert_eq!(widest.text().len(), 2_001);
    }
}
