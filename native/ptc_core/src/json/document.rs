//! A JSON text as one flat table of entries: what the compiler reads a program from.

use super::{Extent, JsonError, Limits, ReadError, Reader, Sink, TermBuilder, Text};
use crate::heap::Heap;
use crate::number::Number;
use crate::plain::PlainHeap;
use crate::stop::{unlimited, Stop, Work};
use std::cell::Cell;

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

/// The entries of a text, less the text.
#[derive(Debug, Default)]
pub struct Table {
    unescaped: Vec<u8>,
    entries: Vec<Entry>,
}

thread_local! {
    /// The memory of the table that this thread dropped last: fresh memory takes as long to get as a small
    /// program to read.
    static SPARE: Cell<Vec<Entry>> = const { Cell::new(Vec::new()) };
}

impl Drop for Table {
    fn drop(&mut self) {
        if (1..=ENTRIES).contains(&self.entries.capacity()) {
            let mut entries = std::mem::take(&mut self.entries);
            entries.clear();
            // There is no place for it while the thread ends.
            let _ = SPARE.try_with(|spare| spare.set(entries));
        }
    }
}

/// A parsed text: borrows the text, owns the table.
#[derive(Debug)]
pub struct Document<'t> {
    text: &'t [u8],
    table: Table,
}

/// A text that is being read into a table. Holds no terms.
#[derive(Debug)]
pub struct TableReader {
    reader: Reader,
    table: Table,
    /// Where the open containers stand in the table.
    open: Vec<u32>,
}

/// What a table begins with: enough for what an LLM writes in one go.
const ENTRIES: usize = 4096;

/// The longest text whose positions fit the table.
const LONGEST_TEXT: usize = u32::MAX as usize;

impl TableReader {
    /// A reader that has seen nothing of a text of so many bytes.
    pub fn new(length: usize, limits: Limits) -> Self {
        let mut entries = SPARE.take();
        entries.reserve((length / 4).min(ENTRIES));
        TableReader {
            reader: Reader::new(0, Extent::Whole, limits),
            table: Table {
                unescaped: Vec::new(),
                entries,
            },
            open: Vec::with_capacity(16),
        }
    }

    /// Reads on in `text`, which is the same each time; the root is entry 0.
    pub fn read<H: Heap>(&mut self, text: &[u8], work: Work<H>) -> Result<Table, ReadError> {
        // Positions are kept in 32 bits: a longer text is refused where they end.
        if text.len() > LONGEST_TEXT {
            return Err(JsonError::UnexpectedToken(LONGEST_TEXT).into());
        }
        let mut builder = Builder {
            text,
            table: &mut self.table,
            open: &mut self.open,
            work,
        };
        self.reader.read(text, &mut builder)?;
        Ok(std::mem::take(&mut self.table))
    }
}

impl<'t> Document<'t> {
    /// Reads all of `text` without limits of time and memory.
    pub fn parse(text: &'t [u8], limits: Limits) -> Result<Self, JsonError> {
        let (mut heap, mut meter) = (PlainHeap::new(), unlimited());
        let work = Work::in_one_go(&mut heap, &mut meter);
        match TableReader::new(text.len(), limits).read(text, work) {
            Ok(table) => Ok(Document::new(text, table)),
            Err(ReadError::Json(error)) => Err(error),
            Err(ReadError::Stop(_)) => Err(JsonError::UnexpectedEnd(text.len())),
        }
    }

    /// The document of `text`, whose table this is.
    pub fn new(text: &'t [u8], table: Table) -> Self {
        Document { text, table }
    }

    /// What is left without the text.
    pub fn into_table(self) -> Table {
        self.table
    }

    /// The entry at `index`.
    pub fn entry(&self, index: u32) -> Entry {
        self.table.entries[index as usize]
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
            Entry::Unescaped(start, end) => self.table.unescaped.get(start as usize..end as usize),
            _ => None,
        }
    }

    /// The value of the first pair with this key; nothing for what is no object.
    pub fn field(&self, object: u32, key: &[u8]) -> Option<u32> {
        self.pairs(object)
            .find(|(name, _)| self.bytes(self.entry(*name)) == Some(key))
            .map(|(_, value)| value)
    }

    /// The value at `index` as a term, if it is one that takes no time to make.
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
            Entry::Str(..) | Entry::Unescaped(..) => {
                let bytes = self.bytes(entry).unwrap_or_default();
                (bytes.len() <= SHORT).then(|| heap.make_string(bytes))
            }
            Entry::Int(value) => Some(heap.make_number(Number::Int(value)).unwrap_or(heap.nil())),
            _ => None,
        }
    }

    /// An object of few short strings and integers, from `object` to `end`.
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

    /// The value at `index` as a term, without limits of time and memory.
    pub fn build<H: Heap>(&self, index: u32, heap: &mut H) -> H::Term {
        let mut meter = unlimited();
        let mut builder = TermBuilder::new(Work::in_one_go(heap, &mut meter));
        match Replay::new(self, index).run(self, &mut builder) {
            Ok(()) => builder.finish(),
            Err(_) => heap.nil(),
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

/// The longest string that is made without being counted.
const SHORT: usize = 4096;
/// So many entries has the largest object that is made like that.
const FEW: usize = 4;

/// The events that make up a value of a document once more; keys come as strings. It can be left
/// wherever its sink stops it.
#[derive(Debug)]
pub struct Replay {
    at: u32,
    end: u32,
    /// The open containers: the index after each, and whether it is an object.
    open: Vec<(u32, bool)>,
    /// How many entries the sink was not told about.
    untold: usize,
}

/// So many entries are replayed between two looks at the limits.
const ENTRIES_BETWEEN_LOOKS: usize = 512;
/// What an entry counts, in bytes of text.
const BYTES_OF_ENTRY: usize = 4;

impl Replay {
    /// The value at `index`.
    pub fn new(document: &Document, index: u32) -> Self {
        Replay {
            at: index,
            end: document.end(index),
            open: Vec::new(),
            untold: 0,
        }
    }

    /// Goes on to the end of the value.
    pub fn run<'d>(
        &mut self,
        document: &'d Document,
        sink: &mut impl Sink<'d>,
    ) -> Result<(), Stop> {
        loop {
            while let Some((_, object)) = self.open.pop_if(|(end, _)| *end == self.at) {
                if let Err(stop) = sink.close(object) {
                    self.open.push((self.at, object));
                    return Err(stop);
                }
            }
            if self.at == self.end {
                return Ok(());
            }
            if self.untold >= ENTRIES_BETWEEN_LOOKS {
                let entries = std::mem::take(&mut self.untold);
                sink.spend(BYTES_OF_ENTRY * entries, 0)?;
            }
            self.event(document, sink)?;
            self.at += 1;
            self.untold += 1;
        }
    }

    fn event<'d>(&mut self, document: &'d Document, sink: &mut impl Sink<'d>) -> Result<(), Stop> {
        let entry = document.entry(self.at);
        let bytes = document.bytes(entry).unwrap_or_default();
        match entry {
            Entry::Null => sink.null(),
            Entry::Bool(value) => sink.boolean(value),
            Entry::Int(value) => sink.integer(value),
            Entry::Float(value) => sink.float(value),
            Entry::BigInt(..) => {
                sink.big_integer(std::str::from_utf8(bytes).unwrap_or_default())?
            }
            Entry::Str(..) | Entry::Unescaped(..) => sink.string(Text::Source(bytes))?,
            Entry::List(end, _) => {
                sink.open(false);
                self.open.push((end, false));
            }
            Entry::Object(end, _) => {
                sink.open(true);
                self.open.push((end, true));
            }
        }
        Ok(())
    }
}

struct Builder<'t, 'b, 'w, H: Heap> {
    text: &'t [u8],
    table: &'b mut Table,
    /// Where the open containers stand in the table.
    open: &'b mut Vec<u32>,
    work: Work<'w, H>,
}

impl<'t, H: Heap> Builder<'t, '_, '_, H> {
    fn value(&mut self, entry: Entry) {
        if let Some(&parent) = self.open.last() {
            if let Entry::List(_, count) = &mut self.table.entries[parent as usize] {
                *count += 1;
            }
        }
        self.table.entries.push(entry);
    }

    /// Where a part of the text stands in it.
    fn range(&self, part: &[u8]) -> (u32, u32) {
        let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
        (start as u32, (start + part.len()) as u32)
    }

    fn text(&mut self, text: Text<'t, '_>) -> Entry {
        match text {
            Text::Source(bytes) => {
                let (start, end) = self.range(bytes);
                Entry::Str(start, end)
            }
            Text::Scratch(bytes) => {
                let start = self.table.unescaped.len() as u32;
                self.table.unescaped.extend_from_slice(bytes);
                Entry::Unescaped(start, self.table.unescaped.len() as u32)
            }
        }
    }
}

/// The bytes of a word of the heap.
const BYTES_PER_WORD: usize = 8;

impl<'t, H: Heap> Sink<'t> for Builder<'t, '_, '_, H> {
    fn null(&mut self) {
        self.value(Entry::Null);
    }

    fn boolean(&mut self, value: bool) {
        self.value(Entry::Bool(value));
    }

    fn integer(&mut self, value: i64) {
        self.value(Entry::Int(value));
    }

    fn big_integer(&mut self, digits: &'t str) -> Result<(), Stop> {
        let (start, end) = self.range(digits.as_bytes());
        self.value(Entry::BigInt(start, end));
        Ok(())
    }

    fn float(&mut self, value: f64) {
        self.value(Entry::Float(value));
    }

    fn string(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        let entry = self.text(text);
        self.value(entry);
        Ok(())
    }

    fn key(&mut self, text: Text<'t, '_>) -> Result<(), Stop> {
        let entry = self.text(text);
        if let Some(&parent) = self.open.last() {
            if let Entry::Object(_, count) = &mut self.table.entries[parent as usize] {
                *count += 1;
            }
        }
        self.table.entries.push(entry);
        Ok(())
    }

    fn open(&mut self, object: bool) {
        let at = self.table.entries.len() as u32;
        self.value(if object {
            Entry::Object(0, 0)
        } else {
            Entry::List(0, 0)
        });
        self.open.push(at);
    }

    fn close(&mut self, _object: bool) -> Result<(), Stop> {
        let after = self.table.entries.len() as u32;
        if let Some(at) = self.open.pop() {
            match &mut self.table.entries[at as usize] {
                Entry::List(end, _) | Entry::Object(end, _) => *end = after,
                _ => {}
            }
        }
        Ok(())
    }

    fn spend(&mut self, bytes: usize, held: usize) -> Result<(), Stop> {
        self.work.consume_fuel_or_suspend(bytes)?;
        let entries = self.table.entries.len() * std::mem::size_of::<Entry>();
        let open = self.open.len() * std::mem::size_of::<u32>();
        let bytes = entries + open + self.table.unescaped.len() + held;
        self.work.check_heap_limit(bytes / BYTES_PER_WORD)
    }

    fn count(&mut self, bytes: usize) -> Result<(), Stop> {
        self.work.consume_fuel(bytes)
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
        let text = br#"{"a":[1,{"b":2}],"a":3}"#;
        let document = Document::parse(text, limits).unwrap();
        assert_eq!(document.end(0), 9);
        let list = document.field(0, b"a").unwrap();
        assert_eq!(document.entry(list), Entry::List(7, 2));
        let elements: Vec<_> = document.elements(list).collect();
        assert_eq!(document.entry(elements[0]), Entry::Int(1));
        assert_eq!(document.field(elements[1], b"b"), Some(6));
        assert_eq!(document.pairs(0).count(), 2);
    }
}
