//! Text that is valid JSON, in an answer or in a part of it: another reading of it would be another value.

use crate::check;
use crate::repair::readings::branch::{Bracket, Branch};
use crate::repair::readings::reader::Reader;
use crate::repair::text::scan::{is_delimiter, quote, skip_all_blanks, skip_blanks};
use crate::repair::text::start::begins_field;
use crate::repair::Stop;
use crate::LIMITS;
use ptc_json::grammar::{number, token, Place, Token};
use ptc_json::Extent;
use ptc_term::heap::Heap;
use ptc_type::Json;

/// Maximum number of bytes of an object or list that are checked. No text without quotes is as long.
const LONGEST: usize = 8192;

/// Returns whether the text at a check is JSON that stands for itself: nothing that could belong to it
/// follows. The check can be suspended.
pub fn stands_alone<H: Heap>(
    reader: &mut Reader<H>,
    check: &mut ptc_json::Reader,
) -> Result<bool, Stop> {
    let text = reader.text;
    let end = check::resume(check, text, &mut |units, leave| {
        reader.consume_fuel(units)?;
        match leave {
            true => reader.suspend_if_due(),
            false => Ok(()),
        }
    })?;
    let lists = reader.wanted.is_list();
    Ok(end.is_some_and(|end| {
        let next = skip_all_blanks(text, end);
        match text.get(next) {
            Some(b',') => !begins_part(text, skip_all_blanks(text, next + 1)),
            Some(b'{') => !lists,
            _ => !is_field(text, next),
        }
    }))
}

/// Returns whether a key with a colon is at an offset.
fn is_field(text: &[u8], at: usize) -> bool {
    quote(text, at).is_some() && begins_field(text, at)
}

/// Returns whether a key, a value or the end of an object or a list is at an offset.
fn begins_part(text: &[u8], at: usize) -> bool {
    let is_start = |byte: &u8| byte.is_ascii_digit() || b"{[}]\"'-".contains(byte);
    begins_field(text, at) || text.get(at).is_some_and(is_start)
}

impl<H: Heap> Reader<'_, '_, H> {
    /// Where a text may stand, returns whether a valid value is at the offset of a reading, and a text after it that is valid there. Only
    /// what can also be the beginning of a text without quotes is examined.
    pub(in crate::repair) fn is_valid_value(&mut self, branch: &Branch) -> Result<bool, Stop> {
        if !self.types().takes(branch.ty, Json::String) {
            return Ok(false);
        }
        let at = branch.at as usize;
        let end = match token(Place::Value, None, self.byte(at)) {
            Some(Token::Number) => number(self.text, at).map(|(end, _)| end),
            Some(Token::Word(word)) => {
                let is_word = self.text[at..].starts_with(word.letters());
                is_word.then_some(at + word.letters().len())
            }
            Some(Token::Open(_)) if self.types().is_any(branch.ty) => None,
            Some(Token::Open(_)) => {
                let near = &self.text[..self.text.len().min(at + LONGEST)];
                let mut check = ptc_json::Reader::new(at, Extent::Value, LIMITS);
                check::resume(&mut check, near, &mut |units, _| self.consume_fuel(units))?
            }
            _ => None,
        };
        Ok(end.is_some_and(|end| is_delimiter(self.text, end) && self.is_followed(branch, end)))
    }

    /// Returns whether the text after a value is valid there, a comma and the beginning of the next field included.
    fn is_followed(&self, branch: &Branch, end: usize) -> bool {
        let next = skip_blanks(self.text, end);
        match (branch.top.kind, self.byte(next)) {
            (Bracket::Object, b'}') => true,
            (Bracket::Object, b',') => {
                let key = skip_blanks(self.text, next + 1);
                matches!(self.byte(key), b'"' | b'}') || begins_field(self.text, key)
            }
            (Bracket::Array, b',' | b']') | (Bracket::One, b',' | b']' | b'}') => true,
            _ => false,
        }
    }
}
