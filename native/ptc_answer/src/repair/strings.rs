//! Repairs of strings: the kind of the quote that begins one, candidates for its end, and strings without quotes.

use crate::repair::policy::Fault;
use crate::repair::reader::Reader;
use crate::repair::readings::{Bracket, Branch, Event, Phase, Span, Token};
use crate::repair::search::is_suspicious;
use crate::repair::text::{
    begins_field, comment, ellipsis, ends, foreign, foreign_at, lenient_escape, quote,
    skip_all_blanks, skip_blanks, Quote,
};
use crate::repair::Stop;
use ptc_json::grammar::{escape, number};
use ptc_term::heap::Heap;
use ptc_type::Json;

impl<H: Heap> Reader<'_, '_, H> {
    /// Begins a string, as a key or as a value.
    pub(in crate::repair) fn quoted(
        &mut self,
        branch: Branch,
        quote: Quote,
        length: usize,
        key: bool,
    ) -> Result<(), Stop> {
        let at = branch.at as usize;
        if let Quote::Triple(byte) = quote {
            // The first two quotes may be an empty string.
            let mut empty = branch;
            let single = match byte {
                b'"' => Quote::Double,
                byte => Quote::Single(byte),
            };
            self.begin_string(&mut empty, single, 1, key);
            self.within(empty)?;
            if key {
                return Ok(());
            }
        }
        let mut inside = branch;
        self.begin_string(&mut inside, quote, length, key);
        debug_assert!(inside.at as usize > at);
        self.within(inside)
    }

    fn begin_string(&mut self, branch: &mut Branch, quote: Quote, length: usize, key: bool) {
        let at = branch.at as usize;
        match quote {
            Quote::Double => {}
            Quote::Single(_) | Quote::SmartSingle if quote != Quote::SmartSingle => {
                self.repair(branch, Fault::SingleQuotes, at, at + length)
            }
            Quote::Triple(_) => self.repair(branch, Fault::TripleQuotes, at, at + length),
            _ => self.repair(branch, Fault::SmartQuotes, at, at + length),
        }
        branch.at += length as u32;
        branch.still = 0;
        branch.phase = Phase::Within;
        branch.token = Token {
            start: branch.at,
            quote,
            key,
            ..Token::NONE
        };
    }
}

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
                    Err(_) => match lenient_escape(self.text, at) {
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
            (false, _) => branch.top.kind == Bracket::Top || comment(text, next).is_some(),
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

/// Maximum length of a string without an opening quote.
const LONGEST: usize = 4096;
/// Maximum number of candidates for its end.
const ENDS: usize = 4;

/// Operators before a value, and signs that are not those of JSON: without them, the value means something else.
const OPERATORS: [&str; 25] = [
    "!", "<", ">", "=", "~", "^", "&", "|", "%", "?", "-{", "-[", "+{", "+[", "≥", "≤", "≠", "¬",
    "not ", "not(", "(", "±", "−", "–", "√",
];

/// Words and signs between two values: together they are a condition or a calculation.
const BETWEEN: [&str; 10] = [
    " or ", " and ", " xor ", "||", "&&", "==", "!=", " < ", " > ", " & ",
];

/// Returns the operator at the beginning of a text.
pub(in crate::repair) fn operator(text: &[u8]) -> Option<&'static str> {
    let begins = |operator: &&&str| {
        let start = text.get(..operator.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(operator.as_bytes()))
    };
    OPERATORS.iter().find(begins).copied()
}

/// Returns whether a text has an operator between two values.
fn has_operator(text: &[u8]) -> bool {
    let has = |operator: &&str| {
        let mut windows = text.windows(operator.len());
        windows.any(|window| window.eq_ignore_ascii_case(operator.as_bytes()))
    };
    BETWEEN.iter().any(has)
}

/// Returns whether a value of JSON that is no number follows the operators at the beginning of a text.
fn is_before_value(text: &[u8]) -> bool {
    let mut next = 0;
    for _ in 0..TOGETHER {
        match operator(&text[next..]) {
            Some(operator) => next = skip_all_blanks(text, next + operator.trim_end().len()),
            None => break,
        }
    }
    quote(text, next).is_some()
        || matches!(text.get(next), Some(b'{' | b'['))
        || foreign_at(text, next).is_some()
}

/// Returns whether a text begins like JSON, or with a separator: it is a value of its own, or a broken one, and no text
/// without quotes.
fn begins_value(text: &[u8]) -> bool {
    let next = skip_all_blanks(text, 1);
    let is_separated = |end: usize| {
        let after = skip_blanks(text, end);
        matches!(text.get(after), Some(b',' | b';' | b'}' | b']'))
            || text[end..after].contains(&b'\n')
            || ellipsis(text, after).is_some()
            || after > end && comment(text, after).is_some()
            || matches!(text.get(end), Some(b'{' | b'['))
    };
    match text.first() {
        Some(b',' | b';' | b':' | b'}' | b']') | None => true,
        Some(b'{' | b'[') if text[1..next].contains(&b'\n') => true,
        Some(b'{') => begins_part(text, next) || begins_field(text, next),
        Some(b'[') => begins_part(text, next) || is_item(text, next),
        Some(_) => scalar_end(text, 0).is_some_and(is_separated),
    }
}

/// Returns whether a key, a value with quotes or brackets, or the end of an object or a list is at an offset.
fn begins_part(text: &[u8], at: usize) -> bool {
    quote(text, at).is_some()
        || comment(text, at).is_some()
        || matches!(text.get(at), None | Some(b'{' | b'[' | b'}' | b']' | b','))
}

/// Returns the end of the number or the word of JSON at an offset.
fn scalar_end(text: &[u8], at: usize) -> Option<usize> {
    let of_number = number(text, at).map(|(end, _)| end);
    of_number.or_else(|| foreign_at(text, at).map(|(_, end)| end))
}

/// Returns whether the element of a list is at an offset: a number or a word of JSON. `[1] a note` is a text.
fn is_item(text: &[u8], at: usize) -> bool {
    scalar_end(text, at).is_some_and(|end| {
        let after = skip_blanks(text, end);
        match text.get(after) {
            Some(b']') => {
                let behind = skip_blanks(text, after + 1);
                !text.get(behind).is_some_and(u8::is_ascii_alphabetic)
            }
            next => matches!(next, None | Some(b',' | b';')),
        }
    })
}

/// Maximum number of operators before a value that are skipped.
const TOGETHER: usize = 8;

impl<H: Heap> Reader<'_, '_, H> {
    /// `word`, `two words`, `words with a quote at the end"`
    pub(in crate::repair) fn bare(&mut self, branch: Branch) -> Result<(), Stop> {
        let takes = self.types().takes(branch.ty, Json::String);
        let start = branch.at as usize;
        if !takes || branch.top.kind == Bracket::Top || self.text[start] == b'*' {
            return Ok(());
        }
        let undecided = self.types().is_any(branch.ty) && self.is_after_inserted_comma(&branch);
        if undecided || begins_value(&self.text[start..]) {
            return Ok(());
        }
        // Where anything may stand, a text that begins with an operator may be a condition.
        let any = self.types().is_any(branch.ty);
        let text = &self.text[start..];
        if operator(text).is_some() && (any || is_before_value(text)) {
            return Ok(());
        }
        // In a list, a comma follows it.
        let listed = branch.top.kind == Bracket::Array;
        let limit = self.text.len().min(start + LONGEST);
        let bracket = matches!(self.text[start], b'{' | b'[');
        let (mut at, mut ends, mut inner) = (start, 0, 0);
        let (mut escapes, mut extra) = (false, 0);
        while at < limit && ends < ENDS && inner < ENDS {
            match self.text[at] {
                b'"' => {
                    if self.ends_value(at + 1) {
                        let mut next = branch;
                        next.cost += extra + 6 * (inner as u32 % 2);
                        self.repair(&mut next, Fault::MissingStartQuote, start, at);
                        self.bare_to(next, start, at, escapes, at + 1);
                        break;
                    }
                    inner += 1;
                    extra += Fault::InnerQuote.cost();
                }
                b',' | b'}' | b']' | b'\n' => {
                    let untyped_bracket = bracket && self.types().is_any(branch.ty);
                    let goes_past = ends > 0 && listed;
                    if inner == 0 && !untyped_bracket && !goes_past {
                        self.bare_word(branch, start, at, escapes, extra);
                    }
                    ends += 1;
                    extra += 4;
                }
                b'`' if self.is_end(at) => break,
                // The word ends before a comment, whose brackets and commas are no ends.
                b'/' if at > start && self.text[at - 1..].starts_with(b" /*") => {
                    if inner == 0 && ends == 0 {
                        self.bare_word(branch, start, at, escapes, extra);
                    }
                    break;
                }
                // Markdown bold.
                b'*' if self.text[at + 1..].starts_with(b"*") => break,
                b'\\' => {
                    escapes = true;
                    let strict = escape(self.text, at).ok().map(|(_, next)| next);
                    let rough = || Some(at + lenient_escape(self.text, at)?);
                    match strict.or_else(rough) {
                        Some(next) => at = next - 1,
                        None => break,
                    }
                }
                0..=0x1F => break,
                _ => {}
            }
            at += 1;
        }
        self.consume_fuel(at.min(self.text.len()) - start)
    }

    fn bare_word(&mut self, branch: Branch, start: usize, end: usize, escapes: bool, extra: u32) {
        let content = self.text[start..end].trim_ascii_end();
        let is_number = number(content, 0).is_some_and(|(end, _)| end == content.len());
        if content.is_empty() || is_number || foreign(content).is_some() {
            return;
        }
        if self.types().is_any(branch.ty) && has_operator(content) {
            return;
        }
        let mut next = branch;
        next.cost += extra;
        if content.windows(2).any(|pair| pair == b": ") {
            next.cost += 4;
        }
        self.repair(&mut next, Fault::BareWord, start, start + content.len());
        self.bare_to(next, start, start + content.len(), escapes, end);
    }

    fn bare_to(&mut self, branch: Branch, start: usize, end: usize, escapes: bool, next: usize) {
        let span = Span::new(start, end);
        if end == start || !self.types().takes_string(branch.ty, span.of(self.text)) {
            return;
        }
        self.scalar(branch, Event::string(span, escapes), next);
    }
}
