//! One way to read the text so far: where it stands, what is open, what it has cost.

use super::log::NodeId;
use super::wanted::Ty;

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: the value is the whole.
    Top,
    /// `{`
    Object,
    /// `[`
    Array,
    /// A list whose brackets are not there, around its only element.
    One,
}

/// Something open.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// The declared fields that have come, a bit for each of the first 64.
    pub seen: u64,
    /// Stands for all that is open around it.
    pub outer: u64,
    /// Where what is open around it is kept.
    pub parent: u32,
    /// The type of an object; of a list, that of its elements.
    pub ty: Ty,
    /// How many are open around it.
    pub depth: u32,
    /// The field that probably comes next.
    pub hint: u32,
    /// What it is.
    pub kind: Kind,
}

impl Frame {
    /// Equal for frames around which the same is open, with the same contents.
    pub fn hash(&self) -> u64 {
        let mix = |hash: u64, part: u64| (hash ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = mix(self.outer.rotate_left(23), self.seen);
        mix(hash, u64::from(self.ty) << 8 | self.kind as u64)
    }
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The first element of a list, or its end.
    First,
    /// An element, after a comma.
    Item,
    /// The value of a field, or the whole.
    Member,
    /// The first key of an object, or its end.
    FirstKey,
    /// A key, after a comma.
    NextKey,
    /// A colon.
    Colon,
    /// A comma, or the end of what is open.
    After,
    /// The rest of a string.
    Within,
    /// Nothing.
    Done,
}

/// Which quotes end a string.
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

/// A string whose end is being looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The offset after the opening quote.
    pub start: u32,
    /// What opened it.
    pub quote: Quote,
    /// It is a key.
    pub key: bool,
    /// It has escapes.
    pub escapes: bool,
    /// How many quotes it has inside that are not escaped.
    pub inner: u8,
    /// How many line breaks and tabs it has inside that are not escaped.
    pub breaks: u8,
}

impl Token {
    /// None.
    pub const NONE: Token = Token {
        start: 0,
        quote: Quote::Double,
        key: false,
        escapes: false,
        inner: 0,
        breaks: 0,
    };
}

/// A reading.
#[derive(Debug, Clone, Copy)]
pub struct Branch {
    /// Where it goes on.
    pub at: u32,
    /// What its repairs cost.
    pub cost: u32,
    /// The kinds of its repairs, a bit for each.
    pub faults: u64,
    /// Its last event.
    pub node: NodeId,
    /// The type of the next value.
    pub ty: Ty,
    /// How many times something was put in where the text stands now.
    pub still: u32,
    /// What comes next.
    pub phase: Phase,
    /// What is open.
    pub top: Frame,
    /// The string it is in.
    pub token: Token,
}

impl Branch {
    /// Whether both will go on the same way, whatever the text holds.
    pub fn same_state(&self, other: &Branch) -> bool {
        self.at == other.at
            && self.phase == other.phase
            && self.ty == other.ty
            && self.top.hash() == other.top.hash()
            && (self.phase != Phase::Within
                || (self.token.start, self.token.key) == (other.token.start, other.token.key))
    }
}
