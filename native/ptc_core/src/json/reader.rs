//! The reader: one loop over the bytes, a stack of open brackets, events to a sink.

use super::text::{read_string, Text};
use super::JsonError;

/// Takes the events of one JSON text, in order.
pub trait Sink<'t> {
    /// `null`
    fn null(&mut self);
    /// `true` or `false`
    fn boolean(&mut self, value: bool);
    /// A number without fraction and exponent that fits 64 bits; `-0` is 0.
    fn integer(&mut self, value: i64);
    /// Any other number without fraction and exponent, as it stands in the text.
    fn big_integer(&mut self, digits: &'t str);
    /// A number with fraction or exponent: the nearest double, never infinite.
    fn float(&mut self, value: f64);
    /// A string value.
    fn string(&mut self, text: Text<'t, '_>);
    /// A key; its value follows. Duplicates are passed on as they come.
    fn key(&mut self, text: Text<'t, '_>);
    /// `[` or `{`
    fn open(&mut self, object: bool);
    /// `]` or `}` of the innermost open bracket.
    fn close(&mut self, object: bool);
}

/// The digits of the longest integer; a longer one is an overflow, as a float beyond a double is.
/// Reading digits takes more than linear time, and the BEAM holds no more than ten times as many.
pub const LONGEST_INTEGER: usize = 1_000_000;

/// What a text may ask for.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many arrays and objects may stand inside one another.
    pub depth: usize,
}

/// Reads one JSON value that fills the whole text.
pub fn read<'t>(text: &'t [u8], limits: Limits, sink: &mut impl Sink<'t>) -> Result<(), JsonError> {
    let mut reader = Reader {
        text,
        at: 0,
        open: Vec::with_capacity(32),
        scratch: Vec::new(),
    };
    reader.document(limits, sink)
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// The open brackets, innermost last; true is an object.
    open: Vec<bool>,
    scratch: Vec<u8>,
}

impl<'t> Reader<'t> {
    fn document(&mut self, limits: Limits, sink: &mut impl Sink<'t>) -> Result<(), JsonError> {
        loop {
            match self.peek()? {
                bracket @ (b'[' | b'{') => {
                    let object = bracket == b'{';
                    self.enter(object, limits)?;
                    sink.open(object);
                    if self.peek()? != bracket + 2 {
                        if object {
                            self.key(sink)?;
                        }
                        continue;
                    }
                }
                b'"' => {
                    let (text, next) = read_string(self.text, self.at, &mut self.scratch)?;
                    sink.string(text);
                    self.at = next;
                }
                b'-' | b'0'..=b'9' => self.number(sink)?,
                b't' => self.keyword(b"true", sink, |sink| sink.boolean(true))?,
                b'f' => self.keyword(b"false", sink, |sink| sink.boolean(false))?,
                b'n' => self.keyword(b"null", sink, |sink| sink.null())?,
                _ => return Err(self.unexpected()),
            }
            if self.after_value(sink)? {
                return Ok(());
            }
        }
    }

    /// Closes what ends here and stops before the next value, or says that the text is done.
    fn after_value(&mut self, sink: &mut impl Sink<'t>) -> Result<bool, JsonError> {
        while let Some(&object) = self.open.last() {
            match (self.peek()?, object) {
                (b',', false) => {
                    self.at += 1;
                    return Ok(false);
                }
                (b',', true) => {
                    self.at += 1;
                    self.peek()?;
                    self.key(sink)?;
                    return Ok(false);
                }
                (b']', false) | (b'}', true) => {
                    self.at += 1;
                    self.open.pop();
                    sink.close(object);
                }
                _ => return Err(self.unexpected()),
            }
        }
        self.skip_blanks();
        match self.at == self.text.len() {
            true => Ok(true),
            false => Err(self.unexpected()),
        }
    }

    fn enter(&mut self, object: bool, limits: Limits) -> Result<(), JsonError> {
        if self.open.len() >= limits.depth {
            return Err(JsonError::TooDeep {
                limit: limits.depth,
                position: self.at,
            });
        }
        self.open.push(object);
        self.at += 1;
        Ok(())
    }

    fn key(&mut self, sink: &mut impl Sink<'t>) -> Result<(), JsonError> {
        if self.text[self.at] != b'"' {
            return Err(self.unexpected());
        }
        let (text, next) = read_string(self.text, self.at, &mut self.scratch)?;
        sink.key(text);
        self.at = next;
        match self.peek()? {
            b':' => self.at += 1,
            _ => return Err(self.unexpected()),
        }
        Ok(())
    }

    fn keyword<S: Sink<'t>>(
        &mut self,
        word: &[u8],
        sink: &mut S,
        event: impl FnOnce(&mut S),
    ) -> Result<(), JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.unexpected());
        }
        self.at += word.len();
        event(sink);
        Ok(())
    }

    fn number(&mut self, sink: &mut impl Sink<'t>) -> Result<(), JsonError> {
        let start = self.at;
        let negative = self.text[start] == b'-';
        self.at += usize::from(negative);
        match self.text.get(self.at) {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        let whole_end = self.at;
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        let fraction_end = self.at;
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // Only ASCII stands between `start` and `at`.
        let token = std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default();
        if self.at == whole_end {
            match token.parse() {
                Ok(value) => sink.integer(value),
                Err(_) if token.len() > LONGEST_INTEGER => {
                    return Err(JsonError::UnexpectedToken(start))
                }
                Err(_) => sink.big_integer(token),
            }
            return Ok(());
        }
        let value: f64 = token.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            return Err(JsonError::UnexpectedToken(start));
        }
        // `-0e1` is the whole number -0, which is 0, times a power of ten; `-0.0` keeps its sign.
        let signless = fraction_end == whole_end && value == 0.0 && token.starts_with("-0");
        sink.float(if signless { 0.0 } else { value });
        Ok(())
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.text.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        match self.at > start {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The next byte that is no blank, without taking it.
    fn peek(&mut self) -> Result<u8, JsonError> {
        self.skip_blanks();
        match self.text.get(self.at) {
            Some(byte) => Ok(*byte),
            None => Err(JsonError::UnexpectedEnd(self.at)),
        }
    }

    /// The error for the byte (or the end) at the current position.
    fn unexpected(&self) -> JsonError {
        match self.at < self.text.len() {
            true => JsonError::UnexpectedToken(self.at),
            false => JsonError::UnexpectedEnd(self.at),
        }
    }
}
