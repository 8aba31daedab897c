//! JSON lexer, byte by byte: a token may span several chunks.

use super::window::Window;
use crate::answer::checker::Checker;
use crate::answer::LIMITS;
use crate::signature::Json;

/// Why the lexer stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// No bytes are left.
    More,
    /// The value is complete.
    Ended,
    /// The byte is invalid there.
    Broken,
    /// The value is not of its type.
    Mistake,
}

/// The token that is expected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextToken {
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After `{`.
    KeyOrEnd,
    Key,
    Colon,
    /// `,` or the end of the list or object.
    CommaOrEnd,
    /// The rest of a string; `key`: whether it is a key.
    String {
        key: bool,
    },
    /// The character after a backslash.
    Escape {
        key: bool,
    },
    /// The remaining digits of `\u`.
    Hex {
        key: bool,
        left: u8,
    },
    Number(Digits),
    /// The rest of `true`, `false` or `null`.
    Word(&'static [u8]),
}

/// The position in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Dot,
    Fraction,
    E,
    Sign,
    Exponent,
}

impl Digits {
    /// Returns the position after another byte; `None` if the number ended before it.
    fn after(self, byte: u8) -> Option<Digits> {
        use Digits::*;
        Some(match (self, byte) {
            (Minus, b'0') => Zero,
            (Minus | Whole, b'0'..=b'9') => Whole,
            (Zero | Whole, b'.') => Dot,
            (Dot | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Whole | Fraction, b'e' | b'E') => E,
            (E, b'+' | b'-') => Sign,
            (E | Sign | Exponent, b'0'..=b'9') => Exponent,
            _ => return None,
        })
    }

    fn may_end(self) -> bool {
        matches!(
            self,
            Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Exponent
        )
    }
}

/// The state between two bytes.
#[derive(Debug)]
pub(super) struct Lexer {
    next: NextToken,
    /// The open brackets, innermost last; true is an object.
    pub(super) open: Vec<bool>,
    /// Offset of the current string's content, and whether it has escapes.
    string: usize,
    escaped: bool,
    /// A key was read.
    pub(super) has_keys: bool,
    /// A string, a comma or a bracket was read, which prose in brackets does not have.
    pub(super) has_marks: bool,
    /// A number with an exponent was read.
    has_exponent: bool,
    /// Offset after the last complete value, or the last bracket: everything before it is complete.
    pub(super) whole: usize,
    /// Offset of the last escape.
    escape: usize,
}

impl Lexer {
    pub(super) fn new() -> Self {
        Lexer {
            next: NextToken::Value,
            open: Vec::new(),
            string: 0,
            escaped: false,
            has_keys: false,
            has_marks: false,
            has_exponent: false,
            whole: 0,
            escape: 0,
        }
    }

    /// Discards the state.
    pub(super) fn give_up(&mut self) {
        self.open.clear();
        self.whole = 0;
    }

    /// Returns whether a number of the JSON that began at `start` can be out of range, which makes the
    /// JSON invalid. Without an exponent, this takes more than 300 digits.
    pub(super) fn may_be_out_of_range(&self, start: usize) -> bool {
        self.has_exponent || self.whole - start > 300
    }

    /// Returns the range of the current string value so far, without a partial escape.
    pub(super) fn open_string(&self, end: usize) -> Option<(usize, usize)> {
        match self.next {
            NextToken::String { key: false } => Some((self.string, end)),
            NextToken::Escape { key: false } | NextToken::Hex { key: false, .. } => {
                Some((self.string, self.escape))
            }
            _ => None,
        }
    }

    /// Returns the offset of the current string if its content will be checked.
    pub(super) fn string_to_keep(&self, checker: &Checker) -> Option<usize> {
        let looked_at = match self.next {
            NextToken::String { key } => key || checker.needs_content(),
            _ => false,
        };
        (looked_at && !self.escaped).then_some(self.string)
    }

    /// Marks the string so that its content is not checked, as if it had escapes.
    pub(super) fn forget_string(&mut self) {
        self.escaped = true;
    }

    /// Reads on from `at`. `stop_at_first_error`: stops at an error.
    pub(super) fn run(
        &mut self,
        text: Window,
        at: &mut usize,
        checker: &mut Checker,
        stop_at_first_error: bool,
    ) -> Progress {
        // A local variable is not written back for every byte.
        let mut local = *at - text.begin;
        let progress = self.read(text, &mut local, checker, stop_at_first_error);
        *at = local + text.begin;
        progress
    }

    /// `at` counts from the start of the window; stored offsets count from the start of the text.
    #[inline(always)]
    fn read(
        &mut self,
        Window { bytes: text, begin }: Window,
        at: &mut usize,
        checker: &mut Checker,
        stop_at_first_error: bool,
    ) -> Progress {
        while let Some(&byte) = text.get(*at) {
            match self.next {
                NextToken::String { key } => {
                    *at += run_of(&text[*at..], |byte| !is_special(byte));
                    let Some(&byte) = text.get(*at) else {
                        return Progress::More;
                    };
                    match byte {
                        b'"' => self.string_end(text, begin, *at, key, checker),
                        b'\\' => {
                            self.escaped = true;
                            self.escape = begin + *at;
                            self.next = NextToken::Escape { key };
                        }
                        _ => return Progress::Broken,
                    }
                }
                NextToken::Escape { key } => {
                    self.next = match byte {
                        b'u' => NextToken::Hex { key, left: 4 },
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                            NextToken::String { key }
                        }
                        _ => return Progress::Broken,
                    }
                }
                NextToken::Hex { key, left } => {
                    if !byte.is_ascii_hexdigit() {
                        return Progress::Broken;
                    }
                    self.next = match left {
                        1 => NextToken::String { key },
                        _ => NextToken::Hex {
                            key,
                            left: left - 1,
                        },
                    };
                }
                NextToken::Number(digits) => match digits.after(byte) {
                    Some(digits) => {
                        if matches!(digits, Digits::Dot | Digits::E) {
                            checker.fraction();
                        }
                        self.has_exponent |= digits == Digits::E;
                        self.next = NextToken::Number(digits);
                        if matches!(digits, Digits::Whole | Digits::Fraction) {
                            *at += run_of(&text[*at + 1..], |byte| byte.is_ascii_digit());
                        }
                    }
                    None if digits.may_end() => {
                        checker.number_end();
                        self.value_end(begin + *at);
                        // The byte is not consumed yet.
                        continue;
                    }
                    None => return Progress::Broken,
                },
                NextToken::Word(left) => match left.split_first() {
                    Some((letter, left)) if *letter == byte => {
                        self.next = NextToken::Word(left);
                        if left.is_empty() {
                            self.value_end(begin + *at + 1);
                        }
                    }
                    _ => return Progress::Broken,
                },
                _ if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {}
                next => {
                    if !self.token(next, byte, begin + *at, checker) {
                        return Progress::Broken;
                    }
                }
            }
            *at += 1;
            if self.open.is_empty() {
                return Progress::Ended;
            }
            if stop_at_first_error && checker.has_mistake() {
                return Progress::Mistake;
            }
        }
        Progress::More
    }

    /// Handles a byte outside of strings, numbers and words; returns false if it is invalid there.
    fn token(&mut self, next: NextToken, byte: u8, at: usize, checker: &mut Checker) -> bool {
        match (next, byte) {
            (NextToken::Colon, b':') => {
                self.has_keys = true;
                self.next = NextToken::Value;
            }
            (NextToken::Key | NextToken::KeyOrEnd, b'"') => self.string_begin(at, true),
            (NextToken::CommaOrEnd, b',') => {
                self.has_marks = true;
                self.next = match self.open.last() {
                    Some(true) => NextToken::Key,
                    _ => NextToken::Value,
                }
            }
            (NextToken::CommaOrEnd | NextToken::KeyOrEnd, b'}')
                if self.open.last() == Some(&true) =>
            {
                self.close(at, checker)
            }
            (NextToken::CommaOrEnd | NextToken::ValueOrEnd, b']')
                if self.open.last() == Some(&false) =>
            {
                self.close(at, checker)
            }
            (NextToken::Value | NextToken::ValueOrEnd, _) => return self.value(byte, at, checker),
            _ => return false,
        }
        true
    }

    fn value(&mut self, byte: u8, at: usize, checker: &mut Checker) -> bool {
        let (json, next) = match byte {
            b'"' => {
                self.string_begin(at, false);
                (Json::String, self.next)
            }
            b'{' | b'[' if self.open.len() == LIMITS.depth => return false,
            b'{' => (Json::Object, NextToken::KeyOrEnd),
            b'[' => (Json::Array, NextToken::ValueOrEnd),
            b'-' => (Json::Integer, NextToken::Number(Digits::Minus)),
            b'0' => (Json::Integer, NextToken::Number(Digits::Zero)),
            b'1'..=b'9' => (Json::Integer, NextToken::Number(Digits::Whole)),
            b't' => (Json::Bool, NextToken::Word(b"rue")),
            b'f' => (Json::Bool, NextToken::Word(b"alse")),
            b'n' => (Json::Null, NextToken::Word(b"ull")),
            _ => return false,
        };
        checker.value(json);
        self.next = next;
        if matches!(json, Json::Object | Json::Array) {
            self.has_marks |= !self.open.is_empty();
            self.open.push(json == Json::Object);
            self.whole = at + 1;
        }
        true
    }

    fn string_begin(&mut self, at: usize, key: bool) {
        self.has_marks = true;
        self.string = at + 1;
        self.escaped = false;
        self.next = NextToken::String { key };
    }

    fn string_end(
        &mut self,
        text: &[u8],
        begin: usize,
        at: usize,
        key: bool,
        checker: &mut Checker,
    ) {
        let is_kept = (key || checker.needs_content()) && !self.escaped;
        let content = is_kept.then(|| &text[self.string - begin..at]);
        if key {
            checker.name(content);
            self.next = NextToken::Colon;
            return;
        }
        if let Some(content) = content {
            checker.content(content);
        }
        self.value_end(begin + at + 1);
    }

    fn close(&mut self, at: usize, checker: &mut Checker) {
        checker.end();
        self.open.pop();
        self.value_end(at + 1);
    }

    fn value_end(&mut self, end: usize) {
        self.whole = end;
        self.next = NextToken::CommaOrEnd;
    }
}

/// Returns the number of leading bytes that satisfy the condition.
#[inline]
fn run_of(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let mut length = 0;
    while bytes.get(length).is_some_and(|byte| is(*byte)) {
        length += 1;
    }
    length
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}
