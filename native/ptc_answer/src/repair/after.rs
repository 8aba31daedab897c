//! Repairs after a value: commas, brackets and stray characters.

use crate::repair::policy::Fault;
use crate::repair::reader::Reader;
use crate::repair::readings::{Bracket, Branch, Event, Phase, Span};
use crate::repair::text::{quote, skip_blanks};
use crate::repair::Stop;
use ptc_term::heap::Heap;

/// How much less asterisks cost than other stray characters.
const BOLD: u32 = 6;

impl<H: Heap> Reader<'_, '_, H> {
    pub(in crate::repair) fn after(&mut self, branch: Branch) -> Result<(), Stop> {
        let at = branch.at as usize;
        let mut right = branch;
        if self.strict(&mut right) {
            right.still = 0;
            self.proceed(right);
            // A comma, or the matching bracket.
            return Ok(());
        }
        if self.is_end(at) {
            self.put_in_close(branch);
            return Ok(());
        }
        match self.byte(at) {
            b';' => {
                let mut next = branch;
                next.expect_entry();
                self.leave_out(next, Fault::Semicolon, 1);
            }
            bracket @ (b'}' | b']') => {
                self.leave_out(branch, Fault::ExtraClose, 1);
                self.put_in_close(branch);
                if bracket != closing(branch.top.kind) {
                    self.wrong_close(branch);
                }
            }
            byte => {
                if self.begins_entry(at, byte)
                    && self.may_insert(&branch)
                    && !self.goes_on_in_line(at)
                {
                    let mut next = branch;
                    next.expect_entry();
                    let gap = self.gap(at);
                    self.repair(&mut next, Fault::MissingComma, gap, gap);
                    next.still += 1;
                    self.admit(next);
                }
                self.put_in_close(branch);
                self.stray(branch);
            }
        }
        Ok(())
    }

    /// Reads the bracket of another kind as the one that closes the innermost object or list.
    pub(in crate::repair) fn wrong_close(&mut self, branch: Branch) {
        let is_open = matches!(branch.top.kind, Bracket::Object | Bracket::Array);
        if is_open && self.is_complete(&branch.top) {
            let at = branch.at as usize;
            let mut closed = branch;
            self.repair(&mut closed, Fault::WrongClose, at, at + 1);
            self.close(&mut closed);
            self.moved(closed, at + 1);
        }
    }

    /// Returns whether a key or a value can begin here.
    fn begins_entry(&self, at: usize, byte: u8) -> bool {
        match byte {
            b'{' | b'[' | b'-' | b'+' | b'.' | b'_' | b'$' => true,
            byte if byte.is_ascii_alphanumeric() => true,
            _ => quote(self.text, at).is_some() || byte >= 0x80,
        }
    }

    /// Returns whether the text at an offset may belong to the number or the word before it in its line: `5 -2` may be a
    /// calculation, `5**2` is one, and `1 234` may be one number.
    fn goes_on_in_line(&self, at: usize) -> bool {
        let gap = self.gap(at);
        let (before, behind) = (&self.text[..gap], &self.text[at..]);
        if self.text[gap..at].contains(&b'\n') {
            return false;
        }
        let digits = |text: &mut dyn Iterator<Item = &u8>| {
            text.take(4)
                .take_while(|byte| byte.is_ascii_digit())
                .count()
        };
        match (before.last(), behind.first()) {
            (Some(b'*'), _) => gap == at,
            (Some(byte), Some(b'+' | b'-')) => byte.is_ascii_alphanumeric(),
            (Some(byte), Some(b'0'..=b'9')) if byte.is_ascii_digit() => {
                digits(&mut behind.iter()) == 3 && digits(&mut before.iter().rev()) <= 3
            }
            _ => false,
        }
    }

    /// Closes the innermost open object or list, as if its bracket were here.
    pub(in crate::repair) fn put_in_close(&mut self, branch: Branch) {
        let is_open = matches!(branch.top.kind, Bracket::Object | Bracket::Array);
        if !is_open || !self.may_insert(&branch) || !self.is_complete(&branch.top) {
            return;
        }
        let mut closed = branch;
        if !self.may_close_at_end(&branch) {
            self.cut(&mut closed, false);
        }
        let gap = self.gap(branch.at as usize);
        self.repair(&mut closed, Fault::MissingClose, gap, gap);
        self.close(&mut closed);
        closed.still += 1;
        self.proceed(closed);
    }

    /// Notes that the text was cut off, if nothing more of the value follows.
    pub(in crate::repair) fn cut(&mut self, branch: &mut Branch, inside: bool) {
        let at = branch.at;
        self.event(branch, Event::Cut { at, inside });
    }

    /// Returns whether the innermost open object or list may be closed if the text ends here, after a
    /// value.
    fn may_close_at_end(&self, branch: &Branch) -> bool {
        match branch.top.kind {
            Bracket::Object => {
                let is_quoted = |span: Span| {
                    let before = &self.text[..span.start as usize];
                    matches!(before.last(), Some(b'"' | b'\'' | b'`' | 0x80..))
                };
                let complete = match self.state.log.last_token(branch.node) {
                    // A number may have had more digits; blanks and an ellipsis after it say nothing.
                    Some(Event::Number(_) | Event::Loose(_)) | None => false,
                    Some(Event::Plain(span) | Event::Escaped(span)) => is_quoted(span),
                    _ => true,
                };
                complete && self.wanted.may_close(branch.top.ty, branch.top.seen)
            }
            // One object per line has no brackets.
            Bracket::Array => branch.top.depth == 1 && self.byte(self.state.start as usize) != b'[',
            Bracket::Top | Bracket::One => true,
        }
    }

    /// Skips a stray character. What can be an operator is none: without it, the value would mean something else.
    pub(in crate::repair) fn stray(&mut self, branch: Branch) {
        let at = branch.at as usize;
        let is_value = matches!(branch.phase, Phase::First | Phase::Item | Phase::Member);
        let length = match self.byte(at) {
            // Markdown bold.
            b'*' if self.text[at..].starts_with(b"**") => {
                let run = self.text[at..].iter();
                run.take(3).take_while(|byte| **byte == b'*').count()
            }
            b')' if !is_value => 1,
            _ => match quote(self.text, at) {
                // A superfluous quote after a value.
                Some((_, length)) if branch.phase == Phase::After => {
                    let next = skip_blanks(self.text, at + length);
                    let ends = matches!(self.text.get(next), Some(b',' | b'}' | b']'));
                    match ends {
                        true => length,
                        false => return,
                    }
                }
                _ => return,
            },
        };
        let mut skipped = branch;
        self.repair(&mut skipped, Fault::StrayCharacter, at, at + length);
        if self.byte(at) == b'*' {
            // Markdown bold, which models use often.
            skipped.cost -= BOLD;
        }
        self.moved(skipped, at + length);
    }

    /// Skips bytes that are there by fault.
    pub(in crate::repair) fn leave_out(&mut self, mut branch: Branch, fault: Fault, length: usize) {
        let (at, end) = (branch.at as usize, branch.at as usize + length);
        self.repair(&mut branch, fault, at, end);
        self.moved(branch, end);
    }

    /// Keeps a reading that has moved to `at`.
    pub(in crate::repair) fn moved(&mut self, mut branch: Branch, at: usize) {
        branch.at = at as u32;
        branch.still = 0;
        self.proceed(branch);
    }
}

fn closing(kind: Bracket) -> u8 {
    match kind {
        Bracket::Object => b'}',
        _ => b']',
    }
}
