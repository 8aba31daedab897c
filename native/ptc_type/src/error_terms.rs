//! Validation errors as terms in one line.

use crate::error_line::ErrorLine;
use crate::findings::LONGEST_PATH;
use ptc_term::heap::{Heap, Lookup};
use ptc_term::meter::Meter;

/// Fuel for a path segment or an error, and bytes that are copied for one unit of fuel.
const FUEL_A_PART: usize = 5;
const BYTES_A_UNIT: usize = 64;

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

struct TermLine<'h, 'm, H: Heap> {
    heap: &'h H,
    meter: &'m mut Meter,
    /// The atoms `path` and `message`.
    keys: [(H::Term, H::KeyCache); 2],
    line: ErrorLine,
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
    let mut line = TermLine {
        heap,
        meter,
        keys: [path, message].map(|key| (key, H::KeyCache::default())),
        line: ErrorLine::default(),
        seen: [None; SEEN],
        oldest: 0,
    };
    let (mut count, mut more) = (0, 0);
    line.each(errors, |line, error, _| {
        if more > 0 || count == extent.errors {
            more += 1;
            return Ok(());
        }
        line.error(error)?;
        match line.line.end_within(extent.bytes) {
            true => count += 1,
            false => more = 1,
        }
        Ok(())
    })?;
    line.consume_fuel(line.line.len() / BYTES_A_UNIT)?;
    Ok(line.line.finish(more + extent.omitted))
}

impl<'h, H: Heap> TermLine<'h, '_, H> {
    /// Consumes fuel for the work that follows.
    fn consume_fuel(&mut self, units: usize) -> Result<(), Unwritten> {
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
            self.consume_fuel(FUEL_A_PART)?;
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
        self.line.begin();
        match self.heap.is_empty_list(path) {
            true => self.line.push(b"root"),
            false => self.each(path, TermLine::segment)?,
        }
        self.line.message();
        self.string(message)
    }

    fn segment(&mut self, segment: H::Term, first: bool) -> Result<(), Unwritten> {
        if !first {
            self.line.push(b".");
        }
        match self.heap.small_integer(segment) {
            Some(index) => {
                self.line.push(itoa::Buffer::new().format(index).as_bytes());
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
        self.consume_fuel(bytes.len().min(LONGEST_PATH) / BYTES_A_UNIT)?;
        self.line.push(bytes);
        Ok(())
    }
}
