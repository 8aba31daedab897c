//! Sizes of terms that share subterms: small in memory, huge once they are copied.
//!
//! `x = {"a": x, "b": x}`, repeated thirty times, takes 150 words, and a billion once it is sent,
//! stored or inspected. A list that holds one string of 60 bytes a thousand times takes 2,000 words,
//! and 12,000 as a copy. Only a program that uses one value several times can build such a term
//! ([`Program::multiplies`](crate::program::Program::multiplies), or a constant in a loop). Its
//! result is weighed, under the same limits as all its work.

use super::machine::Machine;
use crate::fault::Halt;
use crate::heap::{Heap, Inside, Kind};
use std::collections::{HashMap, HashSet};

/// The longest string that is copied with a term; for a longer one only the reference is
/// copied.
const COPIED_BYTES: usize = 64;
/// The words of a reference to a string, a process or any other term that is not copied.
const REFERENCE: usize = 6;
/// The bits of an integer that takes no words of its own.
const SMALL_BITS: u32 = 60;
/// With fewer words built, no loop can have repeated a constant often.
const FEW_WORDS: usize = 128;

/// A list, map or tuple that is being weighed.
struct OpenTerm<T> {
    identity: usize,
    parts: Vec<T>,
    words: usize,
}

impl<H: Heap> Machine<'_, H> {
    /// Checks that a copy of the run's result takes no more additional words than allowed; returns
    /// their number.
    pub(super) fn check_copy_limit(&mut self, term: H::Term) -> Result<usize, Halt<H::Term>> {
        if !self.multiplies && !repeats_constants(self) {
            return Ok(0);
        }
        let excess = excess(self, term)?;
        match excess > self.meter.limits.words {
            true => Err(Halt::MemoryExceeded),
            false => Ok(excess),
        }
    }
}

/// Returns the words of a term without parts, without the word that refers to it.
fn words_of_leaf<H: Heap>(heap: &H, term: H::Term, kind: Kind) -> usize {
    match kind {
        Kind::Nil | Kind::Bool | Kind::List | Kind::Map => 0,
        Kind::String => match heap.byte_length(term).unwrap_or(0) {
            length if length <= COPIED_BYTES => 2 + length.div_ceil(8),
            _ => REFERENCE,
        },
        Kind::Number => match heap.small_integer(term) {
            Some(value) => {
                let sign = value >> (SMALL_BITS - 1);
                2 * usize::from(sign != 0 && sign != -1)
            }
            None => 1 + heap.limbs(term).max(1),
        },
        Kind::Other => match heap.inside(term) {
            Inside::Elements(_) | Inside::Nothing => 0,
            Inside::Unknown => REFERENCE,
        },
    }
}

/// Returns whether the constants may exceed the limit if each is repeated once for every word
/// that the run has built.
fn repeats_constants<H: Heap>(machine: &Machine<'_, H>) -> bool {
    let (heap, built) = (&*machine.heap, machine.heap.words_built());
    if built < FEW_WORDS {
        return false;
    }
    let words = |term: &H::Term| words_of_leaf(heap, *term, heap.kind(*term));
    let heaviest = machine.consts.iter().map(words).max().unwrap_or(0);
    built.saturating_mul(heaviest) > machine.meter.limits.words
}

/// Returns how many more words a copy of the term takes than the term itself. If the limit is not
/// exceeded, the result may be too high.
fn excess<H: Heap>(machine: &mut Machine<'_, H>, term: H::Term) -> Result<usize, Halt<H::Term>> {
    // Most terms are small enough even if each of their strings and numbers occurs only once in
    // memory.
    let at_most = weigh(machine, term, None)?;
    match at_most > machine.meter.limits.words {
        true => weigh(machine, term, Some(HashSet::new())),
        false => Ok(at_most),
    }
}

/// Returns the words of a copy minus the words of the term in memory. `leaves` are the leaves
/// visited so far; without it, leaves do not count as words in memory.
fn weigh<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    mut leaves: Option<HashSet<usize>>,
) -> Result<usize, Halt<H::Term>> {
    // The words of a copy of each list, map or tuple, and the words of all of them in memory.
    let mut weights: HashMap<usize, usize> = HashMap::new();
    let mut standing: usize = 0;
    let mut open: Vec<OpenTerm<H::Term>> = Vec::new();
    let mut next = Some(term);
    let mut weight: usize = 0;
    loop {
        if let Some(term) = next.take() {
            machine.consume_fuel(1)?;
            let kind = machine.heap.kind(term);
            weight = words_of_leaf(machine.heap, term, kind);
            if matches!(kind, Kind::List | Kind::Map | Kind::Other) {
                let identity = machine.heap.identity(term);
                if let Some(known) = weights.get(&identity) {
                    weight = *known;
                } else if let Some((parts, words)) = parts(machine, term, kind)? {
                    standing = standing.saturating_add(words);
                    open.push(OpenTerm {
                        identity,
                        parts,
                        words,
                    });
                }
            } else if let (Some(leaves), 1..) = (&mut leaves, weight) {
                if leaves.insert(machine.heap.identity(term)) {
                    standing = standing.saturating_add(weight);
                }
            }
        }
        // `weight` is the weight of the last part of the innermost open term.
        let Some(innermost) = open.last_mut() else {
            return Ok(weight.saturating_sub(standing));
        };
        innermost.words = innermost.words.saturating_add(std::mem::take(&mut weight));
        next = innermost.parts.pop();
        if next.is_none() {
            if let Some(done) = open.pop() {
                weights.insert(done.identity, done.words);
                weight = done.words;
            }
        }
    }
}

/// The parts of a term, and its words without them.
type Parts<T> = (Vec<T>, usize);

/// Returns the parts of a list, a map (keys included) or a tuple; `None` for everything else.
fn parts<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    kind: Kind,
) -> Result<Option<Parts<H::Term>>, Halt<H::Term>> {
    match kind {
        Kind::List => {
            let (mut parts, mut rest) = (Vec::new(), term);
            while let Some((item, tail)) = machine.heap.uncons(rest) {
                machine.consume_fuel(1)?;
                parts.push(item);
                rest = tail;
            }
            let own = 2 * parts.len();
            // The tail of an improper list is one more part.
            parts.extend((!machine.heap.is_empty_list(rest)).then_some(rest));
            Ok(Some((parts, own)))
        }
        Kind::Map => {
            let size = machine.heap.map_size(term).unwrap_or(0);
            machine.consume_fuel(2 * size)?;
            let entries = machine.heap.entries(term).into_iter();
            let parts = entries.flat_map(|(key, value)| [key, value]).collect();
            Ok(Some((parts, 4 + 2 * size)))
        }
        Kind::Other => {
            let Inside::Elements(elements) = machine.heap.inside(term) else {
                return Ok(None);
            };
            let count = elements.len();
            machine.consume_fuel(count)?;
            let parts = match machine.heap.inside(term) {
                Inside::Elements(elements) => elements.to_vec(),
                Inside::Nothing | Inside::Unknown => vec![],
            };
            Ok(Some((parts, 1 + count)))
        }
        Kind::Nil | Kind::Bool | Kind::Number | Kind::String => Ok(None),
    }
}
