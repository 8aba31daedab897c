//! Reading one key out of many maps of the same make.
//!
//! `enif_get_map_value` compares the key with each of a small map's keys in turn, which for string
//! keys is most of the time a run takes. But a map iterator of the NIF interface shows where a
//! small map's keys and values stand side by side, and rows of one table have their keys in the
//! same order, often in the very same memory. So a place in a program remembers where it found its
//! key last, and looks there first.
//!
//! The iterator's fields are public in `erl_nif.h` but not promised: [`look_before_use`] compares
//! them with what the iterator's functions say, once, when the library is loaded. If a VM arranges
//! them in another way, every look-up goes through `enif_get_map_value`.

use crate::raw::{words, Raw, Terms};
use ptc_core::heap::Lookup;
use rustler::sys::*;
use rustler::{Atom, Encoder, Env};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};

/// More entries than this are no flat arrays (`MAP_SMALL_MAP_LIMIT` in the VM).
pub const SMALL: usize = 32;

static FLAT_IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// With `iterator` for this in the environment of the VM, no map is read in place, nor is any other term
/// that [`words`] reads.
const SWITCH: &str = "PTC_RUNNER_NATIVE_MAP_VIEW";

/// Where a place in a program found its key last.
#[derive(Clone, Copy, Default)]
pub struct KeyCache {
    /// The address of the keys, 0 at first.
    keys: usize,
    /// The key's index there, or [`ABSENT`].
    index: u32,
    /// A large map was seen: ask the VM at once.
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

/// A map as it stands in memory.
pub enum MapView<'a> {
    Flat(Flat<'a>),
    /// To be asked, key by key.
    Large,
    NotAMap,
}

/// Looks at a map in place, where this VM's maps are known; otherwise each map is a large one.
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

/// The same by the fields of an iterator.
fn view_by_iterator<'a>(terms: Terms<'a>, map: Raw<'a>) -> MapView<'a> {
    let head = ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD;
    let env = terms.env.as_c_arg();
    let mut iterator = MaybeUninit::<ErlNifMapIterator>::uninit();
    // SAFETY: the call writes the iterator if it returns non-zero; Fields has the same size and
    // layout, which look_before_use has made sure of, as FLAT_IS_KNOWN says. A small map's arrays hold
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

/// The small map that was looked into last: a program mostly reads several keys of one item.
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

/// The value at the key of this cache, in a map that has the same keys as the one before.
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

/// The same for an atom: atoms are one word each, so only words are compared.
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

/// Finds out whether this VM's iterators are as [`Fields`] has them, and its terms as [`words`] reads
/// them, unless [`SWITCH`] says otherwise. `references`: references into binaries.
pub fn look_before_use<'a>(env: Env<'a>, references: &[Raw<'a>]) {
    let terms = Terms { env };
    let sizes = [0, 1, 2, 7, SMALL, SMALL + 1, 100];
    let is_off = std::env::var_os(SWITCH).is_some_and(|value| value == "iterator");
    let known = !is_off && sizes.iter().all(|size| is_as_expected(terms, *size));
    FLAT_IS_KNOWN.store(known, Ordering::Relaxed);
    if !is_off {
        words::look_before_use(env, references);
    }
}

rustler::atoms! { direct, iterator }

/// `:direct` where small maps are read in place, or `:iterator`.
#[rustler::nif]
fn map_view() -> Atom {
    let _clock = crate::clock::start("map_view");
    match words::known() || FLAT_IS_KNOWN.load(Ordering::Relaxed) {
        true => direct(),
        false => iterator(),
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
    // SAFETY: the iterator is created, stepped and destroyed as the interface asks; the fields are
    // looked at as words before one of them is followed as a pointer, and that only if it points
    // right next to the map, where there is memory of this process for certain.
    unsafe {
        if enif_map_iterator_create(env, map.word(), iterator.as_mut_ptr(), head) == 0 {
            return false;
        }
        let fields = iterator.as_ptr().cast::<Fields>().read();
        let mut as_expected = fields.map == map.word() && fields.size == size;
        if as_expected && (1..=SMALL).contains(&size) {
            // The map was just made: its keys and values stand next to the term's own address.
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
