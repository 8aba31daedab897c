//! Comparing and hashing terms of both kinds: a value of a text is equal to the term that it would be decoded to.

use crate::term::{Pair, Term};
use crate::wrapper::Lazy;
use ptc_term::heap::{Heap, Inside, Kind};
use ptc_term::number::Number;
use ptc_term::value::Decimal;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hasher};

/// Two terms that are compared, and whether 1 and 1.0 differ.
type Compared<T> = (Term<T>, Term<T>, bool);

/// The seed of hashes that are only an order.
const SEED: u64 = 0;
/// Integers below this size are the same number as a float.
const EXACT: u64 = 1 << 53;

/// The order of a float and an integer, by the exact value of the float. A float that is not smaller than [`EXACT`] is whole;
/// every other one is nearer to zero than an integer that is not.
fn order_of_float(float: f64, whole: &Number) -> Option<Ordering> {
    if float.abs() < EXACT as f64 {
        return Some(match whole.is_negative() {
            true => Ordering::Greater,
            false => Ordering::Less,
        });
    }
    let float = Decimal::of_number(Number::of_whole(float)?)?;
    Some(float.order(&Decimal::of_number(whole.clone())?))
}

impl<H: Heap> Lazy<'_, H> {
    /// Term order, where `Equal` is `==`; or an order in which only identical terms are equal, and every integer stands before
    /// every float.
    pub(crate) fn order(&self, a: Term<H::Term>, b: Term<H::Term>, exact: bool) -> Ordering {
        if let Some(order) = self.order_of_leaves(a, b, exact) {
            return order;
        }
        let mut todo = vec![(a, b, exact)];
        while let Some((a, b, exact)) = todo.pop() {
            let order = match self.order_of_leaves(a, b, exact) {
                Some(order) => order,
                None => self.order_of_parts(a, b, exact, &mut todo),
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// The order of two terms, unless their parts must be compared.
    #[inline]
    fn order_of_leaves(&self, a: Term<H::Term>, b: Term<H::Term>, exact: bool) -> Option<Ordering> {
        let (x, y) = (self.kind(a), self.kind(b));
        let has_parts = |kind| matches!(kind, Kind::List | Kind::Map | Kind::Other);
        match (a, b) {
            (Term::Real(a), Term::Real(b)) if !self.has_stored() || x != y || !has_parts(x) => {
                Some(self.order_of_real(a, b, exact))
            }
            _ if x != y => Some(self.order_of_kinds(a, b)),
            _ => match x {
                Kind::Number => self.order_of_numbers(a, b, exact),
                Kind::String => Some(self.bytes(a).cmp(&self.bytes(b))),
                _ => None,
            },
        }
    }

    fn order_of_real(&self, a: H::Term, b: H::Term, exact: bool) -> Ordering {
        match self.inner.compare(a, b) {
            Ordering::Equal if exact && !self.inner.identical(a, b) => {
                let is_float = |term| self.inner.float(term).is_some();
                let hash = |term| self.inner.hash(term, SEED);
                let order = is_float(a).cmp(&is_float(b));
                // Any order of the others will do.
                order
                    .then_with(|| hash(a).cmp(&hash(b)))
                    .then(Ordering::Less)
            }
            order => order,
        }
    }

    /// The order of terms of two kinds, of which one at least is a value of a text: number < atom < map < list < string.
    fn order_of_kinds(&self, a: Term<H::Term>, b: Term<H::Term>) -> Ordering {
        let rank = |kind| match kind {
            Kind::Number => 0,
            Kind::Nil | Kind::Bool => 1,
            Kind::Other => 2,
            Kind::Map => 3,
            Kind::List => 4,
            Kind::String => 5,
        };
        match (a, b) {
            (Term::Real(a), b) => self.order_of_kind(b, a).reverse(),
            (a, Term::Real(b)) => self.order_of_kind(a, b),
            (a, b) => rank(self.kind(a)).cmp(&rank(self.kind(b))),
        }
    }

    fn order_of_kind(&self, node: Term<H::Term>, real: H::Term) -> Ordering {
        match self.kind(node) {
            Kind::String => self.compare_text_of(node, real),
            Kind::List => self.inner.compare(self.empty_list, real),
            Kind::Map => self.inner.compare(self.empty_map, real),
            _ => Ordering::Less,
        }
    }

    fn compare_text_of(&self, node: Term<H::Term>, real: H::Term) -> Ordering {
        let bytes = self.bytes(node).unwrap_or_default();
        self.inner.compare_text(bytes, real)
    }

    #[inline]
    fn order_of_numbers(
        &self,
        a: Term<H::Term>,
        b: Term<H::Term>,
        exact: bool,
    ) -> Option<Ordering> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        Some(match (&a, &b) {
            (Number::Int(a), Number::Int(b)) => a.cmp(b),
            (Number::Float(a), Number::Float(b)) => {
                let order = a.partial_cmp(b).unwrap_or(Ordering::Equal);
                match exact && self.signed_zeros {
                    true => order.then_with(|| a.total_cmp(b)),
                    false => order,
                }
            }
            (Number::Float(_), _) if exact => Ordering::Greater,
            (_, Number::Float(_)) if exact => Ordering::Less,
            (Number::Int(whole), Number::Float(float)) if whole.unsigned_abs() < EXACT => {
                (*whole as f64).partial_cmp(float)?
            }
            (Number::Float(float), Number::Int(whole)) if whole.unsigned_abs() < EXACT => {
                float.partial_cmp(&(*whole as f64))?
            }
            (Number::Float(float), whole) => order_of_float(*float, whole)?,
            (whole, Number::Float(float)) => order_of_float(*float, whole)?.reverse(),
            _ => Decimal::of_number(a)?.order(&Decimal::of_number(b)?),
        })
    }

    /// The order of two lists, maps or tuples as far as it is known without their parts; these are pushed to `todo`, the first
    /// ones last.
    fn order_of_parts(
        &self,
        a: Term<H::Term>,
        b: Term<H::Term>,
        exact: bool,
        todo: &mut Vec<Compared<H::Term>>,
    ) -> Ordering {
        match self.kind(a) {
            Kind::List => match (self.uncons(a), self.uncons(b)) {
                (Some((head_a, tail_a)), Some((head_b, tail_b))) => {
                    todo.extend([(tail_a, tail_b, exact), (head_a, head_b, exact)]);
                    Ordering::Equal
                }
                (a, b) => a.is_some().cmp(&b.is_some()),
            },
            Kind::Map => {
                let (a, b) = (self.sorted(a), self.sorted(b));
                let pairs = || a.iter().zip(&b).rev();
                todo.extend(pairs().map(|((_, a), (_, b))| (*a, *b, exact)));
                todo.extend(pairs().map(|((a, _), (b, _))| (*a, *b, true)));
                a.len().cmp(&b.len())
            }
            _ => match (self.inside(a), self.inside(b), a, b) {
                (Inside::Elements(a), Inside::Elements(b), ..) => {
                    let pairs = a.iter().zip(b).rev();
                    todo.extend(pairs.map(|(a, b)| (*a, *b, exact)));
                    a.len().cmp(&b.len())
                }
                (.., Term::Real(a), Term::Real(b)) => self.order_of_real(a, b, exact),
                _ => Ordering::Equal,
            },
        }
    }

    /// The entries of a map in the order in which maps are compared.
    fn sorted(&self, map: Term<H::Term>) -> Vec<Pair<H::Term>> {
        let mut entries = self.entries(map);
        if let Term::Real(_) = map {
            entries.sort_by(|(a, _), (b, _)| self.order(*a, *b, true));
        }
        entries
    }

    /// Returns a hash that is equal for identical terms.
    pub(crate) fn hash_of(&self, term: Term<H::Term>, seed: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(seed);
        let mut todo = vec![term];
        while let Some(term) = todo.pop() {
            match self.kind(term) {
                Kind::Number => match self.number(term) {
                    Some(Number::Int(value)) => hasher.write_i64(value),
                    Some(Number::Big(value)) => hasher.write(&value.to_signed_bytes_le()),
                    // Zeros may be identical whatever their sign.
                    Some(Number::Float(value)) => hasher.write_u64((value + 0.0).to_bits()),
                    None => {}
                },
                Kind::String => {
                    let bytes = self.bytes(term).unwrap_or_default();
                    hasher.write_usize(bytes.len());
                    hasher.write(bytes);
                }
                Kind::List => match self.uncons(term) {
                    Some((head, tail)) => {
                        hasher.write_u8(1);
                        todo.extend([tail, head]);
                    }
                    None => hasher.write_u8(2),
                },
                Kind::Map => {
                    let entries = self.sorted(term);
                    hasher.write_usize(entries.len());
                    todo.extend(entries.into_iter().flat_map(|(key, value)| [key, value]));
                }
                Kind::Nil | Kind::Bool | Kind::Other => match (self.inside(term), term) {
                    (Inside::Elements(elements), _) => {
                        hasher.write_usize(elements.len());
                        todo.extend(elements);
                    }
                    (_, Term::Real(term)) => hasher.write_u64(self.inner.hash(term, seed)),
                    _ => {}
                },
            }
        }
        hasher.finish()
    }
}
