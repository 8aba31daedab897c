//! Arithmetic against exact integers and fractions.

use crate::common::rng::Rng;
use num_bigint::{BigInt, Sign};
use ptc_term::number::{divide, round, Arithmetic, BadArith, Number};

/// A finite double as a fraction: the numerator, and the exponent of two of the denominator.
fn fraction(value: f64) -> (BigInt, u32) {
    let bits = value.to_bits();
    let (exponent, mantissa) = ((bits >> 52) & 0x7FF, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = match exponent {
        0 => (mantissa, -1074),
        _ => (mantissa | 1 << 52, exponent as i64 - 1075),
    };
    let sign = if value.is_sign_negative() {
        Sign::Minus
    } else {
        Sign::Plus
    };
    let size = BigInt::from_biguint(sign, mantissa.into());
    match exponent {
        0.. => (size << exponent, 0),
        _ => (size, -exponent as u32),
    }
}

/// The distance of a double from `numerator / denominator`, times `denominator * 2^1074`.
fn distance(value: f64, numerator: &BigInt, denominator: &BigInt) -> BigInt {
    let (top, shift) = fraction(value);
    let size = ((top * denominator) << (1074 - shift)) - (numerator << 1074u32);
    BigInt::from_biguint(Sign::Plus, size.magnitude().clone())
}

/// Rounds in exact arithmetic, then checks that no double is nearer.
fn check_round(value: f64, places: u32) {
    let rounded = round(value, places);
    let (top, shift) = fraction(value);
    let ten = BigInt::from(10).pow(places);
    // Half away from zero, on the size.
    let half = if shift == 0 {
        BigInt::ZERO
    } else {
        BigInt::from(1) << (shift - 1)
    };
    let size = BigInt::from_biguint(Sign::Plus, top.magnitude().clone());
    let exact: BigInt = (size * &ten + half) >> shift;
    let here = distance(rounded.abs(), &exact, &ten);
    let neighbours = [rounded.abs().next_up(), rounded.abs().next_down().abs()];
    for neighbour in neighbours.into_iter().filter(|other| other.is_finite()) {
        let there = distance(neighbour, &exact, &ten);
        assert!(
            here <= there,
            "{value:?} to {places} is nearer to {neighbour:?} than {rounded:?}"
        );
        let even = rounded.to_bits() & 1 == 0;
        assert!(
            here < there || even,
            "{value:?} to {places}: a tie goes to the even mantissa"
        );
    }
    assert_eq!(
        rounded.is_sign_negative(),
        value.is_sign_negative(),
        "{value:?} to {places}"
    );
}

#[test]
fn rounding_is_exact() {
    let mut rng = Rng::new(31);
    for _ in 0..20_000 {
        let places = rng.below(16) as u32;
        // Any double; one of a size where places matter; a decimal; a tie.
        let any = f64::from_bits(rng.next());
        let middle = f64::from_bits((1000 + rng.next() % 80) << 52 | rng.next() >> 12);
        let decimal = rng.below(1_000_000) as f64 / 1000.0;
        let tie = (rng.below(1 << 20) as f64 + 0.5) / f64::from(1u32 << rng.below(16));
        for value in [any, middle, -middle, decimal, tie, -tie] {
            if value.is_finite() {
                check_round(value, places);
            }
        }
    }
    for value in [
        0.0,
        -0.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        0.5,
        4503599627370496.5,
        9007199254740992.0,
    ] {
        for places in 0..16 {
            check_round(value, places);
            check_round(-value, places);
        }
    }
}

fn integer(rng: &mut Rng) -> BigInt {
    let near = [i64::MAX, i64::MIN, 0, 1, -1, 1 << 32][rng.below(6)];
    match rng.below(3) {
        0 => BigInt::from(near) + BigInt::from(rng.below(5)) - 2,
        1 => BigInt::from(rng.next() as i64),
        _ => BigInt::from(rng.next()) * BigInt::from(rng.next() as i64) * BigInt::from(rng.next()),
    }
}

#[test]
fn integers_are_exact() {
    let mut rng = Rng::new(32);
    for _ in 0..20_000 {
        let (a, b) = (integer(&mut rng), integer(&mut rng));
        let (left, right) = (Number::from_big(a.clone()), Number::from_big(b.clone()));
        for (arithmetic, exact) in [
            (Arithmetic::Add, &a + &b),
            (Arithmetic::Sub, &a - &b),
            (Arithmetic::Mul, &a * &b),
        ] {
            assert_eq!(
                arithmetic.apply(&left, &right),
                Ok(Number::from_big(exact)),
                "{a} {arithmetic:?} {b}"
            );
        }
        assert_eq!(Number::from_digits(a.to_string().as_bytes()), left);
        assert_eq!(left.is_zero(), a == BigInt::ZERO);
        // In its smallest form: what fits 64 bits is never a big one.
        assert_eq!(matches!(left, Number::Int(_)), i64::try_from(&a).is_ok());
    }
}

#[test]
fn long_digits_are_read_in_halves() {
    let mut rng = Rng::new(33);
    for length in [1023, 1024, 1025, 2048, 2049, 5000, 20_001] {
        let digits: String = (0..length)
            .map(|_| char::from(b'0' + rng.below(10) as u8))
            .collect();
        let text = format!("-1{digits}");
        let exact: BigInt = text.parse().expect("digits");
        assert_eq!(
            Number::from_digits(text.as_bytes()),
            Number::Big(exact),
            "{length} digits"
        );
    }
}

#[test]
fn doubles_never_become_infinite() {
    let mut rng = Rng::new(34);
    for _ in 0..20_000 {
        let mut number = || match rng.below(3) {
            0 => Number::from_big(integer(&mut rng)),
            _ => match f64::from_bits(rng.next()) {
                value if value.is_finite() => Number::Float(value),
                _ => Number::Float(1.0),
            },
        };
        let (left, right) = (number(), number());
        for arithmetic in [Arithmetic::Add, Arithmetic::Sub, Arithmetic::Mul] {
            match arithmetic.apply(&left, &right) {
                Ok(Number::Float(value)) => assert!(value.is_finite()),
                Ok(_) => assert!(!matches!(
                    (&left, &right),
                    (Number::Float(_), _) | (_, Number::Float(_))
                )),
                Err(BadArith) => {}
            }
        }
        if !right.is_zero() {
            assert!(divide(&left, &right).unwrap_or(0.0).is_finite());
        }
    }
}

#[test]
fn a_small_integer_becomes_the_nearest_double_and_a_big_one_the_sum_of_its_limbs() {
    assert_eq!(
        Number::Int(9007199254740993).to_float(),
        Ok(9007199254740992.0)
    );
    assert_eq!(Number::Int(i64::MIN).to_float(), Ok(-9223372036854775808.0));
    let big = |text: &str| Number::from_digits(text.as_bytes()).to_float();
    assert_eq!(big("18446744073709551616"), Ok(18446744073709551616.0));
    assert_eq!(big("-36893488147419103232"), Ok(-36893488147419103232.0));
    // The upper limb is 2^53 + 1 and is rounded to even before the lower one is added; the nearest
    // double of the whole number would be one step up.
    let value: BigInt = ((BigInt::from(1u64 << 53) + 1) << 64) + 1;
    let (down, up) = (2f64.powi(117), (2f64.powi(53) + 2.0) * 2f64.powi(64));
    assert_eq!(Number::from_big(value.clone()).to_float(), Ok(down));
    assert_eq!(value.to_string().parse(), Ok(up));
    let largest = format!("{:.0}", f64::MAX);
    assert_eq!(big(&largest), Ok(f64::MAX));
    assert_eq!(big(&format!("{largest}0")), Err(BadArith));
}
