//! The pass that validates a text and makes its index.

use super::brackets::{BracketState, Containers};
use super::classes::{Classes, Classify, Fastest};
use super::directory::Directory;
use super::grammar::{GrammarState, Tokens};
use super::numbers::NumberState;
use super::strings::{StringState, Strings};
use super::utf8::Utf8State;
use super::words::WordState;
use super::{PerBlock, BLOCK, BLOCKS, CHUNK};

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
    /// The offset of the last token.
    last: usize,
    index: Index,
}

/// What is found out about a chunk, one part after another.
#[derive(Default)]
struct Masks {
    classes: PerBlock<Classes>,
    strings: PerBlock<Strings>,
    containers: PerBlock<Containers>,
    tokens: PerBlock<Tokens>,
}

/// The index of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Index {
    /// One bit for each byte: the first bytes of values and keys, and the closing brackets.
    pub(super) starts: Vec<u64>,
    pub(super) directory: Directory,
    /// Whether a key has an escape.
    pub(super) escaped_keys: bool,
    largest: Largest,
    /// The length of the text.
    pub(super) length: usize,
}

/// How large the values of a text are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Largest {
    /// Bytes of the longest string, key or number, with what is between it and the next token: an upper bound.
    pub token: usize,
    /// Bytes of the longest number: an upper bound.
    pub number: usize,
    /// Members of the largest object; if there are more than 65,535, a number from there on. In a text of more than 65,536 levels they are
    /// not counted, and this is a number beyond 32 bits.
    pub members: usize,
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
            last: 0,
            index: Index {
                starts: Vec::with_capacity(length / BLOCK + 1),
                directory: Directory::for_text(length),
                escaped_keys: false,
                largest: Largest::default(),
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
        let mut masks = Masks::default();
        loop {
            let rest = text.get(self.at..).unwrap_or_default();
            let mut wrong = 0;
            if let Some(chunk) = rest.first_chunk() {
                wrong |= self.chunk::<C>(text, chunk, BLOCKS, &mut masks);
            } else {
                // What the last token lacks is found in the white space behind it.
                let mut chunk = [b' '; CHUNK];
                chunk[..rest.len()].copy_from_slice(rest);
                wrong |= self.chunk::<C>(text, &chunk, rest.len() / BLOCK + 1, &mut masks);
            }
            let end = self.at.min(text.len());
            if wrong != 0 || !self.utf8.validate(text, end) {
                return Err(Invalid);
            }
            if self.at > text.len() {
                return self.finish().map(Some);
            }
            if self.at >= until {
                return Ok(None);
            }
        }
    }

    /// Reads one chunk, of which `blocks` are part of the index; returns 0 if it is valid.
    fn chunk<C: Classify>(
        &mut self,
        text: &[u8],
        chunk: &[u8; CHUNK],
        blocks: usize,
        masks: &mut Masks,
    ) -> u64 {
        let Masks {
            classes,
            strings,
            containers,
            tokens,
        } = masks;
        C::classify_all(chunk, classes);
        let mut wrong = self.strings.next(text, self.at, classes, strings);
        let Some(excess) = self.brackets.next(chunk, classes, strings, containers) else {
            return u64::MAX;
        };
        wrong |= self.grammar.next(classes, strings, containers, tokens);
        wrong |= self.scalars(text, classes, tokens);
        let mut starts = PerBlock::default();
        let mut escaped_keys = 0;
        let mut longest = self.index.largest.token;
        for (block, starts) in starts.iter_mut().enumerate() {
            let (inside, strings) = (&containers[block], &strings[block]);
            *starts =
                inside.open | inside.close | tokens[block].starts | strings.quotes & strings.inside;
            escaped_keys |= strings.escaped & tokens[block].keys;
            if *starts != 0 {
                let at = self.at + BLOCK * block;
                let first = at + starts.trailing_zeros() as usize;
                longest = longest.max(first - self.last);
                self.last = at + starts.ilog2() as usize;
            }
            self.utf8.note(classes[block].high);
        }
        self.index.escaped_keys |= escaped_keys != 0;
        self.index.largest.token = longest;
        self.index.starts.extend_from_slice(&starts[..blocks]);
        self.index.directory.push(excess);
        self.at += CHUNK;
        wrong
    }

    /// Reads the scalars of a chunk; returns 0 if they are valid.
    #[inline(never)]
    fn scalars(
        &mut self,
        text: &[u8],
        classes: &PerBlock<Classes>,
        tokens: &PerBlock<Tokens>,
    ) -> u64 {
        let mut wrong = 0;
        for (block, (classes, tokens)) in classes.iter().zip(tokens).enumerate() {
            let at = self.at + BLOCK * block;
            let not_numbers = tokens.starts & !(classes.digit | classes.minus);
            let (words, others) = self.words.next(text, at, not_numbers);
            wrong |= others;
            let numbers = tokens.scalars & !words;
            if numbers != 0 || !self.numbers.is_quiet() {
                wrong |= self.numbers.next(text, at, classes, numbers, tokens.starts);
            }
        }
        wrong
    }

    fn finish(&mut self) -> Result<Index, Invalid> {
        let is_complete = self.grammar.is_after_value() && self.brackets.are_closed();
        if !is_complete || self.strings.is_open() {
            return Err(Invalid);
        }
        self.index.directory.finish();
        let token = self.index.largest.token.max(self.index.length - self.last);
        self.index.largest = Largest {
            token: token.max(BLOCK),
            number: self.numbers.longest(),
            members: self.brackets.most_members(),
        };
        Ok(std::mem::take(&mut self.index))
    }

    /// Returns the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.brackets.bytes()
    }
}

impl Index {
    /// Returns how large the values of the text are.
    pub fn largest(&self) -> Largest {
        self.largest
    }

    /// Returns the length of its text.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the memory in bytes: at most 0.142 times the length of the text, and 300.
    pub fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u64>() + self.directory.bytes()
    }
}
