//! The reader: one loop over the bytes, a stack of open brackets, events to a sink. It can be left
//! and taken up again.

use super::text::{Scan, Text};
use super::JsonError;
use crate::stop::Stop;

/// Takes the events of one JSON text, in order.
///
/// An event that it stops at comes again when the reader goes on.
pub trait Sink<'t> {
    /// `null`
    fn null(&mut self);
    /// `true` or `false`
    fn boolean(&mut self, value: bool);
    /// A number without fraction and exponent that fits 64 bits; `-0` is 0.
    fn integer(&mut self, value: i64);
    /// Any other number without fraction and exponent, as it stands in the text.
    fn big_integer(&mut self, digits: &'t str) -> Result<(), Stop>;
    /// A number with fraction or exponent: the nearest double, never infinite.
    fn float(&mut self, value: f64);
    /// A string value.
    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop>;
    /// A key; its value follows. Duplicates are passed on as they come.
    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop>;
    /// `[` or `{`
    fn open(&mut self, object: bool);
    /// `]` or `}` of the innermost open bracket.
    fn close(&mut self, object: bool) -> Result<(), Stop>;

    /// So many bytes were read since this was last asked, and the reader itself holds so many. Also
    /// looks at the limits of what was built.
    fn spend(&mut self, bytes: usize, held: usize) -> Result<(), Stop>;
    /// Counts bytes where the reader cannot be left.
    fn count(&mut self, bytes: usize) -> Result<(), Stop>;
}

/// Why a reader did not come to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadError {
    /// The text is not what it should be.
    Json(JsonError),
    /// A limit. After [`Stop::SliceOver`] the reader can go on.
    Stop(Stop),
}

impl From<JsonError> for ReadError {
    fn from(error: JsonError) -> Self {
        ReadError::Json(error)
    }
}

impl From<Stop> for ReadError {
    fn from(stop: Stop) -> Self {
        ReadError::Stop(stop)
    }
}

/// The digits of the longest integer; a longer one is an overflow, as a float beyond a double is.
/// Reading digits takes more than linear time, and the BEAM holds no more than ten times as many.
pub const LONGEST_INTEGER: usize = 1_000_000;

/// What a text may ask for.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many arrays and objects may stand inside one another.
    pub depth: usize,
    /// How many bytes an integer may take, its sign included.
    pub integer: usize,
}

impl Limits {
    /// Only a limit of depth.
    pub const fn depth(depth: usize) -> Self {
        Limits {
            depth,
            integer: usize::MAX,
        }
    }
}

/// So many digits fit 64 bits, whatever they are.
const SAFE_DIGITS: usize = 18;

/// The value of [`SAFE_DIGITS`] digits at most, maybe one of them a sign.
fn small_integer(token: &[u8]) -> i64 {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let next = |value, digit: &u8| value * 10 + i64::from(digit - b'0');
    let size = digits.iter().fold(0, next);
    if digits.len() < token.len() {
        -size
    } else {
        size
    }
}

/// What a value is followed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Blanks, and the end of the text.
    Whole,
    /// Anything.
    Value,
}

/// As many bytes are read between two looks at the limits.
const BYTES_BETWEEN_LOOKS: usize = 1024;

/// What comes next.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// A value.
    Value,
    /// The first value or key in the brackets that were just opened, or their end.
    First(bool),
    /// A key.
    Key,
    /// The colon behind a key.
    Colon,
    /// The rest of a string.
    Inside(Scan, bool),
    /// An integer that was found already, from here to the reader's place.
    Integer(usize),
    /// What may stand behind a value.
    After,
    /// Blanks.
    Rest,
    Done,
}

/// Reads one value. It can be left wherever its sink stops it, and is plain data then.
#[derive(Debug)]
pub struct Reader {
    at: usize,
    /// How far the sink was told.
    told: usize,
    /// The open brackets, innermost last; true is an object.
    open: Vec<bool>,
    /// What a string with escapes has come to.
    scratch: Vec<u8>,
    limits: Limits,
    extent: Extent,
    phase: Phase,
    bytes_between_looks: usize,
}

impl Reader {
    /// A reader for the value at `start`, blanks before it included.
    pub fn new(start: usize, extent: Extent, limits: Limits) -> Self {
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

    /// The same with a look after each step, for tests.
    pub fn looking_often(mut self) -> Self {
        self.bytes_between_looks = 1;
        self
    }

    /// Reads on in `text`, which is the same each time; gives the offset after the value.
    pub fn read<'t>(
        &mut self,
        text: &'t [u8],
        sink: &mut impl Sink<'t>,
    ) -> Result<usize, ReadError> {
        // A text that is not the same must not be read beyond its end.
        self.at = self.at.min(text.len());
        let mut reading = Reading { text, reader: self };
        let mut phase = reading.reader.phase;
        loop {
            phase = match phase {
                Phase::Value => reading.value(sink)?,
                Phase::First(object) => reading.first(object, sink)?,
                Phase::Key => reading.key(sink)?,
                Phase::Colon => reading.colon(sink)?,
                Phase::Inside(scan, key) => reading.inside(scan, key, sink)?,
                Phase::Integer(start) => reading.integer(start, sink)?,
                Phase::After => reading.after_value(sink)?,
                Phase::Rest => reading.rest(sink)?,
                Phase::Done => return Ok(reading.reader.at),
            }
        }
    }
}

/// A reader at its text.
struct Reading<'r, 't> {
    text: &'t [u8],
    reader: &'r mut Reader,
}

impl<'t> Reading<'_, 't> {
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
            b'"' => self.inside(Scan::new(self.reader.at), false, sink),
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

    /// Closes what ends here, up to the next value or key.
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
            b'"' => self.inside(Scan::new(self.reader.at), true, sink),
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

    /// Goes on with a string, be it a key or a value.
    #[inline]
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

    /// A number is read in one go: if that is stopped, it begins again.
    #[inline]
    fn number(&mut self, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let start = self.reader.at;
        let negative = self.text[start] == b'-';
        let mut at = start + usize::from(negative);
        match self.text.get(at) {
            Some(b'0') => at += 1,
            _ => at = self.digits(at, sink)?,
        }
        let whole_end = at;
        if self.text.get(at) == Some(&b'.') {
            at = self.digits(at + 1, sink)?;
        }
        let fraction_end = at;
        if matches!(self.text.get(at), Some(b'e' | b'E')) {
            at += 1;
            if matches!(self.text.get(at), Some(b'+' | b'-')) {
                at += 1;
            }
            at = self.digits(at, sink)?;
        }
        // Only ASCII stands between `start` and `at`.
        let token = std::str::from_utf8(&self.text[start..at]).unwrap_or_default();
        if at == whole_end {
            if token.len() <= SAFE_DIGITS {
                sink.integer(small_integer(token.as_bytes()));
                self.reader.at = at;
                return Ok(Phase::After);
            }
            let too_long = |limit| JsonError::IntegerTooLong {
                limit,
                position: start,
            };
            if token.len() > self.reader.limits.integer {
                return Err(too_long(self.reader.limits.integer).into());
            }
            if token.len() - usize::from(negative) > LONGEST_INTEGER {
                return Err(too_long(LONGEST_INTEGER).into());
            }
            self.reader.at = at;
            return match token.parse() {
                Ok(value) => {
                    sink.integer(value);
                    Ok(Phase::After)
                }
                Err(_) => self.integer(start, sink),
            };
        }
        let value: f64 = token.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            return Err(JsonError::UnexpectedToken(start).into());
        }
        // `-0e1` is the whole number -0, which is 0, times a power of ten; `-0.0` keeps its sign.
        let signless = fraction_end == whole_end && value == 0.0 && token.starts_with("-0");
        sink.float(if signless { 0.0 } else { value });
        self.reader.at = at;
        Ok(Phase::After)
    }

    /// The integer between `start` and the reader's place, which is beyond 64 bits.
    #[cold]
    fn integer(&mut self, start: usize, sink: &mut impl Sink<'t>) -> Result<Phase, ReadError> {
        let token = self.text.get(start..self.reader.at).unwrap_or_default();
        let token = std::str::from_utf8(token).unwrap_or_default();
        match sink.big_integer(token) {
            Ok(()) => Ok(Phase::After),
            Err(stop) => Err(self.leave(Phase::Integer(start), stop)),
        }
    }

    /// The end of the digits at `at`: one or more.
    #[inline]
    fn digits(&mut self, at: usize, sink: &mut impl Sink<'t>) -> Result<usize, ReadError> {
        let start = at;
        let mut at = at;
        loop {
            let bound = self.text.len().min(at + BYTES_BETWEEN_LOOKS);
            while at < bound && self.text[at].is_ascii_digit() {
                at += 1;
            }
            if at < bound || bound == self.text.len() {
                break;
            }
            if let Err(stop) = sink.count(BYTES_BETWEEN_LOOKS) {
                return Err(self.leave(Phase::Value, stop));
            }
        }
        match at > start {
            true => Ok(at),
            false => Err(self.unexpected_at(at).into()),
        }
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

    /// The next byte that is no blank, without taking it. `phase` is what comes next, blanks included.
    #[inline]
    fn peek(&mut self, sink: &mut impl Sink<'t>, phase: Phase) -> Result<u8, ReadError> {
        self.skip_blanks(sink, phase)?;
        match self.text.get(self.reader.at) {
            Some(byte) => Ok(*byte),
            None => Err(JsonError::UnexpectedEnd(self.reader.at).into()),
        }
    }

    /// Tells the sink how much was read, if it is time to.
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

    /// The error for the byte (or the end) at the current position.
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
