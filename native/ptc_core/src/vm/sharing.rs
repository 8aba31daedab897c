//! Terms that are small as long as they are shared, and huge as soon as they are copied.
//!
//! `x = {"a": x, "b": x}`, thirty times over, takes 150 words, and a billion once it is sent,
//! stored or shown. Only a program that uses one value in many places can build such a term
//! ([`Program::multiplies`](crate::program::Program::multiplies)); what it gives back is weighed,
//! and what it compares is walked first, under the same limits as all its work.

use super::machine::Machine;
use crate::fault::Halt;
use crate::heap::{Heap, Kind};
use std::collections::HashMap;

/// A list or map that is being weighed.
struct Open<T> {
    identity: usize,
    parts: Vec<T>,
    words: usize,
}

/// How many more words a copy of the term takes than the term itself.
pub(super) fn excess<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<usize, Halt<H::Term>> {
    // What each list or map takes as a copy, and all of them as they stand.
    let mut weights: HashMap<usize, usize> = HashMap::new();
    let mut standing: usize = 0;
    let mut open: Vec<Open<H::Term>> = Vec::new();
    let mut next = Some(term);
    let mut weight: usize = 0;
    loop {
        if let Some(term) = next.take() {
            let identity = machine.heap.identity(term);
            weight = match weights.get(&identity) {
                Some(known) => *known,
                None => {
                    if let Some((parts, words)) = parts(machine, term)? {
                        standing = standing.saturating_add(words);
                        open.push(Open {
                            identity,
                            parts,
                            words,
                        });
                    }
                    0
                }
            };
        }
        // `weight` is that of the last part of the innermost open term.
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

/// From so many parts on, a term is not measured further …
const MANY_PARTS: usize = 4096;
/// … and counts as more than may be done in a slice.
const VERY_MUCH: usize = 200_000;
/// So many bytes of a string count as one unit.
const BYTES_A_UNIT: usize = 64;

/// What a look into all of a term counts, as far as that is worth finding out.
pub(crate) fn cost<H: Heap>(heap: &H, term: H::Term) -> usize {
    match heap.kind(term) {
        Kind::Nil | Kind::Bool | Kind::Number => 1,
        Kind::String => {
            1 + heap
                .bytes(term)
                .map_or(0, |bytes| bytes.len() / BYTES_A_UNIT)
        }
        Kind::List | Kind::Map | Kind::Other => cost_of_parts(heap, term),
    }
}

fn cost_of_parts<H: Heap>(heap: &H, term: H::Term) -> usize {
    let (mut todo, mut seen, mut cost) = (vec![term], 0, 0);
    while let Some(term) = todo.pop() {
        seen += 1;
        if seen > MANY_PARTS || cost > VERY_MUCH {
            return VERY_MUCH;
        }
        cost += 1;
        match heap.kind(term) {
            Kind::String => {
                cost += heap
                    .bytes(term)
                    .map_or(0, |bytes| bytes.len() / BYTES_A_UNIT)
            }
            Kind::List => {
                if let Some((head, tail)) = heap.uncons(term) {
                    todo.extend([tail, head]);
                }
            }
            Kind::Map if heap.map_size(term).unwrap_or(0) > MANY_PARTS => return VERY_MUCH,
            Kind::Map => todo.extend(heap.entries(term).into_iter().map(|(_, value)| value)),
            // Tuples and the like come from the host's data only, and seldom.
            Kind::Other => cost += BYTES_A_UNIT,
            Kind::Nil | Kind::Bool | Kind::Number => {}
        }
    }
    cost
}

/// Walks the whole term, as a comparison or a hash may have to.
pub(super) fn walk<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<(), Halt<H::Term>> {
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        if let Some((parts, _)) = parts(machine, term)? {
            todo.extend(parts);
        }
    }
    Ok(())
}

/// The parts of a term, and the words it takes without them.
type Parts<T> = (Vec<T>, usize);

/// The parts of a list or a map: a program builds nothing else that has any.
fn parts<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<Option<Parts<H::Term>>, Halt<H::Term>> {
    machine.consume_fuel(1)?;
    match machine.heap.kind(term) {
        Kind::List => {
            let (mut parts, mut rest) = (Vec::new(), term);
            while let Some((item, tail)) = machine.heap.uncons(rest) {
                machine.consume_fuel(1)?;
                parts.push(item);
                rest = tail;
            }
            let own = 2 * parts.len();
            Ok(Some((parts, own)))
        }
        Kind::Map => {
            let size = machine.heap.map_size(term).unwrap_or(0);
            machine.consume_fuel(size)?;
            let entries = machine.heap.entries(term);
            let parts = entries.into_iter().map(|(_, value)| value).collect();
            Ok(Some((parts, 4 + 2 * size)))
        }
        _ => Ok(None),
    }
}
