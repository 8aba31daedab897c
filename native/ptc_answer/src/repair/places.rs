//! The loop over the offsets where the answer may begin; the best reading wins. It can be suspended
//! while a text is read. Text that is valid JSON is left as it is: another reading of it would be another value.

use crate::check;
use crate::repair::cut::{self, Scan};
use crate::repair::policy::{Fault, Wanted};
use crate::repair::reader::{Reader, SearchState};
use crate::repair::readings::{equal_events, Bracket, Branch, Event, NodeId, Phase, Span};
use crate::repair::result::Repaired;
use crate::repair::text::{
    begins_field, in_fences, is_delimiter, missing_open, next_bare, quote, skip_all_blanks,
    skip_blanks, Start,
};
use crate::repair::{Refusal, Stop};
use crate::scan::region_end;
use crate::LIMITS;
use ptc_json::grammar::{number, token, Place, Token};
use ptc_json::Extent;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_type::{Json, Type, Types};

/// Maximum number of start offsets outside of fences.
const PLACES: usize = 4;

/// Maximum length of an invalid part after which other parts are read.
const NESTED: usize = 1 << 16;

/// A complete reading.
#[derive(Debug)]
struct WholeReading {
    node: NodeId,
    start: usize,
    end: usize,
    /// The number of its values that break a rule of their type.
    broken: u32,
    /// Offset where another reading of the same cost diverges from it.
    unsure: Option<usize>,
}

/// The kind of the next start offsets.
#[derive(Debug)]
enum StartKind {
    Begin,
    /// In fences.
    Fences(std::vec::IntoIter<Start>),
    /// Where the first bracket is missing; then outside of fences.
    Inside,
    /// Outside of fences: from this offset on, with this many attempts left.
    Bare {
        from: usize,
        left: usize,
    },
}

/// The state of a repair between two quanta.
#[derive(Debug)]
pub struct Repairing {
    state: Option<SearchState>,
    stage: StartKind,
    best: Option<WholeReading>,
    /// The start that is scanned for an end that is too early.
    scanning: Option<(Start, Scan)>,
    /// The start whose text is checked for being valid JSON.
    checking: Option<(Start, Box<ptc_json::Reader>)>,
    /// The start that is being read.
    reading: Option<Start>,
}

impl Repairing {
    /// Creates the state for a text of this many bytes.
    pub fn new(length: usize) -> Self {
        Repairing {
            state: Some(SearchState::new(length)),
            stage: StartKind::Begin,
            best: None,
            scanning: None,
            checking: None,
            reading: None,
        }
    }

    /// Reads to the end of the text, or until the quantum is over ([`Stop::SliceOver`]: call it again
    /// with the same text and types in another quantum). A slice cannot be suspended: its work is lost
    /// if it does not reach the end.
    pub fn resume<'r, H: Heap>(
        &mut self,
        text: &'r [u8],
        wanted: &'r Wanted,
        meter: &mut Meter,
        heap: &H,
    ) -> Result<Repaired<'r>, Refusal> {
        // Offsets are stored in 32 bits.
        if text.len() >= u32::MAX as usize / 2 {
            return Err(Refusal::NoReading);
        }
        // The search decides itself where it can be suspended.
        meter.begin_whole();
        let state = self.state.take().ok_or(Refusal::Stopped(Stop::Abandoned))?;
        let mut reader = Reader {
            text,
            wanted,
            state,
            meter,
            heap,
        };
        match self.read(&mut reader) {
            Ok(()) => {}
            Err(Refusal::Stopped(Stop::SliceOver)) => {
                self.state = Some(reader.state);
                return Err(Refusal::Stopped(Stop::SliceOver));
            }
            Err(refusal) => return Err(refusal),
        }
        let found = self.best.take().ok_or(Refusal::NoReading)?;
        finish(reader, found)
    }

    fn read<H: Heap>(&mut self, reader: &mut Reader<H>) -> Result<(), Refusal> {
        loop {
            if self.reading.is_none() {
                let Some(start) = self.checked(reader)? else {
                    return Ok(());
                };
                let begins = begins(reader, start);
                reader.begin_search(&begins);
                self.reading = Some(start);
            }
            reader.search().map_err(Refusal::Stopped)?;
            if let Some(start) = self.reading.take() {
                let end = self.weigh(reader, start);
                self.after(reader, start, end)?;
            }
        }
    }

    /// Returns the next start. Finds out whether the text from there on is valid JSON.
    fn checked<H: Heap>(&mut self, reader: &mut Reader<H>) -> Result<Option<Start>, Refusal> {
        if self.checking.is_none() {
            let Some(start) = self.scanned(reader)? else {
                return Ok(None);
            };
            let check = ptc_json::Reader::new(start.at, Extent::Value, LIMITS);
            self.checking = Some((start, Box::new(check)));
        }
        let Some((start, check)) = &mut self.checking else {
            return Ok(None);
        };
        let start = *start;
        reader.state.valid = !start.inside && stands_alone(reader, check)?;
        self.checking = None;
        Ok(Some(start))
    }

    /// Returns the next start, unless the text from there on was cut off.
    fn scanned<H: Heap>(&mut self, reader: &mut Reader<H>) -> Result<Option<Start>, Refusal> {
        if self.scanning.is_none() {
            let Some(start) = self.next_place(reader.text) else {
                return Ok(None);
            };
            let ty = reader.wanted.root_at(reader.text, start.at);
            self.scanning = Some((start, Scan::new(start.at, ty)));
        }
        let Some((start, scan)) = &mut self.scanning else {
            return Ok(None);
        };
        if reader.wanted.refuses_cut() && self.best.is_none() && !start.inside {
            let cut = scan.resume(reader).map_err(Refusal::Stopped)?;
            if let Some(cut) = cut {
                return Err(Refusal::Truncated(cut));
            }
        }
        let start = *start;
        self.scanning = None;
        Ok(Some(start))
    }

    fn next_place(&mut self, text: &[u8]) -> Option<Start> {
        loop {
            match &mut self.stage {
                StartKind::Begin => self.stage = StartKind::Fences(in_fences(text).into_iter()),
                StartKind::Fences(starts) => match starts.next() {
                    Some(start) => {
                        // A part of a text that was already read is not an answer of its own.
                        let is_part = |found: &WholeReading| start.at < found.end;
                        if !self.best.as_ref().is_some_and(is_part) {
                            return Some(start);
                        }
                    }
                    None if self.best.is_some() => return None,
                    None => {
                        self.stage = StartKind::Inside;
                        if let Some(start) = missing_open(text) {
                            return Some(start);
                        }
                    }
                },
                StartKind::Inside => {
                    self.stage = StartKind::Bare {
                        from: self.best.as_ref().map_or(0, |found| found.end),
                        left: PLACES,
                    }
                }
                StartKind::Bare { from, left } => {
                    *left = left.checked_sub(1)?;
                    return next_bare(text, *from);
                }
            }
        }
    }

    /// Compares the reading at a start with the best reading so far; returns its end. If a later
    /// reading has another value, the best one becomes uncertain.
    fn weigh<H: Heap>(&mut self, reader: &Reader<H>, start: Start) -> Option<usize> {
        let found = found(reader, start)?;
        let end = found.end;
        match &mut self.best {
            None => self.best = Some(found),
            Some(best) if found.broken > best.broken => {}
            Some(best) if found.broken < best.broken => *best = found,
            Some(best) => {
                let (text, types, inner) = (reader.text, reader.types(), &reader.state.inner);
                let equal = |a, b| equal_events(text, types, inner, a, b);
                if !reader.state.log.same_value(best.node, found.node, equal) {
                    best.unsure = Some(found.start);
                }
            }
        }
        Some(end)
    }

    /// Sets the offset from which the next start is searched.
    fn after<H: Heap>(
        &mut self,
        reader: &mut Reader<H>,
        start: Start,
        end: Option<usize>,
    ) -> Result<(), Refusal> {
        let StartKind::Bare { from, left } = &mut self.stage else {
            return Ok(());
        };
        let next = match end {
            Some(end) => Some(end),
            // Without a type, an invalid text that looks like JSON makes the rest useless.
            None if self.best.is_none() && reader.wanted.is_anything() => None,
            None => {
                let text = reader.text;
                let end = region_end(text, start.at, &mut |bytes| reader.consume_fuel(bytes));
                // Where the brackets do not match, the end is not known.
                let is_end = |end: &usize| {
                    let region = &text[start.at..*end];
                    region.len() <= NESTED && is_nested(region)
                };
                end.map_err(Refusal::Stopped)?.filter(is_end)
            }
        };
        match next {
            Some(next) => *from = next,
            None => *left = 0,
        }
        Ok(())
    }
}

/// Returns whether each bracket of a text, outside of strings, is closed by one of its kind.
fn is_nested(text: &[u8]) -> bool {
    let (mut open, mut inside, mut at) = (Vec::new(), false, 0);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => inside = !inside,
            b'\\' if inside => at += 1,
            _ if inside => {}
            b'{' | b'[' => open.push(byte + 2),
            b'}' | b']' if open.pop() != Some(byte) => return false,
            _ => {}
        }
        at += 1;
    }
    open.is_empty()
}

/// Returns the value if it is the only best one.
fn finish<'r, H: Heap>(
    mut reader: Reader<'r, '_, H>,
    found: WholeReading,
) -> Result<Repaired<'r>, Refusal> {
    let (text, wanted) = (reader.text, reader.wanted);
    let mut events = reader.state.log.events(found.node);
    let mut places: Vec<usize> = found.unsure.into_iter().collect();
    places.extend(events.iter().filter_map(|event| match event {
        Event::Unsure(at) => Some(*at as usize),
        _ => None,
    }));
    if !places.is_empty() {
        return Err(Refusal::Ambiguous(places));
    }
    if std::str::from_utf8(&text[found.start..found.end.min(text.len())]).is_err() {
        return Err(Refusal::NoReading);
    }
    let is_repair = |event: &Event| matches!(event, Event::Repair(..));
    let rest = skip_all_blanks(text, found.end);
    if rest < text.len() && !events.iter().any(is_repair) {
        let span = Span::new(rest, text.len());
        events.push(Event::Repair(Fault::Leftover, span));
    }
    let repaired = Repaired {
        text,
        wanted,
        events,
        inner: std::mem::take(&mut reader.state.inner),
    };
    if wanted.refuses_cut() {
        if let Some(cut) = cut::place(&repaired, found.end) {
            return Err(Refusal::Truncated(cut));
        }
    }
    // The search tracks only the first 64 fields of a map, and decides about each part by itself.
    match repaired.is_of(wanted) {
        true => Ok(repaired),
        false => Err(Refusal::NoReading),
    }
}

/// Returns the readings that begin at a start.
fn begins<H: Heap>(reader: &mut Reader<H>, start: Start) -> Vec<Branch> {
    let wanted = reader.wanted;
    let (types, root) = (wanted.types(), wanted.answer_type.root());
    let mut begins: Vec<Branch> = Vec::with_capacity(3);
    let text = reader.text;
    if start.inside {
        let is_object = types.takes(root, Json::Object);
        let wrapper = wanted.answer_type.wrapper();
        if let Some(ty) = wrapper.or(is_object.then_some(root)) {
            let mut inside = reader.begin(start.at, ty);
            reader.repair(&mut inside, Fault::MissingOpen, start.at, start.at);
            let ty = types.inside(ty, true).unwrap_or(Types::ANY);
            reader.open(&mut inside, Bracket::Object, ty);
            inside.phase = Phase::NextKey;
            begins.push(inside);
        }
    } else {
        let wrapped = wanted.wrapper_at(text, start.at);
        match wrapped {
            Some(wrapper) => begins.push(reader.begin(start.at, wrapper)),
            None => begins.push(reader.begin(start.at, root)),
        }
        if let (Type::List(holds), None, Some(b'{')) =
            (types.required(root).0, wrapped, text.get(start.at))
        {
            let mut inside = reader.begin(start.at, root);
            reader.repair(&mut inside, Fault::MissingOpen, start.at, start.at);
            reader.open(&mut inside, Bracket::Array, holds);
            inside.phase = Phase::Item;
            begins.push(inside);
        }
    }
    begins
}

/// Returns the best reading from a start.
fn found<H: Heap>(reader: &Reader<H>, start: Start) -> Option<WholeReading> {
    let (text, wanted, inner) = (reader.text, reader.wanted, &reader.state.inner);
    let end = *reader.state.ends.first()?;
    // Both brackets are missing, and there is no type: this is prose with a colon.
    let closed = |event: &Event| matches!(event, Event::Repair(Fault::MissingClose, _));
    if start.inside && wanted.is_anything() && reader.state.log.events(end.node).iter().any(closed)
    {
        return None;
    }
    let equal = |a, b| equal_events(text, wanted.types(), inner, a, b);
    let other = reader.state.ends[1..]
        .iter()
        .find(|other| !reader.state.log.same_value(end.node, other.node, equal));
    Some(WholeReading {
        node: end.node,
        start: start.at,
        end: end.at as usize,
        broken: end.broken,
        unsure: other.map(|other| other.at.min(end.at) as usize),
    })
}

/// Maximum number of bytes of an object or list that are checked. No text without quotes is as long.
const LONGEST: usize = 8192;

/// Returns whether the text at a check is JSON that stands for itself: nothing that could belong to it
/// follows. The check can be suspended.
fn stands_alone<H: Heap>(
    reader: &mut Reader<H>,
    check: &mut ptc_json::Reader,
) -> Result<bool, Stop> {
    let text = reader.text;
    let end = check::resume(check, text, &mut |units, leave| {
        reader.consume_fuel(units)?;
        match leave {
            true => reader.suspend_if_due(),
            false => Ok(()),
        }
    })?;
    let lists = reader.wanted.is_list();
    Ok(end.is_some_and(|end| {
        let next = skip_all_blanks(text, end);
        match text.get(next) {
            Some(b',') => !begins_part(text, skip_all_blanks(text, next + 1)),
            Some(b'{') => !lists,
            _ => !is_field(text, next),
        }
    }))
}

/// Returns whether a key with a colon is at an offset.
fn is_field(text: &[u8], at: usize) -> bool {
    quote(text, at).is_some() && begins_field(text, at)
}

/// Returns whether a key, a value or the end of an object or a list is at an offset.
fn begins_part(text: &[u8], at: usize) -> bool {
    let is_start = |byte: &u8| byte.is_ascii_digit() || b"{[}]\"'-".contains(byte);
    begins_field(text, at) || text.get(at).is_some_and(is_start)
}

impl<H: Heap> Reader<'_, '_, H> {
    /// Where a text may stand, returns whether a valid value is at the offset of a reading, and a text after it that is valid there. Only
    /// what can also be the beginning of a text without quotes is examined.
    pub(in crate::repair) fn is_valid_value(&mut self, branch: &Branch) -> Result<bool, Stop> {
        if !self.types().takes(branch.ty, Json::String) {
            return Ok(false);
        }
        let at = branch.at as usize;
        let end = match token(Place::Value, None, self.byte(at)) {
            Some(Token::Number) => number(self.text, at).map(|(end, _)| end),
            Some(Token::Word(word)) => {
                let is_word = self.text[at..].starts_with(word.letters());
                is_word.then_some(at + word.letters().len())
            }
            Some(Token::Open(_)) if self.types().is_any(branch.ty) => None,
            Some(Token::Open(_)) => {
                let near = &self.text[..self.text.len().min(at + LONGEST)];
                let mut check = ptc_json::Reader::new(at, Extent::Value, LIMITS);
                check::resume(&mut check, near, &mut |units, _| self.consume_fuel(units))?
            }
            _ => None,
        };
        Ok(end.is_some_and(|end| is_delimiter(self.text, end) && self.is_followed(branch, end)))
    }

    /// Returns whether the text after a value is valid there, a comma and the beginning of the next field included.
    fn is_followed(&self, branch: &Branch, end: usize) -> bool {
        let next = skip_blanks(self.text, end);
        match (branch.top.kind, self.byte(next)) {
            (Bracket::Object, b'}') => true,
            (Bracket::Object, b',') => {
                let key = skip_blanks(self.text, next + 1);
                matches!(self.byte(key), b'"' | b'}') || begins_field(self.text, key)
            }
            (Bracket::Array, b',' | b']') | (Bracket::One, b',' | b']' | b'}') => true,
            _ => false,
        }
    }
}
