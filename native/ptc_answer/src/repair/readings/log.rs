//! The events of all readings, as a tree: a reading is the path from a leaf to the root. Readings share
//! their common events.

use crate::repair::policy::fault::Fault;

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
