//! JSON reader: one loop over the bytes, a stack of open brackets, events to a sink. It can be
//! suspended and resumed, and a text can come in chunks.
//!
//! * this file: the loop; [`text`], [`number`], [`word`]: strings, numbers and words
//! * [`chunk`]: what is kept of a chunk
//! * [`sink`]: the interface of the event sinks

mod chunk;
mod number;
mod sink;
mod text;
mod word;

use super::grammar::{is_blank, token, unexpected, Number, Place, Token, Word};
use super::JsonError;
pub use number::{number_of, LONGEST_INTEGER};
use ptc_term::roots::room;
use ptc_term::stop::Stop;
pub use sink::{ReadError, Sink};
pub use text::Text;
use text::{plain, Scan};

/// Limits for a text.
#[derive(Debug, Clone, Copy)]
pub struct JsonLimits {
    /// Maximum nesting depth of arrays and objects.
    pub depth: usize,
    /// Maximum number of bytes of an integer, its sign included.
    pub integer: usize,
}

impl JsonLimits {
    /// Limits only the depth.
    pub const fn depth(depth: usize) -> Self {
        JsonLimits {
            depth,
            integer: usize::MAX,
        }
    }
}

/// What may follow a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// White space, and the end of the text.
    Whole,
    /// Anything.
    Value,
}

/// Number of bytes between two checks of the limits.
const BYTES_BETWEEN_LOOKS: usize = 1024;

/// What the reader expects next.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// A value.
    Value,
    /// The first value or key after an opening bracket, or the closing bracket.
    First(bool),
    /// A key.
    Key,
    /// The colon after a key.
    Colon,
    /// The rest of a string.
    Inside(Scan, bool),
    /// The rest of a number that began at this offset.
    Number(usize, Number),
    /// The rest of a word of which so many letters were read.
    Word(Word, usize),
    /// A comma, or a closing bracket.
    After,
    /// White space.
    Rest,
    Done,
}

/// Reads one value. It can be suspended wherever its sink stops it, and is plain data.
#[derive(Debug)]
pub struct Reader {
    at: usize,
    /// The offset that was last reported to the sink.
    told: usize,
    /// The open brackets, innermost last; true is an object.
    open: Vec<bool>,
    /// The decoded part of a string with escapes.
    scratch: Vec<u8>,
    limits: JsonLimits,
    extent: Extent,
    phase: Phase,
    bytes_between_looks: usize,
}

impl Reader {
    /// Creates a reader for the value at `start`, white space before it included.
    pub fn new(start: usize, extent: Extent, limits: JsonLimits) -> Self {
        Reader {
            at: start,
            told: start,
            open: Vec::with_capacity(32),
            scratch: Vec::new(),
            limits,
            extent,
            phase: Phase::Value,
            bytes_between_looks: BYTES_BETWEEN_LOOKS,
        }
    }

    /// For tests: checks the limits after each step.
    pub fn looking_often(mut self) -> Self {
        self.bytes_between_looks = 1;
        self
    }

    /// Reads on in `text`, which must be the same each time; returns the offset after the value. Where the
    /// sink takes chunks, `text` is what [`Self::drop_chunk`] left, and the next chunk.
    pub fn read<'t>(
        &mut self,
        text: &'t [u8],
        sink: &mut impl Sink<'t>,
    ) -> Result<usize, ReadError> {
        // A different text must not be read beyond its end.
        self.at = self.at.min(text.len());
        let mut cursor = Cursor { text, reader: self };
        let mut phase = cursor.reader.phase;
        loop {
            phase = match phase {
                Phase::Value => cursor.value(sink)?,
                Phase::First(object) => cursor.first(object, sink)?,
                Phase::Key => cursor.key(sink)?,
                Phase::Colon => cursor.colon(sink)?,
                Phase::Inside(scan, key) => cursor.inside(scan, key, sink)?,
                Phase::Number(start, number) => cursor.number(start, number, sink)?,
                Phase::Word(word, read) => cursor.word(word, read, sink)?,
                Phase::After => cursor.after_value(sink)?,
                Phase::Rest => cursor.rest(sink)?,
                Phase::Done => return Ok(cursor.reader.at),
            }
        }
    }
}

/// A reader with its text.
struct Cursor<'r, 't> {
    text: &'t [u8],
    reader: &'r mut Reader,
}

impl<'t> Cursor<'_, 't> {
    #[inline]
    fn value(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        self.look(sink, Phase::Value)?;
        let byte = self.peek(sink, Phase::Value)?;
        let at = self.reader.at;
        let Some(token) = token(Place::Value, None, byte) else {
            return Err(self.unexpected().into());
        };
        if let Token::Open(object) = token {
            self.enter()?;
            self.reader.open.push(object);
            sink.token(token, at);
            sink.open(object);
            sink.complete(at + 1);
            return self.first(object, sink);
        }
        sink.token(token, at);
        match token {
            Token::String => self.string(false, sink),
            Token::Word(Word::True) => self.word(Word::True, 0, sink),
            Token::Word(Word::False) => self.word(Word::False, 0, sink),
            Token::Word(Word::Null) => self.word(Word::Null, 0, sink),
            _ => self.number(at, Number::NEW, sink),
        }
    }

    #[inline]
    fn first(&mut self, object: bool, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let byte = self.peek(sink, Phase::First(object))?;
        match token(Place::First, Some(object), byte) {
            Some(Token::Close) => Ok(Phase::After),
            _ if object => self.key(sink),
            _ => Ok(Phase::Value),
        }
    }

    /// Closes the containers that end here, up to the next value or key.
    #[inline]
    fn after_value(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        sink.complete(self.reader.at);
        while let Some(&object) = self.reader.open.last() {
            let byte = self.peek(sink, Phase::After)?;
            match token(Place::After, Some(object), byte) {
                Some(Token::Comma) => {
                    sink.token(Token::Comma, self.reader.at);
                    self.reader.at += 1;
                    match object {
                        true => return self.key(sink),
                        false => return Ok(Phase::Value),
                    }
                }
                Some(_) => {
                    self.look(sink, Phase::After)?;
                    if let Err(stop) = sink.close(object) {
                        return Err(self.leave(Phase::After, stop));
                    }
                    self.reader.at += 1;
                    self.reader.open.pop();
                    sink.complete(self.reader.at);
                }
                None => return Err(self.unexpected().into()),
            }
        }
        match self.reader.extent {
            Extent::Whole => Ok(Phase::Rest),
            Extent::Value => Ok(Phase::Done),
        }
    }

    fn rest(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        self.skip_blanks(sink, Phase::Rest)?;
        match self.reader.at == self.text.len() {
            true => Ok(Phase::Done),
            false => Err(self.unexpected().into()),
        }
    }

    #[inline]
    fn enter(&mut self) -> Result<(), JsonError> {
        let reader = &mut *self.reader;
        if reader.open.len() >= reader.limits.depth {
            return Err(JsonError::TooDeep {
                limit: reader.limits.depth,
                position: reader.at,
            });
        }
        reader.at += 1;
        Ok(())
    }

    #[inline]
    fn key(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let byte = self.peek(sink, Phase::Key)?;
        match token(Place::Key, None, byte) {
            Some(token) => {
                sink.token(token, self.reader.at);
                self.string(true, sink)
            }
            None => Err(self.unexpected().into()),
        }
    }

    #[inline]
    fn colon(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let byte = self.peek(sink, Phase::Colon)?;
        match token(Place::Colon, None, byte) {
            Some(token) => {
                sink.token(token, self.reader.at);
                self.reader.at += 1;
                Ok(Phase::Value)
            }
            None => Err(self.unexpected().into()),
        }
    }

    /// Reads a string, which is a key or a value.
    #[inline]
    fn string(&mut self, key: bool, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let open = self.reader.at;
        let Some(content) = plain(self.text, open + 1, self.reader.bytes_between_looks) else {
            return self.inside(Scan::new(open), key, sink);
        };
        let (taken, phase) = match key {
            true => (sink.key(Text::Source(content)), Phase::Key),
            false => (sink.string(Text::Source(content)), Phase::Value),
        };
        if let Err(stop) = taken {
            return Err(self.leave(phase, stop));
        }
        self.reader.at = open + content.len() + 2;
        match key {
            true => self.colon(sink),
            false => Ok(Phase::After),
        }
    }

    /// Continues a string with escapes, with other characters than ASCII, or with many.
    fn inside<S: Sink<'t>>(
        &mut self,
        mut scan: Scan,
        key: bool,
        sink: &mut S,
    ) -> Result<Phase, ReadError> {
        if S::IN_CHUNKS {
            if let Err(error) = scan.advance_in_chunk(self.text) {
                self.reader.at = scan.at;
                self.reader.phase = Phase::Inside(scan, key);
                return Err(error.into());
            }
        }
        let most = self.reader.bytes_between_looks;
        while !S::IN_CHUNKS && !scan.advance(self.text, &mut self.reader.scratch, most)? {
            self.reader.at = scan.at;
            self.look(sink, Phase::Inside(scan, key))?;
        }
        let text = scan.content(self.text, &self.reader.scratch);
        let taken = match key {
            true => sink.key(text),
            false => sink.string(text),
        };
        if let Err(stop) = taken {
            self.reader.at = scan.at;
            return Err(self.leave(Phase::Inside(scan, key), stop));
        }
        self.reader.at = scan.at + 1;
        match key {
            true => self.colon(sink),
            false => Ok(Phase::After),
        }
    }

    #[inline]
    fn skip_blanks(&mut self, sink: &mut impl Sink<'t>, phase: Phase) -> Result<(), ReadError> {
        while self.text.get(self.reader.at).copied().is_some_and(is_blank) {
            self.reader.at += 1;
            self.look(sink, phase)?;
        }
        Ok(())
    }

    /// Returns the next byte that is not white space, without consuming it. `phase` is the current
    /// phase.
    #[inline]
    fn peek(&mut self, sink: &mut impl Sink<'t>, phase: Phase) -> Result<u8, ReadError> {
        self.skip_blanks(sink, phase)?;
        match self.text.get(self.reader.at) {
            Some(byte) => Ok(*byte),
            None => Err(self.end(phase)),
        }
    }

    /// Returns the error for the end of the text; the reader can be resumed where a chunk ended.
    #[cold]
    fn end(&mut self, phase: Phase) -> ReadError {
        self.reader.phase = phase;
        JsonError::UnexpectedEnd(self.reader.at).into()
    }

    /// Reports the number of bytes read to the sink, if that is due.
    #[inline]
    fn look<S: Sink<'t>>(&mut self, sink: &mut S, phase: Phase) -> Result<(), ReadError> {
        let reader = &mut *self.reader;
        match !S::IN_CHUNKS && reader.at - reader.told >= reader.bytes_between_looks {
            true => self.tell(sink, phase),
            false => Ok(()),
        }
    }

    #[cold]
    fn tell(&mut self, sink: &mut impl Sink<'t>, phase: Phase) -> Result<(), ReadError> {
        let reader = &mut *self.reader;
        let bytes = reader.at - reader.told;
        reader.told = reader.at;
        let held = room(&reader.open) + room(&reader.scratch);
        match sink.consume_fuel(bytes, held) {
            Ok(()) => Ok(()),
            Err(stop) => Err(self.leave(phase, stop)),
        }
    }

    #[cold]
    fn leave(&mut self, phase: Phase, stop: Stop) -> ReadError {
        self.reader.phase = phase;
        stop.into()
    }

    /// Returns the error for the byte (or the end) at the current offset.
    fn unexpected(&self) -> JsonError {
        unexpected(self.text, self.reader.at)
    }
}
