//! The words of terms whose parts the heap cannot read.

use crate::raw::{Raw, TermKind, Terms};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Words of a reference to bytes outside of the heap, until OTP 26 and since OTP 27.
const WORDS_OF_REFERENCE: [usize; 2] = [6, 8];
static SINCE_27: AtomicBool = AtomicBool::new(false);
/// Words of references, pids and ports of other nodes, and a fun without the terms in its closure.
const WORDS_OF_OTHER: usize = 5;

/// Stores the release of Erlang/OTP. Called when the library is loaded.
pub fn know_release(release: usize) {
    SINCE_27.store(release >= 27, Relaxed);
}

/// See [`Heap::words_of_reference`](ptc_term::heap::Heap::words_of_reference).
pub fn words_of_reference() -> usize {
    WORDS_OF_REFERENCE[usize::from(SINCE_27.load(Relaxed))]
}

/// See [`Heap::words_of_opaque`](ptc_term::heap::Heap::words_of_opaque).
pub fn words_of_opaque(terms: Terms, term: Raw) -> usize {
    match terms.kind(term) {
        TermKind::Fun | TermKind::Reference => WORDS_OF_OTHER,
        TermKind::Pid | TermKind::Port if !terms.is_local(term) => WORDS_OF_OTHER,
        // For example a bitstring: a reference into a binary, with a position.
        TermKind::Unknown => words_of_reference() + WORDS_OF_OTHER,
        _ => 0,
    }
}
