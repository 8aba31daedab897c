//! The cost of comparing and hashing terms.
//!
//! A heap compares or hashes a term in one call, however large the term is. So the machine first
//! walks the term and counts each part, then counts the comparison or the hash as a whole.

use crate::context::Context;
use ptc_term::heap::{Heap, Kind};
use ptc_term::parts::Parts;
use ptc_term::stop::Stop;

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
pub(crate) fn is_leaf(kind: Kind) -> bool {
    matches!(kind, Kind::Nil | Kind::Bool | Kind::Number | Kind::String)
}

impl<H: Heap> Context<'_, H> {
    /// Returns the maximum cost of comparing the term. Counts the walk that computes it.
    #[inline]
    pub fn weigh(&mut self, term: H::Term) -> Result<usize, Stop> {
        match self.heap.kind(term) {
            kind if is_leaf(kind) => Ok(leaf(self.heap, term, kind)),
            _ => self.weigh_parts(term),
        }
    }

    fn weigh_parts(&mut self, term: H::Term) -> Result<usize, Stop> {
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

    fn step(&mut self, walk: &mut CostWalk<H::Term>) -> Result<bool, Stop> {
        let Context { heap, meter, .. } = self;
        let heap = &**heap;
        walk.step(heap, |parts| meter.consume_fuel(parts, heap))
    }

    /// Counts the bytes that the heap copies before it can return the bytes of a binary.
    #[inline]
    pub fn consume_fuel_to_copy(&mut self, binary: H::Term) -> Result<(), Stop> {
        match self.heap.bytes_to_copy(binary) {
            0 => Ok(()),
            bytes => self.consume_fuel_at_once(bytes / BYTES_COPIED_A_UNIT),
        }
    }

    /// Counts a hash of the term and a full comparison of it; returns the cost of the
    /// comparison.
    #[inline]
    pub fn consume_fuel_to_hash(&mut self, term: H::Term) -> Result<usize, Stop> {
        let cost = self.weigh(term)?;
        self.consume_fuel_at_once(HASH * cost)?;
        Ok(cost)
    }

    /// Returns the maximum cost of comparing the two terms: that of the smaller one.
    pub(crate) fn weigh_both(&mut self, a: H::Term, b: H::Term) -> Result<usize, Stop> {
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

    fn weigh_parts_of_both(&mut self, a: H::Term, b: H::Term) -> Result<usize, Stop> {
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

    /// Counts a look-up of a key of this weight in a map.
    pub fn consume_fuel_for_lookup(&mut self, map: H::Term, key: usize) -> Result<(), Stop> {
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
    ) -> Result<(), Stop> {
        let is_small = lookups <= FEW_PARTS
            || (self.heap.map_size(map)).is_none_or(|size| size <= FEW_ENTRIES);
        match is_small {
            true => self.consume_fuel_at_once(least * lookups),
            // Where atoms are keys, too, both are looked up.
            false => {
                let each = LOOKUP_IN_A_TREE << u32::from(self.reading.any_keys);
                self.consume_fuel_at_once(each.max(least) * lookups)
            }
        }
    }
}
