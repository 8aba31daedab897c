//! Term order: number < atom < reference < fun < port < pid < tuple < map < list < bitstring.
//!
//! There are two orders. In *term order* 1 and 1.0 are equal (`==`); in *exact order* every integer
//! precedes every float, and only terms that are `===` are equal. The keys of maps are always compared
//! exactly. As in OTP 27 and later, 0.0 and -0.0 are `==` but not `===`.

use super::{PlainHeap, Term, Value};
use crate::number::Number;
use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

impl PlainHeap {
    /// Term order; `Equal` is `==`.
    pub(super) fn term_order(&self, a: Term, b: Term) -> Ordering {
        self.order(a, b, false)
    }

    /// Exact order; `Equal` is `===`.
    pub(super) fn exact_order(&self, a: Term, b: Term) -> Ordering {
        self.order(a, b, true)
    }

    /// Returns the order of the first pair that differs, among the pairs of parts in order.
    fn order(&self, a: Term, b: Term, exact: bool) -> Ordering {
        let mut todo = vec![(a, b, exact)];
        while let Some((a, b, exact)) = todo.pop() {
            let ordering = match (self.value(a), self.value(b)) {
                _ if a == b => Ordering::Equal,
                (Value::Number(a), Value::Number(b)) => number_order(a, b, exact),
                (Value::Atom(a), Value::Atom(b)) => a.cmp(b),
                (Value::Binary(a), Value::Binary(b)) => a.cmp(b),
                (Value::Opaque(a, x), Value::Opaque(b, y)) => (a, x).cmp(&(b, y)),
                (Value::Cons(head_a, tail_a), Value::Cons(head_b, tail_b)) => {
                    todo.push((*tail_a, *tail_b, exact));
                    todo.push((*head_a, *head_b, exact));
                    Ordering::Equal
                }
                (Value::Tuple(a), Value::Tuple(b)) => {
                    let pairs = a.iter().zip(b).rev();
                    todo.extend(pairs.map(|(a, b)| (*a, *b, exact)));
                    a.len().cmp(&b.len())
                }
                (Value::Map(a), Value::Map(b)) => {
                    let pairs = || a.iter().zip(b).rev();
                    todo.extend(pairs().map(|((_, a), (_, b))| (*a, *b, exact)));
                    todo.extend(pairs().map(|((a, _), (b, _))| (*a, *b, true)));
                    a.len().cmp(&b.len())
                }
                (a, b) => rank(a).cmp(&rank(b)),
            };
            if ordering.is_ne() {
                return ordering;
            }
        }
        Ordering::Equal
    }

    /// Returns a hash that is equal for terms that are equal in exact order.
    pub(super) fn hash_of(&self, term: Term, seed: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            let value = self.value(term);
            rank(value).hash(&mut hasher);
            match value {
                Value::Atom(name) => name.hash(&mut hasher),
                Value::Number(Number::Int(value)) => value.hash(&mut hasher),
                Value::Number(Number::Big(value)) => value.hash(&mut hasher),
                Value::Number(Number::Float(value)) => value.to_bits().hash(&mut hasher),
                Value::Binary(bytes) => bytes.hash(&mut hasher),
                Value::EmptyList => {}
                Value::Cons(head, tail) => todo.extend([tail, head]),
                Value::Tuple(elements) => {
                    elements.len().hash(&mut hasher);
                    todo.extend(elements);
                }
                Value::Map(entries) => {
                    entries.len().hash(&mut hasher);
                    todo.extend(entries.iter().flat_map(|(key, value)| [key, value]));
                }
                Value::Opaque(_, number) => number.hash(&mut hasher),
            }
        }
        hasher.finish()
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::Atom(_) => 1,
        Value::Opaque(kind, _) => 2 + *kind as u8,
        Value::Tuple(_) => 6,
        Value::Map(_) => 7,
        Value::EmptyList => 8,
        Value::Cons(..) => 9,
        Value::Binary(_) => 10,
    }
}

fn number_order(a: &Number, b: &Number, exact: bool) -> Ordering {
    match (a, b) {
        (Number::Float(a), Number::Float(b)) if exact => a.total_cmp(b),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Number::Float(_), _) if exact => Ordering::Greater,
        (_, Number::Float(_)) if exact => Ordering::Less,
        (Number::Float(a), b) => integer_and_float(b, *a).reverse(),
        (a, Number::Float(b)) => integer_and_float(a, *b),
        (a, b) => big(a).cmp(&big(b)),
    }
}

/// Compares exactly: no integer is rounded to a double.
fn integer_and_float(integer: &Number, float: f64) -> Ordering {
    let fraction = 0.0.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal);
    big(integer).cmp(&whole(float)).then(fraction)
}

fn big(integer: &Number) -> BigInt {
    match integer {
        Number::Int(value) => BigInt::from(*value),
        Number::Big(value) => value.clone(),
        Number::Float(value) => whole(*value),
    }
}

/// Returns the integer part of a double.
fn whole(float: f64) -> BigInt {
    if float.abs() < i64::MAX as f64 {
        return BigInt::from(float as i64);
    }
    // mantissa * 2^exponent, with an exponent above zero
    let bits = float.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    let exponent = ((bits >> 52) & 0x7FF) - 1075;
    let sign = match float < 0.0 {
        true => Sign::Minus,
        false => Sign::Plus,
    };
    BigInt::from_biguint(sign, mantissa.into()) << exponent
}
