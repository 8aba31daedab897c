//! Counts the words of a copy of a term, without making the copy.
//!
//! A small term can stand for a huge one, since its parts may be shared: a copy contains each part as
//! often as it is used. The walk ends as soon as the limit is exceeded, so the limit bounds the work. A walk
//! that is longer than a quantum is suspended.

use crate::atoms;
use crate::heap::Beam;
use crate::map_view::{view, Flat, MapView};
use crate::raw::{Raw, TermKind, Terms};
use crate::schedule::{nif_pair, settle, Pace};
use crate::task::{Call, Work};
use ptc_core::fault::Halt;
use ptc_core::heap::Heap;
use ptc_core::meter::{Limits, Meter};
use ptc_core::signature::Kept;
use rustler::{Encoder, Env, Term};
use std::sync::atomic::{AtomicBool, Ordering};

/// Average words of an entry of a large map: its cell, and its share of the tree.
const WORDS_OF_LARGE: usize = 4;
/// Words of a reference to bytes outside of the heap, until OTP 26 and since OTP 27.
const WORDS_OF_REFERENCE: [usize; 2] = [6, 8];
static SINCE_27: AtomicBool = AtomicBool::new(false);

/// Stores the release of Erlang/OTP. Called when the library is loaded.
pub fn know_release(release: usize) {
    SINCE_27.store(release >= 27, Ordering::Relaxed);
}

fn words_of_reference() -> usize {
    WORDS_OF_REFERENCE[usize::from(SINCE_27.load(Ordering::Relaxed))]
}

/// Words of references, pids and ports of other nodes, and a fun without the terms in its closure.
const WORDS_OF_OTHER: usize = 5;
/// Binaries of up to this many bytes are on the heap; larger ones are references.
const ON_HEAP: usize = 64;
/// Integers of up to this many bits, with their sign, are immediates.
const SMALL_BITS: u32 = 60;
/// Fuel to read an entry of a large map.
const FUEL_A_LARGE: usize = 4;
/// So many pending terms may always become a list.
const FEW: usize = 1_000;

/// A walk that counts words.
struct Scale<'a> {
    heap: Beam<'a>,
    meter: Meter,
    /// The quantum is over.
    over: bool,
    words: usize,
    limit: usize,
    /// Terms that are not weighed yet.
    pending: Kept<Raw<'a>>,
    /// Terms that were met and have parts that only Elixir can read: opaque and unknown kinds.
    opaque: Kept<Raw<'a>>,
    /// The keys of the last map whose keys are all small, and their words: maps of one list often share
    /// their keys.
    keys: Option<(&'a [Raw<'a>], usize)>,
}

/// Why a walk ends early.
enum Unweighed {
    TooMuch,
    SliceOver,
}

/// A suspended walk, without its terms: those that are not weighed yet, and the opaque ones, as two lists.
pub struct Weighing {
    words: usize,
    limit: usize,
    pending: usize,
    opaque: usize,
}

impl<'a> Scale<'a> {
    /// Weighs the pending terms.
    fn run(&mut self) -> Result<(), Unweighed> {
        loop {
            self.fuel(1)?;
            let Some(term) = self.pending.pop(&self.heap) else {
                return Ok(());
            };
            self.add(term)?;
            if self.over && self.can_be_left() {
                return Err(Unweighed::SliceOver);
            }
        }
    }

    /// Whether the list of pending terms, of two words each, is short in comparison with the terms.
    fn can_be_left(&self) -> bool {
        let pending = self.pending.len();
        pending <= FEW || 8 * pending <= self.words
    }

    fn count(&mut self, words: usize) -> Result<(), Unweighed> {
        self.words = self.words.saturating_add(words);
        match self.words > self.limit {
            true => Err(Unweighed::TooMuch),
            false => Ok(()),
        }
    }

    /// Counts a term's own words and adds its parts to the pending terms.
    fn add(&mut self, term: Raw<'a>) -> Result<(), Unweighed> {
        let terms = self.heap.terms;
        match terms.kind(term) {
            TermKind::List => match terms.uncons(term) {
                Some((head, tail)) => {
                    self.pending.push(tail);
                    self.pending.push(head);
                    self.count(2)
                }
                None => Ok(()),
            },
            TermKind::Map => self.map(term),
            TermKind::Tuple => {
                let elements = terms.tuple(term).unwrap_or(&[]);
                // The VM shares one empty tuple.
                self.count(elements.len() + usize::from(!elements.is_empty()))?;
                self.fuel(elements.len())?;
                elements.iter().for_each(|it| self.pending.push(*it));
                Ok(())
            }
            TermKind::Binary => self.bits(term),
            TermKind::Float => self.count(2),
            TermKind::Integer => self.integer(term),
            TermKind::Fun => {
                self.opaque.push(term);
                self.count(WORDS_OF_OTHER)
            }
            // For example a bitstring: a reference into a binary, with a position.
            TermKind::Unknown => {
                self.opaque.push(term);
                self.count(words_of_reference() + WORDS_OF_OTHER)
            }
            TermKind::Reference => self.count(WORDS_OF_OTHER),
            TermKind::Pid | TermKind::Port if !terms.is_local(term) => self.count(WORDS_OF_OTHER),
            _ => Ok(()),
        }
    }

    fn map(&mut self, map: Raw<'a>) -> Result<(), Unweighed> {
        let terms = self.heap.terms;
        match view(terms, map) {
            MapView::Flat(Flat { keys, values }) => {
                self.count(words_of_flat(keys))?;
                self.fuel(2 * keys.len())?;
                self.keys(keys)?;
                for value in values {
                    match words_of_small(&self.heap, *value) {
                        Some(words) => self.count(words)?,
                        None => self.pending.push(*value),
                    }
                }
            }
            MapView::Large => {
                let size = terms.map_size(map).unwrap_or(0);
                self.count(4 + WORDS_OF_LARGE * size)?;
                self.fuel(FUEL_A_LARGE * size)?;
                let mut words = 0;
                terms.each_entry(map, |key, value| {
                    for part in [key, value] {
                        match words_of_small(&self.heap, part) {
                            Some(small) => words += small,
                            None => self.pending.push(part),
                        }
                    }
                });
                self.count(words)?;
            }
            MapView::NotAMap => {}
        }
        Ok(())
    }

    /// Counts the keys of a small map.
    fn keys(&mut self, keys: &'a [Raw<'a>]) -> Result<(), Unweighed> {
        match self.keys {
            Some((known, words)) if std::ptr::eq(known, keys) => return self.count(words),
            _ => {}
        }
        let words: Option<usize> = keys
            .iter()
            .map(|key| words_of_small(&self.heap, *key))
            .sum();
        match words {
            Some(words) => {
                self.keys = Some((keys, words));
                self.count(words)
            }
            None => {
                keys.iter().for_each(|key| self.pending.push(*key));
                Ok(())
            }
        }
    }

    fn bits(&mut self, term: Raw<'a>) -> Result<(), Unweighed> {
        match self.heap.byte_length(term).unwrap_or(0) {
            bytes if bytes <= ON_HEAP => self.count(2 + bytes.div_ceil(8)),
            // Native code copies it at each read, so it counts as if it were on the heap.
            bytes if self.heap.bytes_to_copy(term) > 0 => self.count(bytes.div_ceil(8)),
            _ => self.count(words_of_reference()),
        }
    }

    fn integer(&mut self, term: Raw<'a>) -> Result<(), Unweighed> {
        match self.heap.terms.integer(term) {
            Some(value) if value >> (SMALL_BITS - 1) == value >> 63 => Ok(()),
            Some(_) => self.count(2),
            None => self.count(1 + self.heap.limbs(term)),
        }
    }

    /// Consumes fuel for work before it is done. A slice ends here, a quantum after the term.
    fn fuel(&mut self, units: usize) -> Result<(), Unweighed> {
        match self.meter.consume_fuel(units, &self.heap) {
            Ok(()) => Ok(()),
            Err(Halt::SliceOver) if self.meter.pace() == Pace::Quantum => {
                self.over = true;
                Ok(())
            }
            Err(Halt::SliceOver) => Err(Unweighed::SliceOver),
            // The caller has ended.
            Err(_) => Err(Unweighed::TooMuch),
        }
    }
}

/// The words of a small map without those of its keys and values.
fn words_of_flat(keys: &[Raw]) -> usize {
    3 + 2 * keys.len() + usize::from(!keys.is_empty())
}

/// The words of an atom, a float, a small integer or a short string; `None` for other terms.
fn words_of_small<'a>(heap: &Beam<'a>, term: Raw<'a>) -> Option<usize> {
    let terms = heap.terms;
    match terms.kind(term) {
        TermKind::Atom => Some(0),
        TermKind::Float => Some(2),
        TermKind::Integer => match terms.integer(term)? {
            value if value >> (SMALL_BITS - 1) == value >> 63 => Some(0),
            _ => Some(2),
        },
        TermKind::Binary => {
            let length = heap.byte_length(term)?;
            (length <= ON_HEAP).then(|| 2 + length.div_ceil(8))
        }
        _ => None,
    }
}

/// The words of a copy of a small map of small values, as most arguments of tools are; `None` for other terms.
pub fn words_of_arguments<'a>(heap: &Beam<'a>, args: Raw<'a>) -> Option<usize> {
    let MapView::Flat(Flat { keys, values }) = view(heap.terms, args) else {
        return None;
    };
    let parts: Option<usize> = keys
        .iter()
        .chain(values)
        .map(|part| words_of_small(heap, *part))
        .sum();
    Some(words_of_flat(keys) + parts?)
}

/// `{:ok, words}`, including those given; `:too_much` beyond the limit; `{:opaque, terms, words}` if the parts
/// of these terms are still to be weighed; `:busy` if a slice is not enough, or
/// `{:long, state, terms}` after a quantum.
pub fn weighed<'a>(
    env: Env<'a>,
    pending: Term<'a>,
    words: usize,
    limit: usize,
    pace: Pace,
) -> Term<'a> {
    let mut left = Kept::with_capacity(32);
    let (terms, mut rest) = (Terms { env }, Raw::from(pending));
    while let Some((term, tail)) = terms.uncons(rest) {
        left.push(term);
        rest = tail;
    }
    let call = Call::first(env, Limits::UNLIMITED, pace);
    weigh_on(call, (words, limit), left, Kept::default())
}

/// Resumes a walk; `None` if the terms belong to other work.
pub fn go_on<'a>(call: Call<'a>, weighing: Weighing, terms: &[Raw<'a>]) -> Option<Term<'a>> {
    let [pending, opaque] = *terms else {
        return None;
    };
    // A walk is resumed in quanta only.
    if call.pace != Pace::Quantum {
        return Some(call.leave(Work::Weigh(weighing), terms, atoms::long()));
    }
    let pending = Kept::thawed(pending, weighing.pending);
    let opaque = Kept::thawed(opaque, weighing.opaque);
    let words = (weighing.words, weighing.limit);
    Some(weigh_on(call, words, pending, opaque))
}

fn weigh_on<'a>(
    call: Call<'a>,
    (words, limit): (usize, usize),
    pending: Kept<Raw<'a>>,
    opaque: Kept<Raw<'a>>,
) -> Term<'a> {
    let env = call.env;
    let mut scale = Scale {
        heap: Beam::new(env, 0),
        meter: call.meter(),
        over: false,
        words,
        limit,
        pending,
        opaque,
        keys: None,
    };
    let end = scale.run();
    settle(env, &scale.meter);
    let Scale {
        mut heap,
        words,
        pending,
        mut opaque,
        ..
    } = scale;
    match end {
        Ok(()) if opaque.is_empty() => (atoms::ok(), words).encode(env),
        Ok(()) => (atoms::opaque(), opaque.list(&mut heap).term(env), words).encode(env),
        Err(Unweighed::TooMuch) => atoms::too_much().encode(env),
        Err(Unweighed::SliceOver) if call.pace != Pace::Quantum => atoms::busy().encode(env),
        Err(Unweighed::SliceOver) => {
            let weighing = Weighing {
                words,
                limit,
                pending: pending.len(),
                opaque: opaque.len(),
            };
            let terms = [pending.freeze(&mut heap), opaque.freeze(&mut heap)];
            call.more(Work::Weigh(weighing), &terms)
        }
    }
}

nif_pair! {
    /// Weighs the terms of a list; their words are added to `words`.
    fn weigh, weigh_dirty<'a>(env, pace, pending: Term<'a>, words: usize, limit: usize) -> Term<'a> {
        weighed(env, pending, words, limit, pace)
    }
}
