//! A program as one flat table of entries, from its text or from its term; the compiler reads it.

use ptc_term::heap::Heap;
use ptc_term::number::Number;
use std::cell::Cell;

/// A value (or key) of a document. The content of a container follows it, so that a subtree is one
/// range of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// An integer beyond 64 bits: a range of the text.
    BigInt(u32, u32),
    /// A number with a fraction or exponent.
    Float(f64),
    /// A string or key without escapes: a range of the text.
    Str(u32, u32),
    /// A string or key with decoded escapes: a range of the document's own buffer.
    Unescaped(u32, u32),
    /// One of the strings that are no part of a program, by its index in [`ADDED`].
    Added(u8),
    /// `[`; the table's index after the last element, and the number of elements.
    List(u32, u32),
    /// `{`; the table's index after the last value, and the number of key-value pairs.
    Object(u32, u32),
    /// A string of more than [`LONG`] bytes that is not copied into the table, with the range of its first bytes in the
    /// buffer if it is a key.
    Long(u32, u32),
    /// A term that is not copied into the table.
    Term(Outside),
}

/// The strings that a program may need as constants without containing them.
pub const ADDED: [&str; 3] = ["items", "key", "value"];

impl Entry {
    /// A term that is neither a string nor a number.
    pub fn outside(shape: Shape, has_parts: bool) -> Entry {
        Entry::Term(Outside {
            shape,
            has_parts,
            is_long: false,
        })
    }
}

/// What the compiler asks about a term that is not copied into the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outside {
    /// Its shape.
    pub shape: Shape,
    /// Whether it contains other terms.
    pub has_parts: bool,
    /// Whether it is an integer of more than [`LONG`] bytes.
    pub is_long: bool,
}

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

/// The index of a part of a program in its table.
pub type Node = u32;

/// The entries of a program, without its text.
#[derive(Debug, Default)]
pub struct Table {
    /// The strings that are not in the text as they are, one after another.
    pub unescaped: Vec<u8>,
    /// The parts, each before those inside it.
    pub entries: Vec<Entry>,
}

/// Maximum initial capacity of a table: enough for most texts that an LLM writes.
const ENTRIES: usize = 4096;

thread_local! {
    /// The memory of the table that this thread dropped last: getting fresh memory takes as long as
    /// reading a small program.
    static SPARE: Cell<Vec<Entry>> = const { Cell::new(Vec::new()) };
}

impl Table {
    /// Creates an empty table with capacity for a text of this many bytes.
    pub fn for_text(length: usize) -> Self {
        let mut entries = SPARE.take();
        entries.reserve((length / 4).min(ENTRIES));
        Table {
            unescaped: Vec::new(),
            entries,
        }
    }

    /// Returns the index of the next entry that is added.
    pub fn next(&self) -> Node {
        self.entries.len() as Node
    }

    /// Adds entries that are no part of the program.
    pub fn add<const N: usize>(&mut self, entries: [Entry; N]) {
        self.entries.extend(entries);
    }

    /// Returns the table to be kept. It takes no more memory than it needs, unless it is large: then it takes at most twice as
    /// much. The memory of a small one stays for the next table.
    pub fn into_kept(mut self) -> Table {
        if self.entries.len() > ENTRIES {
            return self;
        }
        Table {
            unescaped: std::mem::take(&mut self.unescaped),
            entries: self.entries.as_slice().to_vec(),
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if (1..=ENTRIES).contains(&self.entries.capacity()) {
            let mut entries = std::mem::take(&mut self.entries);
            entries.clear();
            // The thread-local is not accessible while the thread ends.
            let _ = SPARE.try_with(|spare| spare.set(entries));
        }
    }
}

/// A parsed text: a view of the text and of its table.
#[derive(Debug, Clone, Copy)]
pub struct Document<'t> {
    text: &'t [u8],
    entries: &'t [Entry],
    unescaped: &'t [u8],
}

impl<'t> Document<'t> {
    /// Creates the document of a text and its table.
    pub fn new(text: &'t [u8], table: &'t Table) -> Self {
        Document {
            text,
            entries: &table.entries,
            unescaped: &table.unescaped,
        }
    }

    /// Returns the entry at `index`.
    pub fn entry(&self, index: u32) -> Entry {
        self.entries[index as usize]
    }

    /// Returns the index after the value at `index` and its content.
    pub fn end(&self, index: u32) -> u32 {
        match self.entry(index) {
            Entry::List(end, _) | Entry::Object(end, _) => end,
            _ => index + 1,
        }
    }

    /// Returns the bytes of a string, key or big integer; `None` for other entries.
    pub fn bytes(&self, entry: Entry) -> Option<&[u8]> {
        match entry {
            Entry::Str(start, end) | Entry::BigInt(start, end) => {
                self.text.get(start as usize..end as usize)
            }
            Entry::Unescaped(start, end) => self.unescaped.get(start as usize..end as usize),
            Entry::Added(at) => ADDED.get(usize::from(at)).map(|text| text.as_bytes()),
            _ => None,
        }
    }

    /// Returns the shape of a part.
    pub fn shape(&self, node: Node) -> Shape {
        match self.entry(node) {
            Entry::Object(..) => Shape::Map,
            Entry::List(..) => Shape::List,
            Entry::Str(..) | Entry::Unescaped(..) | Entry::Added(_) | Entry::Long(..) => {
                Shape::String
            }
            Entry::Int(value) => Shape::Integer {
                negative: value < 0,
            },
            entry @ Entry::BigInt(..) => Shape::Integer {
                negative: self.bytes(entry).is_some_and(|text| text[0] == b'-'),
            },
            Entry::Float(_) => Shape::Float,
            Entry::Null => Shape::Null,
            Entry::Bool(_) => Shape::Other,
            Entry::Term(term) => term.shape,
        }
    }

    /// Returns whether a part is a string or an integer of more than [`LONG`] bytes.
    pub fn is_long(&self, node: Node) -> bool {
        match self.entry(node) {
            Entry::Long(..) => true,
            Entry::Term(term) => term.is_long,
            entry => self.bytes(entry).is_some_and(|bytes| bytes.len() > LONG),
        }
    }

    /// Returns whether a part contains other terms.
    pub fn has_parts(&self, node: Node) -> bool {
        match self.entry(node) {
            Entry::Term(term) => term.has_parts,
            entry => matches!(entry, Entry::Object(..) | Entry::List(..)),
        }
    }

    /// Returns whether a part is a map that is not a struct.
    pub fn is_map(&self, node: Node) -> bool {
        self.shape(node) == Shape::Map
    }

    /// Returns whether a part is an object or a list that contains no other.
    #[inline]
    pub fn is_flat(&self, node: Node) -> bool {
        match self.entry(node) {
            Entry::Object(end, count) => end == node + 1 + 2 * count,
            Entry::List(end, count) => end == node + 1 + count,
            _ => false,
        }
    }

    /// Returns the content of a string.
    pub fn text(&self, node: Node) -> Option<&[u8]> {
        match self.entry(node) {
            Entry::BigInt(..) => None,
            entry => self.bytes(entry),
        }
    }

    /// Returns the number of elements of a list.
    pub fn length(&self, node: Node) -> usize {
        match self.entry(node) {
            Entry::List(_, count) => count as usize,
            _ => 0,
        }
    }

    /// Returns the number of pairs of an object.
    pub fn size(&self, node: Node) -> usize {
        match self.entry(node) {
            Entry::Object(_, count) => count as usize,
            _ => 0,
        }
    }

    /// Returns the value of the first pair with this key; `None` if the entry is not an object.
    pub fn field(&self, object: Node, key: &str) -> Option<Node> {
        self.pairs(object)
            .find(|(name, _)| self.is_text(*name, key.as_bytes()))
            .map(|(_, value)| value)
    }

    /// Returns the pairs of an object, each key once, in ascending order of the keys: first those that are no strings.
    /// Pairs whose long keys begin alike keep their order.
    pub fn entries(&self, object: Node) -> Vec<(Node, Node)> {
        let mut pairs: Vec<_> = self.pairs(object).collect();
        pairs.sort_by_key(|(key, _)| match self.entry(*key) {
            Entry::Long(start, end) => self.unescaped.get(start as usize..end as usize),
            key => self.bytes(key),
        });
        pairs.dedup_by(|(later, _), (first, _)| {
            let text = self.text(*later);
            text.is_some() && text == self.text(*first)
        });
        pairs
    }

    /// Returns whether two parts are the same short string, as far as that is quick to find out.
    #[inline]
    pub fn is_same(&self, a: Node, b: Node) -> bool {
        match (self.entry(a), self.entry(b)) {
            (Entry::Str(a, a_end), Entry::Str(b, b_end)) => {
                let length = a_end - a;
                length == b_end - b
                    && length as usize <= LONG
                    && self.text.get(a as usize) == self.text.get(b as usize)
                    && self.text[a as usize..a_end as usize]
                        == self.text[b as usize..b_end as usize]
            }
            _ => false,
        }
    }

    /// Returns whether the entry is this string. Most others differ in length or in their first byte.
    #[inline]
    fn is_text(&self, index: u32, text: &[u8]) -> bool {
        match self.entry(index) {
            Entry::Str(start, end) | Entry::Unescaped(start, end)
                if (end - start) as usize != text.len() =>
            {
                false
            }
            Entry::Str(start, _) if self.text.get(start as usize) != text.first() => false,
            entry => self.bytes(entry) == Some(text),
        }
    }

    /// Returns the value at `index` as a term, if it is quick to build.
    #[inline]
    pub fn build_small<H: Heap>(&self, index: u32, heap: &mut H) -> Option<H::Term> {
        // Most constants of a program are names, numbers and the arguments of a tool.
        match self.entry(index) {
            Entry::Object(end, count) => self.build_few(index, end, count as usize, heap),
            _ => self.build_scalar(index, heap),
        }
    }

    fn build_scalar<H: Heap>(&self, index: u32, heap: &mut H) -> Option<H::Term> {
        let entry = self.entry(index);
        match entry {
            Entry::Str(..) | Entry::Unescaped(..) | Entry::Added(_) => {
                let bytes = self.bytes(entry).unwrap_or_default();
                (bytes.len() <= SHORT).then(|| heap.make_string(bytes))
            }
            Entry::Int(value) => Some(heap.make_number(Number::Int(value)).unwrap_or(heap.nil())),
            Entry::Null => Some(heap.nil()),
            _ => None,
        }
    }

    /// Builds an object of few short strings and integers, from `object` to `end`.
    fn build_few<H: Heap>(
        &self,
        object: u32,
        end: u32,
        count: usize,
        heap: &mut H,
    ) -> Option<H::Term> {
        let is_small = |at| match self.entry(at) {
            Entry::Int(_) => true,
            entry @ (Entry::Str(..) | Entry::Unescaped(..)) => {
                self.bytes(entry).unwrap_or_default().len() <= SHORT / FEW
            }
            _ => false,
        };
        (count <= FEW && (object + 1..end).all(is_small)).then_some(())?;
        let nil = heap.nil();
        let (mut keys, mut values) = ([nil; FEW], [nil; FEW]);
        for (place, (key, value)) in self.pairs(object).enumerate() {
            keys[place] = self.build_scalar(key, heap)?;
            values[place] = self.build_scalar(value, heap)?;
        }
        Some(heap.make_map(&keys[..count], &values[..count]))
    }

    /// Iterates over the (key, value) pairs of an object, in text order, duplicates included.
    pub fn pairs(&self, object: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut at = object + 1;
        (0..self.size(object)).map(move |_| {
            let key = at;
            at = self.end(key + 1);
            (key, key + 1)
        })
    }

    /// Iterates over the elements of a list.
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

/// Maximum length of a string that `build_small` builds.
const SHORT: usize = 4096;
/// Maximum number of entries of an object that `build_small` builds.
const FEW: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JsonLimits;

    #[test]
    fn an_entry_stays_small() {
        assert_eq!(std::mem::size_of::<Entry>(), 16);
    }

    #[test]
    fn a_subtree_is_a_range() {
        let limits = JsonLimits::depth(10);
        let text = br#"{"a":[1,{"b":2}],"a":3}"#;
        let table = Table::parse(text, limits).unwrap();
        let document = Document::new(text, &table);
        assert_eq!(document.end(0), 9);
        let list = document.field(0, "a").unwrap();
        assert_eq!(document.entry(list), Entry::List(7, 2));
        let elements: Vec<_> = document.elements(list).collect();
        assert_eq!(document.entry(elements[0]), Entry::Int(1));
        assert_eq!(document.field(elements[1], "b"), Some(6));
        assert_eq!(document.pairs(0).count(), 2);
    }
}
