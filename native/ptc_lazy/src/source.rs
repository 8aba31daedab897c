//! The values of one text.

use ptc_index::{Content, Index, Node, Tree};
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
