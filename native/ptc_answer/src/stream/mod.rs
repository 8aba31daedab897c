//! Streamed answers: detects early that an answer cannot become valid.
//!
//! * this file: prose and fences, until the JSON begins
//! * [`follower`]: the JSON, which the reader of whole texts reads, in chunks
//! * [`partial`]: the value so far
//!
//! This module does not determine the answer: the complete text is read like any other text. It only
//! detects that the answer is certainly invalid, as early as possible. It reads every byte once, and
//! keeps only the bytes of an incomplete key or string: the caller has the text.

mod follower;
mod partial;
mod window;

#[cfg(test)]
mod tests;

pub use super::checker::{Mistake, What};

use super::checker::Checker;
use super::scan::opens;
use super::LIMITS;
use follower::{Facts, Follower};
use memchr::memchr3;
use ptc_json::{Extent, JsonError, ReadError, Reader};
use ptc_type::AnswerType;
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
enum StreamPhase {
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
    /// The last bytes, from the start of a string that must be checked as a whole, or of an escape.
    kept: Vec<u8>,
    phase: StreamPhase,
    rules: Rules,
    /// Its offsets count from the start of `kept`.
    reader: Reader,
    facts: Facts,
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
            phase: StreamPhase::Prose { ticks: 0 },
            rules,
            reader: reader(0),
            facts: Facts::default(),
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
                StreamPhase::Prose { ticks } => self.prose(text, &mut at, ticks),
                StreamPhase::Tag { part, length, json } => {
                    self.tag(text, &mut at, part, length, json)
                }
                StreamPhase::Json => self.json(text, &mut at),
                StreamPhase::Over => at = self.taken,
            }
        }
        let from = self.drop_read(text.bytes.len());
        match kept.is_empty() {
            true => kept.extend_from_slice(&chunk[from..]),
            false => drop(kept.drain(..from)),
        }
        // Its memory is reused, unless it is large.
        kept.shrink_to(LONGEST_KEPT);
        self.kept = kept;
        self.halted.as_ref()
    }

    /// Returns how many of the last bytes, which are `length`, are not needed any more.
    fn drop_read(&mut self, length: usize) -> usize {
        match (self.phase, &self.halted) {
            (StreamPhase::Json, None) => {
                let content = self.checker.needs_content();
                self.reader.drop_chunk(content, LONGEST_KEPT)
            }
            _ => length,
        }
    }

    fn prose(&mut self, text: Window, at: &mut usize, ticks: usize) {
        let byte = text.byte(*at);
        match byte {
            b'`' => {
                self.phase = StreamPhase::Prose { ticks: ticks + 1 };
                *at += 1;
            }
            _ if ticks >= 3 => {
                self.phase = StreamPhase::Tag {
                    part: TagPart::Blanks,
                    length: 0,
                    json: true,
                }
            }
            _ if opens(byte) => self.begin(text, *at, false),
            // Blanks, and the bytes of a byte order mark.
            b' ' | 9..=13 | 0xEF | 0xBB | 0xBF => {
                self.phase = StreamPhase::Prose { ticks: 0 };
                *at += 1;
            }
            _ if !self.rules.prose => self.halt(What::Prose),
            _ => {
                self.first = false;
                self.phase = StreamPhase::Prose { ticks: 0 };
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
                    true => self.begin(text, *at, true),
                    false if !self.rules.prose && is_json => self.halt(What::Prose),
                    false => self.phase = StreamPhase::Over,
                }
                return;
            }
        };
        *at += 1;
        self.phase = StreamPhase::Tag { part, length, json };
    }

    fn begin(&mut self, text: Window, at: usize, fenced: bool) {
        self.start = at;
        self.fenced = fenced;
        self.reader = reader(at - text.begin);
        self.phase = StreamPhase::Json;
    }

    fn json(&mut self, text: Window, at: &mut usize) {
        let Stream { facts, checker, .. } = self;
        checker.begin_chunk();
        let begin = text.begin;
        let mut follower = Follower {
            facts,
            checker,
            bytes: text.bytes,
            begin,
        };
        let end = self.reader.read(text.bytes, &mut follower);
        *at = self.taken;
        match end {
            Ok(end) => {
                *at = begin + end;
                self.phase = StreamPhase::Over;
            }
            Err(ReadError::Json(JsonError::UnexpectedEnd(_)) | ReadError::Stop(_)) => {}
            Err(ReadError::Json(error)) => {
                let broken = begin + error.position();
                // The first error counts. A number that goes on with an invalid byte is none of another type.
                let is_first = !self.checker.has_mistake() || broken == self.facts.wrong_number;
                if self.fenced && !is_first {
                    self.halted = self.checker.take_mistake();
                } else if self.fenced || !self.rules.prose {
                    self.halt(What::Syntax(broken));
                }
                // Possibly prose in brackets.
                self.facts.whole = 0;
                self.phase = StreamPhase::Over;
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
        let ended = matches!(self.phase, StreamPhase::Over);
        // `[1e309]` is not JSON, and resembles prose, so the search continues after it.
        let is_whole = ended && !self.facts.may_be_out_of_range(self.start);
        let is_json = self.facts.has_keys || (self.first && (is_whole || self.facts.has_marks));
        self.fenced || (self.rules.caution == Caution::Early && is_json)
    }

    fn halt(&mut self, what: What) {
        self.halted = Some(Mistake {
            path: Vec::new(),
            what,
        });
    }
}

/// Returns whether a chunk has a byte that ends tags of thinking. The caller knows which tags there are.
pub fn may_end_tag(chunk: &[u8]) -> bool {
    memchr3(b'>', b']', 0xB7, chunk).is_some()
}

fn reader(start: usize) -> Reader {
    Reader::new(start, Extent::Value, LIMITS)
}
