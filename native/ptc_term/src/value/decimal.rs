//! Decimals: a coefficient of any size and a power of ten, compared exactly.
//!
//! No power of ten is computed that is longer than the coefficients themselves, however large an
//! exponent is.

use super::mix;
use crate::number::Number;
use crate::shortest::shortest;
use num_bigint::{BigUint, Sign};
use std::cmp::Ordering;

/// Maximum bytes of a text that is read as a decimal; also in `PtcRunner.SubAgent.Signature.Decimals`.
pub const LONGEST_DECIMAL: usize = 1_000;

/// Limbs that a unit of fuel compares.
const LIMBS_A_UNIT: usize = 4;

/// A decimal number.
#[derive(Debug, Clone, PartialEq)]
pub struct Decimal {
    class: Category,
    /// Only for finite decimals that are not zero.
    pub(super) negative: bool,
    pub(super) coefficient: BigUint,
    pub(super) exponent: i64,
}

/// In ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Category {
    MinusInfinity,
    Finite,
    Infinity,
    NotANumber,
}

impl Decimal {
    /// `NaN`: equal to itself, and after all numbers.
    pub const NOT_A_NUMBER: Decimal = Decimal::special(Category::NotANumber);

    const fn special(class: Category) -> Self {
        Decimal {
            class,
            negative: false,
            coefficient: BigUint::ZERO,
            exponent: 0,
        }
    }

    /// An infinity.
    pub fn infinite(negative: bool) -> Self {
        Decimal::special(match negative {
            true => Category::MinusInfinity,
            false => Category::Infinity,
        })
    }

    /// Returns `coefficient * 10^exponent`; `None` unless the coefficient is an integer that is not
    /// negative.
    pub fn scaled(negative: bool, coefficient: Number, exponent: i64) -> Option<Self> {
        let coefficient = match coefficient {
            Number::Int(value) => BigUint::from(u64::try_from(value).ok()?),
            Number::Big(value) => value.to_biguint()?,
            Number::Float(_) => return None,
        };
        Some(Decimal::finite(negative, coefficient, exponent))
    }

    fn finite(negative: bool, coefficient: BigUint, exponent: i64) -> Self {
        let is_zero = coefficient == BigUint::ZERO;
        Decimal {
            class: Category::Finite,
            negative: negative && !is_zero,
            coefficient,
            exponent: if is_zero { 0 } else { exponent },
        }
    }

    /// Returns the decimal of a number: of a float, that of its shortest text.
    pub fn of_number(number: Number) -> Option<Self> {
        match number {
            Number::Int(value) => {
                let size = BigUint::from(value.unsigned_abs());
                Some(Decimal::finite(value < 0, size, 0))
            }
            Number::Big(value) => {
                let negative = value.sign() == Sign::Minus;
                Some(Decimal::finite(negative, value.into_parts().1, 0))
            }
            Number::Float(value) => Decimal::read(shortest(value).as_bytes()),
        }
    }

    /// Reads the text of a number as JSON has it, with an optional `+`; or `NaN`, `Infinity` and
    /// `-Infinity`, as decimals are written.
    pub fn read(text: &[u8]) -> Option<Self> {
        match text {
            b"NaN" => return Some(Decimal::NOT_A_NUMBER),
            b"Infinity" => return Some(Decimal::infinite(false)),
            b"-Infinity" => return Some(Decimal::infinite(true)),
            _ => {}
        }
        let (negative, coefficient, exponent) = parts_of_text(text)?;
        Some(Decimal::finite(negative, coefficient, exponent))
    }

    /// Returns the order of two decimals: `-Infinity`, numbers, `Infinity`, `NaN`.
    pub fn order(&self, other: &Decimal) -> Ordering {
        let is_zero = |decimal: &Decimal| decimal.coefficient == BigUint::ZERO;
        match self.class.cmp(&other.class) {
            Ordering::Equal if self.class == Category::Finite => {}
            order => return order,
        }
        match (is_zero(self), is_zero(other)) {
            (true, true) => return Ordering::Equal,
            (true, false) if other.negative => return Ordering::Greater,
            (true, false) => return Ordering::Less,
            (false, true) if self.negative => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        match (self.negative, other.negative) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.size_order(other),
            (true, true) => other.size_order(self),
        }
    }

    /// Returns whether this is a number, and neither an infinity nor `NaN`.
    pub fn is_finite(&self) -> bool {
        self.class == Category::Finite
    }

    /// Returns whether the number is a whole multiple of another one; false for infinities, `NaN` and multiples of 0.
    /// No power of ten is computed that is longer than the coefficients.
    pub fn is_multiple_of(&self, other: &Decimal) -> bool {
        let is_finite = |decimal: &Decimal| decimal.class == Category::Finite;
        if !is_finite(self) || !is_finite(other) || other.coefficient == BigUint::ZERO {
            return false;
        }
        if self.coefficient == BigUint::ZERO {
            return true;
        }
        let ten = BigUint::from(10u32);
        let more = self.exponent.abs_diff(other.exponent);
        if self.exponent >= other.exponent {
            let power = ten.modpow(&BigUint::from(more), &other.coefficient);
            return (&self.coefficient * power) % &other.coefficient == BigUint::ZERO;
        }
        // The coefficient would have to end with so many zeros.
        if u128::from(more) > u128::from(self.coefficient.bits()) {
            return false;
        }
        let power = ten.pow(u32::try_from(more).unwrap_or(u32::MAX));
        &self.coefficient % (&other.coefficient * power) == BigUint::ZERO
    }

    /// Returns the order of two decimals above zero, ignoring signs.
    fn size_order(&self, other: &Decimal) -> Ordering {
        if self.exponent == other.exponent {
            return self.coefficient.cmp(&other.coefficient);
        }
        let (a, b) = (self.digits(), other.digits());
        if a.0 > b.1 {
            return Ordering::Greater;
        }
        if a.1 < b.0 {
            return Ordering::Less;
        }
        // Both have about the same number of digits before the point, so the difference of the
        // exponents is at most that of the lengths of the coefficients.
        let more = self.exponent.abs_diff(other.exponent);
        let power = BigUint::from(10u32).pow(u32::try_from(more).unwrap_or(u32::MAX));
        match self.exponent > other.exponent {
            true => (&self.coefficient * power).cmp(&other.coefficient),
            false => self.coefficient.cmp(&(&other.coefficient * power)),
        }
    }

    /// Returns the least and the greatest possible number of digits before the decimal point.
    pub(super) fn digits(&self) -> (i128, i128) {
        let bits = i128::from(self.coefficient.bits());
        let (least, most) = ((bits - 1) * 30_102 / 100_000, bits * 30_103 / 100_000);
        let exponent = i128::from(self.exponent);
        (least + 1 + exponent, most + 1 + exponent)
    }

    /// Returns a hash that is equal for equal decimals.
    ///
    /// It is the value modulo a number that the seed determines and that has no factor in common with
    /// ten: so equal decimals need not be brought to one form.
    pub fn hash(&self, seed: u64) -> u64 {
        let class = mix(seed, 11 + self.class as u64 + 4 * u64::from(self.negative));
        if self.class != Category::Finite {
            return class;
        }
        let modulus = modulus(seed);
        let limbs = self.coefficient.iter_u64_digits().rev();
        let rest = limbs.fold(0, |rest: u64, limb| {
            let wide = u128::from(rest) << 64 | u128::from(limb);
            (wide % u128::from(modulus)) as u64
        });
        let base = match self.exponent < 0 {
            false => 10,
            true => tenth(modulus),
        };
        let power = power(base, self.exponent.unsigned_abs(), modulus);
        mix(class, product(rest, power, modulus))
    }

    /// Returns the cost of comparing it, in units of fuel.
    pub fn cost(&self) -> usize {
        Decimal::cost_of(self.coefficient.bits() as usize / 64)
    }

    /// Returns the cost of comparing a coefficient of this length, in units of fuel: beside another
    /// exponent it is multiplied.
    pub fn cost_of(limbs: usize) -> usize {
        4 + limbs / LIMBS_A_UNIT + limbs * limbs.min(64) / 16 + limbs * limbs / 1024
    }
}

/// Reads the text of a finite number: its sign, its coefficient and its exponent.
pub(super) fn parts_of_text(text: &[u8]) -> Option<(bool, BigUint, i64)> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (whole, rest) = digits(rest)?;
    (whole.len() == 1 || whole[0] != b'0').then_some(())?;
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => digits(rest)?,
        rest => (&[][..], rest),
    };
    let exponent = match rest {
        [] => 0,
        [b'e' | b'E', rest @ ..] => {
            let (negative, rest) = match rest {
                [b'-', rest @ ..] => (true, rest),
                [b'+', rest @ ..] => (false, rest),
                rest => (false, rest),
            };
            let (exponent, rest) = digits(rest)?;
            rest.is_empty().then_some(())?;
            let size: i64 = std::str::from_utf8(exponent).ok()?.parse().ok()?;
            if negative {
                -size
            } else {
                size
            }
        }
        _ => return None,
    };
    let coefficient = BigUint::parse_bytes(&[whole, fraction].concat(), 10)?;
    let exponent = exponent.checked_sub(fraction.len() as i64)?;
    Some((negative, coefficient, exponent))
}

/// Splits off the digits at the start; `None` if there are none.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| text.split_at(count))
}

/// Returns a modulus of 62 bits without the factors 2 and 5.
fn modulus(seed: u64) -> u64 {
    let odd = mix(seed, 3) >> 2 | 1 << 61 | 1;
    match odd % 5 {
        0 => odd - 2,
        _ => odd,
    }
}

/// Returns the inverse of ten.
fn tenth(modulus: u64) -> u64 {
    let wide = u128::from(modulus);
    let times = (1..10).find(|times| (times * wide + 1) % 10 == 0);
    ((times.unwrap_or(1) * wide + 1) / 10) as u64
}

fn product(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn power(base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let (mut result, mut square) = (1, base % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, square, modulus);
        }
        square = product(square, square, modulus);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::read(text.as_bytes()).expect(text)
    }

    #[test]
    fn multiples_are_exact_whatever_the_exponents() {
        let is = |a: &str, b: &str| decimal(a).is_multiple_of(&decimal(b));
        assert!(is("0.3", "0.1") && is("-1.25", "0.05") && is("0", "7") && is("12e1", "40"));
        assert!(is("1e1000000000", "0.5") && is("1e1000000000", "1e-1000000000"));
        assert!(is("700", "7e2") && !is("70", "7e2") && !is("1", "1e1000000000"));
        assert!(!is("0.31", "0.1") && !is("1e1000000000", "3") && !is("1", "0"));
        assert!(!is("NaN", "1") && !is("Infinity", "1") && !is("1", "Infinity"));
    }

    #[test]
    fn decimals_are_ordered_exactly() {
        let ascending = [
            "-Infinity",
            "-1e1000000000",
            "-10.1",
            "-10",
            "-9.999",
            "-1e-1000000000",
            "0",
            "1e-1000000000",
            "0.1",
            "0.10000000000000000000000000000000000000001",
            "9.99",
            "10",
            "123456789012345678901234567890",
            "123456789012345678901234567890.5",
            "1e1000000000",
            "Infinity",
            "NaN",
        ];
        for (at, a) in ascending.iter().enumerate() {
            for (place, b) in ascending.iter().enumerate() {
                assert_eq!(decimal(a).order(&decimal(b)), at.cmp(&place), "{a} {b}");
            }
        }
    }

    #[test]
    fn equal_decimals_have_one_hash() {
        for (a, b) in [
            ("1", "1.000"),
            ("100", "1e2"),
            ("0", "-0.00"),
            ("0", "0e999999999"),
            ("120000000000000000000000000000000", "1.2e32"),
            ("-0.00012", "-12e-5"),
            ("1e1000000000", "10e999999999"),
            ("1e-1000000000", "0.1e-999999999"),
        ] {
            assert!(decimal(a).order(&decimal(b)).is_eq(), "{a} {b}");
            for seed in [0, 1, 77, u64::MAX] {
                assert_eq!(decimal(a).hash(seed), decimal(b).hash(seed), "{a} {b}");
            }
        }
        assert_ne!(decimal("1").hash(5), decimal("-1").hash(5));
        assert_ne!(decimal("1").hash(5), decimal("1.1").hash(5));
    }

    #[test]
    fn a_float_is_the_decimal_of_its_shortest_text() {
        for (float, text) in [
            (0.1, "0.1"),
            (-2.0, "-2"),
            (1.0e23, "1e23"),
            (5e-324, "5e-324"),
        ] {
            let float = Decimal::of_number(Number::Float(float)).unwrap();
            assert!(float.order(&decimal(text)).is_eq(), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_numbers() {
        for text in [
            "",
            "1.",
            ".5",
            "01",
            "1e",
            "--1",
            "1 ",
            "nan",
            "0x1",
            "1e99999999999999999999",
        ] {
            assert_eq!(Decimal::read(text.as_bytes()), None, "{text}");
        }
    }
}
