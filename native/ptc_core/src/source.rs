//! The compiler's interface to a program, which is a JSON document or a term.

use crate::json::{Document, Entry};
use crate::stop::Stop;

/// The shape of a part of a program, as far as checks distinguish shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A map that is not a struct.
    Map,
    /// A struct: a map in Elixir, but not an operation.
    Struct,
    /// A proper list.
    List,
    /// A binary.
    String,
    /// An integer of any size.
    Integer {
        /// Whether it is negative.
        negative: bool,
    },
    /// A float.
    Float,
    /// `nil`
    Null,
    /// Anything else.
    Other,
}

/// Minimum size in bytes of a part whose reading is counted.
pub const LONG: usize = 256;

/// A program before it is compiled.
pub trait Source {
    /// A part of the program.
    type Node: Copy;

    /// Returns the part with this index among those that a suspended walk has kept.
    fn kept(&self, index: usize) -> Self::Node;
    /// Returns whether two handles are the same part. Adjacent equal parts may count as the same.
    fn same(&self, a: Self::Node, b: Self::Node) -> bool;
    /// Returns the shape of the part.
    fn shape(&self, node: Self::Node) -> Shape;
    /// Returns whether it is a string or an integer of more than [`LONG`] bytes.
    fn is_long(&self, node: Self::Node) -> bool;
    /// Returns whether the part contains other terms.
    fn has_parts(&self, node: Self::Node) -> bool;
    /// Returns whether it is a map that is not a struct.
    fn is_map(&self, node: Self::Node) -> bool;
    /// Returns the value at a string key of a map; the first one if a text repeats the key.
    fn field(&self, node: Self::Node, name: &'static str) -> Option<Self::Node>;
    /// Returns the content of a string.
    fn text(&self, node: Self::Node) -> Option<&[u8]>;
    /// Returns the number of entries of a map; quick, unlike [`Source::entries`].
    fn size(&self, node: Self::Node) -> usize;
    /// Returns why the answers since the last call are invalid, if a list was too long to read in one
    /// call.
    fn take_stop(&self) -> Option<Stop> {
        None
    }
    /// Returns how many parts were read since the last call by other methods than one by one.
    fn take_uncounted(&self) -> usize {
        0
    }
    /// Returns the elements of a list.
    fn elements(&self, node: Self::Node) -> Vec<Self::Node>;
    /// Returns the entries of a map, each key once, in ascending term order of the keys.
    fn entries(&self, node: Self::Node) -> Vec<(Self::Node, Self::Node)>;
}

impl Source for Document<'_> {
    type Node = u32;

    /// The handles are indices already.
    fn kept(&self, index: usize) -> u32 {
        index as u32
    }

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
