//! Comparing terms: order, equality, and whether one text contains another.

use crate::context::Context;
use crate::cost::{is_leaf, BYTES_A_UNIT};
use crate::kinds::Kinds;
use ptc_term::heap::{Heap, Kind};
use ptc_term::stop::Stop;
use std::cmp::Ordering;

/// Longer strings are compared in pieces of this length, in bytes.
const PIECE: usize = 1 << 20;

impl<H: Heap> Context<'_, H> {
    /// Term order; `Equal` is `==`.
    #[inline]
    pub fn compare(&mut self, a: H::Term, b: H::Term) -> Result<Ordering, Stop> {
        if let Some(left) = self.heap.small_integer(a) {
            if let Some(right) = self.heap.small_integer(b) {
                return Ok(left.cmp(&right));
            }
        }
        if self.reading.values && self.may_hold_values(a, b) {
            if let Some(order) = self.order_of_both(a, b, false)? {
                return Ok(order);
            }
        }
        self.compare_terms(a, b)
    }

    /// Compares two terms, where the values of all terms that are compared have these kinds.
    pub fn compare_among(
        &mut self,
        kinds: &Kinds,
        a: H::Term,
        b: H::Term,
    ) -> Result<Ordering, Stop> {
        match kinds.is_empty() {
            true => self.compare_terms(a, b),
            false => self.order_by_meaning(kinds, a, b, false),
        }
    }

    #[inline]
    fn compare_terms(&mut self, a: H::Term, b: H::Term) -> Result<Ordering, Stop> {
        let cost = self.weigh_both(a, b)?;
        if cost > PIECE / BYTES_A_UNIT && self.heap.kind(a) == Kind::String {
            return self.compare_long_strings(a, b);
        }
        self.consume_fuel_at_once(cost)?;
        Ok(self.heap.compare(a, b))
    }

    /// Compares a term with one that has no parts.
    #[inline]
    pub fn compare_with_leaf(&mut self, term: H::Term, leaf: H::Term) -> Result<Ordering, Stop> {
        match self.may_mean_another(term) {
            true => self.compare(term, leaf),
            false => Ok(self.heap.compare(term, leaf)),
        }
    }

    /// Returns false if the heap compares the term with a term without parts as their meaning demands.
    #[inline]
    pub fn may_mean_another(&self, term: H::Term) -> bool {
        self.reading.values && matches!(self.heap.kind(term), Kind::Map | Kind::Other)
    }

    /// Returns false if neither term can be a value or contain one.
    #[inline]
    fn may_hold_values(&self, a: H::Term, b: H::Term) -> bool {
        !is_leaf(self.heap.kind(a)) || !is_leaf(self.heap.kind(b))
    }

    /// Strict equality, `===`.
    #[inline]
    pub fn identical(&mut self, a: H::Term, b: H::Term) -> Result<bool, Stop> {
        if self.reading.values && self.may_hold_values(a, b) {
            if let Some(order) = self.order_of_both(a, b, true)? {
                return Ok(order.is_eq());
            }
        }
        let cost = self.weigh_both(a, b)?;
        if cost > PIECE / BYTES_A_UNIT && self.heap.kind(a) == Kind::String {
            return Ok(self.compare_long_strings(a, b)?.is_eq());
        }
        self.consume_fuel_at_once(cost)?;
        Ok(self.heap.identical(a, b))
    }

    #[cold]
    fn compare_long_strings(&mut self, a: H::Term, b: H::Term) -> Result<Ordering, Stop> {
        self.consume_fuel_to_copy(a)?;
        self.consume_fuel_to_copy(b)?;
        let Context { heap, meter, .. } = self;
        let heap = &**heap;
        let (Some(left), Some(right)) = (heap.bytes(a), heap.bytes(b)) else {
            return Ok(heap.compare(a, b));
        };
        for (left, right) in left.chunks(PIECE).zip(right.chunks(PIECE)) {
            meter.consume_fuel(PIECE / BYTES_A_UNIT, heap)?;
            let shortest = left.len().min(right.len());
            let order = left[..shortest].cmp(&right[..shortest]);
            if order.is_ne() {
                return Ok(order);
            }
        }
        Ok(left.len().cmp(&right.len()))
    }

    /// Returns whether `whole` contains `part`; `None` unless both are strings.
    pub fn has_part(&mut self, whole: H::Term, part: H::Term) -> Result<Option<bool>, Stop> {
        let (mut whole, mut part) = (whole, part);
        if self.reading.values {
            if self.heap.is_name(whole) && !self.is_value(part) {
                return self.name_has_part(whole, part);
            }
            if self.heap.kind(whole) != Kind::String {
                whole = self.text_of_value(whole)?.unwrap_or(whole);
            }
            if self.heap.kind(whole) == Kind::String {
                part = self.text_of_value(part)?.unwrap_or(part);
            }
        }
        // Counts `part` as well: the heap reads it again for each text.
        self.consume_fuel_to_copy(whole)?;
        self.consume_fuel_to_copy(part)?;
        self.needle.is_in(self.heap, &mut self.meter, whole, part)
    }
}
