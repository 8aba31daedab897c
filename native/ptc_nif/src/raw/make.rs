//! Makes terms other than maps.

use super::{words, Raw, Terms};
use rustler::sys::*;
use std::mem::MaybeUninit;

impl<'a> Terms<'a> {
    #[inline]
    pub fn make_integer(self, value: i64) -> Raw<'a> {
        match words::of_small_integer(value) {
            Some(term) if words::known() => term,
            _ => self.ask_make_integer(value),
        }
    }

    /// `make_integer` through the NIF interface.
    #[inline(never)]
    pub(super) fn ask_make_integer(self, value: i64) -> Raw<'a> {
        // SAFETY: makes a term of this environment.
        self.own(unsafe { enif_make_int64(self.c(), value) })
    }

    /// A float; `None` if it is not finite, because the NIF interface would raise.
    pub fn make_float(self, value: f64) -> Option<Raw<'a>> {
        // SAFETY: makes a term of this environment, and the value is finite.
        value
            .is_finite()
            .then(|| self.own(unsafe { enif_make_double(self.c(), value) }))
    }

    pub fn make_binary(self, bytes: &[u8]) -> Raw<'a> {
        let mut term = MaybeUninit::uninit();
        // SAFETY: the call returns uninitialised memory for `bytes.len()` bytes, to which no other reference
        // exists, and writes the term.
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
}
