//! Reads the names of atoms.

use super::{Raw, Terms};
use rustler::sys::*;
use std::mem::MaybeUninit;

impl<'a> Terms<'a> {
    /// An atom's name. The interface of this version knows Latin-1 atoms only; other names are read from the
    /// external term format.
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
