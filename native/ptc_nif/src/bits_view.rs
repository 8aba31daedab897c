//! Binaries that do not start at a byte, and how long they are, without looking into them.
//!
//! The NIF interface copies such a binary whenever its bytes are asked for, and tells its length only
//! then: too late to find out that it is long. But in memory it is a reference with the length and the
//! place of its first bit. As with [`big_view`](crate::big_view), [`look_before_use`] makes sure of
//! that once, when the library is loaded; where a VM arranges binaries in another way, none is taken
//! for such a one, and they are counted after they were copied.

use crate::atoms;
use crate::raw::{Raw, Terms};
use crate::schedule::{nif_pair, Pace};
use rustler::{Encoder, Env, Term};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first word of a reference into a binary; 0 where it is not known.
static HEADER: AtomicUsize = AtomicUsize::new(0);
/// Which of [`LAYOUTS`] this VM has.
static LAYOUT: AtomicUsize = AtomicUsize::new(0);

/// The words after the first one of a reference into a binary.
type ThreeWords = [usize; 3];

/// How many bits after the beginning of a byte it starts, and its length in bytes, as VMs have them.
const LAYOUTS: [fn(ThreeWords) -> (usize, usize); 2] = [
    // Until OTP 26: length and offset in bytes, then, in a byte each, the bits after the last byte
    // and those before the first one.
    |[length, _, bits]| (usize::from(bits.to_ne_bytes()[1]), length),
    // From OTP 27 on: an address, the first bit, and the first one behind.
    |[_, start, end]| (start % 8, end.saturating_sub(start) / 8),
];

/// The bytes of a binary that does not start at a byte; `None` for all others.
#[inline]
pub fn unaligned<'a>(terms: Terms<'a>, binary: Raw<'a>) -> Option<usize> {
    let header = HEADER.load(Ordering::Relaxed);
    let words = terms.words_behind(binary, header)?;
    match LAYOUTS[LAYOUT.load(Ordering::Relaxed)](words) {
        (0, _) => None,
        (_, length) => Some(length),
    }
}

/// The binaries among the samples that [`look_before_use`] takes.
pub fn references<'a>(samples: Term<'a>) -> Vec<Raw<'a>> {
    let pairs = samples.decode::<Vec<(Term<'a>, usize)>>();
    let binary = |(binary, _)| Raw::from(binary);
    pairs.unwrap_or_default().into_iter().map(binary).collect()
}

/// Finds out how this VM arranges binaries that do not start at a byte. `samples`: a list of pairs,
/// each of such a binary and the number of bits before it.
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
    /// `{:ok, binary}`, which starts at a byte: a copy if this one does not, which is left to a dirty
    /// scheduler. There, one that was made by appending is trimmed by the VM when it is looked at.
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
