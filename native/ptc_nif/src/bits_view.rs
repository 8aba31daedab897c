//! Reads the length of unaligned binaries (those that do not start at a byte) without reading their bytes.
//!
//! The NIF interface copies such a binary whenever its bytes are read, and returns its length only
//! then; by then it is too late to reject it. But in memory it is a reference with the length and the
//! position of its first bit. As in [`big_view`](crate::big_view), [`look_before_use`] checks this once,
//! when the library is loaded. If a VM has another layout, no binary counts as unaligned, and
//! the bytes are counted after the copy.

use crate::atoms;
use crate::raw::{Raw, Terms};
use crate::schedule::{nif_pair, Pace};
use rustler::{Encoder, Env, Term};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first word of a reference into a binary; 0 if it is not known.
static HEADER: AtomicUsize = AtomicUsize::new(0);
/// Index in [`LAYOUTS`] of this VM's layout.
static LAYOUT: AtomicUsize = AtomicUsize::new(0);

/// The words after the first one of a reference into a binary.
type ThreeWords = [usize; 3];

/// The known layouts: each returns the offset in bits from a byte boundary, and the length in bytes.
const LAYOUTS: [fn(ThreeWords) -> (usize, usize); 2] = [
    // Until OTP 26: length and offset in bytes, then one byte each for the number of bits after the last
    // byte and before the first one.
    |[length, _, bits]| (usize::from(bits.to_ne_bytes()[1]), length),
    // Since OTP 27: an address, the first bit, and the bit after the last one.
    |[_, start, end]| (start % 8, end.saturating_sub(start) / 8),
];

/// The length in bytes of an unaligned binary; `None` for all others.
#[inline]
pub fn unaligned<'a>(terms: Terms<'a>, binary: Raw<'a>) -> Option<usize> {
    let header = HEADER.load(Ordering::Relaxed);
    let words = terms.words_behind(binary, header)?;
    match LAYOUTS[LAYOUT.load(Ordering::Relaxed)](words) {
        (0, _) => None,
        (_, length) => Some(length),
    }
}

/// The binaries of the samples that [`look_before_use`] receives.
pub fn references<'a>(samples: Term<'a>) -> Vec<Raw<'a>> {
    let pairs = samples.decode::<Vec<(Term<'a>, usize)>>();
    let binary = |(binary, _)| Raw::from(binary);
    pairs.unwrap_or_default().into_iter().map(binary).collect()
}

/// Finds the layout of this VM's unaligned binaries. `samples`: a list of pairs, each of an unaligned
/// binary and the number of bits before it.
pub fn look_before_use<'a>(env: Env<'a>, samples: Term<'a>) {
    let terms = Terms { env };
    let Ok(samples) = samples.decode::<Vec<(Term<'a>, usize)>>() else {
        return;
    };
    let Some((first, _)) = samples.first() else {
        return;
    };
    let Some(header) = terms.header_of_binary(Raw::from(*first)) else {
        return;
    };
    let is_right = |layout: &usize| {
        samples.iter().all(|(binary, bits)| {
            let binary = Raw::from(*binary);
            let length = terms.bytes(binary).map(<[u8]>::len);
            let words = terms.words_behind(binary, header);
            words.map(LAYOUTS[*layout]) == length.map(|length| (*bits, length))
        })
    };
    if let Some(layout) = (0..LAYOUTS.len()).find(is_right) {
        LAYOUT.store(layout, Ordering::Relaxed);
        HEADER.store(header, Ordering::Relaxed);
    }
}

nif_pair! {
    /// `{:ok, binary}`, aligned. An unaligned binary is copied, on a dirty scheduler only. A dirty call also
    /// makes the VM trim a binary that was built by appending.
    fn aligned, aligned_dirty<'a>(env, pace, binary: Term<'a>) -> Term<'a> {
        let (terms, term) = (Terms { env }, Raw::from(binary));
        let is_unaligned = unaligned(terms, term).is_some();
        if pace != Pace::Quantum {
            return match is_unaligned {
                true => atoms::busy().encode(env),
                false => (atoms::ok(), binary).encode(env),
            };
        }
        match terms.bytes(term) {
            Some(bytes) if is_unaligned => (atoms::ok(), terms.make_binary(bytes).term(env)).encode(env),
            _ => (atoms::ok(), binary).encode(env),
        }
    }
}
