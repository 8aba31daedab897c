//! What the readings of a text have found: a tree of events, in which a reading is the way from a
//! leaf to the root. Readings share what they have in common.

use super::fault::Fault;

/// A place in a [`Log`].
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
    /// The bytes.
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// A part of a value, or a repair on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as JSON has it.
    Number(Span),
    /// A number that is to be cleaned: `1.`, `.5`, `1,234`, `1_000`.
    Loose(Span),
    /// An integer that stood in a string.
    Int(Span),
    /// A float that stood in a string.
    Float(Span),
    /// A string without escapes.
    Plain(Span),
    /// A string whose escapes are to be undone, the wrong ones too.
    Escaped(Span),
    /// A key without escapes.
    Key(Span),
    /// A key whose escapes are to be undone.
    EscapedKey(Span),
    /// A declared field, by map and index, in place of a key.
    Field(u32, u32),
    /// `{` or `[`
    Open(bool),
    /// `}` or `]`
    Close(bool),
    /// JSON that stood in a string, by its number.
    Inner(u32),
    /// Something that was repaired.
    Repair(Fault, Span),
    /// Another value was as likely here.
    Unsure(u32),
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

/// A comparison of two readings looks at no more events than this.
const COMPARED: usize = 2048;

impl Log {
    /// An empty log with room for the events of a text of this length.
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

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The last event of a reading.
    pub fn last(&self, leaf: NodeId) -> Option<Event> {
        self.nodes.get(leaf as usize).map(|node| node.event)
    }

    /// The events of a reading, in order.
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

    /// Whether two readings have found the same value so far; if not, false.
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
                Some(node) if matches!(node.event, Event::Repair(..)) => Some(node.before),
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
