//! Strings and integers of any length; long ones are written in parts or counted separately.

use super::put::{put_chars, put_string, NotUtf8};
use super::{
    JsonView, OpenContainer, Readable, Refusal, Writer, BYTES_BETWEEN_LOOKS, BYTES_PER_UNIT,
};
use num_bigint::BigInt;
use ptc_term::stop::Stop;

/// Longer strings are written in parts of this length.
pub(super) const LONG: usize = 16_384;

impl<R: Readable> Writer<'_, '_, '_, R> {
    pub(super) fn quoted(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        self.draft.text.push(b'"');
        put(&mut self.draft.text);
        self.draft.text.push(b'"');
    }

    #[inline]
    pub(super) fn string(
        &mut self,
        term: R::Term,
        text: &[u8],
        is_key: bool,
    ) -> Result<(), Refusal<R::Term>> {
        self.check(text.len())?;
        if text.len() > LONG {
            self.begin_long(term, is_key);
            return Ok(());
        }
        put_string(&mut self.draft.text, text).map_err(|NotUtf8(at)| Refusal::NotUtf8(term, at))
    }

    /// Writes an integer beyond 64 bits.
    pub(super) fn big(
        &mut self,
        term: R::Term,
        value: &BigInt,
        is_key: bool,
    ) -> Result<(), Refusal<R::Term>> {
        let time = time_of(value);
        self.check(time)?;
        if time > BYTES_BETWEEN_LOOKS {
            self.begin_long(term, is_key);
            return Ok(());
        }
        let digits = value.to_string();
        match is_key {
            true => self.quoted(|text| text.extend_from_slice(digits.as_bytes())),
            false => self.draft.text.extend_from_slice(digits.as_bytes()),
        }
        Ok(())
    }

    #[cold]
    fn begin_long(&mut self, scalar: R::Term, is_key: bool) {
        let at = 0;
        self.draft.push(OpenContainer::Long { at, is_key }, scalar);
    }

    /// Writes the next part of the long string or integer on top of the stack.
    #[cold]
    pub(super) fn long(
        &mut self,
        scalar: R::Term,
        at: usize,
        is_key: bool,
    ) -> Result<(), Refusal<R::Term>> {
        match self.source.view(scalar) {
            JsonView::Text(text) => {
                if at == 0 {
                    self.draft.text.push(b'"');
                }
                let end = part_end(text, at);
                let part = text.get(at..end).unwrap_or_default();
                put_chars(&mut self.draft.text, part)
                    .map_err(|NotUtf8(within)| Refusal::NotUtf8(scalar, at + within))?;
                if end < text.len() {
                    self.draft.set(OpenContainer::Long { at: end, is_key });
                    return self.check(text.len() - end);
                }
                self.draft.text.push(b'"');
            }
            JsonView::Big(value) => {
                // Uninterruptible: a slice does only small ones.
                self.ask(time_of(&value).saturating_mul(BYTES_PER_UNIT))?;
                let digits = value.to_string();
                match is_key {
                    true => self.quoted(|text| text.extend_from_slice(digits.as_bytes())),
                    false => self.draft.text.extend_from_slice(digits.as_bytes()),
                }
            }
            JsonView::TooLong => return Err(Refusal::Stopped(Stop::SliceOver)),
            _ => return Err(Refusal::Stopped(Stop::Abandoned)),
        }
        if is_key {
            self.draft.text.push(b':');
        }
        self.draft.pop(self.source.heap());
        self.check(0)
    }
}

/// Returns the time to compute the decimal digits, in bytes of text that take as long. It grows nearly
/// with the square of their number.
pub(super) fn time_of(value: &BigInt) -> usize {
    let limbs = value.bits() as usize / 64;
    limbs.saturating_mul(limbs) / 4
}

/// Returns the end of the part of a long string that starts at `at`: a character boundary, if it is
/// UTF-8.
fn part_end(text: &[u8], at: usize) -> usize {
    let end = at.saturating_add(LONG).min(text.len());
    let goes_on = |at: &usize| matches!(text.get(*at), Some(0x80..=0xBF));
    // A character has at most three bytes after its first one.
    let start = (end.saturating_sub(3)..=end).rev().find(|at| !goes_on(at));
    start.unwrap_or(end)
}
