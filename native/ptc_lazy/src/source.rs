//! The values of one text.

use ptc_index::{Content, Index, Largest, Node, Tree};
use ptc_json::grammar::number;
use ptc_json::number_of;
use ptc_term::heap::Kind;
use ptc_term::number::Number;
use std::ops::Range;

/// A text with its index.
#[derive(Clone, Copy)]
pub struct Source<'t> {
    tree: Tree<'t>,
}

/// Bytes of a text that are indexed between two looks at the clock, and the fuel for them.
pub const STEP: usize = 64 * 1024;
/// See [`STEP`].
pub const FUEL_OF_STEP: usize = 4_096;

/// Maximum number of members of an object that is read in place.
const MOST_MEMBERS: usize = 1_000;
/// Maximum number of bytes of a string that is read in place, with the white space behind it.
const LONGEST: usize = 65_536;
/// Maximum number of bytes of a number that is read in place, with the white space behind it.
const LONGEST_NUMBER: usize = 128;

/// Returns whether a text can be read in place. What a program reads of a text is found in constant time, or in a time that is
/// counted before. A few texts have values for which that is not so: numbers of thousands of digits, strings of many
/// kilobytes, and objects with so many members that they must be searched by their keys. Such a text is decoded instead.
pub fn fits(index: &Index) -> bool {
    let Largest {
        token,
        number,
        members,
    } = index.largest();
    token <= LONGEST && number <= LONGEST_NUMBER && members <= MOST_MEMBERS
}

/// What the first byte of a value says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Null,
    Bool(bool),
    /// A number, a string, a list or a map.
    Other(Kind),
}

impl<'t> Source<'t> {
    /// `index` must be that of the text.
    pub fn new(text: &'t [u8], index: &'t Index) -> Self {
        Source {
            tree: Tree::new(text, index),
        }
    }

    /// Returns the offset of the whole value.
    pub fn root(&self) -> Node {
        self.tree.root()
    }

    #[inline]
    pub(crate) fn tree(&self) -> Tree<'t> {
        self.tree
    }

    #[inline]
    fn byte(&self, at: Node) -> u8 {
        self.tree
            .text()
            .get(at as usize)
            .copied()
            .unwrap_or_default()
    }

    #[inline]
    pub(crate) fn shape(&self, at: Node) -> Shape {
        match self.byte(at) {
            b'{' => Shape::Other(Kind::Map),
            b'[' => Shape::Other(Kind::List),
            b'"' => Shape::Other(Kind::String),
            b'n' => Shape::Null,
            b't' => Shape::Bool(true),
            b'f' => Shape::Bool(false),
            _ => Shape::Other(Kind::Number),
        }
    }

    #[inline]
    pub(crate) fn number(&self, at: Node) -> Option<Number> {
        let text = self.tree.text();
        let (end, is_integer) = number(text, at as usize)?;
        number_of(text.get(at as usize..end)?, is_integer)
    }

    #[inline]
    pub(crate) fn content(&self, at: Node) -> Content {
        self.tree.content(at)
    }

    #[inline]
    pub(crate) fn bytes(&self, range: Range<usize>) -> &'t [u8] {
        self.tree.text().get(range).unwrap_or_default()
    }

    /// Decodes a string with escapes.
    pub(crate) fn unescaped(&self, content: &Content) -> Vec<u8> {
        let Range { start, end } = content.range;
        let mut out = Vec::with_capacity(end - start);
        let mut at = start;
        while at < end {
            at = self.tree.decode(at, end, end - at, &mut out);
        }
        out
    }

    /// The text of a value, with its quotes or brackets.
    pub(crate) fn raw(&self, at: Node) -> &'t [u8] {
        self.tree.raw(at)
    }

    /// The keys and the values of an object, in the order of the text, with repeated keys.
    pub(crate) fn members(&self, object: Node) -> impl Iterator<Item = (Node, Node)> + '_ {
        let mut next = match self.byte(object) {
            b'{' => self.tree.first_child(object),
            _ => None,
        };
        std::iter::from_fn(move || {
            let key = next?;
            let value = self.tree.value(key);
            next = self.tree.next_sibling(value);
            Some((key, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_index::Indexer;

    fn is_read_in_place(text: &str) -> bool {
        let mut indexer = Indexer::new(text.len(), 100_000).unwrap();
        let index = indexer.step(text.as_bytes(), usize::MAX).unwrap();
        fits(&index.unwrap())
    }

    #[test]
    fn ordinary_texts_are_read_in_place() {
        for text in ["1", "[]", "{}", r#"{"a":[1,{"b":null}]}"#] {
            assert!(is_read_in_place(text), "{text}");
        }
        assert!(is_read_in_place(&format!(
            "[{}0]",
            r#"{"a":1},"#.repeat(5_000)
        )));
        assert!(is_read_in_place(&format!(
            "{}{}",
            "[".repeat(900),
            "]".repeat(900)
        )));
    }

    #[test]
    fn long_and_wide_values_are_not() {
        let members = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!("\"{n}\":[]")).collect();
            format!("[1,{{{}}}]", members.join(","))
        };
        assert!(is_read_in_place(&members(MOST_MEMBERS)));
        assert!(!is_read_in_place(&members(MOST_MEMBERS + 1)));
        assert!(!is_read_in_place(&format!("[{:?}]", "x".repeat(LONGEST))));
        assert!(!is_read_in_place(&format!(
            "[{}]",
            "1".repeat(LONGEST_NUMBER + 1)
        )));
    }
}
