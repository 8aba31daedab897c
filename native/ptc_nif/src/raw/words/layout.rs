//! Whether the terms of this VM have the layout that [`super`] reads.

use super::super::{Raw, Terms};
use super::{
    boxed, float, is_empty_list, kind, of_small_integer, small_integer, small_map, tuple, uncons,
    ATOM, ATOM_BITS, BINARY, BOXED, FLOAT, KIND_BITS, KNOWN, MAP, PRIMARY, SMALL, TAG, TUPLES,
    TUPLE_BITS, UNITS_A_BYTE,
};
use rustler::{BigInt, Encoder, Env};
use std::sync::atomic::Ordering;

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
    let alike = known && tuples_are_as_expected(terms, references, others);
    TUPLES.store(alike, Ordering::Relaxed);
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
        terms.make_tuple(&[terms.ask_make_integer(1)]),
        terms.ask_make_integer(i64::MAX),
    ];
    let mut others = alone.iter().chain(references).chain(others);
    if kinds.iter().any(|other| *other != (kind, units)) || others.any(|term| looks_alike(*term)) {
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
    small.iter().all(|value| {
        let term = terms.ask_make_integer(*value);
        let made = of_small_integer(*value);
        small_integer(term) == Some(*value) && made.is_some_and(|it| it.word() == term.word())
    }) && large.iter().all(|value| {
        let term = terms.ask_make_integer(*value);
        small_integer(term).is_none()
            && of_small_integer(*value).is_none()
            && term.identity() & PRIMARY == BOXED
    }) && atoms
        .iter()
        .all(|name| atom(name).is_ok_and(|term| is_atom(term.into())))
        && is_empty_list(terms.make_list(&[]))
}

fn lists_are_as_expected(terms: Terms) -> bool {
    let number = |value| terms.ask_make_integer(value);
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
    let number = |value: usize| terms.ask_make_integer(value as i64);
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
    let tuples = [&[][..], &[one, one]].map(|elements| terms.make_tuple(elements));
    let others: Vec<_> = no_tuples(terms).into_iter().chain(tuples).collect();
    let large = [SMALL + 1, 100, 5000].map(map);
    let large_maps = large.iter().flatten().copied();
    map_first != 0
        && float_first != 0
        && map_first != float_first
        && float_terms.len() == floats.len()
        && (floats.iter().zip(&float_terms))
            .all(|(f, term)| float(*term).map(f64::to_bits) == Some(f.to_bits()))
        && (0..=SMALL).all(|size| map(size).is_some_and(|map| is_as_expected(terms, map, size)))
        && others.into_iter().chain(large_maps).all(|term| {
            let first = first(term);
            first != map_first && first != float_first
        })
}

/// Terms in memory that are no tuples, no floats and no small maps.
fn no_tuples(terms: Terms<'_>) -> [Raw<'_>; 7] {
    [
        terms.make_binary(b""),
        terms.make_binary(b"Ada"),
        terms.make_binary(&[b'x'; 200]),
        terms.ask_make_integer(i64::MAX),
        Raw::from(BigInt::from(u128::MAX).encode(terms.env)),
        Raw::from((-BigInt::from(u128::MAX)).encode(terms.env)),
        Raw::from(terms.env.make_ref().encode(terms.env)),
    ]
}

/// Whether tuples, and no other terms, have the layout that [`tuple`] reads.
fn tuples_are_as_expected<'a>(
    terms: Terms<'a>,
    references: &[Raw<'a>],
    others: &[Raw<'a>],
) -> bool {
    let looks_alike = |term: Raw| boxed(term).is_some_and(|(_, first)| first & KIND_BITS == 0);
    let number = |value: usize| terms.ask_make_integer(value as i64);
    let are_read = [0, 1, 2, 3, 7, 33, 300].into_iter().all(|count| {
        let elements: Vec<_> = (0..count).map(number).collect();
        let made = terms.make_tuple(&elements);
        let is_expected = boxed(made).is_some_and(|(_, first)| first == count << TUPLE_BITS);
        // Its elements are read only if their number is the expected one.
        is_expected
            && terms.ask_tuple(made).is_some_and(|asked| {
                let read = tuple(made).unwrap_or_default();
                asked.len() == count && (count == 0 || asked.as_ptr() == read.as_ptr())
            })
    });
    let maps = [1, SMALL, SMALL + 1, 5000].map(|size| {
        let keys: Vec<_> = (0..size).map(number).collect();
        terms.make_map(&keys, &keys)
    });
    let made = no_tuples(terms)
        .into_iter()
        .chain(terms.make_float(1.5))
        .chain(maps.into_iter().flatten());
    let given = references.iter().chain(others).copied();
    let mut all = made.chain(given);
    are_read && all.all(|term| !looks_alike(term) || terms.ask_tuple(term).is_some())
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
