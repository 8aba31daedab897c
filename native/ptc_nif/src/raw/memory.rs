//! Reads the first words of the memory that a term points to; the callers know the VM's layout.

use super::{Raw, TermKind, Terms};

/// The bits of a word that do not belong to an address.
const TAG: usize = 7;
/// The bits that distinguish kinds of terms.
const TAG_OF_BOXED: usize = 3;
/// Value of these bits for a pointer to a term that is neither an immediate nor a list cell.
const BOXED: usize = 2;

impl<'a> Terms<'a> {
    /// The first word in memory of an integer beyond 64 bits; `None` for every other term, and if the term
    /// is not a pointer as in all VMs so far.
    pub fn first_word(self, term: Raw<'a>) -> Option<usize> {
        if self.kind(term) != TermKind::Integer || self.integer(term).is_some() {
            return None;
        }
        let address = term.identity();
        if address & TAG_OF_BOXED != BOXED {
            return None;
        }
        let place = (address & !TAG) as *const usize;
        // SAFETY: an integer beyond 64 bits is larger than a word, so the term is a pointer to it,
        // less the tag in its lowest bits; it lives as long as the environment.
        Some(unsafe { place.read() })
    }

    /// The first word in memory of a binary, if at least three words follow it; `None` for every other
    /// term, and if the term is not a pointer as in all VMs so far.
    pub fn header_of_binary(self, term: Raw<'a>) -> Option<usize> {
        const ARITY: u32 = 6;
        let word = term.identity();
        if !self.is_binary(term) || word & TAG_OF_BOXED != BOXED {
            return None;
        }
        // SAFETY: no binary fits into a word, so the term is a pointer to it, less the tag in its
        // lowest bits; it lives as long as the environment.
        let header = unsafe { ((word & !TAG) as *const usize).read() };
        (header >> ARITY >= 3).then_some(header)
    }

    /// The three words after the first word of a term that begins with `header`, which must be 0 or a result
    /// of [`Terms::header_of_binary`]; `None` if the term begins with another word.
    #[inline]
    pub fn words_behind(self, term: Raw<'a>, header: usize) -> Option<[usize; 3]> {
        let word = term.identity();
        if word & TAG_OF_BOXED != BOXED || header == 0 {
            return None;
        }
        let place = (word & !TAG) as *const usize;
        // SAFETY: a term with these bits is a pointer to a first word, as in all VMs so far: `header` was
        // found in this way. A term with that header has three words behind it.
        unsafe {
            match place.read() == header {
                true => Some(place.add(1).cast::<[usize; 3]>().read()),
                false => None,
            }
        }
    }
}
