//! Streamed answers: detects early that an answer cannot become valid.
//!
//! * this file: prose and fences, until the JSON begins
//! * [`lexer`]: the JSON, byte by byte, independent of chunk boundaries
//! * [`partial`]: the value so far
//!
//! This module does not determine the answer: the complete text is read like any other text. It only
//! detects that the answer is certainly invalid, as early as possible. It reads every byte once, and
//! keeps only the bytes of an incomplete key or string: the caller has the text.

mod lexer;
mod partial;
mod window;

#[cfg(test)]
mod tests;

pub use super::checker::{Mistake, What};

use super::checker::Checker;
use super::scan::opens;
use crate::signature::AnswerType;
use lexer::{Lexer, Progress};
use memchr::memchr3;
use window::Window;

/// When an error counts as certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// Also for invalid JSON outside of a fence, although a later fence would take precedence.
    Early,
    /// Only if the answer is invalid whatever text follows.
    Certain,
}

/// How a stream is read.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// See [`Caution`].
    pub caution: Caution,
    /// Whether text other than JSON, or a fence with JSON, may precede the answer.
    pub prose: bool,
}

/// The position of the reader.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Before the first bracket, after this many backticks.
    Prose { ticks: usize },
    /// After an opening marker.
    Tag {
        part: TagPart,
        /// Number of bytes of the tag so far, and whether they are a prefix of `json`.
        length: usize,
        json: bool,
    },
    /// In the JSON.
    Json,
    /// No following text can change the result.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagPart {
    Blanks,
    Tag,
    Space,
}

/// A longer key is not the name of a field, and a longer string is not the name of an atom.
const LONGEST_KEPT: usize = 65_536;

/// The state of a streamed answer.
#[derive(Debug)]
pub struct Stream {
    /// Number of bytes received.
    taken: usize,
    /// The last bytes, from the start of a string that must be checked as a whole.
    kept: Vec<u8>,
    phase: Phase,
    rules: Rules,
    lexer: Lexer,
    checker: Checker,
    /// Offset of the JSON, once it has begun.
    start: usize,
    fenced: bool,
    /// Whether only blanks precede the JSON.
    first: bool,
    halted: Option<Mistake>,
}

impl Stream {
    /// Creates a stream before its first byte.
    pub fn new(answer_type: AnswerType, rules: Rules) -> Self {
        Stream {
            taken: 0,
            kept: Vec::new(),
            phase: Phase::Prose { ticks: 0 },
            rules,
            lexer: Lexer::new(),
            checker: Checker::new(answer_type),
            start: 0,
            fenced: false,
            first: true,
            halted: None,
        }
    }

    /// Returns the number of bytes received.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Creates a stream of the same kind that has received this text.
    pub fn again(&self, text: &[u8]) -> Self {
        let mut again = Stream::new(self.checker.answer_type().clone(), self.rules);
        again.feed(text);
        again
    }

    /// Processes the next part of the text; returns the reason if the answer is invalid.
    pub fn feed(&mut self, chunk: &[u8]) -> Option<&Mistake> {
        // Usually nothing is kept, and nothing is copied.
        let mut kept = std::mem::take(&mut self.kept);
        let begin = self.taken - kept.len();
        let text = match kept.is_empty() {
            true => Window::new(chunk, begin),
            false => {
                kept.extend_from_slice(chunk);
                Window::new(&kept, begin)
            }
        };
        let mut at = self.taken;
        self.taken += chunk.len();
        while self.halted.is_none() && at < self.taken {
            match self.phase {
                Phase::Prose { ticks } => self.prose(text, &mut at, ticks),
                Phase::Tag { part, length, json } => self.tag(text, &mut at, part, length, json),
                Phase::Json => self.json(text, &mut at),
                Phase::Over => at = self.taken,
            }
        }
        match self.string_to_keep() {
            Some(from) if kept.is_empty() => kept.extend_from_slice(&chunk[from - begin..]),
            Some(from) => drop(kept.drain(..from - begin)),
            None => kept.clear(),
        }
        // Its memory is reused, unless it is large.
        kept.shrink_to(LONGEST_KEPT);
        self.kept = kept;
        self.halted.as_ref()
    }

    /// Returns the offset of the string that must be kept until it can be checked as a whole.
    fn string_to_keep(&mut self) -> Option<usize> {
        let begin = match (self.phase, &self.halted) {
            (Phase::Json, None) => self.lexer.string_to_keep(&self.checker)?,
            _ => return None,
        };
        if self.taken - begin > LONGEST_KEPT {
            self.lexer.forget_string();
            return None;
        }
        Some(begin)
    }

    fn prose(&mut self, text: Window, at: &mut usize, ticks: usize) {
        let byte = text.byte(*at);
        match byte {
            b'`' => {
                self.phase = Phase::Prose { ticks: ticks + 1 };
                *at += 1;
            }
            _ if ticks >= 3 => {
                self.phase = Phase::Tag {
                    part: TagPart::Blanks,
                    length: 0,
                    json: true,
                }
            }
            _ if opens(byte) => self.begin(*at, false),
            // Blanks, and the bytes of a byte order mark.
            b' ' | 9..=13 | 0xEF | 0xBB | 0xBF => {
                self.phase = Phase::Prose { ticks: 0 };
                *at += 1;
            }
            _ if !self.rules.prose => self.halt(What::Prose),
            _ => {
                self.first = false;
                self.phase = Phase::Prose { ticks: 0 };
                let next = memchr3(b'{', b'[', b'`', text.from(*at));
                *at = next.map_or(self.taken, |offset| *at + offset);
            }
        }
    }

    /// Reads the rest of an opening marker. An error is final only if the tag is `json` or empty.
    fn tag(&mut self, text: Window, at: &mut usize, part: TagPart, length: usize, json: bool) {
        let byte = text.byte(*at);
        let of_tag = byte.is_ascii_alphanumeric() || b"_+.#-".contains(&byte);
        let (part, length, json) = match (part, byte) {
            (TagPart::Blanks, b' ' | b'\t') => (part, length, json),
            (TagPart::Blanks | TagPart::Tag, _) if of_tag => {
                let expected = b"json".get(length);
                let fits = expected.is_none_or(|letter| byte.eq_ignore_ascii_case(letter));
                (TagPart::Tag, length + 1, json && fits)
            }
            (_, 9..=13 | b' ') => (TagPart::Space, length, json),
            _ => {
                let is_json = json && length >= 4;
                match opens(byte) && (is_json || length == 0) {
                    true => self.begin(*at, true),
                    false if !self.rules.prose && is_json => self.halt(What::Prose),
                    false => self.phase = Phase::Over,
                }
                return;
            }
        };
        *at += 1;
        self.phase = Phase::Tag { part, length, json };
    }

    fn begin(&mut self, at: usize, fenced: bool) {
        self.start = at;
        self.fenced = fenced;
        self.phase = Phase::Json;
    }

    fn json(&mut self, text: Window, at: &mut usize) {
        let progress = self.lexer.run(text, at, &mut self.checker, self.fenced);
        match progress {
            Progress::More | Progress::Mistake => {}
            Progress::Ended => self.phase = Phase::Over,
            Progress::Broken => {
                if self.fenced || !self.rules.prose {
                    self.halt(What::Syntax(*at));
                }
                // Possibly prose in brackets.
                self.lexer.give_up();
                self.phase = Phase::Over;
                return;
            }
        }
        if self.is_convincing() {
            self.halted = self.checker.take_mistake();
        }
    }

    /// Returns whether an error in the value so far makes the answer invalid. Prose can have lists of
    /// numbers in brackets, but a text of prose does not begin with one, and none has keys.
    fn is_convincing(&self) -> bool {
        let ended = matches!(self.phase, Phase::Over);
        // `[1e309]` is not JSON, and resembles prose, so the search continues after it.
        let is_whole = ended && !self.lexer.may_be_out_of_range(self.start);
        let is_json = self.lexer.has_keys || (self.first && (is_whole || self.lexer.has_marks));
        self.fenced || (self.rules.caution == Caution::Early && is_json)
    }

    fn halt(&mut self, what: What) {
        self.halted = Some(Mistake {
            path: Vec::new(),
            what,
        });
    }
}
