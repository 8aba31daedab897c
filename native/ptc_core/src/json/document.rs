//! A JSON text as one flat table of entries: what the compiler reads a program from.

use super::{read, JsonError, Limits, Sink, TermBuilder, Text};
use crate::heap::Heap;
use crate::number::Number;

/// One value (or key) of a document. Containers are followed by their content, so that a value's
/// subtree is one range of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer beyond 64 bits: a range of the text.
    BigInt(u32, u32),
    /// A number with fraction or exponent.
    Float(f64),
    /// A string or key without escapes: a range of the text.
    Str(u32, u32),
    /// A string or key with its escapes undone: a range of the document's own buffer.
    Unescaped(u32, u32),
    /// `[`; the table's index after the last element, and the number of elements.
    List(u32, u32),
    /// `{`; the table's index after the last value, and the number of key-value pairs.
    Object(u32, u32),
}

/// A parsed text: borrows the text, owns the table.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t [u8],
    unescaped: Vec<u8>,
    entries: Vec<Entry>,
}

impl<'t> Document<'t> {
    /// Reads `text`; the root is entry 0.
    pub fn parse(text: &'t [u8], limits: Limits) -> Result<Self, JsonError> {
        // Positions are kept in 32 bits: a longer text is refused where they end.
        if text.len() > u32::MAX as usize {
            return Err(JsonError::UnexpectedToken(u32::MAX as usize));
        }
        let mut builder = Builder {
            document: Document {
                text,
                unescaped: Vec::new(),
                entries: Vec::with_capacity(text.len() / 4),
            },
            open: Vec::with_capacity(16),
        };
        read(text, limits, &mut builder)?;
        Ok(builder.document)
    }

    /// The entry at `index`.
    pub fn entry(&self, index: u32) -> Entry {
        self.entries[index as usize]
    }

    /// The index after the value at `index` and all it contains.
    pub fn end(&self, index: u32) -> u32 {
        match self.entry(index) {
            Entry::List(end, _) | Entry::Object(end, _) => end,
            _ => index + 1,
        }
    }

    /// The bytes of a string, key or big integer; nothing for other entries.
    pub fn bytes(&self, entry: Entry) -> Option<&[u8]> {
        match entry {
            Entry::Str(start, end) | Entry::BigInt(start, end) => {
                self.text.get(start as usize..end as usize)
            }
            Entry::Unescaped(start, end) => self.unescaped.get(start as usize..end as usize),
            _ => None,
        }
    }

    /// The value of the first pair with this key; nothing for what is no object.
    pub fn field(&self, object: u32, key: &[u8]) -> Option<u32> {
        self.pairs(object)
            .find(|(name, _)| self.bytes(self.entry(*name)) == Some(key))
            .map(|(_, value)| value)
    }

    /// The value at `index` as a term.
    pub fn build<H: Heap>(&self, index: u32, heap: &mut H) -> H::Term {
        // Most constants of a program are names and numbers.
        let entry = self.entry(index);
        match entry {
            Entry::Str(..) | Entry::Unescaped(..) => {
                return heap.make_string(self.bytes(entry).unwrap_or_default());
            }
            Entry::Int(value) => {
                return heap.make_number(Number::Int(value)).unwrap_or(heap.nil());
            }
            _ => {}
        }
        let mut builder = TermBuilder::new(heap);
        self.replay(index, &mut builder);
        builder.finish()
    }

    /// The events that make up the value at `index`; keys come as strings.
    fn replay<'d>(&'d self, index: u32, sink: &mut impl Sink<'d>) {
        // The open containers: the index after each, and whether it is an object.
        let mut open: Vec<(u32, bool)> = Vec::new();
        for at in index..self.end(index) {
            let entry = self.entry(at);
            let bytes = self.bytes(entry).unwrap_or_default();
            match entry {
                Entry::Null => sink.null(),
                Entry::Bool(value) => sink.boolean(value),
                Entry::Int(value) => sink.integer(value),
                Entry::Float(value) => sink.float(value),
                Entry::BigInt(..) => {
                    sink.big_integer(std::str::from_utf8(bytes).unwrap_or_default())
                }
                Entry::Str(..) | Entry::Unescaped(..) => sink.string(Text::Source(bytes)),
                Entry::List(end, _) => {
                    sink.open(false);
                    open.push((end, false));
                }
                Entry::Object(end, _) => {
                    sink.open(true);
                    open.push((end, true));
                }
            }
            while let Some((_, object)) = open.pop_if(|(end, _)| *end == at + 1) {
                sink.close(object);
            }
        }
    }

    /// The (key, value) pairs of an object, in text order, duplicates included.
    pub fn pairs(&self, object: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let count = match self.entry(object) {
            Entry::Object(_, count) => count,
            _ => 0,
        };
        let mut at = object + 1;
        (0..count).map(move |_| {
            let key = at;
            at = self.end(key + 1);
            (key, key + 1)
        })
    }

    /// The elements of a list.
    pub fn elements(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let count = match self.entry(list) {
            Entry::List(_, count) => count,
            _ => 0,
        };
        let mut at = list + 1;
        (0..count).map(move |_| {
            let element = at;
            at = self.end(element);
            element
        })
    }
}

struct Builder<'t> {
    document: Document<'t>,
    /// Where the open containers stand in the table.
    open: Vec<u32>,
}

impl<'t> Builder<'t> {
    fn value(&mut self, entry: Entry) {
        if let Some(&parent) = self.open.last() {
            if let Entry::List(_, count) = &mut self.document.entries[parent as usize] {
                *count += 1;
            }
        }
        self.document.entries.push(entry);
    }

    /// Where a part of the text stands in it.
    fn range(&self, part: &[u8]) -> (u32, u32) {
        let start = part.as_ptr() as usize - self.document.text.as_ptr() as usize;
        (start as u32, (start + part.len()) as u32)
    }

    fn text(&mut self, text: Text<'t, '_>) -> Entry {
        match text {
            Text::Source(bytes) => {
                let (start, end) = self.range(bytes);
                Entry::Str(start, end)
            }
            Text::Scratch(bytes) => {
                let start = self.document.unescaped.len() as u32;
                self.document.unescaped.extend_from_slice(bytes);
                Entry::Unescaped(start, self.document.unescaped.len() as u32)
            }
        }
    }
}

impl<'t> Sink<'t> for Builder<'t> {
    fn null(&mut self) {
        self.value(Entry::Null);
    }

    fn boolean(&mut self, value: bool) {
        self.value(Entry::Bool(value));
    }

    fn integer(&mut self, value: i64) {
        self.value(Entry::Int(value));
    }

    fn big_integer(&mut self, digits: &'t str) {
        let (start, end) = self.range(digits.as_bytes());
        self.value(Entry::BigInt(start, end));
    }

    fn float(&mut self, value: f64) {
        self.value(Entry::Float(value));
    }

    fn string(&mut self, text: Text<'t, '_>) {
        let entry = self.text(text);
        self.value(entry);
    }

    fn key(&mut self, text: Text<'t, '_>) {
        let entry = self.text(text);
        if let Some(&parent) = self.open.last() {
            if let Entry::Object(_, count) = &mut self.document.entries[parent as usize] {
                *count += 1;
            }
        }
        self.document.entries.push(entry);
    }

    fn open(&mut self, object: bool) {
        let at = self.document.entries.len() as u32;
        self.value(if object {
            Entry::Object(0, 0)
        } else {
            Entry::List(0, 0)
        });
        self.open.push(at);
    }

    fn close(&mut self, _object: bool) {
        let after = self.document.entries.len() as u32;
        if let Some(at) = self.open.pop() {
            match &mut self.document.entries[at as usize] {
                Entry::List(end, _) | Entry::Object(end, _) => *end = after,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stays_small() {
        assert_eq!(std::mem::size_of::<Entry>(), 16);
    }

    #[test]
    fn a_subtree_is_a_range() {
        let limits = Limits::depth(10);
        let document = Document::parse(br#"{"a":[1,{"b":2}],"a":3}"#, limits).unwrap();
        assert_eq!(document.end(0), 9);
        let list = document.field(0, b"a").unwrap();
        assert_eq!(document.entry(list), Entry::List(7, 2));
        let elements: Vec<_> = document.elements(list).collect();
        assert_eq!(document.entry(elements[0]), Entry::Int(1));
        assert_eq!(document.field(elements[1], b"b"), Some(6));
        assert_eq!(document.pairs(0).count(), 2);
    }
}
