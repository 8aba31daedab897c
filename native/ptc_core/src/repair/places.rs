//! Where the answer may be: one place after the other is read, and the best reading counts. It can be
//! left while a place is read.

use super::branch::{Branch, Kind, Phase};
use super::fault::Fault;
use super::log::{Event, NodeId, Span};
use super::reader::{Kept, Reader};
use super::start::{self, Start};
use super::wanted::{Of, ANY};
use super::{same, scan, Refusal, Repaired, Stop, Wanted};
use crate::answer::scan::region_end;
use crate::heap::Heap;
use crate::meter::Meter;

/// So many places outside of fences are tried.
const PLACES: usize = 4;

/// A reading that has come to its end.
#[derive(Debug)]
struct Found {
    node: NodeId,
    start: usize,
    end: usize,
    /// Where another reading that costs as much parts from it.
    unsure: Option<usize>,
}

/// Which places come next.
#[derive(Debug)]
enum Stage {
    Begin,
    /// In fences.
    Fences(std::vec::IntoIter<Start>),
    /// Where the first bracket is missing; then outside of fences.
    Inside,
    /// Outside of fences: from here on, so many more.
    Bare {
        from: usize,
        left: usize,
    },
}

/// A text that is being repaired, between two quanta.
#[derive(Debug)]
pub struct Repairing {
    kept: Option<Kept>,
    stage: Stage,
    best: Option<Found>,
    /// The place that is being read.
    reading: Option<Start>,
}

impl Repairing {
    /// For a text of so many bytes.
    pub fn new(length: usize) -> Self {
        Repairing {
            kept: Some(Kept::new(length)),
            stage: Stage::Begin,
            best: None,
            reading: None,
        }
    }

    /// Reads until the quantum is over ([`Stop::SliceOver`]: to go on with the same text and the same
    /// types in another one), or to the end. A slice is not left: what it does not end is lost.
    pub fn go_on<'r, 'w, H: Heap>(
        &mut self,
        text: &'r [u8],
        wanted: &'r Wanted<'w>,
        meter: &mut Meter,
        heap: &H,
    ) -> Result<Repaired<'r, 'w>, Refusal> {
        // Offsets are kept in 32 bits.
        if text.len() >= u32::MAX as usize / 2 {
            return Err(Refusal::NoReading);
        }
        // The search says itself where it can be left.
        meter.begin_whole();
        let kept = self.kept.take().ok_or(Refusal::Stopped(Stop::Abandoned))?;
        let mut reader = Reader::new(text, wanted, kept, meter, heap);
        match self.read(&mut reader) {
            Ok(()) => {}
            Err(Refusal::Stopped(Stop::SliceOver)) => {
                self.kept = Some(reader.keep());
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
                let Some(start) = self.next_place(reader.text) else {
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

    fn next_place(&mut self, text: &[u8]) -> Option<Start> {
        loop {
            match &mut self.stage {
                Stage::Begin => self.stage = Stage::Fences(start::in_fences(text).into_iter()),
                Stage::Fences(starts) => match starts.next() {
                    Some(start) => {
                        // A part of what was read already is no answer of its own.
                        let is_part = |found: &Found| start.at < found.end;
                        if !self.best.as_ref().is_some_and(is_part) {
                            return Some(start);
                        }
                    }
                    None if self.best.is_some() => return None,
                    None => {
                        self.stage = Stage::Inside;
                        if let Some(start) = start::inside(text) {
                            return Some(start);
                        }
                    }
                },
                Stage::Inside => {
                    self.stage = Stage::Bare {
                        from: self.best.as_ref().map_or(0, |found| found.end),
                        left: PLACES,
                    }
                }
                Stage::Bare { from, left } => {
                    *left = left.checked_sub(1)?;
                    return start::next_bare(text, *from);
                }
            }
        }
    }

    /// What was read at a place against the best reading so far; its end. A later reading that is as
    /// good and has another value makes the best one uncertain.
    fn weigh<H: Heap>(&mut self, reader: &Reader<H>, start: Start) -> Option<usize> {
        let found = found(reader, start)?;
        let end = found.end;
        match &mut self.best {
            None => self.best = Some(found),
            Some(best) => {
                let (text, wanted, inner) = (reader.text, reader.wanted, &reader.inner);
                let equal = |a, b| same::events(text, wanted, inner, a, b);
                if !reader.log.same_value(best.node, found.node, equal) {
                    best.unsure = Some(found.start);
                }
            }
        }
        Some(end)
    }

    /// Where the next place is looked for.
    fn after<H: Heap>(
        &mut self,
        reader: &mut Reader<H>,
        start: Start,
        end: Option<usize>,
    ) -> Result<(), Refusal> {
        let Stage::Bare { from, left } = &mut self.stage else {
            return Ok(());
        };
        let next = match end {
            Some(end) => Some(end),
            // Without a type, what is like JSON and is none spoils the rest.
            None if self.best.is_none() && reader.wanted.is_anything() => None,
            None => {
                let text = reader.text;
                let end = region_end(text, start.at, &mut |bytes| reader.spend(bytes));
                end.map_err(Refusal::Stopped)?
            }
        };
        match next {
            Some(next) => *from = next,
            None => *left = 0,
        }
        Ok(())
    }
}

/// The value, if only one is the best.
fn finish<'r, 'w, H: Heap>(
    mut reader: Reader<'r, '_, 'w, H>,
    found: Found,
) -> Result<Repaired<'r, 'w>, Refusal> {
    let (text, wanted) = (reader.text, reader.wanted);
    let mut events = reader.log.events(found.node);
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
    let rest = scan::skip_all_blanks(text, found.end);
    if rest < text.len() && !events.iter().any(is_repair) {
        let (start, end) = (rest as u32, text.len() as u32);
        events.push(Event::Repair(Fault::Leftover, Span { start, end }));
    }
    let repaired = Repaired {
        text,
        wanted,
        events,
        inner: std::mem::take(&mut reader.inner),
    };
    // The search keeps count of the first 64 fields of a map.
    if !wanted.is_wide() && !cfg!(debug_assertions) || repaired.is_of(wanted) {
        return Ok(repaired);
    }
    Err(Refusal::NoReading)
}

/// The readings that begin at a place.
fn begins<H: Heap>(reader: &mut Reader<H>, start: Start) -> Vec<Branch> {
    let wanted = reader.wanted;
    let root = wanted.root();
    let mut begins: Vec<Branch> = Vec::with_capacity(3);
    let text = reader.text;
    if start.inside {
        let is_object = matches!(wanted.want(root).of, Of::Any | Of::AnyMap | Of::Map(_));
        let ty = match wanted.wrapper() {
            Some(wrapper) => Some(wrapper),
            None => is_object.then_some(root),
        };
        if let Some(ty) = ty {
            let mut inside = reader.begin(start.at, ty);
            reader.repair(&mut inside, Fault::MissingOpen, start.at, start.at);
            let ty = match wanted.want(ty).of {
                Of::Map(_) => ty,
                _ => ANY,
            };
            reader.open(&mut inside, Kind::Object, ty);
            inside.phase = Phase::NextKey;
            begins.push(inside);
        }
    } else {
        let wrapped = wanted.wrapper().filter(|_| {
            let key = scan::skip_all_blanks(text, start.at + 1);
            let key = key + scan::quote(text, key).map_or(0, |(_, length)| length);
            text.get(start.at) == Some(&b'{') && text[key.min(text.len())..].starts_with(b"items")
        });
        match wrapped {
            Some(wrapper) => begins.push(reader.begin(start.at, wrapper)),
            None => begins.push(reader.begin(start.at, root)),
        }
        if let (Of::List(holds), None, Some(b'{')) =
            (wanted.want(root).of, wrapped, text.get(start.at))
        {
            let mut inside = reader.begin(start.at, root);
            reader.repair(&mut inside, Fault::MissingOpen, start.at, start.at);
            reader.open(&mut inside, Kind::Array, holds);
            inside.phase = Phase::Item;
            begins.push(inside);
        }
    }
    begins
}

/// The best reading of those that began at a place.
fn found<H: Heap>(reader: &Reader<H>, start: Start) -> Option<Found> {
    let (text, wanted, inner) = (reader.text, reader.wanted, &reader.inner);
    let end = *reader.ends.first()?;
    // Both brackets missing, and no type: that is prose with a colon.
    let closed = |event: &Event| matches!(event, Event::Repair(Fault::MissingClose, _));
    if start.inside && wanted.is_anything() && reader.log.events(end.node).iter().any(closed) {
        return None;
    }
    let equal = |a, b| same::events(text, wanted, inner, a, b);
    let other = reader.ends[1..]
        .iter()
        .find(|other| !reader.log.same_value(end.node, other.node, equal));
    Some(Found {
        node: end.node,
        start: start.at,
        end: end.at as usize,
        unsure: other.map(|other| other.at.min(end.at) as usize),
    })
}
