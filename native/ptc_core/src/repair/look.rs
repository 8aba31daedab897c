//! What the text is like somewhere, for those who read it straight on.

use super::branch::{Branch, Kind};
use super::reader::Reader;
use super::scan::{escape, skip_blanks};
use crate::heap::Heap;
use crate::json::scan::to_special;

impl<H: Heap> Reader<'_, '_, '_, H> {
    /// Whether what follows a value is what may follow one there.
    pub(super) fn goes_on(&self, branch: &Branch, at: usize) -> bool {
        let next = skip_blanks(self.text, at);
        match (self.text.get(next), branch.top.kind) {
            (Some(b','), Kind::Object | Kind::Array) => true,
            (Some(b'}'), Kind::Object) | (Some(b']'), Kind::Array) => true,
            (_, kind) => kind == Kind::Top,
        }
    }

    /// The end of a string, and whether it has escapes; `None` if it is not right.
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

    /// Whether a word begins at an offset that JSON does not know.
    pub(super) fn is_word(&self, at: usize) -> bool {
        let at = skip_blanks(self.text, at);
        let rest = &self.text[at.min(self.text.len())..];
        let known = [&b"true"[..], b"false", b"null"]
            .iter()
            .any(|word| rest.starts_with(word));
        rest.first().is_some_and(u8::is_ascii_alphabetic) && !known
    }

    /// Whether a number can be read: integers have a limit, and floats are not infinite.
    pub(super) fn is_in_range(&self, start: usize, end: usize, integer: bool) -> bool {
        match integer {
            true => end - start <= crate::answer::LIMITS.integer,
            // Only an exponent, or very many digits, make an infinity.
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
