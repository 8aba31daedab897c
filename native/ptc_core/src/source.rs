//! What the compiler asks of a program: the same questions to a JSON document and to terms.

use crate::json::{Document, Entry};
use crate::stop::Stop;

/// What a part of a program is, as far as checks can tell parts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A map that is no struct.
    Map,
    /// A struct: a map to Elixir, but no operation.
    Struct,
    /// A proper list.
    List,
    /// A binary.
    String,
    /// An integer of any size.
    Integer {
        /// Whether it is below zero.
        negative: bool,
    },
    /// A float.
    Float,
    /// `nil`
    Null,
    /// Anything else.
    Other,
}

/// The bytes of a part from which on a look at all of it counts.
pub const LONG: usize = 256;

/// A program before it is compiled.
pub trait Source {
    /// A part of the program.
    type Node: Copy;

    /// Whether two parts are one and the same. Equal parts that stand side by side may be taken for one.
    fn same(&self, a: Self::Node, b: Self::Node) -> bool;
    /// What the part is.
    fn shape(&self, node: Self::Node) -> Shape;
    /// Whether it is a string or an integer of more than [`LONG`] bytes.
    fn is_long(&self, node: Self::Node) -> bool;
    /// Whether other terms stand inside the part.
    fn has_parts(&self, node: Self::Node) -> bool;
    /// Whether it is a map that is no struct.
    fn is_map(&self, node: Self::Node) -> bool;
    /// The value at a string key of a map; the first one in a text that repeats the key.
    fn field(&self, node: Self::Node, name: &'static str) -> Option<Self::Node>;
    /// The content of a string.
    fn text(&self, node: Self::Node) -> Option<&[u8]>;
    /// How many entries a map has; quick, unlike [`Source::entries`].
    fn size(&self, node: Self::Node) -> usize;
    /// Why what was said since this was last asked does not count, if a list was too long to be
    /// looked at in one go.
    fn take_stop(&self) -> Option<Stop> {
        None
    }
    /// How many parts were looked at, other than one by one, since this was last asked.
    fn take_uncounted(&self) -> usize {
        0
    }
    /// The elements of a list.
    fn elements(&self, node: Self::Node) -> Vec<Self::Node>;
    /// The entries of a map, each key once, in ascending term order of the keys.
    fn entries(&self, node: Self::Node) -> Vec<(Self::Node, Self::Node)>;
}

impl Source for Document<'_> {
    type Node = u32;

    fn same(&self, a: u32, b: u32) -> bool {
        a == b
    }

    fn shape(&self, node: u32) -> Shape {
        match self.entry(node) {
            Entry::Object(..) => Shape::Map,
            Entry::List(..) => Shape::List,
            Entry::Str(..) | Entry::Unescaped(..) => Shape::String,
            Entry::Int(value) => Shape::Integer {
                negative: value < 0,
            },
            entry @ Entry::BigInt(..) => Shape::Integer {
                negative: self.bytes(entry).is_some_and(|text| text[0] == b'-'),
            },
            Entry::Float(_) => Shape::Float,
            Entry::Null => Shape::Null,
            Entry::Bool(_) => Shape::Other,
        }
    }

    fn is_long(&self, node: u32) -> bool {
        match self.entry(node) {
            entry @ (Entry::Str(..) | Entry::Unescaped(..) | Entry::BigInt(..)) => {
                self.bytes(entry).is_some_and(|bytes| bytes.len() > LONG)
            }
            _ => false,
        }
    }

    fn has_parts(&self, node: u32) -> bool {
        matches!(self.entry(node), Entry::Object(..) | Entry::List(..))
    }

    fn is_map(&self, node: u32) -> bool {
        matches!(self.entry(node), Entry::Object(..))
    }

    fn field(&self, node: u32, name: &'static str) -> Option<u32> {
        Document::field(self, node, name.as_bytes())
    }

    fn text(&self, node: u32) -> Option<&[u8]> {
        match self.entry(node) {
            entry @ (Entry::Str(..) | Entry::Unescaped(..)) => self.bytes(entry),
            _ => None,
        }
    }

    fn size(&self, node: u32) -> usize {
        match self.entry(node) {
            Entry::Object(_, count) => count as usize,
            _ => 0,
        }
    }

    fn elements(&self, node: u32) -> Vec<u32> {
        Document::elements(self, node).collect()
    }

    fn entries(&self, node: u32) -> Vec<(u32, u32)> {
        let mut pairs: Vec<_> = self.pairs(node).collect();
        pairs.sort_by_key(|(key, _)| self.bytes(self.entry(*key)));
        pairs.dedup_by_key(|(key, _)| self.bytes(self.entry(*key)));
        pairs
    }
}
