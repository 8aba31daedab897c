//! Texts that end before the answer is complete: they were cut off.
//!
//! A text that is valid JSON as far as it goes is read here, without a repair: what would follow is
//! unknown, unless only the brackets of objects are missing. A text that also has other faults is judged
//! by the events of its best reading.

use crate::repair::policy::Fault;
use crate::repair::reader::Reader;
use crate::repair::readings::Event;
use crate::repair::result::{Repaired, DEEPEST};
use crate::repair::text::{skip_all_blanks, skip_blanks, unescaped};
use crate::repair::Stop;
use crate::{PathPart, LIMITS};
use ptc_json::grammar::{escape, number, string, token, Place, Token};
use ptc_json::JsonError;
use ptc_term::heap::Heap;
use ptc_type::{TypeId, Types};

/// Where a text was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Where {
    /// The path to the outermost open list, or to the last field.
    pub path: Vec<PathPart>,
    /// Number of complete items of that list.
    pub items: Option<usize>,
    /// Whether the value of the last field is complete.
    pub after: bool,
}

#[derive(Debug)]
struct Frame {
    object: bool,
    /// The type of an object; for a list, the type of its elements.
    ty: TypeId,
    /// The last key, without its quotes.
    key: Option<(u32, u32)>,
    /// Number of complete elements.
    items: u32,
    seen: u64,
}

enum CutStep {
    On,
    /// The value is complete.
    Done,
    /// The text is not valid JSON at the scan's offset.
    Other,
    /// A string is not valid at an offset.
    InString(usize),
    /// The text ends; whether it does so inside a token.
    End(bool),
}

/// A scan of a text that is valid so far; it can be suspended between two tokens.
#[derive(Debug)]
pub struct Scan {
    at: usize,
    next: Place,
    /// The type of the next value.
    ty: TypeId,
    /// The end of the last number.
    number: usize,
    open: Vec<Frame>,
}

/// Words of a frame.
const WORDS: usize = std::mem::size_of::<Frame>().div_ceil(8);

impl Scan {
    /// Begins at a bracket.
    pub fn new(at: usize, ty: TypeId) -> Self {
        Scan {
            at,
            next: Place::Value,
            ty,
            number: 0,
            open: Vec::new(),
        }
    }

    /// Returns where the text was cut off, if it is JSON that was. Resumes where it was suspended.
    pub fn resume<H: Heap>(&mut self, reader: &mut Reader<H>) -> Result<Option<Where>, Stop> {
        loop {
            reader.suspend_if_due()?;
            let before = self.at;
            let step = self.step(reader);
            reader.consume_fuel(self.at - before + 1)?;
            reader.check_words(WORDS * self.open.len())?;
            match step {
                CutStep::On => {}
                CutStep::Done => return Ok(None),
                CutStep::InString(at) if has_any(reader, at, b"\"")? => return Ok(None),
                CutStep::InString(_) => return Ok(Some(self.place(reader.text, true))),
                // Words follow the text that was cut off.
                CutStep::Other if has_any(reader, self.at, b"\"'{}[]")? => return Ok(None),
                CutStep::Other if self.next == Place::After && self.may_be_closed(reader) => {
                    return Ok(None)
                }
                CutStep::Other => {
                    return Ok(Some(self.place(reader.text, self.next != Place::After)))
                }
                CutStep::End(inside) if !inside && self.may_be_closed(reader) => return Ok(None),
                CutStep::End(inside) => {
                    let inside = inside || self.is_open_number(reader.text);
                    return Ok(Some(self.place(reader.text, inside)));
                }
            }
        }
    }

    /// Returns whether the last token is a number: it may have had more digits. Blanks after it say nothing,
    /// because programs that store or wrap a text add line breaks.
    fn is_open_number(&self, text: &[u8]) -> bool {
        self.number > 0 && skip_blanks(text, self.number) == self.at
    }

    /// Returns whether only brackets of objects are missing, after a complete value.
    fn may_be_closed<H: Heap>(&self, reader: &Reader<H>) -> bool {
        let closes = |frame: &Frame| frame.object && reader.wanted.may_close(frame.ty, frame.seen);
        let complete = self.next == Place::After && !self.is_open_number(reader.text);
        complete && self.open.iter().all(closes)
    }

    fn step<H: Heap>(&mut self, reader: &Reader<H>) -> CutStep {
        let text = reader.text;
        self.at = skip_blanks(text, self.at);
        let rest = &text[self.at..];
        // The closing fence may be incomplete too.
        let is_end = rest.len() < 3 && rest.iter().all(|byte| *byte == b'`');
        if is_end || reader.is_end(self.at) {
            return CutStep::End(false);
        }
        let object = self.open.last().map(|frame| frame.object);
        match token(self.next, object, text[self.at]) {
            Some(Token::Comma) => {
                self.next = match object {
                    Some(true) => Place::Key,
                    _ => Place::Value,
                };
                self.ty = self.open.last().map_or(Types::ANY, |frame| frame.ty);
                self.at += 1;
                CutStep::On
            }
            Some(Token::Close) => {
                self.open.pop();
                self.at += 1;
                self.done()
            }
            Some(Token::Key) => self.key(reader),
            Some(Token::Colon) => {
                self.next = Place::Value;
                self.at += 1;
                CutStep::On
            }
            Some(token) => self.value(reader, token),
            None => CutStep::Other,
        }
    }

    /// Handles the end of a value.
    fn done(&mut self) -> CutStep {
        self.next = Place::After;
        match self.open.last_mut() {
            Some(frame) => frame.items += 1,
            None => return CutStep::Done,
        }
        CutStep::On
    }

    fn key<H: Heap>(&mut self, reader: &Reader<H>) -> CutStep {
        let start = self.at + 1;
        let end = match string_end(reader.text, start) {
            StringEnd::At(end) => end,
            StringEnd::Cut => return CutStep::End(true),
            StringEnd::Invalid(at) => return CutStep::InString(at),
        };
        (self.at, self.next, self.ty) = (end + 1, Place::Colon, Types::ANY);
        let Some(frame) = self.open.last_mut() else {
            return CutStep::Other;
        };
        frame.key = Some((start as u32, end as u32));
        let types = reader.types();
        self.ty = types.of_any_key(frame.ty);
        if let Some((fields, _)) = types.map(frame.ty) {
            let name = name(reader.text, (start as u32, end as u32));
            let named = types.named(fields, &name, fields.start as usize);
            if let Some(index) = named.or_else(|| types.spelled(fields, &name)) {
                frame.seen |= fields.bit(index);
                self.ty = types.holds(index);
            }
        }
        CutStep::On
    }

    fn value<H: Heap>(&mut self, reader: &Reader<H>, token: Token) -> CutStep {
        let text = reader.text;
        match token {
            Token::Open(object) if self.open.len() < LIMITS.depth => {
                let ty = reader.types().inside(self.ty, object);
                let ty = ty.unwrap_or(Types::ANY);
                let (key, items, seen) = (None, 0, 0);
                self.open.push(Frame {
                    object,
                    ty,
                    key,
                    items,
                    seen,
                });
                self.next = Place::First;
                self.ty = ty;
                self.at += 1;
                CutStep::On
            }
            Token::String => match string_end(text, self.at + 1) {
                StringEnd::At(end) => {
                    self.at = end + 1;
                    self.done()
                }
                StringEnd::Cut => CutStep::End(true),
                StringEnd::Invalid(at) => CutStep::InString(at),
            },
            Token::Number => {
                let of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                match number(text, self.at) {
                    Some((end, _)) if ends(text, end) => {
                        (self.at, self.number) = (end, end);
                        self.done()
                    }
                    _ if text[self.at..].iter().all(of_number) => CutStep::End(true),
                    _ => CutStep::Other,
                }
            }
            Token::Word(word) => self.word(text, word.letters()),
            _ => CutStep::Other,
        }
    }

    fn word(&mut self, text: &[u8], word: &[u8]) -> CutStep {
        let rest = &text[self.at..];
        if rest.starts_with(word) && ends(text, self.at + word.len()) {
            self.at += word.len();
            return self.done();
        }
        match word.starts_with(rest) {
            true => CutStep::End(true),
            false => CutStep::Other,
        }
    }

    fn place(&self, text: &[u8], inside: bool) -> Where {
        let mut path = Vec::new();
        for (depth, frame) in self.open.iter().enumerate() {
            if !frame.object {
                let (items, after) = (Some(frame.items as usize), false);
                return Where { path, items, after };
            }
            let Some(key) = frame.key else {
                break;
            };
            if depth < DEEPEST {
                path.push(PathPart::Name(name(text, key)));
            }
        }
        let complete = self.next == Place::After && !inside || self.next == Place::Key;
        let (items, after) = (None, complete);
        Where { path, items, after }
    }
}

/// Returns whether the rest of the text has one of these bytes.
fn has_any<H: Heap>(reader: &mut Reader<H>, from: usize, bytes: &[u8]) -> Result<bool, Stop> {
    let rest = &reader.text[from..];
    reader.consume_fuel(rest.len())?;
    Ok(rest.iter().any(|byte| bytes.contains(byte)))
}

fn name(text: &[u8], (start, end): (u32, u32)) -> Vec<u8> {
    unescaped(&text[start as usize..end as usize])
}

/// Returns whether a value may end at an offset.
fn ends(text: &[u8], at: usize) -> bool {
    match text.get(at) {
        None | Some(b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | b'`') => true,
        Some(_) => false,
    }
}

enum StringEnd {
    /// The offset of its closing quote.
    At(usize),
    /// The text ends before it.
    Cut,
    /// The offset of a byte that cannot be in a string.
    Invalid(usize),
}

fn string_end(text: &[u8], start: usize) -> StringEnd {
    let mut at = start;
    match string(text, &mut at, |at| Ok(escape(text, at)?.1)) {
        Ok(()) => StringEnd::At(at),
        Err(JsonError::UnexpectedEnd(_)) => StringEnd::Cut,
        Err(_) if text[at] == b'\\' && is_begun(&text[at..]) => StringEnd::Cut,
        Err(_) => StringEnd::Invalid(at),
    }
}

/// Returns whether a text is the beginning of an escape: it could be completed.
fn is_begun(rest: &[u8]) -> bool {
    const LONGEST: &[u8] = b"\\uD800\\uDC00";
    let mut whole = rest.to_vec();
    rest.len() < LONGEST.len() && {
        whole.extend_from_slice(&LONGEST[rest.len()..]);
        rest == b"\\" || escape(&whole, 0).is_ok_and(|(_, next)| next > rest.len())
    }
}

/// Returns where the text of a reading, which ends at `end`, was cut off: brackets were added at its
/// end, or the quote that ends its last string.
pub(in crate::repair) fn place(repaired: &Repaired, end: usize) -> Option<Where> {
    let events = &repaired.events;
    let remark = |event: &Event| matches!(event, Event::Repair(..) | Event::Cut { .. });
    let rest = |event: &Event| remark(event) || matches!(event, Event::Close(_));
    let last = events.iter().rposition(|event| !rest(event)).unwrap_or(0);
    let first = events[..last]
        .iter()
        .rposition(|event| !remark(event))
        .map_or(0, |at| at + 1);
    let is_cut = |event: &Event| match event {
        Event::Cut { at, inside } => *inside || *at as usize == end,
        _ => false,
    };
    let added = |event: &Event| matches!(event, Event::Repair(Fault::MissingClose, _));
    let comma = repaired.text.get(skip_all_blanks(repaired.text, end)) == Some(&b',');
    match events[first..].iter().position(is_cut) {
        Some(at) => Some(repaired.place(first + at, first + at > last)),
        None if comma && events.iter().any(added) => Some(repaired.place(last, true)),
        None => None,
    }
}
