//! Replay of a reading: the events of its value, and its repairs with their paths.

use crate::checker::Checker;
use crate::repair::after::cut::Where;
use crate::repair::policy::fault::Fault;
use crate::repair::policy::wanted::Wanted;
use crate::repair::readings::log::{Event, Span};
use crate::repair::text::lines::Cursor;
use crate::repair::text::numbers;
use crate::repair::text::unescape::unescape;
use crate::{PathPart, LIMITS};
use ptc_json::{Extent, ReadError, Reader, Sink, Text};
use ptc_term::stop::Stop;
use ptc_type::lenient;

/// Maximum number of repairs that are listed.
const MOST: usize = 2_000;

/// Maximum depth of a reported path.
pub(in crate::repair) const DEEPEST: usize = 64;

/// Number of events between two checks of the limits.
const EVENTS_BETWEEN_LOOKS: usize = 256;

/// A repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The fault.
    pub fault: Fault,
    /// Its offset in bytes; the range is empty for an insertion.
    pub start: usize,
    /// The offset after it.
    pub end: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The path to the value that the repair is about: the one before an inserted comma, the one that
    /// was closed, or the one that was changed.
    pub path: Vec<PathPart>,
}

/// A value that was read from a text.
#[derive(Debug)]
pub struct Repaired<'r> {
    pub(in crate::repair) text: &'r [u8],
    pub(in crate::repair) wanted: &'r Wanted,
    pub(in crate::repair) events: Vec<Event>,
    pub(in crate::repair) inner: Vec<Vec<u8>>,
}

impl Repaired<'_> {
    /// Passes the value to the sink, event by event.
    pub fn replay<'s>(&'s self, sink: &mut impl Sink<'s>) -> Result<(), Stop> {
        let mut scratch = Vec::new();
        for events in self.events.chunks(EVENTS_BETWEEN_LOOKS) {
            sink.consume_fuel(events.len(), 0)?;
            for event in events {
                self.event(*event, sink, &mut scratch)?;
            }
        }
        Ok(())
    }

    fn event<'s>(
        &'s self,
        event: Event,
        sink: &mut impl Sink<'s>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        match event {
            Event::Null => sink.null(),
            Event::Bool(value) => sink.boolean(value),
            Event::Number(span) => return number(span.of(self.text), sink),
            Event::Loose(span) => match numbers::clean(span.of(self.text), true) {
                Some(clean) if clean.integer => match clean.text.parse() {
                    Ok(small) => sink.integer(small),
                    Err(_) => return number(numbers::unsigned(span.of(self.text)), sink),
                },
                Some(clean) => sink.decimal(&clean.text, clean.text.parse().unwrap_or(0.0)),
                None => sink.null(),
            },
            Event::Int(span) => {
                return number(numbers::unsigned(span.of(self.text)), sink);
            }
            Event::Float(span) => {
                sink.float(lenient::float(span.of(self.text)).unwrap_or(0.0));
            }
            Event::Plain(span) => sink.string(Text::Source(span.of(self.text)))?,
            Event::Key(span) => sink.key(Text::Source(span.of(self.text)))?,
            Event::Escaped(span) | Event::EscapedKey(span) => {
                scratch.clear();
                unescape(span.of(self.text), scratch);
                match event {
                    Event::Escaped(_) => sink.string(Text::Scratch(scratch))?,
                    _ => sink.key(Text::Scratch(scratch))?,
                }
            }
            Event::Field(index) => {
                let name = self.wanted.types().field(index as usize).name;
                sink.key(Text::Scratch(name))?;
            }
            Event::Open(object) => sink.open(object),
            Event::Close(object) => sink.close(object)?,
            Event::Inner(number) => {
                let text = &self.inner[number as usize];
                let mut reader = Reader::new(0, Extent::Whole, LIMITS);
                match reader.read(text, sink) {
                    Err(ReadError::Stop(stop)) => return Err(stop),
                    // The text was already read once.
                    Ok(_) | Err(ReadError::Json(_)) => {}
                }
            }
            Event::Repair(..) | Event::Unsure(_) | Event::Cut { .. } => {}
        }
        Ok(())
    }

    fn name(&self, key: Event) -> Vec<u8> {
        match key {
            Event::Key(span) => span.of(self.text).to_vec(),
            Event::EscapedKey(span) => {
                let mut name = Vec::new();
                unescape(span.of(self.text), &mut name);
                name
            }
            Event::Field(index) => self.wanted.types().field(index as usize).name.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns whether the value is of the type.
    pub(in crate::repair) fn is_of(&self, wanted: &Wanted) -> bool {
        let first = self.events.iter();
        let first = first
            .copied()
            .find(|event| !matches!(event, Event::Repair(..)));
        let of = &wanted.answer_type;
        let root = match (of.wrapper(), first) {
            (Some(wrapper), Some(Event::Open(true))) => wrapper,
            _ => of.root(),
        };
        let mut checker = Checker::of_value(of.clone(), root);
        self.replay(&mut checker).is_ok() && !checker.has_mistake()
    }

    /// Returns the place of an event: the path to the outermost open list, or to the last field.
    pub(in crate::repair) fn place(&self, event: usize, after: bool) -> Where {
        let mut way = Way::default();
        self.events[..event]
            .iter()
            .for_each(|event| way.pass(*event));
        let is_list = |here: &Here| matches!(here, Here::List(_));
        let Some(list) = way.open.iter().position(is_list) else {
            let (path, items) = (way.path(self), None);
            return Where { path, items, after };
        };
        let innermost = list + 1 == way.open.len();
        let items = match way.open[list] {
            Here::List(begun) if innermost => begun,
            Here::List(begun) => begun.saturating_sub(1),
            Here::Object(_) => 0,
        };
        Where {
            path: steps(&way.open[..list], self),
            items: Some(items),
            after: false,
        }
    }

    /// Returns the number of repairs.
    pub fn count(&self) -> usize {
        let is_repair = |event: &&Event| matches!(event, Event::Repair(..));
        self.events.iter().filter(is_repair).count()
    }

    /// Returns the first repairs, a few thousand at most, in the order of the text.
    pub fn repairs(&self) -> Vec<Repair> {
        let mut way = Way::default();
        let mut repairs = Vec::new();
        // Repairs whose value or key comes later.
        let mut waiting: Vec<(Fault, Span)> = Vec::new();
        for event in &self.events {
            if repairs.len() + waiting.len() >= MOST {
                break;
            }
            if let Event::Repair(fault, span) = *event {
                match place(fault) {
                    About::Before => repairs.push(repair(fault, span, way.path(self))),
                    About::Around => repairs.push(repair(fault, span, way.around(self))),
                    About::Next => waiting.push((fault, span)),
                }
                continue;
            }
            way.pass(*event);
            let after = waiting.drain(..);
            repairs.extend(after.map(|(fault, span)| repair(fault, span, way.path(self))));
        }
        repairs.sort_by_key(|repair| repair.start);
        let mut cursor = Cursor::default();
        for repair in &mut repairs {
            (repair.line, repair.column) = cursor.advance(self.text, repair.start);
        }
        repairs
    }
}

/// The value that a repair is about.
enum About {
    /// The previous one.
    Before,
    /// The innermost open one.
    Around,
    /// The next one.
    Next,
}

fn place(fault: Fault) -> About {
    match fault {
        Fault::MissingComma | Fault::ExtraComma | Fault::Semicolon => About::Before,
        Fault::MissingColon | Fault::NoColon => About::Before,
        Fault::TrailingComma
        | Fault::MissingClose
        | Fault::ExtraClose
        | Fault::ExtraOpen
        | Fault::WrongClose
        | Fault::Comment
        | Fault::Ellipsis
        | Fault::Leftover
        | Fault::StrayCharacter => About::Around,
        _ => About::Next,
    }
}

fn repair(fault: Fault, span: Span, path: Vec<PathPart>) -> Repair {
    Repair {
        fault,
        start: span.start as usize,
        end: span.end as usize,
        line: 0,
        column: 0,
        path,
    }
}

/// Reads a JSON number; leading zeros are allowed.
fn number<'s>(token: &'s [u8], sink: &mut impl Sink<'s>) -> Result<(), Stop> {
    // A number contains only ASCII.
    let text = std::str::from_utf8(token).unwrap_or_default();
    match text.parse::<i64>() {
        Ok(value) => sink.integer(value),
        Err(_)
            if token
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'-') =>
        {
            sink.big_integer(text)?
        }
        Err(_) => sink.decimal(text, text.parse().unwrap_or(0.0)),
    }
    Ok(())
}

/// The current path in the value.
#[derive(Default)]
struct Way {
    open: Vec<Here>,
}

enum Here {
    /// In an object, with its last key.
    Object(Option<Event>),
    /// In a list, with the number of elements that have begun.
    List(usize),
}

impl Way {
    fn pass(&mut self, event: Event) {
        match event {
            Event::Key(_) | Event::EscapedKey(_) | Event::Field(_) => {
                if let Some(Here::Object(last)) = self.open.last_mut() {
                    *last = Some(event);
                }
            }
            Event::Close(_) => {
                self.open.pop();
            }
            Event::Repair(..) | Event::Unsure(_) | Event::Cut { .. } => {}
            value => {
                if let Some(Here::List(count)) = self.open.last_mut() {
                    *count += 1;
                }
                match value {
                    Event::Open(true) => self.open.push(Here::Object(None)),
                    Event::Open(false) => self.open.push(Here::List(0)),
                    _ => {}
                }
            }
        }
    }

    fn path(&self, all: &Repaired) -> Vec<PathPart> {
        steps(&self.open, all)
    }

    fn around(&self, all: &Repaired) -> Vec<PathPart> {
        steps(&self.open[..self.open.len().saturating_sub(1)], all)
    }
}

fn steps(open: &[Here], all: &Repaired) -> Vec<PathPart> {
    let step = |here: &Here| match here {
        Here::Object(key) => key.map(|key| PathPart::Name(all.name(key))),
        Here::List(count) => count.checked_sub(1).map(PathPart::Index),
    };
    open.iter().take(DEEPEST).filter_map(step).collect()
}
