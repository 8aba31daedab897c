//! Bounds of numbers, compared exactly: integers and floats of any size, and decimals.

use crate::values::Values;
use num_bigint::BigInt;
use ptc_term::heap::Kind;
use ptc_term::number::Number;
use ptc_term::value::{Decimal, Form, Meaning};
use std::cmp::Ordering;

/// A number of a rule, or a value that is compared with it.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// An integer or a float.
    Number(Number),
    /// A decimal.
    Decimal(Decimal),
}

impl Bound {
    /// Returns the number that a term is; `None` for other terms.
    pub fn of<H: Values>(heap: &H, term: H::Term) -> Option<Bound> {
        match heap.kind(term) {
            Kind::Number => heap.number(term).map(Bound::Number),
            Kind::Map if heap.form(term) == Form::Value => {
                match Meaning::of_value(heap, heap.value(term))? {
                    Meaning::Number(decimal) => Some(Bound::Decimal(decimal)),
                    Meaning::Moment(..) => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the number that a term is where decimals stand: also a text of one.
    pub fn of_decimal<H: Values>(heap: &H, term: H::Term) -> Option<Bound> {
        match heap.bytes(term) {
            Some(text) => Decimal::read(text).map(Bound::Decimal),
            None => Bound::of(heap, term),
        }
    }

    /// Returns whether the number is above zero.
    pub fn is_positive(&self) -> bool {
        self.order(&Bound::Number(Number::Int(0))).is_gt()
    }

    /// Returns the order of two numbers: of integers and floats by their exact values, with a decimal by the shortest
    /// text of a float.
    pub fn order(&self, other: &Bound) -> Ordering {
        match (self, other) {
            (Bound::Number(a), Bound::Number(b)) => order(a, b),
            (a, b) => match (a.decimal(), b.decimal()) {
                (Some(a), Some(b)) => a.order(&b),
                _ => Ordering::Equal,
            },
        }
    }

    /// Returns whether the number is a whole multiple of another one; a float is the number of its shortest text.
    pub fn is_multiple_of(&self, other: &Bound) -> bool {
        if let (Bound::Number(Number::Int(a)), Bound::Number(Number::Int(b))) = (self, other) {
            return a.checked_rem(*b).is_none_or(|rest| rest == 0);
        }
        match (self.decimal(), other.decimal()) {
            (Some(a), Some(b)) => a.is_multiple_of(&b),
            _ => false,
        }
    }

    fn decimal(&self) -> Option<Decimal> {
        match self {
            Bound::Number(number) => Decimal::of_number(number.clone()),
            Bound::Decimal(decimal) => Some(decimal.clone()),
        }
    }
}

fn order(a: &Number, b: &Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(b),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (a, Number::Float(b)) => order_of_float(*b, a).reverse(),
        (Number::Float(a), b) => order_of_float(*a, b),
        (a, b) => big(a).cmp(&big(b)),
    }
}

/// Returns the order of a float and an integer.
fn order_of_float(float: f64, integer: &Number) -> Ordering {
    let whole = Number::of_whole(float.floor()).unwrap_or(Number::Int(0));
    let order = order(&whole, integer);
    match order {
        // It is above its own whole part.
        Ordering::Equal if float.fract() != 0.0 => Ordering::Greater,
        order => order,
    }
}

fn big(number: &Number) -> BigInt {
    match number {
        Number::Int(value) => BigInt::from(*value),
        Number::Big(value) => value.clone(),
        Number::Float(_) => BigInt::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> Bound {
        Bound::Number(Number::Int(value))
    }

    fn float(value: f64) -> Bound {
        Bound::Number(Number::Float(value))
    }

    fn digits(text: &str) -> Bound {
        Bound::Number(Number::from_digits(text.as_bytes()))
    }

    #[test]
    fn integers_and_floats_are_compared_exactly() {
        assert!(int(3).order(&float(3.5)).is_lt());
        assert!(float(-3.5).order(&int(-3)).is_lt());
        assert!(float(-3.5).order(&int(-4)).is_gt());
        let just_above = digits("9007199254740993");
        assert!(just_above.order(&float(9_007_199_254_740_992.0)).is_gt());
        // 1.0e23 is a little less than its text.
        assert!(float(1.0e23)
            .order(&digits("100000000000000000000000"))
            .is_lt());
        assert!(float(1.0e23)
            .order(&digits("99999999999999991611392"))
            .is_eq());
        assert!(float(0.0).order(&float(-0.0)).is_eq());
    }

    #[test]
    fn multiples_are_exact() {
        assert!(float(0.3).is_multiple_of(&float(0.1)));
        assert!(float(0.0075).is_multiple_of(&float(0.0001)));
        assert!(!float(0.00751).is_multiple_of(&float(0.0001)));
        assert!(!float(1.0e308).is_multiple_of(&float(0.123_456_789)));
        assert!(float(1.0e308).is_multiple_of(&float(0.5)));
        assert!(int(-9).is_multiple_of(&int(3)) && !int(-10).is_multiple_of(&int(3)));
        assert!(int(i64::MIN).is_multiple_of(&int(-1)));
        assert!(float(10.0).is_multiple_of(&int(5)));
        assert!(digits("700000000000000000000").is_multiple_of(&int(7)));
        assert!(!digits("700000000000000000001").is_multiple_of(&int(7)));
    }
}
