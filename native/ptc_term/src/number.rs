//! Numbers with the BEAM's arithmetic: integers of any size, finite doubles, and its conversion.

use crate::digits::Digits;
use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// An integer or a finite double.
#[derive(Debug, Clone, PartialEq)]
pub enum Number {
    /// A 64-bit integer.
    Int(i64),
    /// Any other integer.
    Big(BigInt),
    /// A finite double.
    Float(f64),
}

/// Maximum number of bits of an integer that may fit a double.
const MOST_BITS: u64 = 1088;

/// Whether big integers become the nearest double.
static NEAREST: AtomicBool = AtomicBool::new(false);

/// Stores how this VM converts big integers to doubles. Called when the library is loaded.
pub fn round_to_nearest(nearest: bool) {
    NEAREST.store(nearest, Relaxed);
}

/// An overflow, which the BEAM reports as `badarith`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadArith;

/// Addition, subtraction, multiplication: exact on integers; in doubles if one operand is a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `left + right`
    Add,
    /// `left - right`
    Sub,
    /// `left * right`
    Mul,
}

impl Number {
    /// Converts an integer of any size to its smallest form.
    pub fn from_big(big: BigInt) -> Self {
        match i64::try_from(&big) {
            Ok(small) => Number::Int(small),
            Err(_) => Number::Big(big),
        }
    }

    /// Converts an integer in JSON text: digits, maybe with a sign. Only for short texts; see
    /// [`Digits`] for others.
    pub fn from_digits(digits: &[u8]) -> Self {
        let count = digits.len() - usize::from(digits.first() == Some(&b'-'));
        let value = Digits::new(count).read(digits, |_| Ok(()));
        Number::from_big(value.unwrap_or_default())
    }

    /// Returns the integer that is equal to a finite double; `None` for one with a fraction.
    pub fn of_whole(value: f64) -> Option<Self> {
        if value.fract() != 0.0 {
            return None;
        }
        if value.abs() < 9e18 {
            return Some(Number::Int(value as i64));
        }
        let (mantissa, shift) = parts_of(value);
        let size = BigInt::from(mantissa) << -shift;
        Some(Number::Big(if value < 0.0 { -size } else { size }))
    }

    /// Returns whether this is an integer, and not a float.
    pub fn is_integer(&self) -> bool {
        !matches!(self, Number::Float(_))
    }

    /// Returns the number without its sign; `None` if it has none.
    pub fn absolute(self) -> Option<Number> {
        match self {
            Number::Int(0..) => None,
            Number::Int(value) => Some(match value.checked_neg() {
                Some(size) => Number::Int(size),
                None => Number::Big(-BigInt::from(value)),
            }),
            Number::Float(value) if value.is_sign_positive() => None,
            Number::Float(value) => Some(Number::Float(-value)),
            Number::Big(big) if big.sign() == Sign::Minus => Some(Number::from_big(-big)),
            Number::Big(_) => None,
        }
    }

    /// Returns the remainder of an integer division, with the sign of the divisor. `None` if one of the two is a
    /// float, or the divisor is 0.
    pub fn modulo(&self, divisor: &Number) -> Option<Number> {
        if let (Number::Int(left), Number::Int(right)) = (self, divisor) {
            // The remainder of the smallest integer by -1 is beyond 64 bits.
            if let Some(rest) = left.checked_rem(*right) {
                let is_other = rest != 0 && (rest < 0) != (*right < 0);
                return Some(Number::Int(if is_other { rest + right } else { rest }));
            }
        }
        let (left, right) = (self.to_big()?, divisor.to_big()?);
        if right.sign() == Sign::NoSign {
            return None;
        }
        let rest = left % &right;
        let is_other = rest.sign() != Sign::NoSign && rest.sign() != right.sign();
        Some(Number::from_big(if is_other { rest + right } else { rest }))
    }

    /// True for 0, 0.0 and -0.0.
    pub fn is_zero(&self) -> bool {
        matches!(self, Number::Int(0)) || matches!(self, Number::Float(value) if *value == 0.0)
    }

    /// Returns whether the number is less than zero.
    pub fn is_negative(&self) -> bool {
        match self {
            Number::Int(value) => *value < 0,
            Number::Big(big) => big.sign() == Sign::Minus,
            Number::Float(value) => *value < 0.0,
        }
    }

    /// Converts the number to a double as the BEAM does.
    ///
    /// Recent releases of the BEAM round big integers to the nearest double. Earlier ones, such as OTP 27, sum their 64-bit
    /// limbs in double arithmetic, and the result is not always the nearest double: see [`round_to_nearest`].
    pub fn to_float(&self) -> Result<f64, BadArith> {
        let value = match self {
            Number::Int(value) => *value as f64,
            Number::Float(value) => *value,
            // A larger sum of limbs is always beyond the largest double.
            Number::Big(big) if big.bits() > MOST_BITS => return Err(BadArith),
            Number::Big(big) if NEAREST.load(Relaxed) => big.to_f64().unwrap_or(f64::INFINITY),
            Number::Big(big) => {
                let limb = |sum: f64, limb: &u64| sum * 18_446_744_073_709_551_616.0 + *limb as f64;
                let size = big.magnitude().to_u64_digits().iter().rev().fold(0.0, limb);
                match big.sign() {
                    Sign::Minus => -size,
                    _ => size,
                }
            }
        };
        finite(value)
    }

    /// Returns the number of 64-bit limbs of an integer; 1 for a float.
    pub fn limbs(&self) -> usize {
        match self {
            Number::Big(big) => big.bits().div_ceil(64) as usize,
            _ => 1,
        }
    }

    /// Adds `other`; in place for long integers.
    #[inline]
    pub fn add(&mut self, other: Number) -> Result<(), BadArith> {
        match (&mut *self, other) {
            (Number::Int(sum), Number::Int(other)) if sum.checked_add(other).is_some() => {
                *sum += other;
            }
            (Number::Float(sum), Number::Float(other)) => *sum = finite(*sum + other)?,
            (Number::Big(sum), Number::Int(other)) => {
                *sum += other;
                self.shrink();
            }
            (Number::Big(sum), Number::Big(other)) => {
                *sum += other;
                self.shrink();
            }
            (_, other) => *self = Arithmetic::Add.apply(self, &other)?,
        }
        Ok(())
    }

    /// Converts an integer to its smallest form.
    fn shrink(&mut self) {
        if let Number::Big(big) = self {
            if let Ok(small) = i64::try_from(&*big) {
                *self = Number::Int(small);
            }
        }
    }

    fn to_big(&self) -> Option<BigInt> {
        match self {
            Number::Int(value) => Some(BigInt::from(*value)),
            Number::Big(big) => Some(big.clone()),
            Number::Float(_) => None,
        }
    }
}

impl Arithmetic {
    /// Returns `left op right`.
    pub fn apply(self, left: &Number, right: &Number) -> Result<Number, BadArith> {
        if let (Number::Int(left), Number::Int(right)) = (left, right) {
            let small = match self {
                Arithmetic::Add => left.checked_add(*right),
                Arithmetic::Sub => left.checked_sub(*right),
                Arithmetic::Mul => left.checked_mul(*right),
            };
            if let Some(small) = small {
                return Ok(Number::Int(small));
            }
        }
        if let (Some(left), Some(right)) = (left.to_big(), right.to_big()) {
            return Ok(Number::from_big(match self {
                Arithmetic::Add => left + right,
                Arithmetic::Sub => left - right,
                Arithmetic::Mul => left * right,
            }));
        }
        let (left, right) = (left.to_float()?, right.to_float()?);
        finite(match self {
            Arithmetic::Add => left + right,
            Arithmetic::Sub => left - right,
            Arithmetic::Mul => left * right,
        })
        .map(Number::Float)
    }
}

/// Returns `left / right` in doubles; the caller has checked for zero.
pub fn divide(left: &Number, right: &Number) -> Result<f64, BadArith> {
    finite(left.to_float()? / right.to_float()?)
}

/// Returns the double, unless it overflowed.
pub fn finite(value: f64) -> Result<f64, BadArith> {
    match value.is_finite() {
        true => Ok(value),
        false => Err(BadArith),
    }
}

/// Returns the double nearest to `value` rounded to `places` decimals (0 to 15) in exact decimal
/// arithmetic, ties away from zero, like `Float.round/2`.
pub fn round(value: f64, places: u32) -> f64 {
    let (mantissa, shift) = parts_of(value);
    if shift <= 0 {
        return value; // an integer already
    }
    // mantissa < 2^53 and 10^15 < 2^50: below one half for every larger shift.
    let scaled = mantissa as u128 * 10u128.pow(places);
    let rounded = match shift {
        1..=120 => (scaled + (1u128 << (shift - 1))) >> shift,
        _ => 0,
    };
    // Parsing decimal text gives the correctly rounded quotient by a power of ten.
    let size: f64 = format!("{rounded}e-{places}").parse().unwrap_or(0.0);
    size.copysign(value)
}

/// Returns the mantissa and the shift of a double: its size is mantissa * 2^-shift, exactly.
fn parts_of(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    match exponent {
        0 => (fraction, 1074),
        _ => (fraction | (1 << 52), 1075 - exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_the_exact_binary_value() {
        for (value, places, expected) in [
            (2.5, 0, 3.0),
            (-2.5, 0, -3.0),
            (0.125, 2, 0.13),
            (2.675, 2, 2.67),
            (1.005, 2, 1.0),
            (1.0e300, 15, 1.0e300),
            (5.0e-324, 15, 0.0),
            (123.456, 15, 123.456),
            (9007199254740991.5, 1, 9007199254740991.5),
        ] {
            assert_eq!(round(value, places), expected, "{value} to {places}");
        }
        assert!(round(-0.4, 0).is_sign_negative());
    }

    #[test]
    fn integers_leave_64_bits_and_come_back() {
        let max = Number::Int(i64::MAX);
        let bigger = Arithmetic::Add.apply(&max, &Number::Int(1)).unwrap();
        assert_eq!(bigger, Number::from_digits(b"9223372036854775808"));
        assert_eq!(Arithmetic::Sub.apply(&bigger, &Number::Int(1)), Ok(max));
    }

    #[test]
    fn the_remainder_has_the_sign_of_the_divisor() {
        let big = |digits: &str| Number::from_digits(digits.as_bytes());
        for (left, right, rest) in [
            ("7", "3", "1"),
            ("7", "-3", "-2"),
            ("-7", "3", "2"),
            ("-7", "-3", "-1"),
            ("6", "-3", "0"),
            ("-9223372036854775808", "-1", "0"),
            (
                "-1",
                "123456789012345678901234567890",
                "123456789012345678901234567889",
            ),
            ("123456789012345678901234567890", "-7", "0"),
            ("123456789012345678901234567891", "-7", "-6"),
        ] {
            assert_eq!(
                big(left).modulo(&big(right)),
                Some(big(rest)),
                "{left} {right}"
            );
        }
        assert_eq!(Number::Int(1).modulo(&Number::Int(0)), None);
        assert_eq!(
            Number::Int(i64::MIN).absolute(),
            Some(big("9223372036854775808"))
        );
        assert_eq!(Number::Float(-0.0).absolute(), Some(Number::Float(0.0)));
    }

    #[test]
    fn big_integers_become_doubles_as_on_this_vm() {
        let digits = b"29676962771761955365875859166457480150438852639049780671";
        let number = Number::from_digits(digits);
        assert_eq!(number.to_float(), Ok(2.967696277176195e55));
        round_to_nearest(true);
        assert_eq!(number.to_float(), Ok(2.967696277176196e55));
        assert_eq!(Number::from_digits(&[b'9'; 400]).to_float(), Err(BadArith));
        round_to_nearest(false);
    }

    #[test]
    fn overflow_is_an_error_not_infinity() {
        let huge = Number::Float(1.0e308);
        assert_eq!(Arithmetic::Mul.apply(&huge, &huge), Err(BadArith));
        let digits = [b'9'; 400];
        assert_eq!(Number::from_digits(&digits).to_float(), Err(BadArith));
    }
}
