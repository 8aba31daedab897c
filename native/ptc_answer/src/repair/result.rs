//! What a reading gives: its repairs with their paths, and the value that is built of its events and judged.

use crate::checker::Checker;
use crate::judge::{Judge, Report, Verdict};
use crate::object_or_list;
use crate::repair::cut::Where;
use crate::repair::policy::{Fault, Wanted};
use crate::repair::readings::{Event, Span};
use crate::repair::text::{clean_number, unescape, unescaped, unsigned, Cursor};
use crate::repair::Refusal;
use crate::{PathPart, LIMITS};
use ptc_json::{Extent, PartialValue, ReadError, Reader, Sink, TermBuilder, Text};
use ptc_term::meter::{Meter, Pace};
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use ptc_type::{lenient, Rules, Values};

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
            Event::Loose(span) => match clean_number(span.of(self.text), true) {
                Some(clean) if clean.integer => match clean.text.parse() {
                    Ok(small) => sink.integer(small),
                    Err(_) => return number(unsigned(span.of(self.text)), sink),
                },
                Some(clean) => sink.decimal(&clean.text, clean.text.parse().unwrap_or(0.0)),
                None => sink.null(),
            },
            Event::Int(span) => {
                return number(unsigned(span.of(self.text)), sink);
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
            Event::EscapedKey(span) => unescaped(span.of(self.text)),
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

/// The answer that is expected.
#[derive(Debug, Clone, Copy)]
pub struct AnswerOf<T> {
    /// The type is that of a list, which may be wrapped in an object.
    pub list: bool,
    /// The type, and by which rules it is checked; `None` for any.
    pub of: Option<(T, Rules)>,
}

/// Builds the value of a repaired text; `exact`: its numbers keep their digits, see [`PartialValue::new`]. Where it is an `answer`, it is judged, and the hyphens of its keys become
/// underscores. Returns the value and whether it is valid; if it is not, only Elixir can decide.
pub fn judged_value<H: Values>(
    (heap, meter): (&mut H, &mut Meter),
    repaired: &Repaired,
    answer: Option<AnswerOf<H::Term>>,
    exact: bool,
) -> Result<(H::Term, bool), Refusal> {
    let (whole, hyphens) = build(heap, repaired, (false, exact), meter)?;
    let Some(AnswerOf { list, of }) = answer else {
        return Ok((whole, true));
    };
    let value = object_or_list(heap, whole, list).map_err(|_| Refusal::NoReading)?;
    let verdict = match of {
        None => Verdict::Right,
        Some((of, rules)) => Judge {
            heap: &mut *heap,
            value,
            rules,
            report: Report::Nothing,
            meter: &mut *meter,
        }
        .whole(of),
    };
    match verdict {
        Verdict::Right if hyphens => {
            let words = meter.limits.words;
            // The first value is dropped.
            meter.limits.words = words.saturating_add(heap.words_built());
            let built = build(heap, repaired, (true, exact), meter);
            meter.limits.words = words;
            let (whole, repeated) = built?;
            match repeated {
                // Two keys of an object became equal.
                true => Ok((value, false)),
                false => Ok((object_or_list(heap, whole, list).unwrap_or(value), true)),
            }
        }
        Verdict::Right => Ok((value, true)),
        Verdict::Busy if meter.pace() != Pace::Quantum => Err(Stop::SliceOver.into()),
        Verdict::Stopped(stop) => Err(stop.into()),
        Verdict::Busy | Verdict::Wrong(_) | Verdict::Undecided | Verdict::Left(..) => {
            Ok((value, false))
        }
    }
}

/// Builds the value. The flag reports whether a key has a hyphen or, if hyphens become underscores, whether
/// two keys of an object became equal.
fn build<H: Values>(
    heap: &mut H,
    repaired: &Repaired,
    (underscored, exact): (bool, bool),
    meter: &mut Meter,
) -> Result<(H::Term, bool), Stop> {
    let work = Workspace::in_one_go(heap, meter);
    let mut builder = match underscored {
        true => TermBuilder::underscored(work),
        false => TermBuilder::resume(work, PartialValue::new(exact)),
    };
    repaired.replay(&mut builder)?;
    let remark = match underscored {
        true => builder.has_repeated(),
        false => builder.has_hyphens(),
    };
    Ok((builder.finish(), remark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::{repair, Wanted};
    use ptc_term::meter::Limits;
    use ptc_term::plain::PlainHeap;
    use ptc_type::plain::heap_of_types;
    use ptc_type::{parse, AnswerType, TypeTerms};

    /// The value, and whether it is valid.
    fn judged(signature: &str, list: bool, text: &str) -> Result<(String, bool), Refusal> {
        let signature = parse(signature.as_bytes()).unwrap();
        let mut heap = heap_of_types();
        let atoms = heap.type_atoms();
        let of = TypeTerms::of(&mut heap, &atoms, &signature.types).term(signature.returns);
        let mut wanted = Wanted::new(AnswerType::new(signature.types, signature.returns, list));
        wanted.hyphens = true;
        let mut meter = Meter::new(Limits::UNLIMITED, Pace::Quantum);
        let repaired = repair(text.as_bytes(), &wanted, &mut meter, &PlainHeap::new())?;
        let of = Some((of, Rules::NEWEST));
        let answer = Some(AnswerOf { list, of });
        let judged = judged_value((&mut heap, &mut meter), &repaired, answer, false)?;
        Ok((heap.show(judged.0), judged.1))
    }

    #[test]
    fn a_value_of_the_type_is_valid() {
        let value = judged("{a :int}", false, "{'a': 1,}").unwrap();
        assert_eq!(value, (r#"%{"a" => 1}"#.to_string(), true));
    }

    #[test]
    fn hyphens_become_underscores_unless_keys_become_equal() {
        let value = judged("{a_b :int}", false, "{'a-b': 1}").unwrap();
        assert_eq!(value, (r#"%{"a_b" => 1}"#.to_string(), true));
        let (_, valid) = judged("{a_b :int}", false, "{'a-b': 1, 'a_b': 1}").unwrap();
        assert!(!valid);
    }

    #[test]
    fn a_list_may_be_wrapped_in_an_object() {
        let value = judged("[:int]", true, "{'items': [1, 2]}").unwrap();
        assert_eq!(value, ("[1, 2]".to_string(), true));
    }

    #[test]
    fn dates_are_left_to_elixir() {
        let (_, valid) = judged("{at :datetime}", false, "{'at': '2024-01-01T00:00:00Z'}").unwrap();
        assert!(!valid);
    }
}
