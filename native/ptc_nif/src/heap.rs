//! The heap of one NIF call: what the core asks of the BEAM.

mod terms;

use crate::map_view::LastMap;
use crate::raw::{Raw, TermKind, Terms};
use crate::structs::Structs;
use crate::{atoms, big_view};
use ptc_run::Heaps;
use ptc_term::heap::Heap;
use ptc_term::repeated::without_repeated;
use rustler::sys::ErlNifTerm;
use rustler::types::atom::Atom;
use rustler::{Encoder, Env};
use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Bits of the largest integer in any version of the VM.
const LARGEST_INTEGER: u64 = 64 * ((1 << 19) - 1);

/// Words of a reference to bytes outside of the heap, until OTP 26 and since OTP 27.
const WORDS_OF_REFERENCE: [usize; 2] = [6, 8];
static SINCE_27: AtomicBool = AtomicBool::new(false);
/// Words of references, pids and ports of other nodes, and a fun without the terms in its closure.
const WORDS_OF_OTHER: usize = 5;
/// A map with at most this many changed values is updated value by value, so that it shares its keys.
const FEW: usize = 4;

/// Stores the release of Erlang/OTP. Called when the library is loaded.
pub fn know_release(release: usize) {
    SINCE_27.store(release >= 27, Relaxed);
}

/// The heaps of all NIF calls.
pub struct OnBeam;

impl Heaps for OnBeam {
    type On<'a> = Beam<'a>;
}

/// The heap of one NIF call.
pub struct Beam<'a> {
    pub terms: Terms<'a>,
    nil: Raw<'a>,
    yes: Raw<'a>,
    no: Raw<'a>,
    words: usize,
    last_map: LastMap<'a>,
    structs: Structs,
    /// The last inspected binary. Each inspection of an unaligned binary makes a copy, which lives to the end
    /// of the call.
    last_binary: Cell<Option<(ErlNifTerm, &'a [u8])>>,
}

impl<'a> Beam<'a> {
    /// `words`: words that the run has built before this call.
    pub fn new(env: Env<'a>, words: usize) -> Self {
        let atom = |atom: Atom| Raw::from(atom.encode(env));
        Beam {
            terms: Terms { env },
            nil: atom(atoms::nil()),
            yes: atom(atoms::true_()),
            no: atom(atoms::false_()),
            words,
            last_map: LastMap::none(),
            structs: Structs::default(),
            last_binary: Cell::new(None),
        }
    }

    /// The limbs of an integer beyond 64 bits, read from its header. If this VM's headers are not known, the
    /// integer is decoded.
    #[cold]
    fn limbs_of_big(&self, term: Raw<'a>) -> usize {
        match self.terms.kind(term) {
            TermKind::Integer => big_view::limbs(self.terms, term)
                .or_else(|| self.number(term).map(|number| number.limbs()))
                .unwrap_or(0),
            _ => 0,
        }
    }

    /// Makes a map in which the first of several equal keys counts.
    #[cold]
    fn make_map_of_repeated(&mut self, keys: &[Raw<'a>], values: &[Raw<'a>]) -> Raw<'a> {
        let seed = RandomState::new().build_hasher().finish();
        let kept = without_repeated(self, (keys, values), seed);
        let (keys, values) = kept.as_ref().map_or((keys, values), |(k, v)| (k, v));
        self.terms.make_map(keys, values).unwrap_or(self.nil)
    }
}
