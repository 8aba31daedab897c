//! Repairs of strings: candidates for the end of a string.

use crate::repair::policy::fault::Fault;
use crate::repair::readings::branch::{Bracket, Branch, Quote};
use crate::repair::readings::reader::Reader;
use crate::repair::search::is_suspicious;
use crate::repair::text::scan::{ends, quote, skip_all_blanks};
use crate::repair::Stop;
use ptc_json::grammar::escape;
use ptc_term::heap::Heap;

/// Maximum number of line breaks in a string that cost.
const BREAKS: u8 = 8;
/// Maximum length of a key whose end is guessed.
const LONGEST_KEY: usize = 128;

impl<H: Heap> Reader<'_, '_, H> {
    /// Advances in a string to its next possible end, and keeps both readings.
    pub(in crate::repair) fn within(&mut self, mut branch: Branch) -> Result<(), Stop> {
        let from = branch.at as usize;
        let mut at = from;
        loop {
            let Some(&byte) = self.text.get(at) else {
                // The text ends inside the string; the rest of the string is unknown.
                self.consume_fuel(at - from)?;
                return Ok(());
            };
            match byte {
                b'\\' => match escape(self.text, at) {
                    Ok((_, next)) => {
                        branch.token.escapes = true;
                        at = next;
                    }
                    Err(_) => match crate::repair::text::unescape::lenient(self.text, at) {
                        Some(length) => {
                            branch.token.escapes = true;
                            self.repair(&mut branch, Fault::BadEscape, at, at + length);
                            at += length;
                        }
                        None => return Ok(()),
                    },
                },
                0..=0x1F => {
                    self.consume_fuel(at + 1 - from)?;
                    return self.at_break(branch, at);
                }
                b',' | b':' | b'}' | b']' if self.may_end_before(&branch, at) => {
                    self.consume_fuel(at + 1 - from)?;
                    self.end_without_quote(branch, at)?;
                    branch.at = at as u32 + 1;
                    self.admit(branch);
                    return Ok(());
                }
                b'"' | b'\'' | b'`' | 0xC2 | 0xE2 | 0xEF => match quote(self.text, at) {
                    Some((by, length)) if ends(branch.token.quote, by) => {
                        self.consume_fuel(at + 1 - from)?;
                        return self.at_quote(branch, at, by, length);
                    }
                    _ => at += 1,
                },
                _ => at += 1,
            }
        }
    }

    /// Handles a line break or a tab in a string: it is part of the string, or the end quote before it
    /// is missing.
    fn at_break(&mut self, branch: Branch, at: usize) -> Result<(), Stop> {
        let text = self.text;
        if matches!(text[at], b'\n' | b'\r') {
            let next = skip_all_blanks(text, at);
            let ends_here = match text.get(next) {
                Some(b'}' | b']') => true,
                Some(b'"' | b'\'') => !branch.token.key,
                _ => false,
            };
            if ends_here && branch.token.breaks == 0 {
                self.end_without_quote(branch, at)?;
            }
        }
        let mut inside = branch;
        inside.token.breaks = branch.token.breaks.saturating_add(1);
        match inside.token.breaks {
            1 => self.repair(&mut inside, Fault::ControlCharacter, at, at + 1),
            2..=BREAKS => inside.cost += 1,
            _ => {}
        }
        if branch.token.key {
            inside.cost += 4;
        }
        inside.at = at as u32 + 1;
        self.admit(inside);
        Ok(())
    }

    /// Handles a quote that is the end of the string, or part of it.
    fn at_quote(
        &mut self,
        branch: Branch,
        at: usize,
        by: Quote,
        length: usize,
    ) -> Result<(), Stop> {
        let text = self.text;
        // Of three quotes, the first alone may be the end.
        let (by_alone, length) = match (branch.token.quote, by) {
            (Quote::Triple(_), Quote::Triple(_)) => (true, length),
            (Quote::Triple(_), _) => (false, length),
            (_, Quote::Triple(_)) => (true, 1),
            _ => (true, length),
        };
        let end = at + length;
        let next = skip_all_blanks(text, end);
        self.consume_fuel(next - at)?;
        let fits = match (branch.token.key, text.get(next)) {
            (true, Some(b':' | b'=')) => true,
            (false, Some(b',' | b';')) => branch.top.kind != Bracket::Top,
            (false, Some(b'}' | b']')) => true,
            (false, _) => {
                branch.top.kind == Bracket::Top
                    || crate::repair::text::scan::comment(text, next).is_some()
            }
            _ => false,
        };
        if by_alone {
            let mut ended = branch;
            if ended.token.inner % 2 == 1 {
                ended.cost += 6;
            }
            if !fits {
                ended.cost += 1;
            }
            self.end_string(ended, at, end)?;
        }
        let content = &text[branch.token.start as usize..at];
        let doubt = !fits
            || branch.token.inner > 0
            || end <= self.state.horizon as usize
            || is_suspicious(content);
        if !doubt || branch.token.key || branch.token.inner > 60 {
            return Ok(());
        }
        let mut inside = branch;
        inside.token.inner += 1;
        self.repair(&mut inside, Fault::InnerQuote, at, end);
        if fits {
            inside.cost += 3;
        }
        inside.at = end as u32;
        self.admit(inside);
        Ok(())
    }

    /// Returns whether a string without an end quote may end before this byte: the text that follows
    /// looks like what follows a string there.
    fn may_end_before(&self, branch: &Branch, at: usize) -> bool {
        let text = self.text;
        let byte = text[at];
        if branch.token.key {
            let length = at - branch.token.start as usize;
            return byte == b':' && length > 0 && length <= LONGEST_KEY && branch.token.breaks == 0;
        }
        let next = skip_all_blanks(text, at + 1);
        let starts_quoted = || quote(text, next).is_some();
        match byte {
            b',' => {
                starts_quoted() || matches!(text.get(next), Some(b'{' | b'[')) || self.is_end(next)
            }
            b'}' | b']' => match text.get(next) {
                Some(b'}' | b']') => true,
                Some(b',') => true,
                Some(b'\n' | b'\r') => true,
                _ => self.is_end(next) || text[at + 1..next].contains(&b'\n'),
            },
            _ => false,
        }
    }

    fn end_without_quote(&mut self, mut branch: Branch, end: usize) -> Result<(), Stop> {
        let start = branch.token.start as usize;
        let content = &self.text[start..end];
        let blanks = content.iter().rev();
        let blanks = blanks.take_while(|byte| matches!(**byte, b' ' | b'\t' | b'\r' | b'\n'));
        let trimmed = end - blanks.count();
        // If there is a quote inside, that quote is more likely to be the end.
        if trimmed == start || branch.token.inner % 2 == 1 {
            return Ok(());
        }
        self.cut(&mut branch, true);
        self.repair(&mut branch, Fault::MissingEndQuote, trimmed, trimmed);
        self.end_string(branch, trimmed, end)
    }

    /// Ends the string at `end`, and continues at `next`.
    fn end_string(&mut self, branch: Branch, end: usize, next: usize) -> Result<(), Stop> {
        let token = branch.token;
        let start = token.start as usize;
        let rough = token.escapes;
        match token.key {
            true => {
                self.key(branch, start, end, rough, next);
                Ok(())
            }
            false => self.string(branch, start, end, rough, next),
        }
    }
}
