//! The cost of comparing and hashing terms.
//!
//! A heap compares or hashes a term in one call, however large the term is. So the machine first
//! walks the term and counts each part, then counts the comparison or the hash as a whole.

use super::kinds::Kinds;
use super::machine::Machine;
use crate::fault::Halt;
use ptc_term::heap::{Heap, Kind};
use ptc_term::parts::Parts;
use std::cmp::Ordering;
use std::time::Duration;

/// Bytes of a string per unit of fuel.
pub(super) const BYTES_A_UNIT: usize = 64;
/// Bytes per unit where the VM has to copy them bit by bit.
const BYTES_COPIED_A_UNIT: usize = 8;
/// Limbs of an integer per unit.
const LIMBS_A_UNIT: usize = 4;
/// Cost of hashing a term and comparing it with a term of the same hash, as a multiple of the
/// comparison alone.
pub(super) const HASH: usize = 4;
/// Cost of a part of unknown size: more than a slice allows.
const UNKNOWN: usize = 200_000;
/// Maximum number of entries for which a look-up compares the keys one by one.
const FEW_ENTRIES: usize = 32;
/// Fuel for a look-up in a larger map. It is a tree: a look-up in it often misses the caches.
const LOOKUP_IN_A_TREE: usize = 80;
/// Up to this cost, only one side of a comparison is walked.
const FEW_PARTS: usize = 32;
/// From this many units on, an uninterruptible call is checked against the deadline before it
/// starts.
const LONG: usize = 20_000;
/// Minimum duration of a unit, on a fast machine.
const NANOSECONDS_A_UNIT: u64 = 2;
/// Longer strings are compared in pieces of this length, in bytes.
const PIECE: usize = 1 << 20;
/// [`cost`] stops after this many parts.
const MANY_PARTS: usize = 4096;
/// Maximum number of terms in the memory of a walk that is kept for the next one.
const KEPT_TERMS: usize = 1024;

/// A walk over a whole term, map keys included.
struct CostWalk<T> {
    todo: Vec<T>,
    /// Cost of comparing the parts visited so far.
    cost: usize,
}

impl<T: Copy> CostWalk<T> {
    fn of(term: T) -> Self {
        CostWalk::reusing(Vec::new(), term)
    }

    /// A walk that reuses the memory of another one, which has ended.
    fn reusing(mut todo: Vec<T>, term: T) -> Self {
        todo.push(term);
        CostWalk { todo, cost: 0 }
    }

    /// Visits the next part, after `count` has counted it; returns false if there is none.
    fn step<H: Heap<Term = T>, E>(
        &mut self,
        heap: &H,
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(term) = self.todo.pop() else {
            return Ok(false);
        };
        count(1)?;
        let kind = heap.kind(term);
        self.cost += leaf(heap, term, kind);
        match Parts::of(heap, term, kind, count)? {
            Parts::Unknown => self.cost += UNKNOWN,
            parts => parts.each(|part| self.todo.push(part)),
        }
        Ok(true)
    }
}

/// Cost of comparing the term without the parts inside it.
#[inline]
fn leaf<H: Heap>(heap: &H, term: H::Term, kind: Kind) -> usize {
    match kind {
        Kind::String => 1 + heap.byte_length(term).unwrap_or(0) / BYTES_A_UNIT,
        Kind::Number => 1 + heap.limbs(term) / LIMBS_A_UNIT,
        Kind::Nil | Kind::Bool | Kind::List | Kind::Map | Kind::Other => 1,
    }
}

/// Upper bound of the cost of comparing the term; stops after [`MANY_PARTS`]. Counts no fuel, so it
/// is only for terms that have been counted.
pub fn cost<H: Heap>(heap: &H, term: H::Term) -> usize {
    let (mut walk, mut parts) = (CostWalk::of(term), 0);
    let mut count = |more| {
        parts += more;
        match parts > MANY_PARTS {
            true => Err(()),
            false => Ok(()),
        }
    };
    loop {
        match walk.step(heap, &mut count) {
            Ok(true) => {}
            Ok(false) => return walk.cost,
            Err(()) => return walk.cost.max(UNKNOWN),
        }
    }
}

/// Whether the kind has no parts.
fn is_leaf(kind: Kind) -> bool {
    matches!(kind, Kind::Nil | Kind::Bool | Kind::Number | Kind::String)
}

impl<H: Heap> Machine<'_, H> {
    /// Counts an uninterruptible call of the heap. The call must end before the deadline.
    #[inline]
    pub fn consume_fuel_at_once(&mut self, cost: usize) -> Result<(), Halt<H::Term>> {
        if cost >= LONG {
            let least = Duration::from_nanos(NANOSECONDS_A_UNIT.saturating_mul(cost as u64));
            self.meter.check_time_left(least)?;
        }
        self.consume_fuel(cost)
    }

    /// Returns the maximum cost of comparing the term. Counts the walk that computes it.
    #[inline]
    pub fn weigh(&mut self, term: H::Term) -> Result<usize, Halt<H::Term>> {
        match self.heap.kind(term) {
            kind if is_leaf(kind) => Ok(leaf(self.heap, term, kind)),
            _ => self.weigh_parts(term),
        }
    }

    fn weigh_parts(&mut self, term: H::Term) -> Result<usize, Halt<H::Term>> {
        let mut walk = self.walk(term);
        while self.step(&mut walk)? {}
        Ok(self.end(walk))
    }

    /// Begins a walk. A list has as many walks as elements, so their memory is reused.
    fn walk(&mut self, term: H::Term) -> CostWalk<H::Term> {
        CostWalk::reusing(self.spare_walks.pop().unwrap_or_default(), term)
    }

    /// Ends a walk; returns its cost.
    fn end(&mut self, walk: CostWalk<H::Term>) -> usize {
        let CostWalk { mut todo, cost } = walk;
        if todo.capacity() <= KEPT_TERMS {
            todo.clear();
            self.spare_walks.push(todo);
        }
        cost
    }

    fn step(&mut self, walk: &mut CostWalk<H::Term>) -> Result<bool, Halt<H::Term>> {
        let Machine { heap, meter, .. } = self;
        let heap = &**heap;
        Ok(walk.step(heap, |parts| meter.consume_fuel(parts, heap))?)
    }

    /// Counts the bytes that the heap copies before it can return the bytes of a binary.
    #[inline]
    pub fn consume_fuel_to_copy(&mut self, binary: H::Term) -> Result<(), Halt<H::Term>> {
        match self.heap.bytes_to_copy(binary) {
            0 => Ok(()),
            bytes => self.consume_fuel_at_once(bytes / BYTES_COPIED_A_UNIT),
        }
    }

    /// Returns whether `whole` contains `part`; `None` unless both are strings.
    pub fn has_part(
        &mut self,
        whole: H::Term,
        part: H::Term,
    ) -> Result<Option<bool>, Halt<H::Term>> {
        let (mut whole, mut part) = (whole, part);
        if self.values {
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

    /// Counts a hash of the term and a full comparison of it; returns the cost of the
    /// comparison.
    #[inline]
    pub fn consume_fuel_to_hash(&mut self, term: H::Term) -> Result<usize, Halt<H::Term>> {
        let cost = self.weigh(term)?;
        self.consume_fuel_at_once(HASH * cost)?;
        Ok(cost)
    }

    /// Returns the maximum cost of comparing the two terms: that of the smaller one.
    fn weigh_both(&mut self, a: H::Term, b: H::Term) -> Result<usize, Halt<H::Term>> {
        if self.heap.identity(a) == self.heap.identity(b) {
            return Ok(1);
        }
        let kinds = (self.heap.kind(a), self.heap.kind(b));
        match kinds {
            (Kind::Nil | Kind::Bool, _) | (_, Kind::Nil | Kind::Bool) => Ok(1),
            (Kind::Number, Kind::Number) | (Kind::String, Kind::String) => {
                let (a, b) = (leaf(self.heap, a, kinds.0), leaf(self.heap, b, kinds.1));
                Ok(a.min(b))
            }
            // Terms of two kinds differ at once. A bitstring that is not a binary is compared
            // like a string.
            (a, b) if a != b && a != Kind::Other && b != Kind::Other => Ok(1),
            _ => self.weigh_parts_of_both(a, b),
        }
    }

    fn weigh_parts_of_both(&mut self, a: H::Term, b: H::Term) -> Result<usize, Halt<H::Term>> {
        // The right side is mostly a small constant. Then the left one need not be walked.
        let mut right = self.walk(b);
        while right.cost < FEW_PARTS {
            if !self.step(&mut right)? {
                return Ok(self.end(right));
            }
        }
        let (mut less, mut more) = (self.walk(a), right);
        while self.step(&mut less)? {
            if less.cost > more.cost {
                std::mem::swap(&mut less, &mut more);
            }
        }
        self.end(more);
        Ok(self.end(less))
    }

    /// Term order; `Equal` is `==`.
    #[inline]
    pub fn compare(&mut self, a: H::Term, b: H::Term) -> Result<Ordering, Halt<H::Term>> {
        if let Some(left) = self.heap.small_integer(a) {
            if let Some(right) = self.heap.small_integer(b) {
                return Ok(left.cmp(&right));
            }
        }
        if self.values && self.may_hold_values(a, b) {
            if let Some(order) = self.order_of_both(a, b, false)? {
                return Ok(order);
            }
        }
        self.compare_terms(a, b)
    }

    /// Same where the values of all terms that are compared have these kinds.
    pub fn compare_among(
        &mut self,
        kinds: &Kinds,
        a: H::Term,
        b: H::Term,
    ) -> Result<Ordering, Halt<H::Term>> {
        match kinds.is_empty() {
            true => self.compare_terms(a, b),
            false => self.order_by_meaning(kinds, a, b, false),
        }
    }

    #[inline]
    fn compare_terms(&mut self, a: H::Term, b: H::Term) -> Result<Ordering, Halt<H::Term>> {
        let cost = self.weigh_both(a, b)?;
        if cost > PIECE / BYTES_A_UNIT && self.heap.kind(a) == Kind::String {
            return self.compare_long_strings(a, b);
        }
        self.consume_fuel_at_once(cost)?;
        Ok(self.heap.compare(a, b))
    }

    /// Compares a term with one that has no parts.
    #[inline]
    pub fn compare_with_leaf(
        &mut self,
        term: H::Term,
        leaf: H::Term,
    ) -> Result<Ordering, Halt<H::Term>> {
        match self.may_mean_another(term) {
            true => self.compare(term, leaf),
            false => Ok(self.heap.compare(term, leaf)),
        }
    }

    /// Returns false if the heap compares the term with a term without parts as their meaning demands.
    #[inline]
    pub fn may_mean_another(&self, term: H::Term) -> bool {
        self.values && matches!(self.heap.kind(term), Kind::Map | Kind::Other)
    }

    /// Returns false if neither term can be a value or contain one.
    #[inline]
    fn may_hold_values(&self, a: H::Term, b: H::Term) -> bool {
        !is_leaf(self.heap.kind(a)) || !is_leaf(self.heap.kind(b))
    }

    /// Strict equality, `===`.
    #[inline]
    pub fn identical(&mut self, a: H::Term, b: H::Term) -> Result<bool, Halt<H::Term>> {
        if self.values && self.may_hold_values(a, b) {
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
    fn compare_long_strings(&mut self, a: H::Term, b: H::Term) -> Result<Ordering, Halt<H::Term>> {
        self.consume_fuel_to_copy(a)?;
        self.consume_fuel_to_copy(b)?;
        let Machine { heap, meter, .. } = self;
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

    /// Counts a look-up of a key of this weight in a map.
    pub fn consume_fuel_for_lookup(
        &mut self,
        map: H::Term,
        key: usize,
    ) -> Result<(), Halt<H::Term>> {
        match self.heap.map_size(map) {
            None | Some(0) => Ok(()),
            Some(size) if size <= FEW_ENTRIES => {
                self.consume_fuel_at_once(key)?;
                self.consume_fuel((size - 1) * key)
            }
            Some(_) => self.consume_fuel_at_once(HASH * key),
        }
    }

    /// Counts so many look-ups of constant keys in a map before they are done, for evaluations that start again where they are
    /// suspended between two look-ups. `least`: the fuel for each of them in a small map.
    #[inline]
    pub fn consume_fuel_for_names(
        &mut self,
        map: H::Term,
        lookups: usize,
        least: usize,
    ) -> Result<(), Halt<H::Term>> {
        let is_small = lookups <= FEW_PARTS
            || (self.heap.map_size(map)).is_none_or(|size| size <= FEW_ENTRIES);
        match is_small {
            true => self.consume_fuel_at_once(least * lookups),
            // Where atoms are keys, too, both are looked up.
            false => {
                let each = LOOKUP_IN_A_TREE << u32::from(self.any_keys);
                self.consume_fuel_at_once(each.max(least) * lookups)
            }
        }
    }
}
