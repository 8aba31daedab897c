//! Validation errors in one line of limited length: `rows.1.name: expected string, got int; root: …`.

use crate::heap::{Heap, Lookup};
use crate::meter::Meter;
use crate::signature::findings::LONGEST_PATH;

/// Fuel for a path segment or an error, and bytes that are copied for one unit of fuel.
const FUEL_A_PART: usize = 5;
const BYTES_A_UNIT: usize = 64;

/// Maximum bytes of a path, and of a message.
const PART: usize = LONGEST_PATH;

/// Maximum bytes of the line, without the number of omitted errors.
pub const LONGEST_LINE: usize = 1_048_576;

/// Number of recent strings that are not read again: errors share their messages and the names of fields.
const SEEN: usize = 4;

/// How much of the errors a line shows.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// Maximum number of errors.
    pub errors: usize,
    /// Maximum bytes of the line, without the number of omitted errors.
    pub bytes: usize,
    /// Number of errors that follow those of the list.
    pub omitted: usize,
}

/// Why there is no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritten {
    /// An error, or a part of it, is not as validation makes it.
    Other,
    /// The work was stopped.
    Stopped,
}

struct Line<'h, 'm, H: Heap> {
    heap: &'h H,
    meter: &'m mut Meter,
    /// The atoms `path` and `message`.
    keys: [(H::Term, H::KeyCache); 2],
    text: Vec<u8>,
    /// Bytes of the current path or message, including those that are cut off.
    part: usize,
    seen: [Option<(usize, &'h [u8])>; SEEN],
    oldest: usize,
}

/// Returns the line of a list of errors: maps of a path, which is a list of strings and integers, and a
/// message, under these atoms.
pub fn error_line<H: Heap>(
    heap: &H,
    [path, message]: [H::Term; 2],
    errors: H::Term,
    extent: Extent,
    meter: &mut Meter,
) -> Result<Vec<u8>, Unwritten> {
    let mut line = Line {
        heap,
        meter,
        keys: [path, message].map(|key| (key, H::KeyCache::default())),
        text: Vec::new(),
        part: 0,
        seen: [None; SEEN],
        oldest: 0,
    };
    let (mut count, mut more) = (0, 0);
    line.each(errors, |line, error, first| {
        if more > 0 || count == extent.errors {
            more += 1;
            return Ok(());
        }
        let before = line.text.len();
        if !first {
            line.text.extend_from_slice(b"; ");
        }
        line.error(error)?;
        count += 1;
        // Each error counts with the two bytes of its separator.
        if line.text.len() + 2 > extent.bytes {
            line.text.truncate(before);
            more = 1;
        }
        Ok(())
    })?;
    let more = more + extent.omitted;
    if more > 0 {
        let separator = if line.text.is_empty() { "" } else { "; " };
        let note = format!("{separator}and {more} more");
        line.text.extend_from_slice(note.as_bytes());
    }
    line.spend(line.text.len() / BYTES_A_UNIT)?;
    Ok(line.text)
}

impl<'h, H: Heap> Line<'h, '_, H> {
    /// Consumes fuel for the work that follows.
    fn spend(&mut self, units: usize) -> Result<(), Unwritten> {
        let spent = self.meter.consume_fuel(units, self.heap);
        spent.map_err(|_| Unwritten::Stopped)
    }

    /// Calls `write` with the elements of a proper list.
    fn each(
        &mut self,
        list: H::Term,
        mut write: impl FnMut(&mut Self, H::Term, bool) -> Result<(), Unwritten>,
    ) -> Result<(), Unwritten> {
        let (mut rest, mut first) = (list, true);
        while let Some((element, tail)) = self.heap.uncons(rest) {
            self.spend(FUEL_A_PART)?;
            write(self, element, first)?;
            (rest, first) = (tail, false);
        }
        match self.heap.is_empty_list(rest) {
            true => Ok(()),
            false => Err(Unwritten::Other),
        }
    }

    fn error(&mut self, error: H::Term) -> Result<(), Unwritten> {
        let [path, message] = &mut self.keys;
        let field = |(key, cache): &mut (H::Term, H::KeyCache)| match self
            .heap
            .lookup_atom(error, *key, cache)
        {
            Lookup::Found(value) => Ok(value),
            Lookup::Missing | Lookup::NotAMap => Err(Unwritten::Other),
        };
        let (path, message) = (field(path)?, field(message)?);
        match self.heap.is_empty_list(path) {
            true => self.text.extend_from_slice(b"root"),
            false => self.part(|line| line.each(path, Line::segment))?,
        }
        self.text.extend_from_slice(b": ");
        self.part(|line| line.string(message))
    }

    /// Writes a path or a message; a long one is cut off, with a note of its size.
    fn part(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), Unwritten>,
    ) -> Result<(), Unwritten> {
        let start = self.text.len();
        self.part = 0;
        write(self)?;
        if self.part > PART {
            let note = format!("… ({} bytes)", self.part);
            let mut end = start + PART - note.len();
            // Do not split a character.
            let inside = |end: usize| matches!(self.text[end], 0x80..=0xBF);
            let steps = (0..3).take_while(|step| inside(end - step)).count();
            end -= steps;
            self.text.truncate(end);
            self.text.extend_from_slice(note.as_bytes());
        }
        Ok(())
    }

    /// Appends to a path or message, up to the limit.
    fn push(&mut self, bytes: &[u8]) {
        let room = (PART + 1).saturating_sub(self.part).min(bytes.len());
        self.text.extend_from_slice(&bytes[..room]);
        self.part += bytes.len();
    }

    fn segment(&mut self, segment: H::Term, first: bool) -> Result<(), Unwritten> {
        if !first {
            self.push(b".");
        }
        match self.heap.small_integer(segment) {
            Some(index) => {
                self.push(itoa::Buffer::new().format(index).as_bytes());
                Ok(())
            }
            None => self.string(segment),
        }
    }

    fn string(&mut self, term: H::Term) -> Result<(), Unwritten> {
        let identity = self.heap.identity(term);
        let mut seen = self.seen.iter().flatten();
        let bytes = match seen.find(|(known, _)| *known == identity) {
            Some((_, bytes)) => bytes,
            None => {
                let bytes = self.heap.bytes(term).ok_or(Unwritten::Other)?;
                self.seen[self.oldest] = Some((identity, bytes));
                self.oldest = (self.oldest + 1) % SEEN;
                bytes
            }
        };
        self.spend(bytes.len().min(PART) / BYTES_A_UNIT)?;
        self.push(bytes);
        Ok(())
    }
}
