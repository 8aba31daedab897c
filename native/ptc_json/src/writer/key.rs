//! Keys of maps: a cache of their written form.

use super::long::{time_of, LONG};
use super::put::{put_float, put_integer};
use super::{JsonView, OpenContainer, Readable, Refusal, Writer, BYTES_BETWEEN_LOOKS, TOLL};

/// Number of cached keys; a power of two.
pub(super) const KEYS: usize = 64;
/// Longer keys are not cached.
const LONGEST: usize = 31;

const _: () = assert!(KEYS.is_power_of_two());

#[inline]
fn slot_of(identity: usize) -> usize {
    // Multiplied, because the low bits of addresses and atoms hardly differ.
    let mixed = (identity as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> (u64::BITS - KEYS.ilog2())) as usize
}

/// A written key, from the byte before it to the colon.
#[derive(Clone, Copy)]
pub(super) struct KeyText {
    identity: usize,
    length: u8,
    text: [u8; LONGEST],
}

/// An empty cache. An identity can be any number, so each entry has one that is looked for in another entry: 0 is looked for in
/// the first one, which has 1.
pub(super) const NO_KEYS: [KeyText; KEYS] = {
    let unused = KeyText {
        identity: 0,
        length: 0,
        text: [0; LONGEST],
    };
    let mut keys = [unused; KEYS];
    keys[0].identity = 1;
    keys
};

impl<R: Readable> Writer<'_, '_, '_, R> {
    /// Writes an entry of a map, after `lead`, which is `{` or a comma.
    #[inline]
    pub(super) fn entry(
        &mut self,
        lead: u8,
        key: R::Term,
        value: R::Term,
    ) -> Result<(), Refusal<R::Term>> {
        match self.key(lead, key)? {
            Key::Written => self.value(value),
            Key::Long => {
                let (at, is_key) = (0, true);
                self.draft.push(OpenContainer::Value, value);
                self.draft.push(OpenContainer::Long { at, is_key }, key);
                Ok(())
            }
        }
    }

    /// Writes a key with its colon, after `lead`.
    #[inline]
    fn key(&mut self, lead: u8, key: R::Term) -> Result<Key, Refusal<R::Term>> {
        let identity = self.source.identity(key);
        let slot = slot_of(identity);
        let known = &self.keys[slot];
        let text = &mut self.draft.text;
        let start = text.len();
        if known.identity == identity {
            // Copies the whole buffer, because a copy of constant length needs no call.
            text.extend_from_slice(&known.text);
            text.truncate(start + known.length as usize);
            text[start] = lead;
            return Ok(Key::Written);
        }
        text.push(lead);
        if let Key::Long = self.new_key(key)? {
            return Ok(Key::Long);
        }
        let text = &self.draft.text[start..];
        if let Some(place) = self.keys[slot].text.get_mut(..text.len()) {
            place.copy_from_slice(text);
            self.keys[slot].length = text.len() as u8;
            self.keys[slot].identity = identity;
        }
        Ok(Key::Written)
    }

    /// Writes an atom value like a key, and removes the rest.
    pub(super) fn name(&mut self, atom: R::Term) -> Result<(), Refusal<R::Term>> {
        match self.draft.text.pop() {
            Some(before) => self.key(before, atom)?,
            None => self.new_key(atom)?,
        };
        self.draft.text.pop();
        Ok(())
    }

    fn new_key(&mut self, key: R::Term) -> Result<Key, Refusal<R::Term>> {
        match self.source.view(key) {
            JsonView::Text(text) if text.len() > LONG => {
                self.check(text.len())?;
                return Ok(Key::Long);
            }
            JsonView::Text(text) => self.string(key, text, true)?,
            JsonView::Name => {
                self.draft.toll += TOLL;
                let name = self.source.name(key);
                self.string(key, name.as_bytes(), true)?;
            }
            JsonView::Null => self.draft.text.extend_from_slice(b"\"nil\""),
            JsonView::Bool(true) => self.draft.text.extend_from_slice(b"\"true\""),
            JsonView::Bool(false) => self.draft.text.extend_from_slice(b"\"false\""),
            JsonView::Int(value) => self.quoted(|text| put_integer(text, value)),
            JsonView::Float(value) => self.quoted(|text| put_float(text, value)),
            JsonView::Big(value) if time_of(&value) > BYTES_BETWEEN_LOOKS => {
                self.check(time_of(&value))?;
                return Ok(Key::Long);
            }
            JsonView::Big(value) => self.big(key, &value, true)?,
            JsonView::TooLong => return Ok(Key::Long),
            _ => return Err(Refusal::Foreign(key)),
        }
        self.draft.text.push(b':');
        Ok(Key::Written)
    }
}

/// The result of writing a key.
enum Key {
    Written,
    /// It is too long to be written at once.
    Long,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_cache_has_no_key() {
        for identity in (0..1_000).chain(usize::MAX - 1_000..=usize::MAX) {
            assert_ne!(NO_KEYS[slot_of(identity)].identity, identity);
        }
    }
}
