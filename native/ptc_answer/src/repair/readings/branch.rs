//! One reading of the text so far: its offset, what is open, its cost.

use crate::repair::readings::log::NodeId;
use ptc_json::grammar::Place;
use ptc_type::TypeId;

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

/// The kind of quotes that end a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// `"`
    Double,
    /// `'` or a backtick
    Single(u8),
    /// `“` and the like
    Smart,
    /// `‘` and the like
    SmartSingle,
    /// `"""` or `'''`
    Triple(u8),
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
