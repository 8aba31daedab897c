//! Reads the names of atoms.

use super::{Raw, Terms};
use rustler::sys::*;
use std::mem::MaybeUninit;

impl<'a> Terms<'a> {
    /// Writes a Latin-1 name of an atom to the buffer. Returns its length; `None` for other terms and other
    /// names.
    pub fn latin1_name(self, atom: Raw<'a>, buffer: &mut [u8; 256]) -> Option<usize> {
        let encoding = ErlNifCharEncoding::ERL_NIF_LATIN1;
        // SAFETY: the call writes at most `buffer.len()` bytes to the buffer and returns their number, with
        // the terminating zero.
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

    /// Number of characters of a Latin-1 name of an atom; `None` for other terms and other names.
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
}
