//! The indexes of the texts of a run: they are made in quanta, one text after another.

use ptc_index::{Index, Indexer};
use ptc_lazy::{fits, Source, FUEL_OF_STEP, STEP};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::stop::Stop;

const BYTES_PER_WORD: usize = 8;
/// Each execution of a run looks at all of its texts. So a tool's answer is read in place only if it has this many bytes for each
/// answer that is held already, and there are at most so many answers.
const BYTES_FOR_EACH: usize = 100;
const MOST_ANSWERS: usize = 1_000;

/// The indexes of the texts of a run.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    /// The text that is being indexed.
    indexing: Option<Box<Indexer>>,
    all: Vec<Index>,
    /// Number of indexes whose words are counted.
    counted: usize,
    /// Number of texts that the caller holds. The run holds the others, and they count.
    lent: usize,
}

impl Indexes {
    /// Returns those of no text. `lent`: the number of texts of the context.
    pub fn new(lent: usize) -> Self {
        Indexes {
            lent,
            ..Indexes::default()
        }
    }

    /// Indexes the texts that have no index. Returns false for a text that is not JSON, or that cannot be read in place.
    pub fn index<H: Heap>(
        &mut self,
        texts: &[&[u8]],
        heap: &H,
        meter: &mut Meter,
    ) -> Result<bool, Stop> {
        while let Some(text) = texts.get(self.all.len()) {
            let is_answer = self.all.len() >= self.lent;
            if is_answer && !self.is_worth(text) {
                return Ok(false);
            }
            let indexer = match self.indexing.take() {
                Some(indexer) => Some(indexer),
                None => Indexer::new(text.len(), usize::MAX).map(Box::new),
            };
            let Some(indexer) = indexer else {
                return Ok(false);
            };
            let indexer = self.indexing.insert(indexer);
            meter.consume_fuel(FUEL_OF_STEP, heap)?;
            let held = if is_answer { text.len() } else { 0 };
            let bytes = indexer.bytes() + held;
            match meter.check_heap_limit(self.uncounted(texts) + bytes / BYTES_PER_WORD, heap) {
                // What it is decoded to may be smaller.
                Err(Stop::MemoryExceeded) if is_answer => return Ok(false),
                checked => checked?,
            }
            let indexer = self.indexing.as_mut();
            match indexer.map(|indexer| indexer.step(text, STEP)) {
                Some(Ok(None)) => {}
                Some(Ok(Some(index))) if fits(&index) => {
                    self.indexing = None;
                    self.all.push(index);
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Returns whether the answer of a tool is worth reading it in place.
    fn is_worth(&self, text: &[u8]) -> bool {
        let answers = self.all.len() - self.lent;
        answers < MOST_ANSWERS && text.len() >= BYTES_FOR_EACH * answers
    }

    /// Returns the number of texts of the context.
    pub fn lent(&self) -> usize {
        self.lent
    }

    /// Forgets the answers of tools; returns whether there were any.
    pub fn forget_answers(&mut self) -> bool {
        let had = self.all.len() > self.lent;
        self.all.truncate(self.lent);
        self.counted = self.counted.min(self.lent);
        had
    }

    /// Forgets the text that was being indexed.
    pub fn forget(&mut self) {
        self.indexing = None;
    }

    /// Returns the words of the indexes, and of the answers of tools, that are not counted yet.
    fn uncounted(&self, texts: &[&[u8]]) -> usize {
        let bytes = |number: usize| {
            let held = if number >= self.lent {
                texts.get(number)
            } else {
                None
            };
            self.all.get(number).map_or(0, Index::bytes) + held.map_or(0, |text| text.len())
        };
        let bytes: usize = (self.counted..self.all.len()).map(bytes).sum();
        bytes / BYTES_PER_WORD
    }

    /// Returns the words of the indexes and the answers that were not counted yet, and counts them.
    pub fn count(&mut self, texts: &[&[u8]]) -> usize {
        let words = self.uncounted(texts);
        self.counted = self.all.len();
        words
    }

    /// Returns the texts with their indexes; `None` if these are not the texts that were indexed.
    pub fn sources<'t>(&'t self, texts: &[&'t [u8]]) -> Option<Vec<Source<'t>>> {
        let same_lengths = |(text, index): (&&[u8], &Index)| text.len() == index.length();
        let are_same =
            texts.len() == self.all.len() && texts.iter().zip(&self.all).all(same_lengths);
        let sources = texts.iter().zip(&self.all);
        are_same.then(|| {
            sources
                .map(|(text, index)| Source::new(text, index))
                .collect()
        })
    }
}
