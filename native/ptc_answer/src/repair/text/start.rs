//! Offsets where the answer may begin.

use crate::repair::text::numbers::foreign;
use crate::repair::text::scan::{comment, quote, skip_all_blanks, word};
use crate::scan::{backticks, bracket, region_end, run_length};

/// Maximum number of fences that are tried.
const PLACES: usize = 4;

/// A possible start of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The offset.
    pub at: usize,
    /// Whether the bracket before it is missing.
    pub inside: bool,
}

/// Returns the starts in fences, in order.
pub fn in_fences(text: &[u8]) -> Vec<Start> {
    let mut starts = Vec::new();
    let mut markers = LineMarkers::default();
    let mut from = 0;
    while let Some(marker) = backticks(text, from) {
        if starts.len() == PLACES {
            break;
        }
        let open = marker + run_length(text, marker);
        let tag = text[open..].iter();
        let of_tag = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_+.#-".contains(byte);
        let mut content = skip_all_blanks(text, open + tag.take_while(of_tag).count());
        if !text[open..content].contains(&b'\n') && !opens(text, content) {
            // ```{"a": 1}``` and ```"a": 1``` have no tag.
            content = skip_all_blanks(text, open);
        }
        let end = markers.closing(text, content);
        from = (end + 3).min(text.len());
        if content >= end {
            // A closing marker without an opening one.
            from = end.max(open);
            continue;
        }
        starts.extend(at_or_after(text, content, end));
    }
    starts
}

/// Markers at the start of a line, found once each.
#[derive(Default)]
struct LineMarkers {
    /// The first such marker from the offset of the last search on; `None` before the first search.
    next: Option<Option<usize>>,
}

impl LineMarkers {
    /// Returns the offset of the marker that ends a fence whose content begins at `from`: the first one at
    /// the start of a line, or else the first one, or else the end of the text. `from` never decreases.
    fn closing(&mut self, text: &[u8], from: usize) -> usize {
        let Some(first) = backticks(text, from) else {
            return text.len();
        };
        if first == from {
            return first;
        }
        let next = match self.next {
            Some(None) => None,
            Some(Some(at)) if at >= from => Some(at),
            _ => next_at_line_start(text, first),
        };
        self.next = Some(next);
        next.unwrap_or(first)
    }
}

/// Returns the first marker from the marker at `at` on that has only blanks before it in its line.
fn next_at_line_start(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    let mut last = 0;
    loop {
        let blank = |byte: &&u8| byte.is_ascii_whitespace() && **byte != b'\n';
        let blanks = text[last..at].iter().rev().take_while(blank).count();
        if at - blanks > last && text[at - blanks - 1] == b'\n' {
            return Some(at);
        }
        last = at + run_length(text, at);
        at = backticks(text, last)?;
    }
}

fn at_or_after(text: &[u8], at: usize, end: usize) -> Option<Start> {
    if opens(text, at) {
        return Some(Start { at, inside: false });
    }
    if begins_field(text, at) {
        return Some(Start { at, inside: true });
    }
    let at = bracket(text, at, end)?;
    Some(Start { at, inside: false })
}

fn opens(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), Some(b'{' | b'['))
}

/// Maximum length of the prose before an answer whose bracket is missing.
const PROSE: usize = 2048;

/// Maximum length of a note in brackets.
const NOTE: usize = 512;

/// Returns the next start outside of fences, from `from` on. Skips notes in brackets.
pub fn next_bare(text: &[u8], from: usize) -> Option<Start> {
    let mut from = from;
    loop {
        let at = bracket(text, from, text.len())?;
        let near = &text[..text.len().min(at + NOTE)];
        let marks: &[u8] = match text[at] {
            // `[Note: see below, please]`
            b'[' => b"\"'{}[]\\0123456789",
            _ => b"\"':,{}[]\\0123456789",
        };
        match region_end(near, at, &mut |_| Ok(())) {
            Ok(Some(end)) if !holds_value(&text[at + 1..end - 1], marks) => from = end,
            _ => return Some(Start { at, inside: false }),
        }
    }
}

/// Returns whether the text in brackets is more than words: it contains one of the marks, or begins
/// with a quote or with an element that is a word of JSON.
fn holds_value(inside: &[u8], marks: &[u8]) -> bool {
    if inside.iter().any(|byte| marks.contains(byte)) {
        return true;
    }
    let mut start = 0;
    loop {
        let blank = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b'*';
        start += inside[start..].iter().take_while(blank).count();
        match comment(inside, start) {
            Some(end) => start = end,
            None => break,
        }
    }
    if quote(inside, start).is_some() {
        return true;
    }
    let end = word(inside, start);
    let next = inside[end..].iter().find(|byte| **byte != b' ');
    foreign(&inside[start..end]).is_some()
        && matches!(
            next,
            None | Some(b',' | b';' | b'\n' | b'\r' | b'\t' | b'*' | b'/' | b'#')
        )
}

/// Returns the start of an answer whose first bracket is missing.
pub fn inside(text: &[u8]) -> Option<Start> {
    let first = bracket(text, 0, text.len());
    let line = field_before(text, first.unwrap_or(text.len()));
    let first = next_bare(text, 0).map_or(text.len(), |start| start.at);
    // `Answer: "a": 1, …}`
    let at = field_in_line(text, line.unwrap_or(first)).or(line)?;
    Some(Start { at, inside: true })
}

/// Returns the first quoted key with a colon before `end`, if more brackets are closed after it than
/// opened.
fn field_in_line(text: &[u8], end: usize) -> Option<usize> {
    let end = end.min(PROSE);
    let quoted = |at: &usize| matches!(text[*at], b'"' | b'\'') && *at > 0;
    let starts =
        |at: &usize| matches!(text[*at - 1], b' ' | b'\n' | b'*') && begins_field(text, *at);
    let at = (0..end).filter(quoted).find(starts)?;
    let mut open = 0_i64;
    for byte in &text[at..] {
        match byte {
            b'{' => open += 1,
            b'}' => open -= 1,
            _ => {}
        }
    }
    (open < 0).then_some(at)
}

/// Returns the first line before `end` that begins with a key and a colon.
fn field_before(text: &[u8], end: usize) -> Option<usize> {
    let mut at = skip_all_blanks(text, 0);
    // Bounds the lines of prose.
    for _ in 0..64 {
        if at >= end {
            return None;
        }
        if begins_field(text, at) && quote(text, at).is_some() {
            return Some(at);
        }
        let line = memchr::memchr(b'\n', &text[at..end])?;
        at = skip_all_blanks(text, at + line);
    }
    None
}

/// `"name":`
pub fn begins_field(text: &[u8], at: usize) -> bool {
    let start = at + quote(text, at).map_or(0, |(_, length)| length);
    let end = word(text, start);
    let after = end + quote(text, end).map_or(0, |(_, length)| length);
    end > start && text.get(skip_all_blanks(text, after)) == Some(&b':')
}

/// Returns whether the valid JSON at the first bracket is only a part of the answer: a field's name
/// precedes it, and the text, or the fence around it, begins with a field.
pub fn is_part(text: &[u8]) -> Option<Start> {
    let at = skip_all_blanks(text, 0);
    let at = match backticks(&text[..text.len().min(PROSE)], at) {
        Some(marker) => {
            let tag = text[marker..].iter();
            let tag = tag.take_while(|byte| !byte.is_ascii_whitespace());
            skip_all_blanks(text, marker + tag.count())
        }
        None => at,
    };
    (quote(text, at).is_some() && begins_field(text, at)).then_some(Start { at, inside: true })
}
