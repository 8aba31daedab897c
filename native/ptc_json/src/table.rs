//! Sink that stores the reader's events as a table.

use super::{Entry, Extent, JsonError, JsonLimits, ReadError, Reader, Sink, Table, Text};
use ptc_term::heap::Heap;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;

/// A text that is being read into a table. It holds no terms.
#[derive(Debug)]
pub struct TableReader {
    reader: Reader,
    table: Table,
    /// Indices of the open containers in the table.
    open: Vec<u32>,
}

/// The longest text whose offsets fit the table.
const LONGEST_TEXT: usize = u32::MAX as usize;

impl TableReader {
    /// Creates a reader for a text of this many bytes.
    pub fn new(length: usize, limits: JsonLimits) -> Self {
        TableReader {
            reader: Reader::new(0, Extent::Whole, limits),
            table: Table::for_text(length),
            open: Vec::with_capacity(16),
        }
    }

    /// Reads on in `text`, which must be the same each time; the root is entry 0.
    pub fn read<H: Heap>(&mut self, text: &[u8], work: Workspace<H>) -> Result<Table, ReadError> {
        // Offsets are stored in 32 bits: a longer text is refused at the largest offset.
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

struct Builder<'t, 'b, 'w, H: Heap> {
    text: &'t [u8],
    table: &'b mut Table,
    /// Indices of the open containers in the table.
    open: &'b mut Vec<u32>,
    work: Workspace<'w, H>,
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

    /// Returns the offsets of a part of the text.
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

/// Bytes per word of the heap.
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

    fn consume_fuel(&mut self, bytes: usize, held: usize) -> Result<(), Stop> {
        self.work.consume_fuel_or_suspend(bytes)?;
        let entries = self.table.entries.len() * std::mem::size_of::<Entry>();
        let open = self.open.len() * std::mem::size_of::<u32>();
        let bytes = entries + open + self.table.unescaped.len() + held;
        self.work.check_heap_limit(bytes / BYTES_PER_WORD)
    }
}
