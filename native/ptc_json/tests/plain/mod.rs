//! Documents without limits of time and memory.

use crate::{Document, JsonError, JsonLimits, ReadError, Replay, Table, TableReader, TermBuilder};
use ptc_term::heap::Heap;
use ptc_term::plain::PlainHeap;
use ptc_term::workspace::{unlimited, Workspace};

impl Table {
    /// Reads all of `text`.
    pub fn parse(text: &[u8], limits: JsonLimits) -> Result<Self, JsonError> {
        let (mut heap, mut meter) = (PlainHeap::new(), unlimited());
        let work = Workspace::in_one_go(&mut heap, &mut meter);
        match TableReader::new(text.len(), limits).read(text, work) {
            Ok(table) => Ok(table),
            Err(ReadError::Json(error)) => Err(error),
            Err(ReadError::Stop(_)) => Err(JsonError::UnexpectedEnd(text.len())),
        }
    }
}

impl Document<'_> {
    /// Returns the value at `index` as a term.
    pub fn build<H: Heap>(&self, index: u32, heap: &mut H) -> H::Term {
        let mut meter = unlimited();
        let mut builder = TermBuilder::new(Workspace::in_one_go(heap, &mut meter));
        match Replay::new(self, index).run(self, &mut builder) {
            Ok(()) => builder.finish(),
            Err(_) => heap.nil(),
        }
    }
}
