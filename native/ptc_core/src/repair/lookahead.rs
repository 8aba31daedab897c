//! Lookahead for the strict reader: strings, words and numbers at an offset.

use super::branch::{Bracket, Branch};
use super::reader::Reader;
use super::scan::{escape, skip_blanks};
use crate::heap::Heap;
use crate::json::scan::to_special;

impl<H: Heap> Reader<'_, '_, H> {
    /// Returns whether the text after a value is valid there.
    pub(super) fn goes_on(&self, branch: &Branch, at: usize) -> bool {
        let next = skip_blanks(self.text, at);
        match (self.text.get(next), branch.top.kind) {
            (Some(b','), Bracket::Object | Bracket::Array) => true,
            (Some(b'}'), Bracket::Object) | (Some(b']'), Bracket::Array) => true,
            (_, kind) => kind == Bracket::Top,
        }
    }

    /// Returns the end of a string, and whether it has escapes; `None` if it is invalid.
    #[inline]
    pub(super) fn strict_string(&self, start: usize) -> Option<(usize, bool)> {
        let mut at = start;
        let mut escapes = false;
        loop {
            (at, _) = to_special(self.text, at);
            match self.text.get(at)? {
                b'"' => return Some((at, escapes)),
                b'\\' => {
                    at += escape(self.text, at)?;
                    escapes = true;
                }
                _ => return None,
            }
        }
    }

    /// Returns whether a word that is not JSON begins at an offset.
    pub(super) fn is_word(&self, at: usize) -> bool {
        let at = skip_blanks(self.text, at);
        let rest = &self.text[at.min(self.text.len())..];
        let known = [&b"true"[..], b"false", b"null"]
            .iter()
            .any(|word| rest.starts_with(word));
        rest.first().is_some_and(u8::is_ascii_alphabetic) && !known
    }

    /// Returns whether a number is in range: integers have a size limit, and floats must be finite.
    pub(super) fn is_in_range(&self, start: usize, end: usize, integer: bool) -> bool {
        match integer {
            true => end - start <= crate::answer::LIMITS.integer,
            // Only an exponent, or very many digits, can make a float infinite.
            false
                if end - start < 300
                    && !self.text[start..end].iter().any(|byte| byte | 32 == b'e') =>
            {
                true
            }
            false => {
                let token = std::str::from_utf8(&self.text[start..end]).unwrap_or_default();
                token.parse().is_ok_and(f64::is_finite)
            }
        }
    }
}
