//! What all algorithms work with: the heap, the limits, the constants, and what was found out about these.

use crate::cache::{Atom, Key};
use crate::layout::Layout;
use crate::needle::Needle;
use ptc_term::heap::{words_of_map, Heap};
use ptc_term::meter::Meter;
use ptc_term::number::{Arithmetic, Number};
use ptc_term::stop::Stop;
use std::time::Duration;

/// An index into the constants.
pub type ConstId = u32;

/// Fuel for an entry of a new map: a large map is a tree that is built in one call.
pub const MAP_ENTRY: usize = 32;

/// Maximum number of entries of a new map that need not be counted: their evaluation has been.
const FEW_ENTRIES: usize = 8;

/// Fuel for a key of a new map, per unit of a comparison with it: the keys are sorted, or hashed
/// and compared.
pub const KEY_OF_NEW: usize = 16;

/// Fuel per limb of a big integer that is read or made.
pub const UNITS_A_LIMB: usize = 2;

/// How many times the least time of a product it takes, measured for 1,000 to 10,000 limbs on a busy machine.
const PRODUCT: f64 = 5.0;

/// Maximum number of constants with a cache: each slice of a run makes the caches anew.
pub(crate) const MOST_CACHED: usize = 4_096;

/// Maximum number of items of a new list that are made in one call. For more, the VM gets fresh
/// memory from the system, page by page.
pub const LIST_BATCH: usize = 4_096;

/// Number of terms that an evaluation keeps between two checks of the heap limit.
pub const KEPT_BETWEEN_CHECKS: usize = 1024;

/// From this many units on, an uninterruptible call is checked against the deadline before it
/// starts.
const LONG: usize = 20_000;
/// Minimum duration of a unit, on a fast machine.
const NANOSECONDS_A_UNIT: u64 = 2;

/// A term that is made, or the limit that stops it.
pub type Made<H> = Result<<H as Heap>::Term, Stop>;

/// How terms are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Whether a key that a map does not have is also looked up as an atom.
    pub any_keys: bool,
    /// Whether structs are maps of their fields, and dates, times and decimals are values.
    pub values: bool,
}

/// What all algorithms work with.
///
/// An algorithm that stops with [`Stop::SliceOver`] starts again later with the same operands and its own state.
pub struct Context<'h, H: Heap> {
    /// The heap that holds the terms.
    pub heap: &'h mut H,
    /// The limits.
    pub meter: Meter,
    pub(crate) consts: &'h [H::Term],
    pub(crate) reading: Reading,
    /// The caches of the first [`MOST_CACHED`] constants; empty until a key is looked up.
    pub(crate) keys: Vec<Key<H::KeyCache>>,
    /// The atoms of the names of the first [`MOST_CACHED`] constants; empty if no atom is a key.
    pub(crate) atoms: Vec<Atom<H::Term, H::KeyCache>>,
    pub(crate) needle: Needle,
    /// The empty stacks of walks that have ended, for the next ones.
    pub(crate) spare_walks: Vec<Vec<H::Term>>,
    /// How maps were made that are like the next ones.
    pub(crate) layouts: Vec<Layout<H::Term>>,
    /// Memory for the values of a new map.
    pub(crate) values_of_new: Vec<H::Term>,
}

impl<'h, H: Heap> Context<'h, H> {
    /// Creates the context of an execution.
    #[inline]
    pub fn new(heap: &'h mut H, meter: Meter, consts: &'h [H::Term], reading: Reading) -> Self {
        Context {
            heap,
            meter,
            consts,
            reading,
            keys: Vec::new(),
            atoms: match reading.any_keys || reading.values {
                true => vec![Atom::NotAsked; consts.len().min(MOST_CACHED)],
                false => Vec::new(),
            },
            needle: Needle::default(),
            spare_walks: Vec::new(),
            layouts: Vec::new(),
            values_of_new: Vec::new(),
        }
    }

    /// Returns the heap and the meter.
    #[inline]
    pub fn heap_and_meter(&mut self) -> (&H, &mut Meter) {
        (self.heap, &mut self.meter)
    }

    /// Returns all constants.
    #[inline]
    pub fn all_constants(&self) -> &'h [H::Term] {
        self.consts
    }

    /// Returns a constant.
    #[inline]
    pub fn constant(&self, id: ConstId) -> H::Term {
        self.consts[id as usize]
    }

    /// Returns `count` consecutive constants.
    pub fn constants(&self, first: ConstId, count: u32) -> &'h [H::Term] {
        &self.consts[first as usize..(first + count) as usize]
    }

    /// Returns whether atoms are keys.
    pub fn takes_atoms(&self) -> bool {
        self.reading.any_keys || self.reading.values
    }

    /// See [`Reading::values`].
    #[inline]
    pub fn values(&self) -> bool {
        self.reading.values
    }

    /// See [`Reading::any_keys`].
    #[inline]
    pub fn any_keys(&self) -> bool {
        self.reading.any_keys
    }

    /// Counts work before it is done.
    #[inline]
    pub fn consume_fuel(&mut self, cost: usize) -> Result<(), Stop> {
        self.meter.consume_fuel(cost, self.heap)
    }

    /// Counts an uninterruptible call of the heap. The call must end before the deadline.
    #[inline]
    pub fn consume_fuel_at_once(&mut self, cost: usize) -> Result<(), Stop> {
        if cost >= LONG {
            let least = Duration::from_nanos(NANOSECONDS_A_UNIT.saturating_mul(cost as u64));
            self.meter.check_time_left(least)?;
        }
        self.consume_fuel(cost)
    }

    /// Checks that the run may build `words` more.
    #[inline]
    pub fn check_heap_limit(&self, words: usize) -> Result<(), Stop> {
        self.meter.check_heap_limit(words, self.heap)
    }

    /// Counts a new map with this many entries: the fuel and the words.
    #[inline]
    pub fn count_new_map(&mut self, entries: usize) -> Result<(), Stop> {
        if entries > FEW_ENTRIES {
            self.check_heap_limit(words_of_map(entries))?;
            self.consume_fuel_at_once(MAP_ENTRY * entries)?;
        }
        Ok(())
    }

    /// Returns the number if the term is one. Counts a long one before reading it.
    #[inline]
    pub fn number(&mut self, term: H::Term) -> Result<Option<Number>, Stop> {
        if let Some(value) = self.heap.small_integer(term) {
            return Ok(Some(Number::Int(value)));
        }
        if let Some(value) = self.heap.float(term) {
            return Ok(Some(Number::Float(value)));
        }
        match self.heap.limbs(term) {
            0 => {}
            limbs => self.consume_fuel_at_once(UNITS_A_LIMB * limbs)?,
        }
        Ok(self.heap.number(term))
    }

    /// Counts arithmetic of big integers before it is done: a product cannot be interrupted.
    pub fn count_limbs(
        &mut self,
        arithmetic: Arithmetic,
        left: &Number,
        right: &Number,
    ) -> Result<(), Stop> {
        let (left, right) = (left.limbs(), right.limbs());
        if left + right == 2 {
            return Ok(());
        }
        self.check_heap_limit(left + right)?;
        if arithmetic != Arithmetic::Mul {
            return self.consume_fuel_at_once(UNITS_A_LIMB * left.max(right));
        }
        // The long side is cut into pieces of the short side's length, each multiplied by Karatsuba.
        let (short, long) = (left.min(right) as f64, left.max(right) as f64);
        let nanoseconds = long / short * short.powf(1.585);
        self.meter
            .check_time_left(Duration::from_nanos(nanoseconds as u64))?;
        self.consume_fuel((nanoseconds * PRODUCT / 10.0) as usize + UNITS_A_LIMB * (left + right))
    }

    /// Counts a division of integers before it is done: it cannot be interrupted. The quotient has as many limbs as the dividend has more
    /// than the divisor, and each takes a pass over the divisor.
    pub fn count_division(&mut self, left: &Number, right: &Number) -> Result<(), Stop> {
        let (left, right) = (left.limbs(), right.limbs());
        if left + right == 2 {
            return Ok(());
        }
        self.check_heap_limit(left.max(right) + 1)?;
        let products = (left.saturating_sub(right) + 1).saturating_mul(right);
        let time = Duration::from_nanos(2 * products as u64);
        self.meter.check_time_left(time)?;
        self.consume_fuel_at_once(products / 4 + UNITS_A_LIMB * (left + right))
    }

    /// Returns a constant that is a non-negative integer; the result saturates.
    pub fn count(&mut self, id: ConstId) -> Result<Option<usize>, Stop> {
        let term = self.constant(id);
        Ok(match self.number(term)? {
            Some(Number::Int(value)) if value >= 0 => Some(value as usize),
            Some(Number::Big(value)) if value.sign() == num_bigint::Sign::Plus => Some(usize::MAX),
            _ => None,
        })
    }
}
