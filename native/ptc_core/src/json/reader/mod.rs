//! JSON reader: one loop over the bytes, a stack of open brackets, events to a sink. It can be
//! suspended and resumed.
//!
//! * this file: the loop; [`text`], [`number`]: strings and numbers
//! * [`sink`]: the interface of the event sinks

mod number;
mod sink;
mod text;

use super::JsonError;
use crate::stop::Stop;
pub use number::LONGEST_INTEGER;
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
    /// An integer whose end was already found, from this offset to the reader's offset.
    Integer(usize),
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

    /// Reads on in `text`, which must be the same each time; returns the offset after the value.
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
                Phase::Integer(start) => cursor.integer(start, sink)?,
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
        match self.peek(sink, Phase::Value)? {
            bracket @ (b'[' | b'{') => {
                let object = bracket == b'{';
                self.enter()?;
                self.reader.open.push(object);
                sink.open(object);
                self.first(object, sink)
            }
            b'"' => self.string(false, sink),
            b'-' | b'0'..=b'9' => self.number(sink),
            b't' => self.keyword(b"true", sink, |sink| sink.boolean(true)),
            b'f' => self.keyword(b"false", sink, |sink| sink.boolean(false)),
            b'n' => self.keyword(b"null", sink, |sink| sink.null()),
            _ => Err(self.unexpected().into()),
        }
    }

    #[inline]
    fn first(&mut self, object: bool, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let byte = self.peek(sink, Phase::First(object))?;
        match (byte, object) {
            (b']', false) | (b'}', true) => Ok(Phase::After),
            (_, true) => self.key(sink),
            (_, false) => Ok(Phase::Value),
        }
    }

    /// Closes the containers that end here, up to the next value or key.
    #[inline]
    fn after_value(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        while let Some(&object) = self.reader.open.last() {
            match (self.peek(sink, Phase::After)?, object) {
                (b',', false) => {
                    self.reader.at += 1;
                    return Ok(Phase::Value);
                }
                (b',', true) => {
                    self.reader.at += 1;
                    return self.key(sink);
                }
                (b']', false) | (b'}', true) => {
                    self.look(sink, Phase::After)?;
                    if let Err(stop) = sink.close(object) {
                        return Err(self.leave(Phase::After, stop));
                    }
                    self.reader.at += 1;
                    self.reader.open.pop();
                }
                _ => return Err(self.unexpected().into()),
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
        match self.peek(sink, Phase::Key)? {
            b'"' => self.string(true, sink),
            _ => Err(self.unexpected().into()),
        }
    }

    #[inline]
    fn colon(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        match self.peek(sink, Phase::Colon)? {
            b':' => {
                self.reader.at += 1;
                Ok(Phase::Value)
            }
            _ => Err(self.unexpected().into()),
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
    fn inside(
        &mut self,
        mut scan: Scan,
        key: bool,
        sink: &mut impl Sink<'t>,
    ) -> Result<Phase, ReadError> {
        let most = self.reader.bytes_between_looks;
        while !scan.advance(self.text, &mut self.reader.scratch, most)? {
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
    fn keyword<S: Sink<'t>>(
        &mut self,
        word: &[u8],
        sink: &mut S,
        event: impl FnOnce(&mut S),
    ) -> Result<Phase, ReadError> {
        if !self.text[self.reader.at..].starts_with(word) {
            return Err(self.unexpected().into());
        }
        self.reader.at += word.len();
        event(sink);
        Ok(Phase::After)
    }

    #[inline]
    fn skip_blanks(&mut self, sink: &mut impl Sink<'t>, phase: Phase) -> Result<(), ReadError> {
        while matches!(
            self.text.get(self.reader.at),
            Some(b' ' | b'\t' | b'\n' | b'\r')
        ) {
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
            None => Err(JsonError::UnexpectedEnd(self.reader.at).into()),
        }
    }

    /// Reports the number of bytes read to the sink, if that is due.
    #[inline]
    fn look(&mut self, sink: &mut impl Sink<'t>, phase: Phase) -> Result<(), ReadError> {
        let reader = &mut *self.reader;
        match reader.at - reader.told >= reader.bytes_between_looks {
            true => self.tell(sink, phase),
            false => Ok(()),
        }
    }

    #[cold]
    fn tell(&mut self, sink: &mut impl Sink<'t>, phase: Phase) -> Result<(), ReadError> {
        let reader = &mut *self.reader;
        let bytes = reader.at - reader.told;
        reader.told = reader.at;
        let held = reader.open.len() + reader.scratch.len();
        match sink.spend(bytes, held) {
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
        self.unexpected_at(self.reader.at)
    }

    fn unexpected_at(&self, at: usize) -> JsonError {
        match at < self.text.len() {
            true => JsonError::UnexpectedToken(at),
            false => JsonError::UnexpectedEnd(at),
        }
    }
}
