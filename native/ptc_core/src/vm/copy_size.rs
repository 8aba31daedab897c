//! The size of a copy of a term: terms that share subterms are small in memory and huge once they are
//! copied.
//!
//! `x = {"a": x, "b": x}`, repeated thirty times, takes 150 words, and a billion once it is sent, stored
//! or inspected. So do five hundred tails of one list. Only a program that uses one value several times
//! can build such a term ([`Program::multiplies`](crate::program::Program::multiplies), or a constant in
//! a loop). A copy of its result may take as many words as the run may build; or, if that is more, as
//! many as a copy of what the run was given, and a little more: a run can return what it was given, with
//! a few values beside it.

use super::machine::Machine;
use super::run::Vm;
use crate::fault::Halt;
use crate::heap::{words_of_map, Heap, Inside, Kind};
use crate::language::Language;
use crate::meter::Pace;
use std::collections::HashMap;

/// The longest string that is copied with a term; for a longer one only the reference is
/// copied.
const COPIED_BYTES: usize = 64;
/// The part of the limit that a copy of a result may take in addition to what was given.
const SPARE: usize = 8;
/// The words of a reference to a string, a process or any other term that is not copied.
const REFERENCE: usize = 6;
/// The bits of an integer that takes no words of its own.
const SMALL_BITS: u32 = 60;
/// With fewer words built, no loop can have repeated a constant often.
const FEW_WORDS: usize = 128;

impl<H: Heap, L: Language> Vm<'_, H, L> {
    /// Checks the size of a copy of the run's result.
    pub(super) fn check_copy_limit(&mut self, term: H::Term) -> Result<(), Halt<H::Term>> {
        let limit = self.machine.meter.limits.words;
        match limit < usize::MAX && self.takes_more(term, limit)? {
            true => Err(Halt::MemoryExceeded),
            false => Ok(()),
        }
    }

    /// Returns whether a copy of the term takes more than `limit` words, and more than a copy of what
    /// the run was given.
    pub(super) fn takes_more(
        &mut self,
        term: H::Term,
        limit: usize,
    ) -> Result<bool, Halt<H::Term>> {
        let machine = &mut self.machine;
        if !machine.multiplies && !repeats_constants(machine) {
            return Ok(false);
        }
        if fits(machine, term, limit)? {
            return Ok(false);
        }
        // The limits are not known yet.
        if machine.meter.pace() == Pace::Probe {
            return Ok(true);
        }
        let mut weights = HashMap::new();
        let mut allowed = limit / SPARE;
        for given in [self.context, self.memory].iter().chain(machine.consts) {
            let words = weigh(machine, *given, usize::MAX, &mut weights)?;
            allowed = allowed.saturating_add(words);
        }
        if allowed <= limit {
            return Ok(true);
        }
        Ok(weigh(machine, term, allowed, &mut weights)? > allowed)
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

/// Returns whether a copy of the term takes at most `most` words.
///
/// Each part counts when it is met, as often as it is met. So the walk is never longer than the copy.
fn fits<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    most: usize,
) -> Result<bool, Halt<H::Term>> {
    let (mut todo, mut words) = (vec![term], 0_usize);
    while let Some(term) = todo.pop() {
        machine.consume_fuel(1)?;
        words = words.saturating_add(match machine.heap.words_of_row(term) {
            Some(words) => words,
            None => {
                let kind = machine.heap.kind(term);
                let own = own_words(machine, term, kind);
                // No part is looked at if there are too many of them.
                if words.saturating_add(own) > most {
                    return Ok(false);
                }
                add_parts(machine, term, kind, &mut todo)?;
                own
            }
        });
        if words > most {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the words of a term without those of its parts; of a list, those of its first cell.
fn own_words<H: Heap>(machine: &Machine<'_, H>, term: H::Term, kind: Kind) -> usize {
    match kind {
        Kind::List => 2 * usize::from(!machine.heap.is_empty_list(term)),
        Kind::Map => words_of_map(machine.heap.map_size(term).unwrap_or(0)),
        Kind::Other => match machine.heap.inside(term) {
            Inside::Elements(elements) => 1 + elements.len(),
            Inside::Nothing | Inside::Unknown => words_of_leaf(machine.heap, term, kind),
        },
        Kind::Nil | Kind::Bool | Kind::Number | Kind::String => {
            words_of_leaf(machine.heap, term, kind)
        }
    }
}

/// Adds the parts of a term: of a list, its first item and its tail.
fn add_parts<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    kind: Kind,
    todo: &mut Vec<H::Term>,
) -> Result<(), Halt<H::Term>> {
    match kind {
        Kind::List => todo
            .extend((machine.heap.uncons(term).into_iter()).flat_map(|(item, tail)| [tail, item])),
        Kind::Map => {
            let size = machine.heap.map_size(term).unwrap_or(0);
            machine.consume_fuel(2 * size)?;
            let entries = machine.heap.entries(term).into_iter();
            todo.extend(entries.flat_map(|(key, value)| [key, value]));
        }
        Kind::Other => {
            let count = match machine.heap.inside(term) {
                Inside::Elements(elements) => elements.len(),
                Inside::Nothing | Inside::Unknown => 0,
            };
            machine.consume_fuel(count)?;
            if let Inside::Elements(elements) = machine.heap.inside(term) {
                todo.extend(elements);
            }
        }
        Kind::Nil | Kind::Bool | Kind::Number | Kind::String => {}
    }
    Ok(())
}

/// A list, map or tuple that is being weighed.
struct OpenTerm<T> {
    identity: usize,
    parts: Vec<T>,
    words: usize,
}

/// Returns the words of a copy of the term, or more than `most` once they are known to be more.
/// `weights` has the words of the lists, maps and tuples that were weighed before. So a term that
/// shares its parts is weighed as quickly as it stands in memory, except for tails of lists.
fn weigh<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    most: usize,
    weights: &mut HashMap<usize, usize>,
) -> Result<usize, Halt<H::Term>> {
    let mut open: Vec<OpenTerm<H::Term>> = Vec::new();
    let mut next = Some(term);
    let (mut weight, mut total) = (0_usize, 0_usize);
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
                    total = total.saturating_add(words);
                    open.push(OpenTerm {
                        identity,
                        parts,
                        words,
                    });
                }
            }
            total = total.saturating_add(weight);
            if total > most {
                return Ok(total);
            }
        }
        // `weight` is the weight of the last part of the innermost open term.
        let Some(innermost) = open.last_mut() else {
            return Ok(weight);
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
    let mut parts = Vec::new();
    match kind {
        Kind::List => {
            let mut rest = term;
            while let Some((item, tail)) = machine.heap.uncons(rest) {
                machine.consume_fuel(1)?;
                parts.push(item);
                rest = tail;
            }
            let own = 2 * parts.len();
            // The tail of an improper list is one more part.
            parts.extend((!machine.heap.is_empty_list(rest)).then_some(rest));
            return Ok(Some((parts, own)));
        }
        Kind::Map => {}
        Kind::Other if matches!(machine.heap.inside(term), Inside::Elements(_)) => {}
        _ => return Ok(None),
    }
    add_parts(machine, term, kind, &mut parts)?;
    Ok(Some((parts, own_words(machine, term, kind))))
}
