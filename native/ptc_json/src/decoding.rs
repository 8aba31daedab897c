//! A text that becomes a term.

use super::{Extent, JsonError, JsonLimits, PartialValue, ReadError, Reader, TermBuilder};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use std::mem::take;

/// A text that is being decoded.
#[derive(Debug)]
pub struct Decoding<T> {
    reader: Reader,
    value: PartialValue<T>,
}

rooted!(Decoding { states: value; plain: reader });

impl<T> Decoding<T> {
    /// Decodes a whole text.
    pub fn new(limits: JsonLimits) -> Self {
        Decoding {
            reader: Reader::new(0, Extent::Whole, limits),
            value: PartialValue::default(),
        }
    }

    /// Decodes a whole text, with the digits of numbers: see [`PartialValue::new`].
    pub fn exact(limits: JsonLimits) -> Self {
        Decoding {
            value: PartialValue::new(true),
            ..Decoding::new(limits)
        }
    }
}

impl<H: Heap> Job<H> for Decoding<H::Term> {
    type Out = Result<H::Term, JsonError>;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let work = Workspace::new(heap, meter);
        let mut builder = TermBuilder::resume(work, take(&mut self.value));
        match self.reader.read(text, &mut builder) {
            Ok(_) => {
                builder.check_heap_limit()?;
                Ok(Ok(builder.finish()))
            }
            Err(ReadError::Json(error)) => Ok(Err(error)),
            Err(ReadError::Stop(stop)) => {
                self.value = builder.into_partial();
                Err(stop)
            }
        }
    }
}
