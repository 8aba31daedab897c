//! Forms: what a text consists of, in an arena.

use super::names::SymbolId;
use crate::ast::{LocalId, Span};
use num_bigint::BigInt;
use std::borrow::Cow;

/// An index into the nodes of [`Forms`].
pub type FormId = u32;

/// A part of the children of [`Forms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Items {
    /// The first one.
    pub start: u32,
    /// Their number.
    pub len: u32,
}

impl Items {
    /// Returns these items without the first `count`.
    pub fn skip(self, count: u32) -> Items {
        let count = count.min(self.len);
        Items {
            start: self.start + count,
            len: self.len - count,
        }
    }

    /// Returns the first `count` of these items.
    pub fn take(self, count: u32) -> Items {
        Items {
            start: self.start,
            len: self.len.min(count),
        }
    }
}

/// A form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// `nil`
    Nil,
    /// `true`, `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A larger integer: an index into [`Forms::large`].
    Large(u32),
    /// A float.
    Float(f64),
    /// `##Inf`
    Infinity,
    /// `##-Inf`
    NegativeInfinity,
    /// `##NaN`
    NaN,
    /// A string or a character: an index into [`Forms::texts`].
    Text(u32),
    /// A regular expression: an index into [`Forms::texts`].
    Regex(u32),
    /// A keyword.
    Keyword(SymbolId),
    /// A symbol, qualified or not.
    Symbol(SymbolId),
    /// A quoted symbol.
    Quoted(SymbolId),
    /// `*1`, `*2`, `*3`
    History(u8),
    /// `( … )`
    List(Items),
    /// `[ … ]`
    Vector(Items),
    /// `{ … }`: keys and values in turn.
    Map(Items),
    /// `#{ … }`
    Set(Items),
    /// `#( … )`
    Short(Items),
    /// A value that the analysis has bound to a local without a name.
    Bound(LocalId),
    /// A symbol that means no special form at the head of a list.
    Plain(SymbolId),
}

/// A form and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// The form.
    pub form: Form,
    /// Where it stands.
    pub span: Span,
}

/// The forms of one or several texts.
#[derive(Debug, Default)]
pub struct Forms<'t> {
    nodes: Vec<Node>,
    children: Vec<FormId>,
    /// Strings, after their escapes.
    pub texts: Vec<Cow<'t, str>>,
    /// Integers of more than 64 bits.
    pub large: Vec<BigInt>,
}

impl<'t> Forms<'t> {
    /// Forgets all forms; their memory stays, for texts that live otherwise.
    pub fn emptied<'u>(mut self) -> Forms<'u> {
        self.nodes.clear();
        self.children.clear();
        self.large.clear();
        self.texts.clear();
        Forms {
            nodes: self.nodes,
            children: self.children,
            // The memory of no element is that of as many others.
            texts: (self.texts.into_iter())
                .map(|text| Cow::Owned(text.into_owned()))
                .collect(),
            large: self.large,
        }
    }

    /// Makes room for a text of this many bytes.
    pub fn reserve(&mut self, bytes: usize) {
        let nodes = (bytes / 4).clamp(16, 1 << 16);
        self.nodes.reserve(nodes);
        self.children.reserve(nodes);
    }

    /// Returns the words of memory that they have.
    pub fn room(&self) -> usize {
        let texts = 3 * self.texts.capacity() + 4 * self.large.capacity();
        4 * self.nodes.capacity() + self.children.capacity() / 2 + texts
    }

    /// Returns the number of forms.
    pub fn len(&self) -> FormId {
        self.nodes.len() as FormId
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns a form.
    #[inline]
    pub fn form(&self, id: FormId) -> Form {
        self.nodes[id as usize].form
    }

    /// Returns where a form stands.
    #[inline]
    pub fn span(&self, id: FormId) -> Span {
        self.nodes[id as usize].span
    }

    /// Adds a form.
    #[inline]
    pub fn add(&mut self, form: Form, span: Span) -> FormId {
        self.nodes.push(Node { form, span });
        (self.nodes.len() - 1) as FormId
    }

    /// Returns a child.
    #[inline]
    pub fn child(&self, items: Items, index: u32) -> FormId {
        self.children[(items.start + index) as usize]
    }

    /// Returns all children.
    #[inline]
    pub fn children(&self, items: Items) -> &[FormId] {
        &self.children[items.start as usize..(items.start + items.len) as usize]
    }

    /// Adds children.
    pub fn keep(&mut self, children: impl Iterator<Item = FormId>) -> Items {
        let start = self.children.len() as u32;
        self.children.extend(children);
        Items {
            start,
            len: self.children.len() as u32 - start,
        }
    }

    /// Adds a list with a value behind the first `place` items of another one.
    pub fn with(&mut self, items: Items, place: u32, value: FormId) -> Items {
        let (start, end) = (items.start as usize, (items.start + items.len) as usize);
        let middle = start + place as usize;
        let first = self.children.len() as u32;
        self.children.extend_from_within(start..middle);
        self.children.push(value);
        self.children.extend_from_within(middle..end);
        Items {
            start: first,
            len: items.len + 1,
        }
    }
}
