//! An answer while it comes in: whether it can still become what was asked for.
//!
//! * this file: prose and fences, until the JSON begins
//! * [`lexer`]: the JSON, byte by byte, whatever the chunks are
//! * [`checker`]: what stands where, against the types; [`answer_type`]: the types
//! * [`partial`]: the value as far as it has come
//!
//! Nothing here decides what an answer is: when the text is complete, it is read as any other text.
//! All there is to find out is that it cannot be right any more, as soon as that is certain. Every
//! byte is looked at once, and none is kept but those of a key that has not ended: the text is the
//! caller's.

mod answer_type;
mod checker;
mod lexer;
mod partial;

#[cfg(test)]
mod tests;

pub use answer_type::AnswerType;
pub use checker::{Mistake, Segment, What};

use super::scan::opens;
use checker::Checker;
use lexer::{Lexer, Progress};
use memchr::memchr3;

/// What counts as certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// JSON outside of a fence that is wrong: a fence that would count instead is not waited for.
    Early,
    /// Whatever may still come, the answer is wrong.
    Certain,
}

/// How a stream is to be read.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// See [`Caution`].
    pub caution: Caution,
    /// Whether anything but JSON, or a fence with JSON, may stand at the start.
    pub prose: bool,
}

/// Where the reading is.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// Before the first bracket, after so many backticks.
    Prose { ticks: usize },
    /// Behind an opening marker.
    Tag {
        part: TagPart,
        /// How many bytes of the tag were seen, and whether they begin as `json` does.
        length: usize,
        json: bool,
    },
    /// In the JSON.
    Json,
    /// Nothing that follows would tell more.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagPart {
    Blanks,
    Tag,
    Space,
}

/// A longer key is the name of no field, and a longer string the name of no atom.
const LONGEST_KEPT: usize = 65_536;

/// The last bytes of a text, by their places in the whole of it.
#[derive(Clone, Copy)]
struct Window<'t> {
    bytes: &'t [u8],
    begin: usize,
}

impl<'t> Window<'t> {
    fn new(bytes: &'t [u8], begin: usize) -> Self {
        Window { bytes, begin }
    }

    fn byte(self, at: usize) -> u8 {
        self.bytes[at - self.begin]
    }

    fn from(self, at: usize) -> &'t [u8] {
        &self.bytes[at - self.begin..]
    }
}

/// An answer as far as it has come in.
#[derive(Debug)]
pub struct Stream {
    /// How many bytes came in.
    taken: usize,
    /// The last of them, from where a string began that is to be looked at as a whole.
    kept: Vec<u8>,
    phase: Phase,
    rules: Rules,
    lexer: Lexer,
    checker: Checker,
    /// Where the JSON begins, once it has.
    start: usize,
    fenced: bool,
    /// Only blanks stand before it.
    first: bool,
    halted: Option<Mistake>,
}

impl Stream {
    /// Nothing yet.
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

    /// How many bytes came in.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// A stream of the same kind that took this text.
    pub fn again(&self, text: &[u8]) -> Self {
        let mut again = Stream::new(self.checker.answer_type().clone(), self.rules);
        again.feed(text);
        again
    }

    /// Takes the next part of the text; tells why the answer is wrong, if it is.
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
        // Its memory is used again, unless it is much.
        kept.shrink_to(LONGEST_KEPT);
        self.kept = kept;
        self.halted.as_ref()
    }

    /// Where the string begins that must be kept until it can be looked at as a whole.
    fn string_to_keep(&mut self) -> Option<usize> {
        let begin = match (self.phase, &self.halted) {
            (Phase::Json, None) => self.lexer.string_to_keep()?,
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

    /// The rest of an opening marker. Only where it says JSON, or nothing, a mistake is final.
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
                // Prose in brackets, maybe.
                self.lexer.give_up();
                self.phase = Phase::Over;
                return;
            }
        }
        if self.is_convincing() {
            self.halted = self.checker.take_mistake();
        }
    }

    /// Whether what is wrong with the value so far is wrong with the answer. Prose has lists of
    /// numbers in brackets, but no text begins with one, and none has keys.
    fn is_convincing(&self) -> bool {
        let ended = matches!(self.phase, Phase::Over);
        // `[1e309]` is no JSON, and looks enough like prose for the search to go on behind it.
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
