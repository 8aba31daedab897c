//! The pass that validates a text and makes its index.

use super::brackets::BracketState;
use super::classes::{Classes, Classify, Fastest};
use super::directory::{Directory, CHUNK, WORDS};
use super::grammar::GrammarState;
use super::numbers::NumberState;
use super::strings::StringState;
use super::utf8::Utf8State;
use super::words::WordState;
use super::BLOCK;

/// The longest text: offsets have 32 bits.
pub const LONGEST_TEXT: usize = u32::MAX as usize;

/// A text that is being indexed. It is plain data, so that the pass can stop and continue anywhere.
#[derive(Debug, Clone)]
pub struct Indexer {
    /// The offset of the next block.
    at: usize,
    strings: StringState,
    brackets: BracketState,
    grammar: GrammarState,
    words: WordState,
    numbers: NumberState,
    utf8: Utf8State,
    index: Index,
}

/// The index of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// One bit for each byte: the first bytes of values and keys, and the closing brackets.
    pub(super) starts: Vec<u64>,
    pub(super) directory: Directory,
    /// Whether a key has an escape.
    pub(super) escaped_keys: bool,
    /// The length of the text.
    pub(super) length: usize,
}

/// The text is not valid JSON, or nested too deeply. Where and why is what [`ptc_json::Reader`] says about the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalid;

impl Indexer {
    /// Starts with a text of this many bytes; `depth` is the maximum number of open containers. A text of more than
    /// [`LONGEST_TEXT`] bytes is refused.
    pub fn new(length: usize, depth: usize) -> Option<Self> {
        (length <= LONGEST_TEXT).then(|| Indexer {
            at: 0,
            strings: StringState::default(),
            brackets: BracketState::new(depth),
            grammar: GrammarState::default(),
            words: WordState::default(),
            numbers: NumberState::default(),
            utf8: Utf8State::default(),
            index: Index {
                starts: Vec::with_capacity(length / BLOCK + 1),
                directory: Directory::for_text(length),
                escaped_keys: false,
                length,
            },
        })
    }

    /// Reads on by at least `bytes` bytes, or to the end; returns the index at the end. `text` must be the same each time.
    pub fn step(&mut self, text: &[u8], bytes: usize) -> Result<Option<Index>, Invalid> {
        self.step_with::<Fastest>(text, bytes)
    }

    /// Same as `step`, with this classification.
    pub fn step_with<C: Classify>(
        &mut self,
        text: &[u8],
        bytes: usize,
    ) -> Result<Option<Index>, Invalid> {
        // A different text must not be read beyond its end.
        let text = text.get(..self.index.length).ok_or(Invalid)?;
        let until = self.at.saturating_add(bytes);
        loop {
            let chunk = text.get(self.at..).unwrap_or_default();
            let (blocks, rest) = chunk.get(..CHUNK).unwrap_or(chunk).as_chunks();
            let mut wrong = 0;
            for block in blocks {
                wrong |= self.block::<C>(text, block);
            }
            let is_last = blocks.len() < WORDS;
            if is_last {
                // What the last token lacks is found in the white space behind it.
                let mut block = [b' '; BLOCK];
                block[..rest.len()].copy_from_slice(rest);
                wrong |= self.block::<C>(text, &block);
            }
            let end = self.at.min(text.len());
            if wrong != 0 || !self.utf8.validate(text, end) {
                return Err(Invalid);
            }
            self.index.directory.push(self.brackets.take_excess());
            if is_last {
                return self.finish().map(Some);
            }
            if self.at >= until {
                return Ok(None);
            }
        }
    }

    /// Reads one block; returns 0 if it is valid.
    #[inline(always)]
    fn block<C: Classify>(&mut self, text: &[u8], block: &[u8; BLOCK]) -> u64 {
        let at = self.at;
        let classes: Classes = C::classify(block);
        let strings = self.strings.next(&classes);
        let outside = !(strings.inside | strings.close);
        let (open, close) = (classes.open & outside, classes.close & outside);
        let inside = self.brackets.next(block, open, close);
        let tokens = self.grammar.next(&classes, &strings, &inside);
        let mut wrong = tokens.wrong | classes.control & strings.inside;

        if strings.escaped != 0 {
            if !self.strings.are_valid(text, at, strings.escaped) {
                wrong = u64::MAX;
            }
            self.index.escaped_keys |= strings.escaped & tokens.keys != 0;
        }
        let not_numbers = tokens.starts & !(classes.digit | classes.minus);
        let (words, others) = self.words.next(text, at, not_numbers);
        wrong |= others;
        let numbers = tokens.scalars & !words;
        if numbers != 0 || !self.numbers.is_quiet() {
            wrong |= self
                .numbers
                .next(text, at, &classes, numbers, tokens.starts);
        }
        if !inside.are_valid {
            wrong = u64::MAX;
        }
        self.utf8.note(classes.high);
        self.index
            .starts
            .push(open | close | strings.open | tokens.starts);
        self.at += BLOCK;
        wrong
    }

    fn finish(&mut self) -> Result<Index, Invalid> {
        let is_complete = self.grammar.is_after_value() && self.brackets.are_closed();
        if !is_complete || self.strings.is_open() {
            return Err(Invalid);
        }
        self.index.directory.finish();
        Ok(std::mem::take(&mut self.index))
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.brackets.bytes()
    }
}

impl Index {
    /// Returns the memory in bytes: at most 0.142 times the length of the text, and 300.
    pub fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u64>() + self.directory.bytes()
    }
}
