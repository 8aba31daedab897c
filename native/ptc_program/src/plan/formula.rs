//! Numbers of calls and of items, as formulas: sums of products of a number and the lengths of lists.
//!
//! A formula is always an upper or always a lower bound, so what cannot be written as such a sum is replaced by a larger or
//! a smaller one.

use super::sources::SourceId;
use crate::analysis::names::{Hash, Index};
use std::cmp::Ordering;

/// The number of a loop. A part of the data that is read inside may belong to its current item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

impl LoopId {
    /// No loop: there is one value only.
    pub const ROOT: LoopId = LoopId(u32::MAX);
    /// A loop that has ended: it is one of several values, and not known which.
    pub const LOST: LoopId = LoopId(u32::MAX - 1);
}

/// A factor of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Factor {
    /// The number of items of a list; for the current item of the loop, or of all lists at this path together.
    Count(SourceId, LoopId),
    /// At most this number, and at most the formula.
    AtMost(u64, FormulaId),
}

/// A product: a number, and factors in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The number.
    pub times: u64,
    /// The factors.
    pub factors: Vec<Factor>,
}

/// The number of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormulaId(pub u32);

impl FormulaId {
    /// 0
    pub const ZERO: FormulaId = FormulaId(0);
    /// 1
    pub const ONE: FormulaId = FormulaId(1);
    /// Any number.
    pub const UNKNOWN: FormulaId = FormulaId(2);
}

/// All formulas. Equal ones have one number.
#[derive(Debug)]
pub struct Formulas {
    all: Vec<Vec<Product>>,
    index: Index,
    words: usize,
}

/// Maximum number of products of a formula, and of factors of a product.
const MOST_PRODUCTS: usize = 16;
const MOST_FACTORS: usize = 8;

impl Default for Formulas {
    fn default() -> Self {
        let one = Product {
            times: 1,
            factors: vec![],
        };
        Formulas {
            all: vec![vec![], vec![one], vec![]],
            index: Index::default(),
            words: 0,
        }
    }
}

impl Formulas {
    /// Forgets all but the first formulas, and keeps the memory. Returns the words of that.
    pub(super) fn clear(&mut self) -> usize {
        self.all.truncate(3);
        self.index.clear();
        self.words = 0;
        3 * self.all.capacity() + self.index.room()
    }

    /// Returns the products; none for 0, and for any number.
    pub fn get(&self, id: FormulaId) -> &[Product] {
        &self.all[id.0 as usize]
    }

    /// Returns the words that they take.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns a number.
    pub fn number(&mut self, number: u64) -> FormulaId {
        match number {
            0 => FormulaId::ZERO,
            1 => FormulaId::ONE,
            times => self.intern(vec![Product {
                times,
                factors: vec![],
            }]),
        }
    }

    /// Returns a formula that is one factor.
    pub fn factor(&mut self, factor: Factor) -> FormulaId {
        let mut hash = Hash::begin();
        add_product(&mut hash, 1, &[factor]);
        let is_it = |at: u32| match &self.all[at as usize][..] {
            [Product { times: 1, factors }] => factors[..] == [factor],
            _ => false,
        };
        match self.index.find(hash.finish(), is_it) {
            Some(at) => FormulaId(at),
            None => self.intern(vec![Product {
                times: 1,
                factors: vec![factor],
            }]),
        }
    }

    /// Returns the number that a formula is.
    pub fn as_number(&self, id: FormulaId) -> Option<u64> {
        match self.get(id) {
            [] if id == FormulaId::ZERO => Some(0),
            [product] if product.factors.is_empty() => Some(product.times),
            _ => None,
        }
    }

    /// Returns whether no loop occurs in a formula.
    pub fn is_settled(&self, id: FormulaId) -> bool {
        let is_settled = |factor: &Factor| matches!(factor, Factor::Count(_, LoopId::ROOT));
        self.get(id)
            .iter()
            .all(|product| product.factors.iter().all(is_settled))
    }

    /// Returns at most a number of a formula.
    pub fn at_most(&mut self, number: u64, of: FormulaId) -> FormulaId {
        match (number, self.as_number(of)) {
            (0, _) => FormulaId::ZERO,
            (_, Some(known)) => self.number(known.min(number)),
            _ if of == FormulaId::UNKNOWN => self.number(number),
            _ => match self.bound(of) {
                // So that bounds of bounds do not grow with each step.
                Some((most, _)) if most <= number => of,
                Some((_, inner)) => self.factor(Factor::AtMost(number, inner)),
                None => self.factor(Factor::AtMost(number, of)),
            },
        }
    }

    /// Returns the number and the formula that a formula is at most, if it is no more than that.
    fn bound(&self, of: FormulaId) -> Option<(u64, FormulaId)> {
        match self.get(of) {
            [Product { times: 1, factors }] => match factors[..] {
                [Factor::AtMost(most, inner)] => Some((most, inner)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns a sum.
    pub fn sum(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        match (a, b) {
            (FormulaId::UNKNOWN, _) | (_, FormulaId::UNKNOWN) => FormulaId::UNKNOWN,
            (FormulaId::ZERO, other) | (other, FormulaId::ZERO) => other,
            _ => self.zipped(a, b, u64::checked_add),
        }
    }

    /// Returns a formula that is at least as large as both.
    pub fn larger(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        match (a, b) {
            (FormulaId::UNKNOWN, _) | (_, FormulaId::UNKNOWN) => FormulaId::UNKNOWN,
            _ if a == b => a,
            _ => self.zipped(a, b, |a, b| Some(a.max(b))),
        }
    }

    /// Returns a formula that is at most as large as either.
    pub fn smaller(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        match (a, b) {
            (FormulaId::UNKNOWN, other) | (other, FormulaId::UNKNOWN) => other,
            _ if a == b => a,
            _ => self.zipped(a, b, |a, b| Some(a.min(b))),
        }
    }

    /// Combines the numbers of equal products.
    fn zipped(
        &mut self,
        a: FormulaId,
        b: FormulaId,
        combine: impl Fn(u64, u64) -> Option<u64>,
    ) -> FormulaId {
        let (a, b) = (self.get(a), self.get(b));
        let (mut at, mut of, mut all) = (0, 0, Vec::with_capacity(a.len() + b.len()));
        while at < a.len() || of < b.len() {
            let order = match (a.get(at), b.get(of)) {
                (Some(one), Some(other)) => one.factors.cmp(&other.factors),
                (Some(_), None) => Ordering::Less,
                _ => Ordering::Greater,
            };
            let (mut times, mut factors) = ([0, 0], &[][..]);
            if order != Ordering::Greater {
                (times[0], factors) = (a[at].times, &a[at].factors[..]);
                at += 1;
            }
            if order != Ordering::Less {
                (times[1], factors) = (b[of].times, &b[of].factors[..]);
                of += 1;
            }
            match combine(times[0], times[1]) {
                None => return FormulaId::UNKNOWN,
                Some(0) => {}
                Some(times) => all.push(Product {
                    times,
                    factors: factors.to_vec(),
                }),
            }
        }
        self.intern(all)
    }

    /// Returns a product.
    pub fn product(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        match (a, b) {
            (FormulaId::ZERO, _) | (_, FormulaId::ZERO) => return FormulaId::ZERO,
            (FormulaId::UNKNOWN, _) | (_, FormulaId::UNKNOWN) => return FormulaId::UNKNOWN,
            (FormulaId::ONE, other) | (other, FormulaId::ONE) => return other,
            _ => {}
        }
        let (first, second) = (self.get(a), self.get(b));
        if first.len() * second.len() > MOST_PRODUCTS {
            return FormulaId::UNKNOWN;
        }
        let mut all = Vec::with_capacity(first.len() * second.len());
        for one in first {
            for other in second {
                let Some(times) = one.times.checked_mul(other.times) else {
                    return FormulaId::UNKNOWN;
                };
                let factors = [&one.factors[..], &other.factors[..]].concat();
                all.push(Product { times, factors });
            }
        }
        self.of(all)
    }

    /// Returns the sum of these products, in any order; any number if that is too long.
    pub fn of(&mut self, mut all: Vec<Product>) -> FormulaId {
        for product in &mut all {
            product.factors.sort_unstable();
        }
        all.sort_by(|a, b| a.factors.cmp(&b.factors));
        let mut sum: Vec<Product> = Vec::with_capacity(all.len());
        for product in all {
            match sum.last_mut() {
                Some(last) if last.factors == product.factors => {
                    let Some(times) = last.times.checked_add(product.times) else {
                        return FormulaId::UNKNOWN;
                    };
                    last.times = times;
                }
                _ => sum.push(product),
            }
        }
        self.intern(sum)
    }

    fn intern(&mut self, all: Vec<Product>) -> FormulaId {
        let long = |product: &Product| product.factors.len() > MOST_FACTORS;
        if all.len() > MOST_PRODUCTS || all.iter().any(long) {
            return FormulaId::UNKNOWN;
        }
        match &all[..] {
            [] => return FormulaId::ZERO,
            [one] if one.times == 1 && one.factors.is_empty() => return FormulaId::ONE,
            _ => {}
        }
        let mut hash = Hash::begin();
        for product in &all {
            add_product(&mut hash, product.times, &product.factors);
        }
        let hash = hash.finish();
        let found = self.index.find(hash, |at| self.all[at as usize] == all);
        if let Some(at) = found {
            return FormulaId(at);
        }
        let id = self.all.len() as u32;
        self.words += all.iter().map(|it| 8 + 2 * it.factors.len()).sum::<usize>();
        self.all.push(all);
        self.index.add(hash, id);
        FormulaId(id)
    }
}

fn add_product(hash: &mut Hash, times: u64, factors: &[Factor]) {
    hash.add(times);
    for factor in factors {
        let (a, b) = match factor {
            Factor::Count(source, of) => (u64::from(source.0) << 1, u64::from(of.0)),
            Factor::AtMost(number, of) => (*number << 1 | 1, u64::from(of.0)),
        };
        hash.add(a);
        hash.add(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sums_have_one_number() {
        let mut all = Formulas::default();
        let (a, b) = (SourceId(1), SourceId(2));
        let a = all.factor(Factor::Count(a, LoopId::ROOT));
        let b = all.factor(Factor::Count(b, LoopId::ROOT));
        let (ab, ba) = (all.sum(a, b), all.sum(b, a));
        assert_eq!(ab, ba);
        let (two, twice) = (all.number(2), all.sum(a, a));
        assert_eq!(all.product(two, a), twice);
        assert_eq!(all.larger(a, twice), twice);
        assert_eq!(all.smaller(a, b), FormulaId::ZERO);
        assert_eq!(
            all.product(FormulaId::UNKNOWN, FormulaId::ZERO),
            FormulaId::ZERO
        );
        let (products, square) = (all.product(ab, ab), all.product(a, b));
        assert_eq!(all.get(products).len(), 3);
        assert_eq!(all.get(products)[1].times, 2);
        assert_eq!(all.get(square).len(), 1);
    }
}
