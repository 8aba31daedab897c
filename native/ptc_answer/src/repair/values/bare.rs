//! Repairs of strings without an opening quote, with or without a closing one.

use crate::repair::policy::fault::Fault;
use crate::repair::readings::branch::{Bracket, Branch};
use crate::repair::readings::log::{Event, Span};
use crate::repair::readings::reader::Reader;
use crate::repair::text::numbers;
use crate::repair::text::scan::{comment, ellipsis, quote, skip_all_blanks, skip_blanks, word};
use crate::repair::text::start::begins_field;
use crate::repair::text::unescape::lenient;
use crate::repair::Stop;
use ptc_json::grammar::{escape, number};
use ptc_term::heap::Heap;
use ptc_type::Json;

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
    let end = word(text, next);
    quote(text, next).is_some()
        || matches!(text.get(next), Some(b'{' | b'['))
        || numbers::foreign(&text[next..end]).is_some()
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
    of_number.or_else(|| {
        let end = word(text, at);
        numbers::foreign(&text[at..end]).map(|_| end)
    })
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
                    let rough = || Some(at + lenient(self.text, at)?);
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
        if content.is_empty() || is_number || numbers::foreign(content).is_some() {
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
        let event = match escapes {
            true => Event::Escaped(span),
            false => Event::Plain(span),
        };
        self.scalar(branch, event, next);
    }
}
