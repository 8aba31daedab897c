//! Terms as single words, and the calls of the NIF interface on them.
//!
//! rustler's `Term` is three words, and its lists and maps go through vectors; the VM keeps millions
//! of terms and makes a map for each item. So the VM's terms are bare words that only a lifetime binds to
//! the environment. Only this module passes them to the NIF interface.
//!
//! * this file: comparisons of terms; scalars, lists, tuples
//! * [`kinds`]: the kinds of terms
//! * [`make`], [`maps`], [`atoms`]: terms of one kind; [`thread`]: the calling thread and process
//! * [`words`]: terms read in place; [`memory`]: the first words of a term in memory
//! * [`allocator`]: the global allocator

/// Runs a call that writes a result and returns non-zero on success; `None` if it returns zero.
macro_rules! filled {
    ($call:expr) => {{
        let mut out = MaybeUninit::uninit();
        // SAFETY: the call writes `out` if, and only if, it returns non-zero; the environment is
        // alive as long as 'a.
        unsafe {
            match $call(&mut out) {
                0 => None,
                _ => Some(out.assume_init()),
            }
        }
    }};
}

mod allocator;
mod atoms;
mod kinds;
mod make;
mod maps;
mod memory;
mod thread;
pub mod words;

pub use kinds::TermKind;
use rustler::sys::*;
use rustler::{Env, Term};
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
pub use thread::{on_dirty_scheduler, thread_switches, thread_time};

/// A term of the environment with lifetime `'a`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Raw<'a>(ErlNifTerm, PhantomData<Env<'a>>);

impl<'a> From<Term<'a>> for Raw<'a> {
    fn from(term: Term<'a>) -> Self {
        Raw(term.as_c_arg(), PhantomData)
    }
}

impl<'a> Raw<'a> {
    /// Returns the term as a rustler `Term`.
    pub fn term(self, env: Env<'a>) -> Term<'a> {
        // SAFETY: a Raw<'a> is only ever made of terms of the one environment with lifetime 'a.
        unsafe { Term::new(env, self.0) }
    }

    /// The word: equal for equal immediates and for the same address in memory.
    #[inline]
    pub fn word(self) -> ErlNifTerm {
        self.0
    }

    /// The word as a number, never 0.
    #[inline]
    pub fn identity(self) -> usize {
        // SAFETY: the interface's term is one word; its type only prevents arithmetic on it.
        unsafe { std::mem::transmute(self.0) }
    }
}

/// The calls of the NIF interface on bare terms, for one environment.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    pub env: Env<'a>,
}

impl<'a> Terms<'a> {
    fn c(self) -> *mut ErlNifEnv {
        self.env.as_c_arg()
    }

    #[inline]
    fn own(self, word: ErlNifTerm) -> Raw<'a> {
        Raw(word, PhantomData)
    }

    #[inline]
    pub fn compare(self, a: Raw<'a>, b: Raw<'a>) -> Ordering {
        if a.0 == b.0 {
            return Ordering::Equal;
        }
        if words::known() {
            if let (Some(a), Some(b)) = (words::small_integer(a), words::small_integer(b)) {
                return a.cmp(&b);
            }
            if let (Some(a), Some(b)) = (words::float(a), words::float(b)) {
                return a.partial_cmp(&b).unwrap_or(Ordering::Equal);
            }
        }
        // SAFETY: both are terms of this environment.
        unsafe { enif_compare(a.0, b.0) }.cmp(&0)
    }

    /// `==`.
    #[inline]
    pub fn equal(self, a: Raw<'a>, b: Raw<'a>) -> bool {
        if a.0 == b.0 {
            return true;
        }
        // Equal atoms and equal small integers are the same word.
        if words::known() {
            if words::is_immediate(a) && words::is_immediate(b) {
                return false;
            }
            // Texts are equal if they are identical.
            if let Some(same) = words::same_short_binaries(a, b) {
                return same;
            }
        }
        self.compare(a, b).is_eq()
    }

    #[inline]
    pub fn identical(self, a: Raw<'a>, b: Raw<'a>) -> bool {
        if a.0 == b.0 {
            return true;
        }
        if words::known() {
            if words::is_immediate(a) || words::is_immediate(b) {
                return false;
            }
            if let Some(same) = words::same_short_binaries(a, b) {
                return same;
            }
        }
        // SAFETY: both are terms of this environment.
        let same = unsafe { enif_is_identical(a.0, b.0) };
        same != 0
    }

    pub fn hash(self, term: Raw<'a>, seed: u64) -> u64 {
        // SAFETY: the term belongs to this environment.
        unsafe { enif_hash(ErlNifHash::ERL_NIF_INTERNAL_HASH, term.0, seed) }
    }

    #[inline(always)]
    pub fn uncons(self, list: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
        match words::known() {
            true => words::uncons(list),
            false => self.ask_uncons(list),
        }
    }

    /// `uncons` through the NIF interface.
    fn ask_uncons(self, list: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
        let mut head = MaybeUninit::uninit();
        let mut tail = MaybeUninit::uninit();
        // SAFETY: the call writes both or, if it returns zero, neither. The reads are volatile to keep them
        // apart: a combined read of 16 bytes would have to wait until both writes reach the cache, which
        // doubles the time of a walk.
        unsafe {
            match enif_get_list_cell(self.c(), list.0, head.as_mut_ptr(), tail.as_mut_ptr()) {
                0 => None,
                _ => Some((
                    self.own(head.as_ptr().read_volatile()),
                    self.own(tail.as_ptr().read_volatile()),
                )),
            }
        }
    }

    #[inline]
    pub fn is_empty_list(self, term: Raw<'a>) -> bool {
        if words::known() {
            return words::is_empty_list(term);
        }
        // SAFETY: the term belongs to this environment.
        unsafe { enif_is_empty_list(self.c(), term.0) != 0 }
    }

    /// Whether a bitstring consists of whole bytes. Faster than reading its bytes, and does not copy an
    /// unaligned one.
    #[inline]
    pub fn is_binary(self, term: Raw<'a>) -> bool {
        // SAFETY: the term belongs to this environment.
        words::short_binary(term).is_some() || unsafe { enif_is_binary(self.c(), term.0) != 0 }
    }

    #[inline(always)]
    pub fn integer(self, term: Raw<'a>) -> Option<i64> {
        match words::small_integer(term) {
            Some(value) if words::known() => Some(value),
            _ => self.integer_of_other(term),
        }
    }

    /// `integer` of what is no small integer, or not known to be one.
    #[inline(never)]
    fn integer_of_other(self, term: Raw<'a>) -> Option<i64> {
        if words::known() && !words::may_be_integer(term) {
            return None;
        }
        filled!(|out: &mut MaybeUninit<i64>| enif_get_int64(self.c(), term.0, out.as_mut_ptr()))
    }

    #[inline]
    pub fn float(self, term: Raw<'a>) -> Option<f64> {
        if words::known() {
            return words::float(term);
        }
        self.ask_float(term)
    }

    /// `float` through the NIF interface.
    fn ask_float(self, term: Raw<'a>) -> Option<f64> {
        filled!(|out: &mut MaybeUninit<f64>| enif_get_double(self.c(), term.0, out.as_mut_ptr()))
    }

    /// The content of a binary, as long as the environment lives.
    #[inline]
    pub fn bytes(self, term: Raw<'a>) -> Option<&'a [u8]> {
        if let Some(bytes) = words::short_binary(term) {
            return Some(bytes);
        }
        let binary = filled!(|out: &mut MaybeUninit<ErlNifBinary>| enif_inspect_binary(
            self.c(),
            term.0,
            out.as_mut_ptr()
        ))?;
        if binary.size == 0 {
            return Some(&[]);
        }
        // SAFETY: the term is immutable and lives as long as its environment; the pointer is not
        // null where there are bytes.
        Some(unsafe { std::slice::from_raw_parts(binary.data, binary.size) })
    }

    /// The elements of a tuple, in place.
    #[inline]
    pub fn tuple(self, term: Raw<'a>) -> Option<&'a [Raw<'a>]> {
        match words::knows_tuples() {
            true => words::tuple(term),
            false => self.ask_tuple(term),
        }
    }

    /// Asks the interface for the elements of a tuple.
    pub(super) fn ask_tuple(self, term: Raw<'a>) -> Option<&'a [Raw<'a>]> {
        let mut array = MaybeUninit::uninit();
        let arity = filled!(|arity: &mut MaybeUninit<_>| enif_get_tuple(
            self.c(),
            term.0,
            arity.as_mut_ptr(),
            array.as_mut_ptr()
        ))?;
        if arity == 0 {
            return Some(&[]);
        }
        // SAFETY: a tuple's elements stand side by side and live as long as the environment; a Raw
        // is a transparent word.
        Some(unsafe {
            std::slice::from_raw_parts(array.assume_init().cast::<Raw<'a>>(), arity as usize)
        })
    }

    /// Whether a pid or a port belongs to this node, and is therefore an immediate.
    pub fn is_local(self, term: Raw<'a>) -> bool {
        let (mut pid, mut port) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the calls write to `pid` and `port` at most, which are never read.
        unsafe {
            enif_get_local_pid(self.c(), term.0, pid.as_mut_ptr()) != 0
                || enif_get_local_port(self.c(), term.0, port.as_mut_ptr()) != 0
        }
    }
}
