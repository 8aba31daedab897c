//! The kinds of terms.
//!
//! `enif_term_type` ends the VM for a kind that it has no number for, such as the native records of OTP 29. So it is
//! never called: a kind is what a test of the interface says, and a term that passes no test is unknown.

use super::{words, Raw, Terms};
use rustler::sys::*;

/// The kind of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermKind {
    Atom,
    Integer,
    Float,
    List,
    Map,
    Tuple,
    Binary,
    Fun,
    Pid,
    Port,
    Reference,
    /// A bitstring that is not a binary, or a kind that this library does not know.
    Unknown,
}

impl<'a> Terms<'a> {
    #[inline]
    pub fn kind(self, term: Raw<'a>) -> TermKind {
        if words::known() {
            if let Some(kind) = words::kind(term) {
                return kind;
            }
        }
        self.ask_kind(term)
    }

    /// `kind` through the NIF interface.
    #[inline(never)]
    pub(super) fn ask_kind(self, term: Raw<'a>) -> TermKind {
        use TermKind::*;
        let (env, word) = (self.c(), term.0);
        // SAFETY: the term belongs to this environment.
        unsafe {
            match () {
                () if enif_is_binary(env, word) != 0 => Binary,
                () if enif_is_map(env, word) != 0 => Map,
                () if enif_is_tuple(env, word) != 0 => Tuple,
                () if enif_is_number(env, word) != 0 => match self.ask_float(term) {
                    Some(_) => Float,
                    None => Integer,
                },
                () if enif_is_list(env, word) != 0 => List,
                () if enif_is_atom(env, word) != 0 => Atom,
                () if enif_is_fun(env, word) != 0 => Fun,
                () if enif_is_ref(env, word) != 0 => Reference,
                () if enif_is_pid(env, word) != 0 => Pid,
                () if enif_is_port(env, word) != 0 => Port,
                () => Unknown,
            }
        }
    }
}
