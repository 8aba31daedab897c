//! Bytes at an offset: blanks, words, quotes, numbers, escapes, lines, and where an answer may begin.

use crate::scan::{backticks, bracket, region_end, run_length};
use ptc_json::grammar::{escape, is_blank, number, Word};
use ptc_type::lenient;

/// The kind of quotes that end a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// `"`
    Double,
    /// `'` or a backtick
    Single(u8),
    /// `“` and the like
    Smart,
    /// `‘` and the like
    SmartSingle,
    /// `"""` or `'''`
    Triple(u8),
}

/// Returns the offset of the first byte from `at` on that is not JSON white space.
#[inline]
pub fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at).copied().is_some_and(is_blank) {
        at += 1;
    }
    at
}

/// Same as `skip_blanks`; also skips Unicode blanks and byte order marks.
pub fn skip_all_blanks(text: &[u8], mut at: usize) -> usize {
    loop {
        at = skip_blanks(text, at);
        match text.get(at..).unwrap_or_default() {
            [0xC2, 0xA0, ..] => at += 2,
            [0xEF, 0xBB, 0xBF, ..] | [0xE2, 0x80, 0x8B | 0xA8 | 0xA9 | 0xAF, ..] => at += 3,
            [0x0B | 0x0C, ..] => at += 1,
            _ => return at,
        }
    }
}

/// Returns the end of the comment at `at`, if there is one.
pub fn comment(text: &[u8], at: usize) -> Option<usize> {
    let line = |from: usize| {
        let rest = &text[from..];
        from + memchr::memchr(b'\n', rest).unwrap_or(rest.len())
    };
    match text.get(at..)? {
        [b'/', b'/', ..] => Some(line(at + 2)),
        [b'#', ..] => Some(line(at + 1)),
        [b'/', b'*', ..] => {
            memchr::memmem::find(&text[at + 2..], b"*/").map(|offset| at + 2 + offset + 2)
        }
        [b'<', b'!', b'-', b'-', ..] => {
            memchr::memmem::find(&text[at..], b"-->").map(|offset| at + offset + 3)
        }
        _ => None,
    }
}

/// Returns the end of the ellipsis at `at`, if there is one.
pub fn ellipsis(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at..)? {
        [b'.', b'.', b'.', ..] => {
            let dots = text[at..].iter().take_while(|byte| **byte == b'.');
            Some(at + dots.count())
        }
        [0xE2, 0x80, 0xA6, ..] => Some(at + 3),
        _ => None,
    }
}

/// Returns the quote at `at`, and its length in bytes.
pub fn quote(text: &[u8], at: usize) -> Option<(Quote, usize)> {
    Some(match text.get(at..)? {
        [b'"', b'"', b'"', ..] => (Quote::Triple(b'"'), 3),
        [b'\'', b'\'', b'\'', ..] => (Quote::Triple(b'\''), 3),
        [b'"', ..] => (Quote::Double, 1),
        [b'`', b'`', b'`', ..] => return None,
        [byte @ (b'\'' | b'`'), ..] => (Quote::Single(*byte), 1),
        [0xC2, 0xAB | 0xBB, ..] => (Quote::Smart, 2),
        [0xE2, 0x80, 0x9C..=0x9F, ..] => (Quote::Smart, 3),
        [0xE2, 0x80, 0x98..=0x9B, ..] => (Quote::SmartSingle, 3),
        [0xEF, 0xBC, 0x82, ..] => (Quote::Smart, 3),
        _ => return None,
    })
}

/// Returns whether a quote of one kind may end a string that one of another kind began.
pub fn ends(opened: Quote, by: Quote) -> bool {
    match opened {
        Quote::Double | Quote::Triple(b'"') => matches!(by, Quote::Double | Quote::Triple(b'"')),
        Quote::Single(byte) => by == Quote::Single(byte) || by == Quote::Triple(byte),
        Quote::Triple(byte) => by == Quote::Triple(byte) || by == Quote::Single(byte),
        Quote::Smart => matches!(by, Quote::Smart | Quote::Double),
        Quote::SmartSingle => matches!(by, Quote::SmartSingle | Quote::Single(b'\'')),
    }
}

/// Returns whether a value may end before this byte.
#[inline]
pub fn is_delimiter(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b';' | b'#') => true,
        Some(b'/') => matches!(text.get(at + 1), Some(b'/' | b'*')),
        Some(b'`') => text[at..].starts_with(b"```"),
        // Markdown bold.
        Some(b'*') => text.get(at + 1) == Some(&b'*'),
        _ => false,
    }
}

/// Returns the end of the word at `at`.
pub fn word(text: &[u8], at: usize) -> usize {
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_$-".contains(byte) || **byte >= 0x80;
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(part).count()
}

/// Maximum number of digits of an integer with separators.
const DIGITS: usize = 18;

/// Returns the meaning of a word of JavaScript or Python, those of JSON included.
pub fn foreign(word: &[u8]) -> Option<Word> {
    let is = |other: &str| word.eq_ignore_ascii_case(other.as_bytes());
    let unsigned = word.strip_prefix(b"-").or(word.strip_prefix(b"+"));
    let is_infinity = unsigned.unwrap_or(word).eq_ignore_ascii_case(b"infinity");
    match () {
        () if is("true") => Some(Word::True),
        () if is("false") => Some(Word::False),
        () if is_infinity => Some(Word::Null),
        () => ["null", "none", "nil", "undefined", "nan"]
            .into_iter()
            .any(is)
            .then_some(Word::Null),
    }
}

/// Returns the meaning of such a word at `at`, and its end.
pub fn foreign_at(text: &[u8], at: usize) -> Option<(Word, usize)> {
    let end = word(text, at);
    foreign(&text[at..end]).map(|meaning| (meaning, end))
}

/// Returns the end of a possible number at `at`.
pub fn loose_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while let Some(&byte) = text.get(end) {
        let sign = matches!(byte, b'+' | b'-');
        let signed = end == at || matches!(text[end - 1], b'e' | b'E');
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'e' | b'E') || sign && signed) {
            break;
        }
        end += 1;
    }
    end
}

/// A number in JSON syntax.
#[derive(Debug, PartialEq)]
pub struct Clean {
    /// Its text.
    pub text: String,
    /// Whether it has no fraction and no exponent.
    pub integer: bool,
}

/// Returns a number without the sign that JSON does not have.
pub fn unsigned(token: &[u8]) -> &[u8] {
    token.strip_prefix(b"+").unwrap_or(token)
}

/// Converts a token to a JSON number. Leading zeros are removed only where a number is `wanted`; where
/// any value is, they may be part of a name.
pub fn clean_number(token: &[u8], wanted: bool) -> Option<Clean> {
    let negative = token.first() == Some(&b'-');
    let signed = negative || token.first() == Some(&b'+');
    let mut rest: &[u8] = &token[usize::from(signed)..];
    if rest.len() > crate::LIMITS.integer
        || rest.windows(2).any(|pair| pair == b"__")
        || rest.first() == Some(&b'_')
    {
        return None;
    }
    while let [b'0', b'0'..=b'9' | b'_', ..] = rest {
        if !wanted {
            return None;
        }
        rest = &rest[1..];
    }
    let mut text = String::with_capacity(rest.len() + 3);
    if negative {
        text.push('-');
    }
    if rest.first() == Some(&b'.') {
        text.push('0');
    }
    for (index, byte) in rest.iter().enumerate() {
        match byte {
            b'_' | b',' => {}
            b'.' => {
                text.push('.');
                if !rest.get(index + 1).is_some_and(u8::is_ascii_digit) {
                    text.push('0');
                }
            }
            byte => text.push(char::from(*byte)),
        }
    }
    let (end, integer) = number(text.as_bytes(), 0)?;
    let whole = end == text.len() && rest.iter().any(u8::is_ascii_digit);
    let fits = match integer {
        true => text.len() <= DIGITS || unsigned(token) == text.as_bytes(),
        false => text.parse().is_ok_and(f64::is_finite),
    };
    (whole && fits).then_some(Clean { text, integer })
}

/// Returns the end of `1,234` or `1,234.5` at `at`, and whether it is an integer.
pub fn thousands_end(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.iter()
            .take_while(|byte| byte.is_ascii_digit())
            .take(20)
            .count()
    };
    let start = at + usize::from(matches!(text.get(at), Some(b'-' | b'+')));
    let first = digits(start);
    if !(1..=3).contains(&first) || text[start] == b'0' {
        return None;
    }
    let mut end = start + first;
    while text.get(end) == Some(&b',') && digits(end + 1) == 3 && end - start < DIGITS {
        end += 4;
    }
    if end == start + first {
        return None;
    }
    match (text.get(end), digits(end + 1)) {
        (Some(b'.'), fraction @ 1..) => Some((end + 1 + fraction, false)),
        _ => Some((end, true)),
    }
}

/// Returns whether a string is an integer, by the rules of coercion.
pub fn is_integer(content: &[u8]) -> bool {
    content.len() <= crate::LIMITS.integer && lenient::integer(content).is_some()
}

/// Returns the float that a string is, by the rules of coercion.
pub fn float_of(content: &[u8]) -> Option<f64> {
    lenient::float(content)
}

/// Returns the length of the invalid escape at `at` (a backslash) if its meaning is known.
pub fn lenient_escape(text: &[u8], at: usize) -> Option<usize> {
    let hex = |at: usize| text.get(at).is_some_and(u8::is_ascii_hexdigit);
    match text.get(at + 1)? {
        // `\x41` as in JavaScript and Python, below 0x80
        b'x' if hex(at + 2) && hex(at + 3) && text[at + 2] < b'8' => Some(4),
        b'u' => None,
        b'\n' | b'\'' | b'`' | b'_' => Some(2),
        // `\d` of a regular expression, `C:\Users`: a literal backslash
        byte if byte.is_ascii_alphanumeric() => Some(1),
        // `\$`, `\*`: with the backslash or without it
        _ => None,
    }
}

/// Returns the content of a string with its escapes decoded.
pub fn unescaped(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    unescape(content, &mut out);
    out
}

/// Appends the content of a string with its escapes decoded.
pub fn unescape(content: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(&byte) = content.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        match escape(content, at) {
            Ok((character, next)) => {
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at = next;
            }
            Err(_) => at += rough(content, at, out),
        }
    }
}

fn rough(text: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let length = lenient_escape(text, at).unwrap_or(1);
    match (length, text.get(at + 1)) {
        (4, _) => {
            let digits = std::str::from_utf8(&text[at + 2..at + 4]).unwrap_or_default();
            out.push(u8::from_str_radix(digits, 16).unwrap_or_default());
        }
        // A line continuation.
        (2, Some(b'\n')) => {}
        (2, Some(byte)) => out.push(*byte),
        _ => out.push(b'\\'),
    }
    length
}

/// Returns the line and the column of an offset, both from 1, with columns in characters.
pub fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    Cursor::default().advance(text, offset)
}

/// A place in a text that only moves forwards.
#[derive(Default)]
pub(in crate::repair) struct Cursor {
    at: usize,
    line: usize,
    column: usize,
}

impl Cursor {
    /// Moves to an offset, unless it is behind; returns the line and the column.
    pub fn advance(&mut self, text: &[u8], to: usize) -> (usize, usize) {
        let to = to.min(text.len()).max(self.at);
        for byte in &text[self.at..to] {
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 0),
                0x80..=0xBF => {}
                _ => self.column += 1,
            }
        }
        self.at = to;
        (self.line + 1, self.column + 1)
    }
}

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
pub fn missing_open(text: &[u8]) -> Option<Start> {
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
