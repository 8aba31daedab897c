//! Repairs of keys: bare, misspelled, or misplaced ones; and of the colon after one.

use crate::repair::policy::Fault;
use crate::repair::reader::Reader;
use crate::repair::readings::{Bracket, Branch, Event, Phase, Span};
use crate::repair::search::is_suspicious;
use crate::repair::strings::operator;
use crate::repair::text::{foreign_at, quote, skip_all_blanks, word, Quote};
use crate::repair::Stop;
use ptc_term::heap::Heap;

/// Maximum number of words in a bare key.
const WORDS: usize = 4;
/// Maximum number of surrounding objects and lists that are searched.
const OUTER: usize = 8;
/// How much more a key of its own costs than another spelling of a field.
const OTHER: u32 = 8;

impl<H: Heap> Reader<'_, '_, H> {
    pub(in crate::repair) fn keys(&mut self, branch: Branch) -> Result<(), Stop> {
        let at = branch.at as usize;
        let mut right = branch;
        if self.strict(&mut right) {
            right.still = 0;
            let inside = &self.text[at..right.at as usize];
            let is_key = right.phase == Phase::Colon;
            let doubt = is_key && (at <= self.state.horizon as usize || is_suspicious(inside));
            self.proceed(right);
            if !doubt {
                if is_key {
                    self.leave(branch);
                }
                return Ok(());
            }
        }
        if self.is_end(at) {
            self.leave(branch);
            return Ok(());
        }
        match self.byte(at) {
            b'}' => {
                if self.is_complete(&branch.top) {
                    self.close_after_comma(branch);
                } else {
                    self.leave_out(branch, Fault::ExtraClose, 1);
                }
            }
            b',' => self.leave_out(branch, Fault::ExtraComma, 1),
            b']' => {
                if branch.phase == Phase::FirstKey {
                    self.wrong_close(branch);
                }
                self.leave(branch);
            }
            b'{' => {
                if !self.is_after_inserted_comma(&branch) {
                    self.leave_out(branch, Fault::ExtraOpen, 1);
                }
                self.leave(branch);
            }
            _ => {
                self.leave(branch);
                match quote(self.text, at) {
                    Some((quote, length)) => self.quoted(branch, quote, length, true)?,
                    None => self.bare_key(branch)?,
                }
                self.stray(branch);
            }
        }
        Ok(())
    }

    /// Closes the object or list after a comma: what follows belongs to the surrounding one.
    pub(in crate::repair) fn leave(&mut self, branch: Branch) {
        let is_open = matches!(branch.top.kind, Bracket::Object | Bracket::Array);
        if !is_open || !self.may_insert(&branch) || !self.is_complete(&branch.top) {
            return;
        }
        let at = branch.at as usize;
        let mut closed = branch;
        let gap = self.gap(at);
        let comma = matches!(branch.phase, Phase::NextKey | Phase::Item);
        if !comma && !self.is_end(at) && !matches!(self.byte(at), b'}' | b']') {
            return;
        }
        if self.is_end(at) || !comma || matches!(self.byte(at), b'}' | b']') {
            if comma {
                self.cut(&mut closed, false);
                self.trailing_comma(&mut closed);
            } else if self.is_end(at) {
                // The text was cut off after a bracket; its content is unknown.
                return;
            }
            self.repair(&mut closed, Fault::MissingClose, gap, gap);
            self.close(&mut closed);
        } else {
            if branch.phase == Phase::NextKey && !self.is_key_of_outer(&branch) {
                return;
            }
            self.cut(&mut closed, false);
            self.repair(&mut closed, Fault::MissingClose, gap, gap);
            // A bracket is missing more often at the end than here.
            closed.cost += 2;
            self.close(&mut closed);
            if closed.phase != Phase::After {
                return;
            }
            closed.expect_entry();
        }
        closed.still += 1;
        self.proceed(closed);
    }

    /// Closes the object or the list with the bracket after a comma.
    pub(in crate::repair) fn close_after_comma(&mut self, mut branch: Branch) {
        let end = branch.at as usize + 1;
        self.trailing_comma(&mut branch);
        self.close(&mut branch);
        self.moved(branch, end);
    }

    /// Repairs the comma before the end of an object or a list.
    fn trailing_comma(&mut self, branch: &mut Branch) {
        let end = self.gap(branch.at as usize);
        let start = match self.text[..end].last() {
            Some(b',' | b';') => end - 1,
            _ => end,
        };
        self.repair(branch, Fault::TrailingComma, start, end);
    }

    /// Returns whether the comma before an offset was not in the text: what follows a value without a comma is a key, or a
    /// value, only if it looks like one.
    pub(in crate::repair) fn is_after_inserted_comma(&self, branch: &Branch) -> bool {
        let last = self.state.log.last(branch.node);
        matches!(last, Some(Event::Repair(Fault::MissingComma, _)))
    }

    /// `name:`, `name":`, `two words:`
    fn bare_key(&mut self, branch: Branch) -> Result<(), Stop> {
        let start = branch.at as usize;
        // A sign in front of a key may mean the opposite.
        if matches!(self.byte(start), b'-' | b'+') {
            return Ok(());
        }
        let mut end = word(self.text, start);
        for count in 1..=WORDS {
            if end == start || operator(&self.text[start..end]).is_some() {
                return Ok(());
            }
            self.consume_fuel(end - start)?;
            let next = skip_all_blanks(self.text, end);
            let closing = quote(self.text, end);
            let has_colon = |at: usize| {
                matches!(
                    self.text.get(skip_all_blanks(self.text, at)),
                    Some(b':' | b'=')
                )
            };
            match closing {
                Some((_, length)) if has_colon(end + length) || count == 1 => {
                    let fault = Fault::MissingStartQuote;
                    self.bare_key_to(branch, end, end + length, fault);
                    return Ok(());
                }
                _ => {}
            }
            let known = self.is_declared(&branch, &self.text[start..end]);
            if matches!(self.byte(next), b':' | b'=') || (known && count == 1) {
                self.bare_key_to(branch, end, end, Fault::BareKey);
            } else if count == 1
                && next > end
                && !self.is_after_inserted_comma(&branch)
                && self.begins_plain_value(next)
            {
                let mut key = branch;
                key.cost += 3;
                self.bare_key_to(key, end, end, Fault::BareKey);
            }
            if self.byte(end) != b' ' {
                return Ok(());
            }
            let more = word(self.text, end + 1);
            if more == end + 1 {
                return Ok(());
            }
            end = more;
        }
        Ok(())
    }

    /// Returns whether a valid JSON value begins here.
    fn begins_plain_value(&self, at: usize) -> bool {
        match self.byte(at) {
            b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' => true,
            _ => foreign_at(self.text, at).is_some(),
        }
    }

    fn bare_key_to(&mut self, branch: Branch, end: usize, next: usize, fault: Fault) {
        let mut key = branch;
        let start = branch.at as usize;
        self.repair(&mut key, fault, start, end);
        self.key(key, start, end, false, next);
    }

    fn is_declared(&self, branch: &Branch, key: &[u8]) -> bool {
        let types = self.types();
        types.map(branch.top.ty).is_some_and(|(fields, _)| {
            types.named(fields, key, fields.start as usize).is_some()
                || types.spelled(fields, key).is_some()
        })
    }

    /// Returns whether the key that follows may belong to a surrounding object: it declares the key, or fields are not known.
    fn is_key_of_outer(&self, branch: &Branch) -> bool {
        if self.types().map(branch.top.ty).is_none() {
            return true;
        }
        let at = branch.at as usize;
        let start = at + quote(self.text, at).map_or(0, |(_, length)| length);
        let key = &self.text[start..word(self.text, start)];
        self.is_of_outer(branch, key)
    }

    /// Returns whether a surrounding object declares the key and does not have it yet.
    fn is_of_outer(&self, branch: &Branch, key: &[u8]) -> bool {
        let mut frame = branch.top;
        for _ in 0..OUTER {
            if frame.depth == 0 {
                return false;
            }
            frame = self.state.frames[frame.parent as usize];
            if let (Some((fields, _)), Bracket::Object) = (self.types().map(frame.ty), frame.kind) {
                let found = self.types().named(fields, key, fields.start as usize);
                if let Some(index) = found {
                    return frame.seen & fields.bit(index) == 0;
                }
            }
        }
        false
    }

    /// Accepts a key that is spelled like a field as a key of its own: the field may follow under its own name.
    fn other_key(&mut self, mut branch: Branch, event: Event, next: usize) {
        branch.cost += OTHER;
        self.event(&mut branch, event);
        branch.phase = Phase::Colon;
        self.moved(branch, next);
    }

    /// Accepts a key and continues with its colon.
    pub(in crate::repair) fn key(
        &mut self,
        mut branch: Branch,
        start: usize,
        end: usize,
        escapes: bool,
        next: usize,
    ) {
        let span = Span::new(start, end);
        let mut event = Event::key(span, escapes);
        let types = self.types();
        branch.ty = types.of_any_key(branch.top.ty);
        if let Some((fields, closed)) = types.map(branch.top.ty) {
            let key = span.of(self.text);
            let named = match escapes {
                true => None,
                false => types.named(fields, key, branch.top.hint as usize),
            };
            let spelled = || types.spelled(fields, key).filter(|_| !escapes);
            let is_right = named.is_some_and(|index| self.wanted.is_right(fields, index, key));
            match named.or_else(spelled) {
                Some(index) => {
                    let bit = fields.bit(index);
                    let again = branch.top.seen & bit != 0;
                    if is_right && branch.top.spelled & bit != 0 {
                        // The key in another spelling is a key of its own.
                        return;
                    }
                    // Otherwise the object has the field, or has it under its own name.
                    if !is_right && !again {
                        if !closed {
                            self.other_key(branch, event, next);
                        }
                        event = Event::Field(index as u32);
                        branch.top.spelled |= bit;
                        self.repair(&mut branch, Fault::KeySpelling, start, end);
                    }
                    if is_right || !again {
                        branch.ty = types.holds(index);
                        branch.top.seen |= bit;
                    }
                    if is_right {
                        branch.top.hint = index as u32 + 1;
                    }
                }
                None if closed => return,
                None if self.is_of_outer(&branch, key) => branch.cost += 3,
                None => {}
            }
        }
        self.event(&mut branch, event);
        branch.phase = Phase::Colon;
        self.moved(branch, next);
    }
}

impl<H: Heap> Reader<'_, '_, H> {
    pub(in crate::repair) fn colons(&mut self, branch: Branch) -> Result<(), Stop> {
        let at = branch.at as usize;
        let mut right = branch;
        if self.strict(&mut right) {
            right.still = 0;
            self.admit(right);
            return Ok(());
        }
        let mut next = branch;
        next.phase = Phase::Member;
        let sign: &[u8] = match &self.text[at.min(self.text.len())..] {
            [b'=', b'>', ..] => b"=>",
            [b'-', b'>', ..] => b"->",
            [b'=', ..] => b"=",
            _ => b"",
        };
        if !sign.is_empty() {
            self.repair(&mut next, Fault::NoColon, at, at + sign.len());
            self.moved(next, at + sign.len());
            return Ok(());
        }
        let begins = match self.byte(at) {
            b'{' | b'[' | b'-' | b'+' | b'.' => true,
            byte if byte.is_ascii_alphanumeric() => true,
            _ => quote(self.text, at).is_some_and(|(quote, _)| quote != Quote::Single(b'`')),
        };
        if begins && self.may_insert(&branch) && !self.follows_operator(at) {
            let gap = self.gap(at);
            self.repair(&mut next, Fault::MissingColon, gap, gap);
            next.still += 1;
            self.admit(next);
        }
        self.stray(branch);
        Ok(())
    }

    /// Returns whether the text before an offset ends with a word between two values: `5 or 6` is no field `or`.
    fn follows_operator(&self, at: usize) -> bool {
        let before = self.text[..at].trim_ascii_end();
        ["or", "and", "xor", "not", "nor", "to"].iter().any(|word| {
            let rest = before.len().checked_sub(word.len());
            rest.is_some_and(|rest| {
                before[rest..].eq_ignore_ascii_case(word.as_bytes())
                    && before[..rest].last().is_some_and(u8::is_ascii_whitespace)
            })
        })
    }
}
