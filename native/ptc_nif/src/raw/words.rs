//! Terms that are read in place, without a call of the NIF interface.
//!
//! A walk over rows does a few simple reads per item: the head and the tail of a list, a small integer, the
//! address of a map's keys. Each takes a nanosecond or less in memory, and three to five through the
//! interface, which is most of the time of a filter or a type check. The layout of these terms in 64-bit
//! VMs has not changed in twenty years, but it is not documented. So, as in
//! [`map_view`](crate::map_view), [`look_before_use`] compares the terms read here with the results of the
//! interface, once, when the library is loaded. If they differ, every read goes through the
//! interface.

mod layout;

pub use layout::look_before_use;

use super::{Raw, TermKind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The lowest bits of a word: the kind of term.
const PRIMARY: usize = 3;
const CONS: usize = 1;
const BOXED: usize = 2;
const IMMEDIATE: usize = 3;
/// The bits of a pointer that do not belong to the address.
const TAG: usize = 7;
/// A small integer has its value above these bits.
const INTEGER_BITS: u32 = 4;
const INTEGER: usize = 15;
const ATOM_BITS: usize = 0x3F;
const ATOM: usize = 0x0B;
const EMPTY_LIST: usize = 0x3B;
/// The bytes of a word.
const WORD: usize = size_of::<usize>();
/// Maximum number of entries of a map stored as flat arrays.
const SMALL: usize = 32;

static KNOWN: AtomicBool = AtomicBool::new(false);
/// The first word of a small map, and of a float; 0 is never a first word.
static MAP: AtomicUsize = AtomicUsize::new(0);
static FLOAT: AtomicUsize = AtomicUsize::new(0);

/// The lowest bits of the first word of a binary on the heap, or 0 if the layout of binaries is not known;
/// and the logarithm of the units of its length for each byte.
static BINARY: AtomicUsize = AtomicUsize::new(0);
static UNITS_A_BYTE: AtomicUsize = AtomicUsize::new(0);
const KIND_BITS: usize = 0x3F;
/// Whether the layout of tuples is known, and the number of lowest bits in the first word of a tuple, which are 0: the others are the
/// number of its elements.
static TUPLES: AtomicBool = AtomicBool::new(false);
const TUPLE_BITS: u32 = 6;

/// Whether terms can be read in place.
#[inline(always)]
pub fn known() -> bool {
    KNOWN.load(Ordering::Relaxed)
}

#[inline(always)]
pub fn is_immediate(term: Raw) -> bool {
    term.identity() & PRIMARY == IMMEDIATE
}

/// The value of a small integer. Valid only if [`known`], like all functions below.
#[inline(always)]
pub fn small_integer(term: Raw) -> Option<i64> {
    let word = term.identity();
    (word & INTEGER == INTEGER).then_some(word as i64 >> INTEGER_BITS)
}

/// A small integer as a term; `None` if it takes more than a word. Valid only if [`known`].
#[inline(always)]
pub fn of_small_integer<'a>(value: i64) -> Option<Raw<'a>> {
    if (value << INTEGER_BITS) >> INTEGER_BITS != value {
        return None;
    }
    let word = (value << INTEGER_BITS) as usize | INTEGER;
    // SAFETY: the interface's term is one word; its type only prevents arithmetic on it. A small integer is its word, so it
    // belongs to every environment; `look_before_use` has checked this layout.
    Some(unsafe { std::mem::transmute::<usize, Raw<'a>>(word) })
}

/// Whether the word and the first word in memory determine that this is an atom, a small integer, a float or a short binary.
#[inline(always)]
pub fn is_scalar(term: Raw) -> bool {
    let word = term.identity();
    match word & PRIMARY {
        IMMEDIATE => word & INTEGER == INTEGER || word & ATOM_BITS == ATOM,
        BOXED => {
            let is_float = boxed(term).is_some_and(|it| it.1 == FLOAT.load(Ordering::Relaxed));
            is_float || short_binary(term).is_some()
        }
        _ => false,
    }
}

#[inline(always)]
pub fn is_empty_list(term: Raw) -> bool {
    term.identity() == EMPTY_LIST
}

/// Head and tail of a list that is not empty.
#[inline(always)]
pub fn uncons<'a>(list: Raw<'a>) -> Option<(Raw<'a>, Raw<'a>)> {
    let word = list.identity();
    if word & PRIMARY != CONS {
        return None;
    }
    let cell = (word & !TAG) as *const Raw<'a>;
    // SAFETY: a word with this tag points to the two words of a list cell, which live as long as
    // the environment; `look_before_use` has checked this layout.
    let (head, tail) = unsafe { (cell.read(), cell.add(1).read()) };
    fetch_head(tail);
    Some((head, tail))
}

/// Has the processor fetch the first word of a list's head, which is mostly read next.
#[inline(always)]
fn fetch_head(list: Raw) {
    #[cfg(target_arch = "x86_64")]
    if list.identity() & PRIMARY == CONS {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        let cell = (list.identity() & !TAG) as *const Raw;
        // SAFETY: as for `uncons`. A prefetch of any address changes nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(cell.read().identity() as *const i8) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = list;
}

/// The address of a term that is neither immediate nor a list, and its first word.
#[inline(always)]
fn boxed(term: Raw) -> Option<(*const usize, usize)> {
    let word = term.identity();
    if word & PRIMARY != BOXED {
        return None;
    }
    let place = (word & !TAG) as *const usize;
    // SAFETY: a word with this tag points to a term of one word at least, which lives as long as
    // the environment.
    Some((place, unsafe { place.read() }))
}

#[inline(always)]
pub fn float(term: Raw) -> Option<f64> {
    match boxed(term) {
        Some((place, first)) if first == FLOAT.load(Ordering::Relaxed) => {
            // SAFETY: the 64 bits of a float follow its first word.
            Some(f64::from_bits(unsafe { place.add(1).read() } as u64))
        }
        _ => None,
    }
}

/// False for most terms that are not integers too large for a word.
#[inline(always)]
pub fn may_be_integer(term: Raw) -> bool {
    match boxed(term) {
        None => false,
        Some((_, first)) => {
            first != FLOAT.load(Ordering::Relaxed) && first != MAP.load(Ordering::Relaxed)
        }
    }
}

/// The keys and the values of a small map, as slices.
#[inline(always)]
pub fn small_map<'a>(term: Raw<'a>) -> Option<(&'a [Raw<'a>], &'a [Raw<'a>])> {
    let (place, first) = boxed(term)?;
    if first != MAP.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: a small map is its first word, the number of its entries, its keys as a tuple (one
    // word before its elements) and its values. All of it lives as long as the environment, and a Raw
    // is a transparent word.
    unsafe {
        let size = place.add(1).read();
        let keys = ((place.add(2).read() & !TAG) as *const Raw<'a>).add(1);
        let values = place.add(3).cast::<Raw<'a>>();
        Some((
            std::slice::from_raw_parts(keys, size),
            std::slice::from_raw_parts(values, size),
        ))
    }
}

/// The value at an index of a small map whose keys are at this address; `None` for every other term, and
/// if terms are not [`known`].
#[inline(always)]
pub fn value_at<'a>(map: Raw<'a>, keys: usize, index: usize) -> Option<Raw<'a>> {
    let map_first = MAP.load(Ordering::Relaxed);
    if map_first == 0 {
        return None;
    }
    let (place, first) = boxed(map)?;
    if first != map_first {
        return None;
    }
    // SAFETY: as for `small_map`. The index is below the number of the entries.
    unsafe {
        let same = (place.add(2).read() & !TAG) + size_of::<usize>() == keys;
        (same && index < place.add(1).read()).then(|| place.add(3 + index).cast::<Raw<'a>>().read())
    }
}

/// Whether two short binaries are identical; `None` for other terms, including references into a binary.
#[inline(always)]
pub fn same_short_binaries(a: Raw, b: Raw) -> Option<bool> {
    let ((a, first), (b, other)) = (boxed(a)?, boxed(b)?);
    let kind = BINARY.load(Ordering::Relaxed);
    if kind == 0 || first & KIND_BITS != kind || other & KIND_BITS != kind {
        return None;
    }
    // SAFETY: the first word holds the number of the words that follow it: the length and the bytes.
    unsafe {
        let length = a.add(1).read();
        if first != other || length != b.add(1).read() {
            return Some(false);
        }
        let units = UNITS_A_BYTE.load(Ordering::Relaxed);
        let bytes = length >> units;
        // The VM compares bitstrings that do not end at a byte.
        if bytes << units != length {
            return None;
        }
        // The bytes take up whole words; the last word may contain other bytes after them.
        let differs = |at| (a.add(2 + at).read() ^ b.add(2 + at).read()).to_le();
        let (words, more) = (bytes / WORD, bytes % WORD);
        let same = (0..words).all(|at| differs(at) == 0);
        Some(same && (more == 0 || differs(words) << (8 * (WORD - more)) == 0))
    }
}

/// Whether tuples can be read in place.
#[inline(always)]
pub fn knows_tuples() -> bool {
    TUPLES.load(Ordering::Relaxed)
}

/// The elements of a tuple; `None` for other terms. Valid only if [`knows_tuples`].
#[inline(always)]
pub fn tuple<'a>(term: Raw<'a>) -> Option<&'a [Raw<'a>]> {
    let (place, first) = boxed(term)?;
    if first & KIND_BITS != 0 {
        return None;
    }
    // SAFETY: the elements follow the first word, and live as long as the environment; a Raw is a transparent word.
    Some(unsafe { std::slice::from_raw_parts(place.add(1).cast(), first >> TUPLE_BITS) })
}

/// The bytes of a short binary; `None` for other terms, including references into a binary.
#[inline(always)]
pub fn short_binary<'a>(term: Raw<'a>) -> Option<&'a [u8]> {
    let (place, first) = boxed(term)?;
    let kind = BINARY.load(Ordering::Relaxed);
    if kind == 0 || first & KIND_BITS != kind {
        return None;
    }
    // SAFETY: the length and the bytes follow the first word. They live as long as the environment.
    unsafe {
        let length = place.add(1).read();
        let bytes = length >> UNITS_A_BYTE.load(Ordering::Relaxed);
        let is_whole = bytes << UNITS_A_BYTE.load(Ordering::Relaxed) == length;
        is_whole.then(|| std::slice::from_raw_parts(place.add(2).cast(), bytes))
    }
}

/// The kind of a term, if its word and its first word in memory determine it.
#[inline(always)]
pub fn kind(term: Raw) -> Option<TermKind> {
    let word = term.identity();
    match word & PRIMARY {
        CONS => Some(TermKind::List),
        IMMEDIATE if word & INTEGER == INTEGER => Some(TermKind::Integer),
        IMMEDIATE if word & ATOM_BITS == ATOM => Some(TermKind::Atom),
        IMMEDIATE if word == EMPTY_LIST => Some(TermKind::List),
        _ => match boxed(term)?.1 {
            first if first == MAP.load(Ordering::Relaxed) => Some(TermKind::Map),
            first if first == FLOAT.load(Ordering::Relaxed) => Some(TermKind::Float),
            _ => short_binary(term).map(|_| TermKind::Binary),
        },
    }
}
