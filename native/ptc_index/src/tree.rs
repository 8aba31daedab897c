//! Navigation: a text and its index, read as a tree.

use super::{Index, BLOCK, BLOCKS};
use ptc_json::grammar::{escape, is_blank, number};
use ptc_json::scan::to_special;
use std::ops::Range;

/// A value or a key: the offset of its first byte. A member of an object is the offset of its key.
pub type Node = u32;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction and exponent.
    Int,
    /// A number with a fraction or an exponent.
    Float,
    /// A string.
    String,
    /// `[`
    List,
    /// `{`
    Object,
}

/// The content of a string or key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Its range, without the quotes.
    pub range: Range<usize>,
    /// Whether it has escapes.
    pub escaped: bool,
}

/// A text with its index. The offsets that it is asked about must be nodes that it has returned.
#[derive(Debug, Clone, Copy)]
pub struct Tree<'t> {
    text: &'t [u8],
    index: &'t Index,
}

impl<'t> Tree<'t> {
    /// `index` must be the one that was made of `text`. With another one the values are wrong.
    pub fn new(text: &'t [u8], index: &'t Index) -> Self {
        Tree { text, index }
    }

    /// Returns the text.
    pub fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Returns the whole value.
    pub fn root(&self) -> Node {
        let first = self.index.starts.iter().position(|word| *word != 0);
        let first = first.unwrap_or_default();
        let word = self.index.starts.get(first).copied().unwrap_or_default();
        (first * BLOCK) as Node + (word.trailing_zeros() % 64)
    }

    /// Returns the byte at an offset; 0 beyond the end.
    #[inline(always)]
    pub(super) fn byte(&self, at: Node) -> u8 {
        self.text.get(at as usize).copied().unwrap_or_default()
    }

    /// Returns the bits of the word at an index; none beyond the end.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        self.index.starts.get(at).copied().unwrap_or_default()
    }

    /// Returns what the value is.
    #[inline]
    pub fn kind(&self, node: Node) -> Kind {
        match self.byte(node) {
            b'{' => Kind::Object,
            b'[' => Kind::List,
            b'"' => Kind::String,
            b't' => Kind::Bool(true),
            b'f' => Kind::Bool(false),
            b'n' => Kind::Null,
            _ => match number(self.text, node as usize) {
                Some((_, false)) => Kind::Float,
                _ => Kind::Int,
            },
        }
    }

    /// Returns the next value, key or closing bracket after the one at an offset.
    #[inline(always)]
    pub fn next_token(&self, at: Node) -> Option<Node> {
        let mut place = at as usize / BLOCK;
        // Without the bits up to the offset itself.
        let mut word = self.word(place) & (u64::MAX - 1) << (at % 64);
        while word == 0 {
            place += 1;
            word = *self.index.starts.get(place)?;
        }
        Some((place * BLOCK) as Node + word.trailing_zeros())
    }

    /// Returns the next start of a token, unless it closes the container.
    #[inline(always)]
    pub(super) fn unless_closed(&self, next: Option<Node>) -> Option<Node> {
        next.filter(|next| !matches!(self.byte(*next), b']' | b'}'))
    }

    /// Returns the first element of a list, or the first member of an object.
    #[inline]
    pub fn first_child(&self, container: Node) -> Option<Node> {
        match self.byte(container) {
            b'[' | b'{' => self.unless_closed(self.next_token(container)),
            _ => None,
        }
    }

    /// Returns what follows a value in its container: an element of the list, or a member of the object.
    #[inline]
    pub fn next_sibling(&self, value: Node) -> Option<Node> {
        self.unless_closed(self.next_token(self.last(value)))
    }

    /// Returns the value of a member.
    #[inline]
    pub fn value(&self, member: Node) -> Node {
        self.next_token(member).unwrap_or(member)
    }

    /// Returns the key of a member.
    #[inline]
    pub fn key(&self, member: Node) -> Content {
        self.content(member)
    }

    /// Returns the last start of a token that belongs to a value: its own, or its closing bracket.
    #[inline(always)]
    pub(super) fn last(&self, value: Node) -> Node {
        match self.byte(value) {
            b'[' | b'{' => self.close(value),
            _ => value,
        }
    }

    /// Returns whether a value is an object.
    #[inline(always)]
    pub fn is_object(&self, value: Node) -> bool {
        self.byte(value) == b'{'
    }

    /// Returns the closing bracket of a container.
    pub fn close(&self, container: Node) -> Node {
        self.close_after(container)
    }

    /// Returns the closing bracket of the container that is open after a token.
    pub(super) fn close_after(&self, token: Node) -> Node {
        let place = token as usize / BLOCK;
        let rest = self.word(place) & (u64::MAX - 1) << (token % 64);
        let mut depth = 1;
        let chunk = place / BLOCKS;
        if let Some(close) = self.close_in(place, rest, (chunk + 1) * BLOCKS, &mut depth) {
            return close;
        }
        let Some((chunk, mut depth)) = self.index.directory.find(chunk + 1, depth) else {
            return token;
        };
        let place = chunk * BLOCKS;
        let close = self.close_in(place, self.word(place), place + BLOCKS, &mut depth);
        close.unwrap_or(token)
    }

    /// Searches for the bracket that closes `depth` containers, in a word and those up to `end`.
    #[inline]
    fn close_in(
        &self,
        mut place: usize,
        mut word: u64,
        end: usize,
        depth: &mut i64,
    ) -> Option<Node> {
        loop {
            while word != 0 {
                let at = (place * BLOCK) as Node + word.trailing_zeros();
                word &= word - 1;
                match self.byte(at) {
                    b'[' | b'{' => *depth += 1,
                    b']' | b'}' => {
                        *depth -= 1;
                        if *depth == 0 {
                            return Some(at);
                        }
                    }
                    _ => {}
                }
            }
            place += 1;
            if place == end {
                return None;
            }
            word = self.word(place);
        }
    }

    /// Returns the number of elements of a list, or of members of an object, with repeated keys. It walks over all of them.
    pub fn len(&self, container: Node) -> usize {
        let object = self.is_object(container);
        let mut count = 0;
        let mut child = self.first_child(container);
        while let Some(node) = child {
            count += 1;
            let value = if object { self.value(node) } else { node };
            child = self.next_sibling(value);
        }
        count
    }

    /// Returns whether a container has no elements.
    pub fn is_empty(&self, container: Node) -> bool {
        self.first_child(container).is_none()
    }

    /// Returns the value of the first member with this key, which is the one that the decoder keeps, however the key is written.
    pub fn field(&self, object: Node, name: &[u8]) -> Option<Node> {
        if !self.is_object(object) {
            return None;
        }
        let mut member = self.first_child(object);
        while let Some(node) = member {
            let value = self.value(node);
            if self.key_is(node, name) {
                return Some(value);
            }
            member = self.next_sibling(value);
        }
        None
    }

    /// Returns whether a key is this text.
    #[inline]
    pub fn key_is(&self, key: Node, name: &[u8]) -> bool {
        self.is_plain(key, name) || (self.index.escaped_keys && self.is_written(key, name))
    }

    /// Returns whether a string is this text, and is written without escapes.
    #[inline(always)]
    fn is_plain(&self, string: Node, text: &[u8]) -> bool {
        let content = self.text.get(string as usize + 1..).unwrap_or_default();
        content.starts_with(text)
            && content.get(text.len()) == Some(&b'"')
            // Otherwise the quote may be escaped, or not the first one.
            && !text.iter().any(|byte| matches!(byte, b'\\' | b'"'))
    }

    /// Returns whether a string is this text, escapes included.
    fn is_written(&self, string: Node, mut left: &[u8]) -> bool {
        let mut at = string as usize + 1;
        loop {
            let end = self.text.len().min(at + left.len() + 1);
            let text = self.text.get(..end).unwrap_or_default();
            let (end, _) = to_special(text, at);
            let part = self.text.get(at..end).unwrap_or_default();
            let Some(rest) = left.strip_prefix(part) else {
                return false;
            };
            if self.text.get(end) != Some(&b'\\') {
                return rest.is_empty();
            }
            let Ok((character, next)) = escape(self.text, end) else {
                return false;
            };
            let mut encoded = [0; 4];
            let Some(rest) = rest.strip_prefix(character.encode_utf8(&mut encoded).as_bytes())
            else {
                return false;
            };
            (left, at) = (rest, next);
        }
    }

    /// Returns the range of a value.
    pub fn range(&self, value: Node) -> Range<usize> {
        let start = value as usize;
        let end = match self.byte(value) {
            b'[' | b'{' => self.close(value) as usize + 1,
            b'"' => self.content(value).range.end + 1,
            _ => {
                let rest = self.text.get(start..).unwrap_or_default();
                let part = |byte: &&u8| !is_blank(**byte) && !matches!(byte, b',' | b']' | b'}');
                start + rest.iter().take_while(part).count()
            }
        };
        start..end
    }

    /// Returns the text of a value, with its quotes or brackets.
    pub fn raw(&self, value: Node) -> &'t [u8] {
        self.text.get(self.range(value)).unwrap_or_default()
    }

    /// Returns the content of a string or key.
    pub fn content(&self, string: Node) -> Content {
        let start = string as usize + 1;
        let mut at = start;
        let mut escaped = false;
        loop {
            (at, _) = to_special(self.text, at);
            if self.text.get(at) != Some(&b'\\') {
                let range = start..at;
                return Content { range, escaped };
            }
            escaped = true;
            at += 2;
        }
    }

    /// Returns the bytes of a string or key without escapes.
    pub fn plain(&self, string: Node) -> Option<&'t [u8]> {
        let content = self.content(string);
        match content.escaped {
            true => None,
            false => self.text.get(content.range),
        }
    }

    /// Decodes the content of a string from `at` to `end`, by about `most` bytes; returns the offset where it goes on.
    pub fn decode(&self, at: usize, end: usize, most: usize, out: &mut Vec<u8>) -> usize {
        let text = self.text.get(..end).unwrap_or(self.text);
        let until = text.len().min(at.saturating_add(most));
        let mut at = at;
        while at < until {
            let (special, _) = to_special(&text[..until], at);
            out.extend_from_slice(text.get(at..special).unwrap_or_default());
            at = special;
            if text.get(at) != Some(&b'\\') {
                continue;
            }
            match escape(text, at) {
                Ok((character, next)) => {
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    at = next;
                }
                Err(_) => return end,
            }
        }
        at
    }
}
