//! How long a big integer is, without decoding it.
//!
//! The NIF interface hands out integers beyond 64 bits in the external term format only, which takes
//! milliseconds for a long one: too late to find out that it is long. But the first word of such a
//! term in memory holds the number of the words behind it, on every VM so far. As with
//! [`map_view`](crate::map_view), [`look_before_use`] makes sure of that once, when the library is
//! loaded; if a VM arranges integers in another way, they are decoded to learn their length.

use crate::raw::{Raw, Terms};
use rustler::{BigInt, Encoder, Env};
use std::sync::atomic::{AtomicBool, Ordering};

static HEADER_IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// The lowest bits of the first word: what kind of term it is …
const KIND_BITS: u32 = 6;
/// … if it is an integer, above zero or below.
const KINDS: [usize; 2] = [0x08, 0x0C];

/// The 64-bit limbs of an integer that is none of 64 bits; `None` where they cannot be told.
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

/// Finds out whether this VM's integers are as [`limbs`] reads them.
pub fn look_before_use(env: Env) {
    let known = [1, 2, 3, 10, 33, 500, 20_000]
        .iter()
        .all(|limbs| is_as_expected(env, *limbs));
    HEADER_IS_KNOWN.store(known, Ordering::Relaxed);
}

/// Looks at the smallest and the largest integer of so many limbs, above and below zero.
fn is_as_expected(env: Env, limbs: usize) -> bool {
    let terms = Terms { env };
    let one = BigInt::from(1);
    // 2^63 is the smallest of one limb that does not fit into 64 bits with its sign.
    let smallest = &one << (64 * limbs - 64).max(63);
    let largest = (&one << (64 * limbs)) - &one;
    let below = [-smallest.clone(), -largest.clone()];
    [smallest, largest].iter().chain(&below).all(|integer| {
        let term = Raw::from(integer.encode(env));
        // -2^63 does fit.
        let is_big = terms.integer(term).is_none();
        !is_big || terms.first_word(term).and_then(of_header) == Some(limbs)
    })
}
