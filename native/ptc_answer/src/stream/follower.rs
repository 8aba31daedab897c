//! What a stream learns from the reader's events.

use crate::checker::Checker;
use ptc_json::grammar::{Number, Token, Word};
use ptc_json::{Sink, Text};
use ptc_term::stop::Stop;
use ptc_type::Json;

/// What is known of the JSON so far; offsets count from the start of the text.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// A key was read, with its colon.
    pub has_keys: bool,
    /// A string, a comma or an inner bracket was read, which prose in brackets does not have.
    pub has_marks: bool,
    /// A number with an exponent was read.
    has_exponent: bool,
    /// Everything before this offset is complete, but for open brackets; 0 before the first bracket.
    pub whole: usize,
    /// The offset of the last string's content.
    pub string: usize,
    /// The offset after a number that is the first error.
    pub wrong_number: usize,
    /// The offset of the last number or word; 0 after another value.
    plain: usize,
}

impl Facts {
    /// Returns whether a number of the JSON that began at `start` can be out of range, which makes the
    /// JSON invalid. Without an exponent, this takes more than 300 digits.
    pub fn may_be_out_of_range(&self, start: usize) -> bool {
        self.has_exponent || self.whole - start > 300
    }
}

/// Takes the events of one chunk.
pub(super) struct Follower<'f> {
    pub facts: &'f mut Facts,
    pub checker: &'f mut Checker,
    /// The bytes that the reader has, and the offset from which it counts.
    pub bytes: &'f [u8],
    pub begin: usize,
}

impl Follower<'_> {
    /// Handles the end of a value with rules. Returns whether it is a number that is the first error.
    #[cold]
    fn ruled_end(&mut self, at: usize) -> bool {
        let start = std::mem::take(&mut self.facts.plain);
        let start = start.checked_sub(self.begin).filter(|_| start > 0);
        let text = start.and_then(|start| self.bytes.get(start..at));
        self.checker.value_end(text)
    }
}

impl<'t> Sink<'t> for Follower<'_> {
    const IN_CHUNKS: bool = true;

    #[inline]
    fn token(&mut self, token: Token, at: usize) {
        let facts = &mut *self.facts;
        let json = match token {
            Token::Open(object) => {
                facts.has_marks |= facts.whole > 0;
                facts.plain = 0;
                [Json::Array, Json::Object][usize::from(object)]
            }
            Token::Key | Token::String => {
                facts.has_marks = true;
                facts.string = self.begin + at + 1;
                facts.plain = 0;
                if token == Token::Key {
                    return;
                }
                Json::String
            }
            Token::Number | Token::Word(_) => {
                facts.plain = self.begin + at;
                match token {
                    Token::Number => Json::Integer,
                    Token::Word(Word::Null) => Json::Null,
                    _ => Json::Bool,
                }
            }
            Token::Comma => return facts.has_marks = true,
            Token::Colon => return facts.has_keys = true,
            Token::Close => return,
        };
        self.checker.value(json);
    }

    #[inline]
    fn number(&mut self, so_far: Number) {
        if !so_far.is_integer() {
            self.checker.fraction();
            self.facts.has_exponent |= so_far.has_exponent();
        }
    }

    #[inline]
    fn complete(&mut self, at: usize) {
        self.facts.whole = self.begin + at;
        // After another value, this does nothing.
        let mut is_wrong = self.checker.number_end();
        if self.checker.needs_end() {
            is_wrong |= self.ruled_end(at);
        }
        if is_wrong {
            self.facts.wrong_number = self.facts.whole;
        }
    }

    #[inline]
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        if let Text::Source(content) = text {
            self.checker.content(content);
        }
        Ok(())
    }

    #[inline]
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        self.checker.name(match text {
            Text::Source(content) => Some(content),
            Text::Scratch(_) => None,
        });
        Ok(())
    }

    #[inline]
    fn close(&mut self, _object: bool) -> Result<(), Stop> {
        self.checker.end();
        Ok(())
    }

    // `token` and `number` have said all of these.
    fn null(&mut self) {}
    fn boolean(&mut self, _value: bool) {}
    fn integer(&mut self, _value: i64) {}
    fn big_integer(&mut self, _digits: &'t str) -> Result<(), Stop> {
        Ok(())
    }
    fn float(&mut self, _value: f64) {}
    fn open(&mut self, _object: bool) {}
    fn consume_fuel(&mut self, _bytes: usize, _held: usize) -> Result<(), Stop> {
        Ok(())
    }
}
