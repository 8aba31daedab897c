//! One reading of the text so far, the events of all of them, and whether two have read the same.
//!
//! The events are a tree: a reading is the path from a leaf to the root. Readings share their common events.

use crate::repair::policy::Fault;
use crate::repair::text::{clean_number, unescaped, Quote};
use ptc_json::grammar::{Place, Word};
use ptc_type::{TypeId, Types};
use std::borrow::Cow;

/// The kind of an open value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bracket {
    /// The whole value: nothing is open.
    Top,
    /// `{`
    Object,
    /// `[`
    Array,
    /// A list without brackets around its only element.
    One,
}

/// An open object or list.
#[derive(Debug, Clone, Copy)]
pub struct BranchFrame {
    /// The declared fields found so far, a bit for each of the first 64.
    pub seen: u64,
    /// The fields of `seen` that were found in another spelling.
    pub spelled: u64,
    /// Hash of the surrounding frames.
    pub outer: u64,
    /// Index of the surrounding frame.
    pub parent: u32,
    /// The type of an object; for a list, the type of its elements.
    pub ty: TypeId,
    /// Number of surrounding frames.
    pub depth: u32,
    /// The field that is probably next.
    pub hint: u32,
    /// Its kind.
    pub kind: Bracket,
}

impl BranchFrame {
    /// Returns whether it is an object (true) or a list; `None` if it has no brackets.
    pub fn inside(&self) -> Option<bool> {
        match self.kind {
            Bracket::Object => Some(true),
            Bracket::Array => Some(false),
            Bracket::Top | Bracket::One => None,
        }
    }

    /// Returns a hash that is equal for frames with equal contents and equal surrounding frames.
    pub fn hash(&self) -> u64 {
        let mix = |hash: u64, part: u64| (hash ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = mix(mix(self.outer.rotate_left(23), self.seen), self.spelled);
        mix(hash, u64::from(self.ty.0) << 8 | self.kind as u64)
    }
}

/// What the reading expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The first element of a list, or its end.
    First,
    /// An element, after a comma.
    Item,
    /// The value of a field, or the whole value.
    Member,
    /// The first key of an object, or its end.
    FirstKey,
    /// A key, after a comma.
    NextKey,
    /// A colon.
    Colon,
    /// A comma, or the end of the open object or list.
    After,
    /// The rest of a string.
    Within,
    /// Nothing: the value is complete.
    Done,
}

impl Phase {
    /// Returns the place in the grammar; `None` within a string and at the end.
    pub fn place(self) -> Option<Place> {
        Some(match self {
            Phase::Item | Phase::Member => Place::Value,
            Phase::First | Phase::FirstKey => Place::First,
            Phase::NextKey => Place::Key,
            Phase::Colon => Place::Colon,
            Phase::After => Place::After,
            Phase::Within | Phase::Done => return None,
        })
    }
}

/// A string whose end has not been found yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The offset after the opening quote.
    pub start: u32,
    /// The quote that opened it.
    pub quote: Quote,
    /// Whether it is a key.
    pub key: bool,
    /// Whether it has escapes.
    pub escapes: bool,
    /// Number of unescaped quotes inside it.
    pub inner: u8,
    /// Number of unescaped line breaks and tabs inside it.
    pub breaks: u8,
}

impl Token {
    /// No string.
    pub const NONE: Token = Token {
        start: 0,
        quote: Quote::Double,
        key: false,
        escapes: false,
        inner: 0,
        breaks: 0,
    };
}

/// A reading: one candidate interpretation of the text so far.
#[derive(Debug, Clone, Copy)]
pub struct Branch {
    /// Its current offset.
    pub at: u32,
    /// The total cost of its repairs.
    pub cost: u32,
    /// The number of its values that break a rule of their type.
    pub broken: u32,
    /// The faults that it repaired, a bit for each.
    pub faults: u64,
    /// Its last event in the log.
    pub node: NodeId,
    /// The type of the next value.
    pub ty: TypeId,
    /// Number of insertions at the current offset.
    pub still: u32,
    /// What it expects next.
    pub phase: Phase,
    /// The innermost open object or list.
    pub top: BranchFrame,
    /// The string that it is in.
    pub token: Token,
}

impl Branch {
    /// The bit of `faults` of a reading that is not kept.
    const REFUSED: u64 = 1 << 63;

    /// Marks the reading as one that is not kept.
    pub fn refuse(&mut self) {
        self.faults |= Branch::REFUSED;
    }

    /// Returns whether the reading is not kept.
    pub fn is_refused(&self) -> bool {
        self.faults & Branch::REFUSED != 0
    }

    /// Moves to the next key or element.
    pub fn expect_entry(&mut self) {
        match self.top.kind {
            Bracket::Object => self.phase = Phase::NextKey,
            _ => (self.phase, self.ty) = (Phase::Item, self.top.ty),
        }
    }

    /// Returns whether both readings continue in the same way, whatever text follows.
    pub fn same_state(&self, other: &Branch) -> bool {
        self.at == other.at
            && self.phase == other.phase
            && self.ty == other.ty
            && self.top.hash() == other.top.hash()
            && (self.phase != Phase::Within
                || (self.token.start, self.token.key) == (other.token.start, other.token.key))
    }
}

/// Maximum number of strings before a fault that are examined again.
const LOOK_BACK: usize = 6;

/// The last strings of a reading, each with the state of the reading before it.
#[derive(Debug)]
pub(in crate::repair) struct Recent {
    strings: [Option<Branch>; LOOK_BACK],
    next: usize,
}

impl Recent {
    pub fn new() -> Self {
        Recent {
            strings: [None; LOOK_BACK],
            next: 0,
        }
    }

    pub fn add(&mut self, branch: &Branch) {
        self.strings[self.next] = Some(*branch);
        self.next = (self.next + 1) % LOOK_BACK;
    }

    /// Oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Branch> {
        let (late, early) = self.strings.split_at(self.next);
        early.iter().chain(late).flatten()
    }
}

/// Index of an event in a [`Log`].
pub type NodeId = u32;

/// Before the first event.
pub const ROOT: NodeId = u32::MAX;

/// A range of the text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

impl Span {
    /// Creates a range.
    pub fn new(start: usize, end: usize) -> Self {
        let (start, end) = (start as u32, end as u32);
        Span { start, end }
    }

    /// Returns the bytes.
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// A part of a value, or a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A valid JSON number.
    Number(Span),
    /// A number that must be cleaned: `1.`, `.5`, `1,234`, `1_000`.
    Loose(Span),
    /// An integer written as a string.
    Int(Span),
    /// A float written as a string.
    Float(Span),
    /// A string without escapes.
    Plain(Span),
    /// A string whose escapes must be decoded, invalid ones included.
    Escaped(Span),
    /// A key without escapes.
    Key(Span),
    /// A key whose escapes must be decoded.
    EscapedKey(Span),
    /// A declared field, by its index, instead of a key.
    Field(u32),
    /// `{` or `[`
    Open(bool),
    /// `}` or `]`
    Close(bool),
    /// JSON inside a string, by its number.
    Inner(u32),
    /// A repair.
    Repair(Fault, Span),
    /// Another value was equally likely at this offset.
    Unsure(u32),
    /// At this offset the text ends before the value is complete, unless more of it is read. `inside`: in
    /// a string or a word.
    Cut {
        /// The offset.
        at: u32,
        /// Whether it is inside a string or a word.
        inside: bool,
    },
}

impl Event {
    /// A string.
    pub fn string(span: Span, escapes: bool) -> Event {
        match escapes {
            true => Event::Escaped(span),
            false => Event::Plain(span),
        }
    }

    /// A key.
    pub fn key(span: Span, escapes: bool) -> Event {
        match escapes {
            true => Event::EscapedKey(span),
            false => Event::Key(span),
        }
    }

    /// The value that a word is.
    pub fn word(word: Word) -> Event {
        match word {
            Word::True => Event::Bool(true),
            Word::False => Event::Bool(false),
            Word::Null => Event::Null,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    before: NodeId,
    event: Event,
}

/// The events of all readings.
#[derive(Debug)]
pub struct Log {
    nodes: Vec<Node>,
}

/// Maximum number of events that a comparison of two readings examines.
const COMPARED: usize = 2048;

/// Maximum number of remarks between the end of a text and its last token.
const REMARKS: usize = 16;

impl Log {
    /// Creates an empty log with capacity for the events of a text of this length.
    pub fn for_text(length: usize) -> Self {
        Log {
            nodes: Vec::with_capacity(16 + length / 6),
        }
    }

    /// Adds an event to a reading.
    #[inline]
    pub fn add(&mut self, before: NodeId, event: Event) -> NodeId {
        self.nodes.push(Node { before, event });
        self.nodes.len() as NodeId - 1
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the last event of a reading.
    pub fn last(&self, leaf: NodeId) -> Option<Event> {
        self.nodes.get(leaf as usize).map(|node| node.event)
    }

    /// Returns the last event of a reading that is not a remark; none behind more than [`REMARKS`] remarks.
    pub fn last_token(&self, leaf: NodeId) -> Option<Event> {
        let mut at = leaf;
        for _ in 0..REMARKS {
            let node = self.nodes.get(at as usize)?;
            match node.event {
                Event::Repair(..) | Event::Cut { .. } | Event::Unsure(_) => at = node.before,
                event => return Some(event),
            }
        }
        None
    }

    /// Returns the events of a reading, in order.
    pub fn events(&self, leaf: NodeId) -> Vec<Event> {
        let mut events = Vec::with_capacity(self.nodes.len());
        let mut at = leaf;
        while let Some(node) = self.nodes.get(at as usize) {
            events.push(node.event);
            at = node.before;
        }
        events.reverse();
        events
    }

    /// Returns whether two readings have found the same value so far; false if the comparison is too
    /// long.
    pub fn same_value(
        &self,
        mut a: NodeId,
        mut b: NodeId,
        equal: impl Fn(Event, Event) -> bool,
    ) -> bool {
        let mut steps = 0;
        while a != b {
            steps += 1;
            if steps > COMPARED {
                return false;
            }
            let (a_node, b_node) = (self.nodes.get(a as usize), self.nodes.get(b as usize));
            let remark = |node: Option<&Node>| match node {
                Some(node) if matches!(node.event, Event::Repair(..) | Event::Cut { .. }) => {
                    Some(node.before)
                }
                _ => None,
            };
            if let Some(before) = remark(a_node) {
                a = before;
            } else if let Some(before) = remark(b_node) {
                b = before;
            } else {
                match (a_node, b_node) {
                    (Some(x), Some(y)) if equal(x.event, y.event) => (a, b) = (x.before, y.before),
                    _ => return false,
                }
            }
        }
        true
    }
}

/// Returns whether two events belong to the same value.
pub fn equal_events(text: &[u8], types: &Types, inner: &[Vec<u8>], a: Event, b: Event) -> bool {
    if a == b {
        return true;
    }
    if let (Some(a), Some(b)) = (text_of(text, a), text_of(text, b)) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (key_of(text, types, a), key_of(text, types, b)) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (number_of(text, a), number_of(text, b)) {
        return a == b;
    }
    match (a, b) {
        (Event::Inner(a), Event::Inner(b)) => inner[a as usize] == inner[b as usize],
        _ => false,
    }
}

fn content(text: &[u8], span: Span, escapes: bool) -> Cow<'_, [u8]> {
    match escapes {
        true => Cow::Owned(unescaped(span.of(text))),
        false => Cow::Borrowed(span.of(text)),
    }
}

fn text_of(text: &[u8], event: Event) -> Option<Cow<'_, [u8]>> {
    match event {
        Event::Plain(span) => Some(content(text, span, false)),
        Event::Escaped(span) => Some(content(text, span, true)),
        _ => None,
    }
}

fn key_of<'k>(text: &'k [u8], types: &'k Types, event: Event) -> Option<Cow<'k, [u8]>> {
    match event {
        Event::Key(span) => Some(content(text, span, false)),
        Event::EscapedKey(span) => Some(content(text, span, true)),
        Event::Field(index) => Some(Cow::Borrowed(types.field(index as usize).name)),
        _ => None,
    }
}

fn number_of(text: &[u8], event: Event) -> Option<String> {
    match event {
        Event::Number(span) => Some(String::from_utf8_lossy(span.of(text)).into_owned()),
        Event::Int(span) | Event::Float(span) | Event::Loose(span) => {
            Some(clean_number(span.of(text), true)?.text)
        }
        _ => None,
    }
}
