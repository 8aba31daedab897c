//! The words of a copy of a term, counted without making the copy.
//!
//! A small term can stand for a huge one, since its parts may be shared: a copy contains each part as
//! often as it is used. The walk ends as soon as the limit is exceeded, so the limit bounds the work.

use crate::heap::{words_of_string, Heap, Inside, Kind, FLAT_MAP};
use crate::meter::Meter;
use crate::parts::Parts;
use crate::roots::Roots;
use crate::stop::Stop;
use crate::suspend::{Exchange, Rooted};

/// Average words of an entry of a large map: its cell, and its share of the tree.
const WORDS_OF_FAR_ENTRY: usize = 4;
/// Binaries of up to this many bytes are on the heap; larger ones are references.
const ON_HEAP: usize = 64;
/// Integers of up to this many bits, with their sign, are immediates.
const SMALL_BITS: u32 = 60;
/// So many pending terms may always be suspended.
const FEW: usize = 1_000;

/// Returns the words of a term without those of its parts; of a list, those of its first cell.
#[inline]
pub fn own_words<H: Heap>(heap: &H, term: H::Term, kind: Kind) -> usize {
    match kind {
        Kind::Nil | Kind::Bool => 0,
        Kind::Number => match heap.small_integer(term) {
            Some(value) => 2 * usize::from(value >> (SMALL_BITS - 1) != value >> 63),
            None => 1 + heap.limbs(term).max(1),
        },
        Kind::String => match heap.byte_length(term).unwrap_or(0) {
            bytes if bytes <= ON_HEAP => words_of_string(bytes),
            // Native code copies it at each read, so it counts as if it were on the heap.
            bytes if heap.bytes_to_copy(term) > 0 => bytes.div_ceil(8),
            _ => heap.words_of_reference(),
        },
        Kind::List => 2 * usize::from(!heap.is_empty_list(term)),
        Kind::Map => match heap.map_size(term).unwrap_or(0) {
            size if size <= FLAT_MAP => words_of_flat(size),
            size => 4 + WORDS_OF_FAR_ENTRY * size,
        },
        Kind::Other => match heap.inside(term) {
            // The VM shares one empty tuple.
            Inside::Elements(elements) => elements.len() + usize::from(!elements.is_empty()),
            Inside::Nothing | Inside::Unknown => heap.words_of_opaque(term),
        },
    }
}

/// Returns the words of a small map without those of its keys and values.
fn words_of_flat(size: usize) -> usize {
    3 + 2 * size + usize::from(size > 0)
}

/// Returns the words of a copy of an atom, a number or a string; `None` for other terms.
#[inline]
fn words_of_leaf<H: Heap>(heap: &H, term: H::Term) -> Option<usize> {
    match heap.kind(term) {
        kind @ (Kind::Nil | Kind::Bool | Kind::Number | Kind::String) => {
            Some(own_words(heap, term, kind))
        }
        Kind::List | Kind::Map | Kind::Other => None,
    }
}

fn words_of_leaves<H: Heap>(heap: &H, terms: &[H::Term]) -> Option<usize> {
    terms.iter().map(|term| words_of_leaf(heap, *term)).sum()
}

/// Returns the words of a copy of a small map of atoms, numbers and strings, as most arguments of tools are;
/// `None` for other terms.
pub fn words_of_row<H: Heap>(heap: &H, term: H::Term) -> Option<usize> {
    let (keys, values) = heap.flat(term)?;
    let parts = words_of_leaves(heap, keys)? + words_of_leaves(heap, values)?;
    Some(words_of_flat(keys.len()) + parts)
}

/// A walk that counts the words of a copy of terms.
#[derive(Debug)]
pub struct Weighing<T> {
    count: Count,
    /// Terms that are not weighed yet.
    pending: Roots<T>,
    /// Terms that were met and have parts that the heap cannot read.
    opaque: Roots<T>,
    /// The address of the keys of the last small map whose keys have no parts, and their words: the maps
    /// of one list often share their keys.
    keys: (usize, usize),
}

/// The words so far, and the maximum number of words.
#[derive(Debug, Clone, Copy)]
struct Count {
    words: usize,
    limit: usize,
}

impl Count {
    #[inline]
    fn add(&mut self, words: usize) -> Result<(), Stop> {
        self.words = self.words.saturating_add(words);
        match self.words > self.limit {
            true => Err(Stop::MemoryExceeded),
            false => Ok(()),
        }
    }
}

impl<T> Rooted for Weighing<T> {
    type Term = T;
    type With<U> = Weighing<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Weighing<X::Into>, X::Lost> {
        Ok(Weighing {
            count: self.count,
            pending: self.pending.exchange(by)?,
            opaque: self.opaque.exchange(by)?,
            // A garbage collection moves the keys.
            keys: (0, 0),
        })
    }
}

impl<T: Copy> Weighing<T> {
    /// Creates a walk over these terms; `words` are counted already, and at most `limit` may be.
    pub fn new(terms: impl IntoIterator<Item = T>, words: usize, limit: usize) -> Self {
        let mut pending = Roots::default();
        pending.reserve(32);
        pending.extend(terms);
        Weighing {
            count: Count { words, limit },
            pending,
            opaque: Roots::default(),
            keys: (0, 0),
        }
    }

    /// Returns the words so far.
    pub fn words(&self) -> usize {
        self.count.words
    }

    /// Returns the terms that the heap cannot read, as a list; `None` if there are none.
    pub fn opaque<H: Heap<Term = T>>(&self, heap: &mut H) -> Option<T> {
        (!self.opaque.is_empty()).then(|| self.opaque.list(heap))
    }

    /// Weighs all terms; [`Stop::MemoryExceeded`] beyond the limit. In a quantum, it stops between two terms
    /// only, and can then be suspended.
    pub fn run<H: Heap<Term = T>>(&mut self, heap: &H, meter: &mut Meter) -> Result<(), Stop> {
        meter.begin_whole();
        while self.step(heap, meter)? {
            if meter.is_overdue() && self.can_be_left() {
                return Err(Stop::SliceOver);
            }
        }
        Ok(())
    }

    /// Returns whether the pending terms are few in comparison with the words.
    fn can_be_left(&self) -> bool {
        let pending = self.pending.len();
        pending <= FEW || 8 * pending <= self.count.words
    }

    /// Weighs the next term; returns false if there is none.
    #[inline]
    pub fn step<H: Heap<Term = T>>(&mut self, heap: &H, meter: &mut Meter) -> Result<bool, Stop> {
        meter.consume_fuel(1, heap)?;
        let Some(term) = self.pending.take_last(heap) else {
            return Ok(false);
        };
        let Weighing {
            count,
            pending,
            opaque,
            keys: known,
        } = self;
        let kind = heap.kind(term);
        // No part is read if there are too many of them.
        count.add(own_words(heap, term, kind))?;
        let mut words = 0_usize;
        let mut weigh = |part| match words_of_leaf(heap, part) {
            Some(leaf) => words = words.saturating_add(leaf),
            None => pending.push(part),
        };
        match Parts::of(heap, term, kind, |parts| meter.consume_fuel(parts, heap))? {
            Parts::Flat(keys, values) => {
                values.iter().for_each(|value| weigh(*value));
                let address = keys.as_ptr() as usize;
                if known.0 != address {
                    match words_of_leaves(heap, keys) {
                        Some(leaves) => *known = (address, leaves),
                        None => keys.iter().for_each(|key| weigh(*key)),
                    }
                }
                if known.0 == address {
                    count.add(known.1)?;
                }
            }
            Parts::Unknown => opaque.push(term),
            parts => parts.each(weigh),
        }
        count.add(words)?;
        Ok(true)
    }
}
