//! Substring search: a substring is prepared once for all the strings it is searched in.

use memchr::memmem::Finder;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::stop::Stop;

/// Bytes per unit of fuel, for the search and for its preparation.
const BYTES_A_UNIT: usize = 16;
/// Bytes per unit of fuel for a substring longer than [`KEPT`]: long ones take longer.
const BYTES_OF_LONG_A_UNIT: usize = 4;
/// A string is searched in pieces of this length.
const PIECE: usize = 1 << 16;
/// A longer substring is prepared for each search: the strings that can contain it are as long.
const KEPT: usize = 1 << 16;

/// The searcher for the last substring.
#[derive(Debug, Default)]
pub(super) struct Needle(Option<Box<(usize, Finder<'static>)>>);

impl Needle {
    /// Returns whether `whole` contains `part`; `None` unless both are strings.
    pub fn is_in<H: Heap>(
        &mut self,
        heap: &H,
        meter: &mut Meter,
        whole: H::Term,
        part: H::Term,
    ) -> Result<Option<bool>, Stop> {
        let Needle(last) = self;
        let (Some(text), Some(bytes)) = (heap.bytes(whole), heap.bytes(part)) else {
            return Ok(None);
        };
        if bytes.len() > text.len() {
            return Ok(Some(false));
        }
        let identity = heap.identity(part);
        let bytes_a_unit = match bytes.len() > KEPT {
            true => BYTES_OF_LONG_A_UNIT,
            false => BYTES_A_UNIT,
        };
        let long;
        let finder = match last {
            Some(known) if known.0 == identity => &known.1,
            _ => {
                meter.consume_fuel(bytes.len() / bytes_a_unit, heap)?;
                let finder = Finder::new(bytes);
                if bytes.len() > KEPT {
                    long = finder;
                    &long
                } else {
                    &last.insert(Box::new((identity, finder.into_owned()))).1
                }
            }
        };
        // A match may cross the end of a piece, so the pieces overlap.
        let piece = PIECE.max(2 * bytes.len());
        let mut from = 0;
        loop {
            let to = text.len().min(from + piece);
            meter.consume_fuel((to - from) / bytes_a_unit, heap)?;
            if finder.find(&text[from..to]).is_some() {
                return Ok(Some(true));
            }
            if to == text.len() {
                return Ok(Some(false));
            }
            from = to - bytes.len().saturating_sub(1);
        }
    }
}
