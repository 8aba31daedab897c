//! Reads the length of a big integer without decoding it.
//!
//! The NIF interface provides integers beyond 64 bits in the external term format only, which takes
//! milliseconds for a long one; by then it is too late to reject it. But the first word of such a term in
//! memory holds the number of the words that follow, in every VM so far. As in
//! [`map_view`](crate::map_view), [`look_before_use`] checks this once, when the library is loaded. If a
//! VM has another layout, integers are decoded to get their length.

use crate::raw::{Raw, Terms};
use rustler::{BigInt, Encoder, Env};
use std::sync::atomic::{AtomicBool, Ordering};

static HEADER_IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// The lowest bits of the first word: the kind of term.
const KIND_BITS: u32 = 6;
/// Values of these bits for positive and negative integers.
const KINDS: [usize; 2] = [0x08, 0x0C];

/// The number of 64-bit limbs of an integer beyond 64 bits; `None` if it cannot be read.
pub fn limbs<'a>(terms: Terms<'a>, integer: Raw<'a>) -> Option<usize> {
    match HEADER_IS_KNOWN.load(Ordering::Relaxed) {
        true => of_header(terms.first_word(integer)?),
        false => None,
    }
}

fn of_header(header: usize) -> Option<usize> {
    let is_integer = KINDS.contains(&(header & ((1 << KIND_BITS) - 1)));
    let words = header >> KIND_BITS;
    is_integer.then(|| (words * size_of::<usize>()).div_ceil(8))
}

/// Checks whether this VM's integers have the layout that [`limbs`] reads.
pub fn look_before_use(env: Env) {
    let known = [1, 2, 3, 10, 33, 500, 20_000]
        .iter()
        .all(|limbs| is_as_expected(env, *limbs));
    HEADER_IS_KNOWN.store(known, Ordering::Relaxed);
}

/// Checks the smallest and the largest integer of this many limbs, positive and negative.
fn is_as_expected(env: Env, limbs: usize) -> bool {
    let terms = Terms { env };
    let one = BigInt::from(1);
    // 2^63 is the smallest integer of one limb that does not fit into 64 bits with its sign.
    let smallest = &one << (64 * limbs - 64).max(63);
    let largest = (&one << (64 * limbs)) - &one;
    let below = [-smallest.clone(), -largest.clone()];
    [smallest, largest].iter().chain(&below).all(|integer| {
        let term = Raw::from(integer.encode(env));
        // -2^63 fits into 64 bits.
        let is_big = terms.integer(term).is_none();
        !is_big || terms.first_word(term).and_then(of_header) == Some(limbs)
    })
}
