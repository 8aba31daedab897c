//! Answers that are almost right, repaired.
//!
//! A text is read in all likely ways at once. Where it is right there is one, and it costs nothing;
//! around a fault there are several, each with the repairs it needs and what they cost. Those that
//! do not give a value of the wanted type are given up, and so are those that cost too much more
//! than others that have come as far. The cheapest one counts; where two that give different
//! values cost the same, none does.
//!
//! * [`wanted`], [`shape`]: the types, as the search needs them
//! * [`fault`]: what can be wrong, and what it costs
//! * [`branch`]: one reading; [`log`]: what all of them have found
//! * [`reader`]: the readings that are alive; [`search`]: how they go on
//! * [`strict`], [`look`]: a step where the text is right
//! * [`keys`], [`colons`], [`values`], [`quotes`], [`strings`], [`bare`], [`after`]: the ways to go on
//!   where it is not; [`leftover`]: the end
//! * [`start`]: where in a text the answer may begin
//! * [`replay`]: the value and the repairs of a reading; [`places`]: lines and columns
//!
//! The number of readings is bounded, each looks ahead a bounded way or is charged for it, nothing
//! recurses, and everything is linear in the text.

mod after;
mod bare;
mod branch;
mod colons;
mod fault;
mod fits;
mod keys;
mod leftover;
mod log;
mod look;
mod numbers;
mod places;
mod quotes;
mod reader;
mod replay;
mod same;
mod scan;
mod search;
mod shape;
mod start;
mod strict;
mod strings;
mod unescape;
mod values;
mod wanted;

#[cfg(test)]
mod tests;

pub use crate::stop::Stop;
pub use fault::Fault;
pub use fits::Fits;
pub use places::line_and_column;
pub use replay::{Repair, Repaired, Step};
pub use wanted::Wanted;

use crate::answer::scan::region_end;
use crate::heap::Heap;
use crate::meter::Meter;
use branch::{Branch, Kind, Phase};
use log::{Event, NodeId, Span};
use reader::Reader;
use start::Start;
use wanted::Of;

/// Why a text is not repaired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No reading gives a value of the type.
    NoReading,
    /// Different values are as likely; the offsets where they part.
    Ambiguous(Vec<usize>),
    /// The meter has stopped it.
    Stopped(Stop),
}

/// A reading that has come to its end.
struct Found {
    node: NodeId,
    start: usize,
    end: usize,
    /// Where another reading that costs as much parts from it.
    unsure: Option<usize>,
}

/// Whether the JSON that stands in a text is only a part of an answer whose first bracket is missing.
pub fn is_part(text: &[u8]) -> bool {
    start::is_part(text).is_some()
}

/// Reads a text that is no JSON, or not of the type.
pub fn repair<'r, 'w, H: Heap>(
    text: &'r [u8],
    wanted: &'r Wanted<'w>,
    meter: &mut Meter,
    heap: &H,
) -> Result<Repaired<'r, 'w>, Refusal> {
    // Offsets are kept in 32 bits.
    if text.len() >= u32::MAX as usize / 2 {
        return Err(Refusal::NoReading);
    }
    // It cannot be left: a quantum goes on to its end.
    meter.begin_whole();
    let mut reader = Reader::new(text, wanted, meter, heap);
    let found = match fenced(&mut reader)? {
        Some(found) => found,
        None => bare(&mut reader)?.ok_or(Refusal::NoReading)?,
    };
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

/// So many places outside of fences are tried.
const PLACES: usize = 4;

/// The best reading in a fence.
fn fenced<H: Heap>(reader: &mut Reader<H>) -> Result<Option<Found>, Refusal> {
    let mut best = None;
    for start in start::in_fences(reader.text) {
        // A part of what was read already is no answer of its own.
        let is_part = |found: &Found| start.at < found.end;
        if !best.as_ref().is_some_and(is_part) {
            weigh(reader, start, &mut best)?;
        }
    }
    Ok(best)
}

/// The best reading outside of fences.
fn bare<H: Heap>(reader: &mut Reader<H>) -> Result<Option<Found>, Refusal> {
    let text = reader.text;
    let mut best = None;
    if let Some(start) = start::inside(text) {
        weigh(reader, start, &mut best)?;
    }
    let mut from = best.as_ref().map_or(0, |found| found.end);
    for _ in 0..PLACES {
        let Some(start) = start::next_bare(text, from) else {
            break;
        };
        match weigh(reader, start, &mut best)? {
            Some(end) => from = end,
            // Without a type, what is like JSON and is none spoils the rest.
            None if best.is_none() && reader.wanted.is_anything() => break,
            None => {
                let end = region_end(text, start.at, &mut |bytes| reader.spend(bytes));
                match end.map_err(Refusal::Stopped)? {
                    Some(end) => from = end,
                    None => break,
                }
            }
        }
    }
    Ok(best)
}

/// Reads from one place on, and gives the end of what is there. A later reading that is as good and
/// has another value makes the best one uncertain.
fn weigh<H: Heap>(
    reader: &mut Reader<H>,
    start: Start,
    best: &mut Option<Found>,
) -> Result<Option<usize>, Refusal> {
    let Some(found) = read(reader, start)? else {
        return Ok(None);
    };
    let end = found.end;
    match best {
        None => *best = Some(found),
        Some(best) => {
            let (text, wanted, inner) = (reader.text, reader.wanted, &reader.inner);
            let equal = |a, b| same::events(text, wanted, inner, a, b);
            if !reader.log.same_value(best.node, found.node, equal) {
                best.unsure = Some(found.start);
            }
        }
    }
    Ok(Some(end))
}

/// The best reading that begins at one place.
fn read<H: Heap>(reader: &mut Reader<H>, start: Start) -> Result<Option<Found>, Refusal> {
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
                _ => wanted::ANY,
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
    reader.search(&begins).map_err(Refusal::Stopped)?;
    let Some(end) = reader.ends.first().copied() else {
        return Ok(None);
    };
    // Both brackets missing, and no type: that is prose with a colon.
    let closed = |event: &Event| matches!(event, Event::Repair(Fault::MissingClose, _));
    if start.inside && wanted.is_anything() && reader.log.events(end.node).iter().any(closed) {
        return Ok(None);
    }
    let (wanted, inner) = (reader.wanted, &reader.inner);
    let equal = |a, b| same::events(text, wanted, inner, a, b);
    let other = reader.ends[1..]
        .iter()
        .find(|other| !reader.log.same_value(end.node, other.node, equal));
    Ok(Some(Found {
        node: end.node,
        start: start.at,
        end: end.at as usize,
        unsure: other.map(|other| other.at.min(end.at) as usize),
    }))
}
