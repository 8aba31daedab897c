//! Lookahead for the strict reader: strings, words and numbers at an offset.

use crate::repair::readings::branch::{Bracket, Branch};
use crate::repair::readings::reader::Reader;
use crate::repair::text::scan::skip_blanks;
use ptc_json::grammar::{escape, string, token, Place, Word};
use ptc_term::heap::Heap;

impl<H: Heap> Reader<'_, '_, H> {
    /// Returns whether the text after a value is valid there.
    pub(in crate::repair) fn goes_on(&self, branch: &Branch, at: usize) -> bool {
        let next = self.text.get(skip_blanks(self.text, at));
        let follows = |byte: &u8| token(Place::After, branch.top.inside(), *byte).is_some();
        branch.top.kind == Bracket::Top || next.is_some_and(follows)
    }

    /// Returns the end of a string, and whether it has escapes; `None` if it is invalid.
    #[inline]
    pub(in crate::repair) fn strict_string(&self, start: usize) -> Option<(usize, bool)> {
        let (mut at, mut escapes) = (start, false);
        let end = string(self.text, &mut at, |at| {
            escapes = true;
            Ok(escape(self.text, at)?.1)
        });
        end.ok().map(|()| (at, escapes))
    }

    /// Returns whether a word that is not JSON begins at an offset.
    pub(in crate::repair) fn is_word(&self, at: usize) -> bool {
        let at = skip_blanks(self.text, at);
        let rest = &self.text[at.min(self.text.len())..];
        let known = [Word::True, Word::False, Word::Null]
            .iter()
            .any(|word| rest.starts_with(word.letters()));
        rest.first().is_some_and(u8::is_ascii_alphabetic) && !known
    }

    /// Returns whether a number is in range: integers have a size limit, and floats must be finite.
    pub(in crate::repair) fn is_in_range(&self, start: usize, end: usize, integer: bool) -> bool {
        match integer {
            true => end - start <= crate::LIMITS.integer,
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
