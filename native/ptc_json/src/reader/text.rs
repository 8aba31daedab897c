//! Reading of strings: UTF-8 validation, decoding of escapes; their end only, where a text comes in chunks.

use super::JsonError;
use crate::grammar::{escape, escaped_unit, string, unexpected};
use crate::scan::to_special;

/// The content of a JSON string: a part of the text, or the reader's scratch buffer if the string has
/// escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'t, 's> {
    /// Without escapes: a slice of the text.
    Source(&'t [u8]),
    /// With decoded escapes: valid until the reader continues. Empty where a text comes in chunks.
    Scratch(&'s [u8]),
}

impl Text<'_, '_> {
    /// Returns the bytes, which are always valid UTF-8.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Text::Source(bytes) => bytes,
            Text::Scratch(bytes) => bytes,
        }
    }
}

/// Returns the content at `start` of a string without escapes, if it is ASCII and ends within about
/// `most` bytes: so it is with nearly all strings.
#[inline]
pub(super) fn plain(text: &[u8], start: usize, most: usize) -> Option<&[u8]> {
    let text = text.get(..start + most).unwrap_or(text);
    let (end, ascii) = to_special(text, start);
    match ascii && text.get(end) == Some(&b'"') {
        true => text.get(start..end),
        false => None,
    }
}

/// A string that is being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    /// The offset after the opening quote.
    pub start: usize,
    /// The offset read so far; at the end, the offset of the closing quote.
    pub at: usize,
    /// Whether it had escapes: then the scratch buffer has its content up to `at`. In chunks: whether
    /// its content is not needed, or has escapes.
    pub escaped: bool,
}

impl Scan {
    /// The string whose opening quote is at `open`.
    pub fn new(open: usize) -> Self {
        Scan {
            start: open + 1,
            at: open + 1,
            escaped: false,
        }
    }

    /// Reads on by about `most` bytes; returns whether it reached the end.
    #[inline]
    pub fn advance(
        &mut self,
        text: &[u8],
        scratch: &mut Vec<u8>,
        most: usize,
    ) -> Result<bool, JsonError> {
        let bound = text.len().min(self.at + most);
        loop {
            let from = self.at;
            let (found, ascii) = to_special(&text[..bound], from);
            let is_cut = found == bound && bound < text.len();
            let end = match is_cut {
                true => whole_characters(text, from, found),
                false => found,
            };
            if !ascii || end > found {
                if let Err(error) = std::str::from_utf8(&text[from..end]) {
                    return Err(JsonError::UnexpectedToken(from + error.valid_up_to()));
                }
            }
            if self.escaped {
                scratch.extend_from_slice(&text[from..end]);
            }
            self.at = end;
            if is_cut {
                return Ok(false);
            }
            match text.get(end) {
                Some(b'"') => return Ok(true),
                Some(b'\\') => {
                    if !self.escaped {
                        scratch.clear();
                        scratch.extend_from_slice(&text[self.start..end]);
                        self.escaped = true;
                    }
                    let (character, next) = escape(text, end)?;
                    scratch.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    self.at = next;
                    if self.at >= bound {
                        return Ok(false);
                    }
                }
                _ => return Err(unexpected(text, end)),
            }
        }
    }

    /// Reads on in a chunk, up to the closing quote, without decoding.
    pub fn advance_in_chunk(&mut self, text: &[u8]) -> Result<(), JsonError> {
        let escaped = &mut self.escaped;
        string(text, &mut self.at, |at| {
            *escaped = true;
            Ok(escaped_unit(text, at)?.1)
        })
    }

    /// Returns the content of a string that was read to its end.
    #[inline]
    pub fn content<'t, 's>(&self, text: &'t [u8], scratch: &'s [u8]) -> Text<'t, 's> {
        match self.escaped {
            true => Text::Scratch(scratch),
            false => Text::Source(&text[self.start..self.at]),
        }
    }
}

/// Returns the last character boundary after `from` and up to `end`, or else the first one after `end`.
#[cold]
fn whole_characters(text: &[u8], from: usize, end: usize) -> usize {
    let is_within = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character has at most three bytes after its first one.
    let before = (end.saturating_sub(3).max(from + 1)..=end).rev();
    let behind = end..text.len().min(end + 3);
    let place = before.clone().find(|at| !is_within(at));
    place.unwrap_or_else(|| {
        behind
            .clone()
            .find(|at| !is_within(at))
            .unwrap_or(behind.end)
    })
}
