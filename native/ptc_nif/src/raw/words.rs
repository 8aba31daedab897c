//! Terms that are read in place, without a call of the NIF interface.
//!
//! A walk over rows does a few simple reads per item: the head and the tail of a list, a small integer, the
//! address of a map's keys. Each takes a nanosecond or less in memory, and three to five through the
//! interface, which is most of the time of a filter or a type check. The layout of these terms in 64-bit
//! VMs has not changed in twenty years, but it is not documented. So, as in
//! [`map_view`](crate::map_view), [`look_before_use`] compares the terms read here with the results of the
//! interface, once, when the library is loaded. If they differ, every read goes through the
//! interface.

use super::{Raw, TermKind, Terms};
use rustler::{BigInt, Encoder, Env};
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

/// Checks whether this VM's terms have the expected layout. `references`: references into binaries,
/// which must be distinguishable from short binaries; `others`: terms of kinds that are not read in place, which must
/// not look like one that is.
pub fn look_before_use<'a>(env: Env<'a>, references: &[Raw<'a>], others: &[Raw<'a>]) {
    let terms = Terms { env };
    let known = cfg!(target_pointer_width = "64")
        && immediates_are_as_expected(terms)
        && lists_are_as_expected(terms)
        && boxes_are_as_expected(terms)
        && others.iter().all(|other| kind(*other).is_none());
    if !known {
        MAP.store(0, Ordering::Relaxed);
        FLOAT.store(0, Ordering::Relaxed);
    }
    KNOWN.store(known, Ordering::Relaxed);
    BINARY.store(
        match known && !references.is_empty() {
            true => binary_kind(terms, references, others),
            false => 0,
        },
        Ordering::Relaxed,
    );
}

/// The kind bits of a short binary; 0 if binaries do not have the layout that [`same_short_binaries`] reads.
fn binary_kind<'a>(terms: Terms<'a>, references: &[Raw<'a>], others: &[Raw<'a>]) -> usize {
    let texts: [&[u8]; 7] = [
        b"a",
        b"id",
        b"amount",
        b"12345678",
        b"owner name",
        b"1234567890123456",
        &[7; 60],
    ];
    let mut kinds = Vec::new();
    for text in texts {
        let Some((place, first)) = boxed(terms.make_binary(text)) else {
            return 0;
        };
        // SAFETY: a binary on the heap takes three words at least: its first one, its length and its bytes.
        // The number of words is checked before the bytes are read.
        let (length, words) = unsafe { (place.add(1).read(), first >> 6) };
        let units = match length {
            length if length == text.len() => 0,
            length if length == 8 * text.len() => 3,
            _ => return 0,
        };
        if words != 1 + text.len().div_ceil(8) {
            return 0;
        }
        // SAFETY: this many words follow the first one, as the check above has shown.
        let bytes = unsafe { std::slice::from_raw_parts(place.add(2).cast::<u8>(), text.len()) };
        if bytes != text {
            return 0;
        }
        kinds.push((first & KIND_BITS, units));
    }
    let (kind, units) = kinds[0];
    let looks_alike = |term| boxed(term).is_some_and(|(_, first)| first & KIND_BITS == kind);
    let alone = [
        terms.make_binary(&[b'x'; 200]),
        terms.make_tuple(&[terms.make_integer(1)]),
        terms.make_integer(i64::MAX),
    ];
    if kinds.iter().any(|other| *other != (kind, units))
        || alone
            .iter()
            .chain(references)
            .chain(others)
            .any(|term| looks_alike(*term))
    {
        return 0;
    }
    UNITS_A_BYTE.store(units, Ordering::Relaxed);
    kind
}

fn immediates_are_as_expected(terms: Terms) -> bool {
    let largest = (1i64 << 59) - 1;
    let small = [0, 1, -1, 7, -8, 255, i64::from(i32::MAX), largest, !largest];
    let large = [largest + 1, !largest - 1, i64::MAX, i64::MIN];
    let atoms = ["nil", "true", "false", "ok", "Elixir.PtcRunner.Native"];
    let atom = |name: &&str| rustler::Atom::from_str(terms.env, name).map(|a| a.encode(terms.env));
    let is_atom = |term: Raw| term.identity() & ATOM_BITS == ATOM;
    small
        .iter()
        .all(|value| small_integer(terms.make_integer(*value)) == Some(*value))
        && large.iter().all(|value| {
            let term = terms.make_integer(*value);
            small_integer(term).is_none() && term.identity() & PRIMARY == BOXED
        })
        && atoms
            .iter()
            .all(|name| atom(name).is_ok_and(|term| is_atom(term.into())))
        && is_empty_list(terms.make_list(&[]))
}

fn lists_are_as_expected(terms: Terms) -> bool {
    let number = |value| terms.make_integer(value);
    let items: Vec<_> = (0..20).map(number).collect();
    let improper = terms.cons(number(1), number(2));
    [terms.make_list(&items), improper].iter().all(|list| {
        let mut rest = *list;
        while let Some((head, tail)) = terms.ask_uncons(rest) {
            let same = |(a, b): (Raw, Raw)| (a.word(), b.word()) == (head.word(), tail.word());
            if !uncons(rest).is_some_and(same) {
                return false;
            }
            rest = tail;
        }
        uncons(rest).is_none()
    })
}

fn boxes_are_as_expected(terms: Terms) -> bool {
    let number = |value: usize| terms.make_integer(value as i64);
    let map = |size: usize| {
        let keys: Vec<_> = (0..size).map(number).collect();
        let values: Vec<_> = (1000..1000 + size).map(number).collect();
        terms.make_map(&keys, &values)
    };
    let floats = [0.0, -0.0, 1.5, -1.0e300, 5.0e-324];
    let float_terms: Vec<_> = floats.iter().filter_map(|f| terms.make_float(*f)).collect();
    let first = |term: Raw| boxed(term).map_or(0, |(_, first)| first);
    let Some(one) = map(1) else {
        return false;
    };
    let (map_first, float_first) = (first(one), first(float_terms[0]));
    MAP.store(map_first, Ordering::Relaxed);
    FLOAT.store(float_first, Ordering::Relaxed);
    let others = [
        terms.make_tuple(&[]),
        terms.make_tuple(&[one, one]),
        terms.make_binary(b""),
        terms.make_binary(b"Ada"),
        terms.make_binary(&[b'x'; 200]),
        terms.make_integer(i64::MAX),
        Raw::from(BigInt::from(u128::MAX).encode(terms.env)),
        Raw::from((-BigInt::from(u128::MAX)).encode(terms.env)),
        Raw::from(terms.env.make_ref().encode(terms.env)),
    ];
    let large = [SMALL + 1, 100, 5000].map(map);
    let large_maps = large.iter().flatten().copied();
    map_first != 0
        && float_first != 0
        && map_first != float_first
        && float_terms.len() == floats.len()
        && (floats.iter().zip(&float_terms))
            .all(|(f, term)| float(*term).map(f64::to_bits) == Some(f.to_bits()))
        && (0..=SMALL).all(|size| map(size).is_some_and(|map| is_as_expected(terms, map, size)))
        && others.iter().copied().chain(large_maps).all(|term| {
            let first = first(term);
            first != map_first && first != float_first
        })
}

/// Whether a newly made small map has the layout that [`small_map`] reads.
fn is_as_expected<'a>(terms: Terms<'a>, map: Raw<'a>, size: usize) -> bool {
    let Some((place, first)) = boxed(map) else {
        return false;
    };
    if first != MAP.load(Ordering::Relaxed) {
        return false;
    }
    // SAFETY: a map of any VM takes its first word, its size and a pointer at least. The pointer is
    // followed only if it is one, and if the size is the expected one.
    let (length, keys) = unsafe { (place.add(1).read(), place.add(2).read()) };
    if length != size || keys & PRIMARY != BOXED {
        return false;
    }
    let near = |keys: usize| place.addr().abs_diff(keys & !TAG) <= 8 * (2 * SMALL + 16);
    if size > 0 && !near(keys) {
        return false;
    }
    let mut entries = Vec::new();
    terms.each_entry(map, |key, value| entries.push((key.word(), value.word())));
    match small_map(map) {
        Some((keys, values)) => {
            let word = |term: &Raw| term.word();
            let pairs = keys.iter().map(word).zip(values.iter().map(word));
            entries.len() == size && pairs.eq(entries)
        }
        None => false,
    }
}
