//! Terms in one word, and the NIF interface under them.
//!
//! rustler's `Term` is three words and its lists and maps go through vectors; the VM keeps millions
//! of terms and makes a map an item. So the VM's terms are bare words, bound to the environment by
//! lifetime only, and this room is the one place that hands them to the NIF interface.

mod memory;
pub mod words;

use rustler::sys::*;
use rustler::{Env, Term};
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The bits of a word that are no part of an address.
const TAG: usize = 7;
/// Those that tell whether it is one …
const TAG_OF_BOXED: usize = 3;
/// … to something that is neither a word itself nor a list's cell.
const BOXED: usize = 2;

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
    /// The same term as rustler has it.
    pub fn term(self, env: Env<'a>) -> Term<'a> {
        // SAFETY: a Raw<'a> is only ever made of terms of the one environment with lifetime 'a.
        unsafe { Term::new(env, self.0) }
    }

    /// The word: equal for the same immediate and for the same place in memory.
    #[inline]
    pub fn word(self) -> ErlNifTerm {
        self.0
    }

    /// The word as a number, never 0.
    #[inline]
    pub fn identity(self) -> usize {
        // SAFETY: the interface's term is one word, whose type keeps it from being counted with.
        unsafe { std::mem::transmute(self.0) }
    }
}

/// An environment's calls on bare terms.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    pub env: Env<'a>,
}

/// A term out of a call that fills in `N` words and says whether it did.
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

impl<'a> Terms<'a> {
    fn c(self) -> *mut ErlNifEnv {
        self.env.as_c_arg()
    }

    #[inline]
    fn own(self, word: ErlNifTerm) -> Raw<'a> {
        Raw(word, PhantomData)
    }

    #[inline]
    pub fn kind(self, term: Raw<'a>) -> ErlNifTermType {
        if words::known() {
            if let Some(kind) = words::kind(term) {
                return kind;
            }
        }
        // SAFETY: the term belongs to this environment.
        unsafe { enif_term_type(self.c(), term.0) }
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
        // Two atoms or small integers that are equal are the same word.
        if words::known() && words::is_immediate(a) && words::is_immediate(b) {
            return false;
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

    /// The word as a number.
    pub fn address(self, term: Raw<'a>) -> usize {
        // SAFETY: a term is one word, whatever stands in it.
        unsafe { std::mem::transmute(term.0) }
    }

    #[inline]
    pub fn uncons(self, list: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
        match words::known() {
            true => words::uncons(list),
            false => self.ask_uncons(list),
        }
    }

    /// The same through the interface.
    fn ask_uncons(self, list: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
        let mut head = MaybeUninit::uninit();
        let mut tail = MaybeUninit::uninit();
        // SAFETY: the call writes both or, if it returns zero, neither. The reads are volatile to
        // keep them apart: joined to one of 16 bytes, it would have to wait for both writes to
        // reach the cache, which doubles the time of a walk.
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

    /// Whether it is made of whole bytes. Quicker than looking at them, and makes no copy of those
    /// that do not start at a byte.
    #[inline]
    pub fn is_binary(self, term: Raw<'a>) -> bool {
        // SAFETY: the term belongs to this environment.
        unsafe { enif_is_binary(self.c(), term.0) != 0 }
    }

    #[inline]
    pub fn integer(self, term: Raw<'a>) -> Option<i64> {
        if words::known() {
            if let Some(value) = words::small_integer(term) {
                return Some(value);
            }
            if !words::may_be_integer(term) {
                return None;
            }
        }
        filled!(|out: &mut MaybeUninit<i64>| enif_get_int64(self.c(), term.0, out.as_mut_ptr()))
    }

    #[inline]
    pub fn float(self, term: Raw<'a>) -> Option<f64> {
        if words::known() {
            return words::float(term);
        }
        filled!(|out: &mut MaybeUninit<f64>| enif_get_double(self.c(), term.0, out.as_mut_ptr()))
    }

    /// The word that an integer beyond 64 bits begins with in memory; `None` for every other term,
    /// and where the term is no pointer as VMs have had them so far.
    pub fn first_word(self, term: Raw<'a>) -> Option<usize> {
        let kind = self.kind(term);
        let is_integer = matches!(kind, ErlNifTermType::ERL_NIF_TERM_TYPE_INTEGER);
        if !is_integer || self.integer(term).is_some() {
            return None;
        }
        let address = term.identity();
        if address & TAG_OF_BOXED != BOXED {
            return None;
        }
        let place = (address & !TAG) as *const usize;
        // SAFETY: an integer beyond 64 bits is larger than a word, so the term is a pointer to it,
        // less the tag in its lowest bits; it lives as long as the environment.
        Some(unsafe { place.read() })
    }

    /// The word that a binary begins with in memory, if at least three words stand behind it; `None`
    /// for every other term, and where the term is no pointer as VMs have had them so far.
    pub fn header_of_binary(self, term: Raw<'a>) -> Option<usize> {
        const ARITY: u32 = 6;
        let word = term.identity();
        if !self.is_binary(term) || word & TAG_OF_BOXED != BOXED {
            return None;
        }
        // SAFETY: no binary fits into a word, so the term is a pointer to it, less the tag in its
        // lowest bits; it lives as long as the environment.
        let header = unsafe { ((word & !TAG) as *const usize).read() };
        (header >> ARITY >= 3).then_some(header)
    }

    /// The three words behind the first one of a term that begins with `header`, which must be 0 or
    /// what [`Terms::header_of_binary`] gave; `None` if the term begins with something else.
    #[inline]
    pub fn words_behind(self, term: Raw<'a>, header: usize) -> Option<[usize; 3]> {
        let word = term.identity();
        if word & TAG_OF_BOXED != BOXED || header == 0 {
            return None;
        }
        let place = (word & !TAG) as *const usize;
        // SAFETY: a term with these bits is a pointer to a first word, as the VM has had them so far:
        // `header` was found in this way. A term with that header has three words behind it.
        unsafe {
            match place.read() == header {
                true => Some(place.add(1).cast::<[usize; 3]>().read()),
                false => None,
            }
        }
    }

    #[inline]
    pub fn map_size(self, term: Raw<'a>) -> Option<usize> {
        if words::known() {
            if let Some((keys, _)) = words::small_map(term) {
                return Some(keys.len());
            }
        }
        filled!(|out: &mut MaybeUninit<_>| enif_get_map_size(self.c(), term.0, out.as_mut_ptr()))
    }

    #[inline]
    pub fn map_get(self, map: Raw<'a>, key: Raw<'a>) -> Option<Raw<'a>> {
        let value = filled!(|out: &mut MaybeUninit<_>| enif_get_map_value(
            self.c(),
            map.0,
            key.0,
            out.as_mut_ptr()
        ))?;
        Some(self.own(value))
    }

    /// The content of a binary, as long as the environment lives.
    #[inline]
    pub fn bytes(self, term: Raw<'a>) -> Option<&'a [u8]> {
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

    /// An atom's characters. The interface of this version knows Latin-1 atoms only; those with
    /// others are asked for in the external term format.
    pub fn atom_text(self, term: Raw<'a>) -> Option<String> {
        let term = term.term(self.env);
        if let Ok(text) = term.atom_to_string() {
            return Some(text);
        }
        // Version, tag, length in one or two bytes, characters.
        match term.to_binary().as_slice() {
            [131, 119, _, text @ ..] | [131, 118, _, _, text @ ..] => {
                String::from_utf8(text.to_vec()).ok()
            }
            _ => None,
        }
    }

    /// The elements of a tuple, in place.
    pub fn tuple(self, term: Raw<'a>) -> Option<&'a [Raw<'a>]> {
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

    pub fn make_integer(self, value: i64) -> Raw<'a> {
        // SAFETY: makes a term of this environment.
        self.own(unsafe { enif_make_int64(self.c(), value) })
    }

    /// Nothing for what is not finite: the NIF interface would raise.
    pub fn make_float(self, value: f64) -> Option<Raw<'a>> {
        // SAFETY: makes a term of this environment, and the value is finite.
        value
            .is_finite()
            .then(|| self.own(unsafe { enif_make_double(self.c(), value) }))
    }

    pub fn make_binary(self, bytes: &[u8]) -> Raw<'a> {
        let mut term = MaybeUninit::uninit();
        // SAFETY: the call gives memory for so many bytes, not initialised, which nobody else has
        // seen, and writes the term.
        self.own(unsafe {
            let data = enif_make_new_binary(self.c(), bytes.len(), term.as_mut_ptr());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
            term.assume_init()
        })
    }

    pub fn make_list(self, items: &[Raw<'a>]) -> Raw<'a> {
        let words = items.as_ptr().cast::<ErlNifTerm>();
        // SAFETY: a Raw is a transparent word; the terms belong to this environment.
        self.own(unsafe { enif_make_list_from_array(self.c(), words, items.len() as u32) })
    }

    pub fn make_tuple(self, items: &[Raw<'a>]) -> Raw<'a> {
        let words = items.as_ptr().cast::<ErlNifTerm>();
        // SAFETY: as for make_list.
        self.own(unsafe { enif_make_tuple_from_array(self.c(), words, items.len() as u32) })
    }

    pub fn cons(self, head: Raw<'a>, tail: Raw<'a>) -> Raw<'a> {
        // SAFETY: both are terms of this environment.
        self.own(unsafe { enif_make_list_cell(self.c(), head.0, tail.0) })
    }

    /// Nothing if a key stands twice.
    pub fn make_map(self, keys: &[Raw<'a>], values: &[Raw<'a>]) -> Option<Raw<'a>> {
        let count = keys.len().min(values.len());
        let (keys, values) = (keys.as_ptr().cast(), values.as_ptr().cast());
        let map = filled!(|out: &mut MaybeUninit<_>| enif_make_map_from_arrays(
            self.c(),
            keys,
            values,
            count,
            out.as_mut_ptr()
        ))?;
        Some(self.own(map))
    }

    /// Shows every entry of a map; nothing for what is no map.
    pub fn each_entry(self, map: Raw<'a>, mut visit: impl FnMut(Raw<'a>, Raw<'a>)) {
        let head = ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD;
        let Some(mut iterator) = filled!(|out: &mut MaybeUninit<ErlNifMapIterator>| {
            enif_map_iterator_create(self.c(), map.0, out.as_mut_ptr(), head)
        }) else {
            return;
        };
        // SAFETY: the iterator was created for this environment and is destroyed once, below;
        // nothing between can leave this function.
        unsafe {
            let (mut key, mut value) = Default::default();
            while enif_map_iterator_get_pair(self.c(), &mut iterator, &mut key, &mut value) != 0 {
                visit(self.own(key), self.own(value));
                enif_map_iterator_next(self.c(), &mut iterator);
            }
            enif_map_iterator_destroy(self.c(), &mut iterator);
        }
    }

    /// The map with another value at a key that it has; small maps share their keys with it.
    pub fn map_update(self, map: Raw<'a>, key: Raw<'a>, value: Raw<'a>) -> Option<Raw<'a>> {
        let map = filled!(|out: &mut MaybeUninit<_>| enif_make_map_update(
            self.c(),
            map.0,
            key.0,
            value.0,
            out.as_mut_ptr()
        ))?;
        Some(self.own(map))
    }

    /// The name of an atom in Latin-1; nothing for other terms and other names.
    pub fn latin1_name(self, atom: Raw<'a>, buffer: &mut [u8; 256]) -> Option<usize> {
        let encoding = ErlNifCharEncoding::ERL_NIF_LATIN1;
        // SAFETY: the call writes at most so many bytes to the buffer and counts them, with the
        // zero at the end.
        let written = unsafe {
            enif_get_atom(
                self.c(),
                atom.0,
                buffer.as_mut_ptr().cast(),
                buffer.len() as u32,
                encoding,
            )
        };
        usize::try_from(written).ok()?.checked_sub(1)
    }

    /// The characters of an atom's name in Latin-1; `None` for other terms and other names.
    #[inline]
    pub fn latin1_length(self, atom: Raw<'a>) -> Option<usize> {
        let encoding = ErlNifCharEncoding::ERL_NIF_LATIN1;
        let length = filled!(|out: &mut MaybeUninit<u32>| enif_get_atom_length(
            self.c(),
            atom.0,
            out.as_mut_ptr(),
            encoding
        ))?;
        Some(length as usize)
    }

    /// Whether a pid or a port is one of this node, and so stands in the word itself.
    pub fn is_local(self, term: Raw<'a>) -> bool {
        let (mut pid, mut port) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the calls write to `pid` and `port` at most, which nobody reads.
        unsafe {
            enif_get_local_pid(self.c(), term.0, pid.as_mut_ptr()) != 0
                || enif_get_local_port(self.c(), term.0, port.as_mut_ptr()) != 0
        }
    }

    /// Whether the process that called is still there. Only a dirty NIF can outlive it.
    pub fn caller_is_alive(self) -> bool {
        // SAFETY: the environment is that of a NIF call.
        unsafe { enif_is_current_process_alive(self.c()) != 0 }
    }
}

/// The CPU time of this thread so far, in nanoseconds; `None` where the system has no such clock.
#[cfg(unix)]
pub fn thread_time() -> Option<u64> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the call writes the time or returns non-zero.
    let time = unsafe {
        match libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr()) {
            0 => time.assume_init(),
            _ => return None,
        }
    };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u64::try_from(time.tv_nsec).ok()?;
    Some(seconds * 1_000_000_000 + nanoseconds)
}

/// The CPU time of this thread so far, in nanoseconds; `None` where the system has no such clock.
#[cfg(not(unix))]
pub fn thread_time() -> Option<u64> {
    None
}

/// Whether this thread belongs to a dirty scheduler.
pub fn on_dirty_scheduler() -> bool {
    // SAFETY: takes nothing and can be called on any thread.
    unsafe { enif_thread_type() > 1 }
}
