//! Reads and makes maps.

use super::{words, Raw, Terms};
use rustler::sys::*;
use std::mem::MaybeUninit;

impl<'a> Terms<'a> {
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

    /// Makes a map; `None` if a key occurs twice.
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

    /// Makes a map with another value at an existing key; small maps share their keys with the original.
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

    /// Makes a map with this value at this key, new or not.
    pub fn map_put(self, map: Raw<'a>, key: Raw<'a>, value: Raw<'a>) -> Option<Raw<'a>> {
        let map = filled!(|out: &mut MaybeUninit<_>| enif_make_map_put(
            self.c(),
            map.0,
            key.0,
            value.0,
            out.as_mut_ptr()
        ))?;
        Some(self.own(map))
    }

    /// Makes a map without this key.
    pub fn map_remove(self, map: Raw<'a>, key: Raw<'a>) -> Option<Raw<'a>> {
        let map = filled!(|out: &mut MaybeUninit<_>| enif_make_map_remove(
            self.c(),
            map.0,
            key.0,
            out.as_mut_ptr()
        ))?;
        Some(self.own(map))
    }

    /// The entries of a map; empty for other terms.
    pub fn entries(self, map: Raw<'a>) -> Vec<(Raw<'a>, Raw<'a>)> {
        let mut entries = Vec::with_capacity(self.map_size(map).unwrap_or(0));
        self.each_entry(map, |key, value| entries.push((key, value)));
        entries
    }

    /// Calls `visit` with every entry of a map; does nothing for other terms.
    pub fn each_entry(self, map: Raw<'a>, mut visit: impl FnMut(Raw<'a>, Raw<'a>)) {
        let head = ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD;
        let Some(mut iterator) = filled!(|out: &mut MaybeUninit<ErlNifMapIterator>| {
            enif_map_iterator_create(self.c(), map.0, out.as_mut_ptr(), head)
        }) else {
            return;
        };
        // SAFETY: the iterator was created for this environment and is destroyed once, below; the code
        // between cannot leave this function.
        unsafe {
            let (mut key, mut value) = Default::default();
            while enif_map_iterator_get_pair(self.c(), &mut iterator, &mut key, &mut value) != 0 {
                visit(self.own(key), self.own(value));
                enif_map_iterator_next(self.c(), &mut iterator);
            }
            enif_map_iterator_destroy(self.c(), &mut iterator);
        }
    }
}
