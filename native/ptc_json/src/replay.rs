//! Replays a value of a document as events.

use super::{Document, Entry, Sink, Text};
use ptc_term::stop::Stop;

/// A replay of the events of a value; all keys are strings. It can be suspended wherever its sink stops
/// it.
#[derive(Debug)]
pub struct Replay {
    at: u32,
    end: u32,
    /// The open containers: the index after each, and whether it is an object.
    open: Vec<(u32, bool)>,
    /// Number of entries not reported to the sink yet.
    untold: usize,
}

/// Number of entries between two checks of the limits.
const ENTRIES_BETWEEN_LOOKS: usize = 512;
/// Bytes of text that an entry counts as.
const BYTES_OF_ENTRY: usize = 4;

impl Replay {
    /// Creates a replay of the value at `index`.
    pub fn new(document: &Document, index: u32) -> Self {
        Replay {
            at: index,
            end: document.end(index),
            open: Vec::new(),
            untold: 0,
        }
    }

    /// Runs to the end of the value.
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
                sink.consume_fuel(BYTES_OF_ENTRY * entries, 0)?;
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
            // A term has no text: it is a constant itself.
            Entry::Null | Entry::Term(_) | Entry::Long(..) => sink.null(),
            Entry::Bool(value) => sink.boolean(value),
            Entry::Int(value) => sink.integer(value),
            Entry::Float(value) => sink.float(value),
            Entry::BigInt(..) => {
                sink.big_integer(std::str::from_utf8(bytes).unwrap_or_default())?
            }
            Entry::Str(..) | Entry::Unescaped(..) | Entry::Added(_) => {
                sink.string(Text::Source(bytes))?
            }
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
