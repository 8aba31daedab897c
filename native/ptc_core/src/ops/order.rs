//! Sorting terms in pieces: each is sorted in one go, and they are merged term by term, so that a
//! long sort meets its deadline however long its comparisons are.

use crate::fault::Halt;
use crate::heap::Heap;
use crate::vm::{cost, Machine};
use std::cmp::Ordering;

/// The units that a piece may take.
const PIECE: usize = 50_000;

/// The places of the terms in term order, or in the reverse of it; equal terms keep their order.
pub(super) fn sorted<H: Heap>(
    machine: &mut Machine<'_, H>,
    terms: &[H::Term],
    descending: bool,
) -> Result<Vec<u32>, Halt<H::Term>> {
    let comparison = cost_of_comparison(machine, terms)?;
    let piece = (PIECE / (16 * comparison)).clamp(2, 4096);
    let mut places: Vec<u32> = (0..terms.len() as u32).collect();
    for piece in places.chunks_mut(piece) {
        let rounds = piece.len().ilog2() as usize + 1;
        machine.consume_fuel(piece.len() * rounds * comparison)?;
        let heap = &*machine.heap;
        piece.sort_by(|a, b| ordering(heap, terms, descending, *a, *b));
    }
    let mut width = piece;
    while width < places.len() {
        places = merged(machine, terms, descending, &places, width, comparison)?;
        width *= 2;
    }
    Ok(places)
}

/// The places with every two sorted runs of this width made one.
fn merged<H: Heap>(
    machine: &mut Machine<'_, H>,
    terms: &[H::Term],
    descending: bool,
    places: &[u32],
    width: usize,
    comparison: usize,
) -> Result<Vec<u32>, Halt<H::Term>> {
    let mut merged = Vec::with_capacity(places.len());
    for pair in places.chunks(2 * width) {
        let (mut left, mut right) = pair.split_at(width.min(pair.len()));
        while let (Some(a), Some(b)) = (left.first(), right.first()) {
            machine.consume_fuel(comparison)?;
            let order = ordering(machine.heap, terms, descending, *a, *b);
            // Of equals the left one comes first.
            let from = match order {
                Ordering::Greater => &mut right,
                Ordering::Less | Ordering::Equal => &mut left,
            };
            merged.extend(from.split_off_first().copied());
        }
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
    }
    Ok(merged)
}

fn ordering<H: Heap>(heap: &H, terms: &[H::Term], descending: bool, a: u32, b: u32) -> Ordering {
    let order = heap.compare(terms[a as usize], terms[b as usize]);
    match descending {
        true => order.reverse(),
        false => order,
    }
}

/// What the longest comparison counts.
fn cost_of_comparison<H: Heap>(
    machine: &mut Machine<'_, H>,
    terms: &[H::Term],
) -> Result<usize, Halt<H::Term>> {
    let mut longest = 1;
    for term in terms {
        machine.consume_fuel_for_depth(*term)?;
        longest = longest.max(cost(machine.heap, *term));
    }
    Ok(longest)
}
