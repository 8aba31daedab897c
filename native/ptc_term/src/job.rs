//! Work that goes on in steps: it is suspended between two of them, as [`suspend`](crate::suspend) does it.

use crate::heap::Heap;
use crate::meter::Meter;
use crate::stop::Stop;

/// Work on a text or on terms.
pub trait Job<H: Heap> {
    /// The result, or the error of the work itself.
    type Out;

    /// Continues until the work is done or stopped. After [`Stop::SliceOver`] it can be suspended and continued.
    /// `text` must be the same each time; it is empty for work that reads no text.
    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop>;
}
