//! Reads one key from many maps with the same keys.
//!
//! `enif_get_map_value` compares the key with each key of a small map in order; for string keys, this is
//! most of a run's time. But a map iterator of the NIF interface contains pointers to a small map's keys
//! and values, and the rows of one table have their keys in the same order, often at the same address. So
//! each instruction that reads a key caches the address and the index of its last hit, and checks these
//! first.
//!
//! The iterator's fields are public in `erl_nif.h` but not guaranteed: [`look_before_use`] compares
//! them with the results of the iterator's functions, once, when the library is loaded. If they differ,
//! every lookup goes through `enif_get_map_value`.

use crate::clock::nif;
use crate::raw::{words, Raw, Terms};
use ptc_term::heap::Lookup;
use rustler::sys::*;
use rustler::{Atom, Encoder, Env};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maps with more entries are not flat arrays (`MAP_SMALL_MAP_LIMIT` in the VM).
pub const SMALL: usize = 32;

static FLAT_IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// If this variable in the environment of the VM is `iterator`, neither maps nor any other terms that
/// [`words`] reads are read in place.
const SWITCH: &str = "PTC_RUNNER_NATIVE_MAP_VIEW";

/// Cache of one instruction: the address of the keys and the index of its last lookup.
#[derive(Clone, Copy, Default)]
pub struct KeyCache {
    /// The address of the keys, 0 at first.
    keys: usize,
    /// The key's index there, or [`ABSENT`].
    index: u32,
    /// A large map occurred: later lookups call the VM directly.
    large: bool,
}

const ABSENT: u32 = u32::MAX;

/// The fields of an `ErlNifMapIterator` over a flat map.
#[repr(C)]
struct Fields {
    map: ErlNifTerm,
    size: usize,
    index: usize,
    keys: *const ErlNifTerm,
    values: *const ErlNifTerm,
    spare: [usize; 2],
}

const _: () = assert!(size_of::<Fields>() == size_of::<ErlNifMapIterator>());

/// A small map's keys and values, in place and in the same order.
#[derive(Clone, Copy)]
pub struct Flat<'a> {
    pub keys: &'a [Raw<'a>],
    pub values: &'a [Raw<'a>],
}

/// A map as it is stored in memory.
pub enum MapView<'a> {
    Flat(Flat<'a>),
    /// Must be read key by key through the interface.
    Large,
    NotAMap,
}

/// Reads a map in place if the layout of this VM's maps is known; otherwise each map counts as large.
#[inline]
pub fn view<'a>(terms: Terms<'a>, map: Raw<'a>) -> MapView<'a> {
    let small = match words::known() {
        true => words::small_map(map),
        false if FLAT_IS_KNOWN.load(Ordering::Relaxed) => return view_by_iterator(terms, map),
        false => None,
    };
    match small {
        Some((keys, values)) => MapView::Flat(Flat { keys, values }),
        None => match terms.map_size(map) {
            Some(_) => MapView::Large,
            None => MapView::NotAMap,
        },
    }
}

/// Reads a map through the fields of an iterator.
fn view_by_iterator<'a>(terms: Terms<'a>, map: Raw<'a>) -> MapView<'a> {
    let head = ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD;
    let env = terms.env.as_c_arg();
    let mut iterator = MaybeUninit::<ErlNifMapIterator>::uninit();
    // SAFETY: the call writes the iterator if it returns non-zero; Fields has the same size and
    // layout, which look_before_use has checked before it set FLAT_IS_KNOWN. A small map's arrays hold
    // terms of this environment, of which a Raw is a transparent word, and live as long as the map,
    // which is as long as the environment. The iterator is destroyed once.
    unsafe {
        if enif_map_iterator_create(env, map.word(), iterator.as_mut_ptr(), head) == 0 {
            return MapView::NotAMap;
        }
        let fields = &*iterator.as_ptr().cast::<Fields>();
        let view = match fields.size {
            0 => MapView::Flat(Flat {
                keys: &[],
                values: &[],
            }),
            size @ 1..=SMALL => MapView::Flat(Flat {
                keys: std::slice::from_raw_parts(fields.keys.cast(), size),
                values: std::slice::from_raw_parts(fields.values.cast(), size),
            }),
            _ => MapView::Large,
        };
        enif_map_iterator_destroy(env, iterator.as_mut_ptr());
        view
    }
}

/// The last small map that was read: programs often read several keys of one item.
pub struct LastMap<'a>(Cell<Option<(ErlNifTerm, Flat<'a>)>>);

impl<'a> LastMap<'a> {
    pub fn none() -> Self {
        LastMap(Cell::new(None))
    }

    #[inline]
    fn view(&self, terms: Terms<'a>, map: Raw<'a>) -> MapView<'a> {
        if words::known() {
            return view(terms, map);
        }
        if let Some((word, flat)) = self.0.get() {
            if word == map.word() {
                return MapView::Flat(flat);
            }
        }
        let view = view(terms, map);
        if let MapView::Flat(flat) = view {
            self.0.set(Some((map.word(), flat)));
        }
        view
    }
}

/// The value at the cached index, if the map's keys are at the cached address.
#[inline(always)]
pub fn quick_lookup<'a>(map: Raw<'a>, cache: &KeyCache) -> Option<Raw<'a>> {
    words::value_at(map, cache.keys, cache.index as usize)
}

/// The value at `key`.
#[inline]
pub fn lookup<'a>(
    terms: Terms<'a>,
    last: &LastMap<'a>,
    map: Raw<'a>,
    key: Raw<'a>,
    cache: &mut KeyCache,
) -> Lookup<Raw<'a>> {
    let is_key = |other: Raw<'a>| terms.identical(other, key);
    lookup_by(terms, last, map, key, cache, is_key)
}

/// `lookup` for an atom: atoms are one word each, so only words are compared.
#[inline]
pub fn lookup_atom<'a>(
    terms: Terms<'a>,
    last: &LastMap<'a>,
    map: Raw<'a>,
    atom: Raw<'a>,
    cache: &mut KeyCache,
) -> Lookup<Raw<'a>> {
    lookup_by(terms, last, map, atom, cache, |other: Raw<'a>| {
        other.word() == atom.word()
    })
}

#[inline(always)]
fn lookup_by<'a>(
    terms: Terms<'a>,
    last: &LastMap<'a>,
    map: Raw<'a>,
    key: Raw<'a>,
    cache: &mut KeyCache,
    is_key: impl Fn(Raw<'a>) -> bool,
) -> Lookup<Raw<'a>> {
    if cache.large {
        return ask(terms, map, key);
    }
    let flat = match last.view(terms, map) {
        MapView::Flat(flat) => flat,
        MapView::NotAMap => return Lookup::NotAMap,
        MapView::Large => {
            cache.large = true;
            return ask(terms, map, key);
        }
    };
    let index = cache.index as usize;
    if flat.keys.as_ptr() as usize == cache.keys {
        return match flat.values.get(index) {
            Some(value) => Lookup::Found(*value),
            None => Lookup::Missing,
        };
    }
    let index = match flat.keys.get(index) {
        Some(other) if is_key(*other) => Some(index),
        _ => flat.keys.iter().position(|other| is_key(*other)),
    };
    cache.keys = flat.keys.as_ptr() as usize;
    match index {
        Some(index) => {
            cache.index = index as u32;
            Lookup::Found(flat.values[index])
        }
        None => {
            cache.index = ABSENT;
            Lookup::Missing
        }
    }
}

fn ask<'a>(terms: Terms<'a>, map: Raw<'a>, key: Raw<'a>) -> Lookup<Raw<'a>> {
    match terms.map_get(map, key) {
        Some(value) => Lookup::Found(value),
        None => match terms.map_size(map) {
            Some(_) => Lookup::Missing,
            None => Lookup::NotAMap,
        },
    }
}

/// Checks whether this VM's iterators match [`Fields`] and its terms have the layout that [`words`] reads,
/// unless [`SWITCH`] turns both off. `references`: references into binaries; `others`: terms of other kinds.
pub fn look_before_use<'a>(env: Env<'a>, references: &[Raw<'a>], others: &[Raw<'a>]) {
    let terms = Terms { env };
    let sizes = [0, 1, 2, 7, SMALL, SMALL + 1, 100];
    let is_off = std::env::var_os(SWITCH).is_some_and(|value| value == "iterator");
    let known = !is_off && sizes.iter().all(|size| is_as_expected(terms, *size));
    FLAT_IS_KNOWN.store(known, Ordering::Relaxed);
    if !is_off {
        words::look_before_use(env, references, others);
    }
}

rustler::atoms! { direct, iterator }

nif! {
    /// `:direct` if small maps are read in place, otherwise `:iterator`.
    fn map_view() -> Atom {
        match words::known() || FLAT_IS_KNOWN.load(Ordering::Relaxed) {
            true => direct(),
            false => iterator(),
        }
    }
}

fn is_as_expected(terms: Terms, size: usize) -> bool {
    let number = |value: usize| Raw::from((value as i64).encode(terms.env));
    let keys: Vec<_> = (0..size).map(number).collect();
    let values: Vec<_> = (1000..1000 + size).map(number).collect();
    let Some(map) = terms.make_map(&keys, &values) else {
        return false;
    };
    let head = ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD;
    let env = terms.env.as_c_arg();
    let mut iterator = MaybeUninit::<ErlNifMapIterator>::uninit();
    // SAFETY: the iterator is created, stepped and destroyed as the interface requires. The fields are
    // read as words; one is followed as a pointer only if it points right next to the map, where there is
    // memory of this process for certain.
    unsafe {
        if enif_map_iterator_create(env, map.word(), iterator.as_mut_ptr(), head) == 0 {
            return false;
        }
        let fields = iterator.as_ptr().cast::<Fields>().read();
        let mut as_expected = fields.map == map.word() && fields.size == size;
        if as_expected && (1..=SMALL).contains(&size) {
            // The map was just made: its keys and values are next to the term's own address.
            let address: usize = std::mem::transmute(map.word());
            let next_to = |array: *const ErlNifTerm| {
                array.is_aligned() && address.abs_diff(array as usize) <= 8 * (SMALL + 8)
            };
            as_expected = next_to(fields.keys) && next_to(fields.values);
            let (mut key, mut value) = Default::default();
            for index in 0..size {
                as_expected = as_expected
                    && enif_map_iterator_get_pair(env, iterator.as_mut_ptr(), &mut key, &mut value)
                        != 0
                    && *fields.keys.add(index) == key
                    && *fields.values.add(index) == value;
                enif_map_iterator_next(env, iterator.as_mut_ptr());
            }
        }
        enif_map_iterator_destroy(env, iterator.as_mut_ptr());
        as_expected
    }
}
