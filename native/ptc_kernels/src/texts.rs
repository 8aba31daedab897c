//! Texts: new ones, their case, white space around them, their parts, and their characters.
//!
//! A text that is not [short](SHORT_TEXT) is worked on in pieces. `is_kept` says whether the caller keeps what was done when the work is
//! interrupted between two pieces; if not, the work starts again.

use crate::context::{Context, Made};
use ptc_term::heap::{words_of_string, Heap, WORDS_OF_CELL};
use ptc_term::meter::Meter;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_text::{graphemes, put_case, trim_sides, Case, Occurrences, Ongoing, Sides};

/// Texts of at most this many bytes are worked on in one step.
pub const SHORT_TEXT: usize = 16_384;
/// Bytes that are copied or compared per unit of fuel.
pub const BYTES_A_UNIT: usize = 64;

/// Longer texts get memory that is new to the process. To write to it costs several times as much.
const LONG_TEXT: usize = 65_536;
const NEW_BYTES_A_UNIT: usize = 8;

/// Longer texts have space of their own while they are made.
const VERY_SHORT: usize = 256;
/// Words that a part takes in a list, and in native memory before that.
const WORDS_KEPT: usize = WORDS_OF_CELL + 1;

/// Returns what counts the pieces of work on a text: the cost of a piece, and the words of what will have been written after it.
pub fn counting<'m, H: Heap>(
    heap: &'m H,
    meter: &'m mut Meter,
    is_kept: bool,
) -> impl FnMut(usize, usize) -> Result<(), Stop> + 'm {
    let mut is_first = true;
    move |cost, words| {
        if !std::mem::take(&mut is_first) && is_kept {
            meter.advanced();
        }
        meter.check_heap_limit(words, heap)?;
        meter.consume_fuel(cost, heap)
    }
}

/// Returns the units of fuel that a copy of so many bytes takes.
fn cost_of_copy(bytes: usize) -> usize {
    bytes
        / match bytes > LONG_TEXT {
            true => NEW_BYTES_A_UNIT,
            false => BYTES_A_UNIT,
        }
}

impl<H: Heap> Context<'_, H> {
    /// Makes a text, if the heap limit permits.
    pub fn make_text(&mut self, bytes: &[u8]) -> Made<H> {
        self.consume_fuel_at_once(cost_of_copy(bytes.len()))?;
        self.check_heap_limit(words_of_string(bytes.len()))?;
        Ok(self.heap.make_string(bytes))
    }

    /// Makes a part of a text: the text itself, if it is all of it.
    pub fn make_part(&mut self, text: H::Term, start: usize, end: usize) -> Made<H> {
        if start == 0 && self.heap.byte_length(text) == Some(end) {
            return Ok(text);
        }
        self.consume_fuel_at_once(cost_of_copy(end - start))?;
        self.check_heap_limit(words_of_string(end - start))?;
        let part = self.heap.bytes(text).unwrap_or_default()[start..end].to_vec();
        Ok(self.heap.make_string(&part))
    }

    /// Makes a very short text of ASCII in upper or lower case, as most texts are; `None` for others.
    pub fn ascii_in_case(&mut self, text: H::Term, case: Case) -> Result<Option<H::Term>, Stop> {
        let bytes = self.heap.bytes(text).unwrap_or_default();
        if bytes.len() > VERY_SHORT || !bytes.is_ascii() {
            return Ok(None);
        }
        let mut short = [0; VERY_SHORT];
        let short = &mut short[..bytes.len()];
        short.copy_from_slice(bytes);
        match case {
            Case::Upper => short.make_ascii_uppercase(),
            Case::Lower => short.make_ascii_lowercase(),
        }
        self.make_text(short).map(Some)
    }

    /// Makes the text in upper or lower case.
    pub fn in_case(
        &mut self,
        text: H::Term,
        case: Case,
        ongoing: &mut Ongoing,
        is_kept: bool,
    ) -> Made<H> {
        let Ongoing { at, out, .. } = ongoing;
        {
            let (heap, meter) = self.heap_and_meter();
            let bytes = heap.bytes(text).unwrap_or_default();
            if out.capacity() == 0 {
                meter.check_heap_limit(words_of_string(bytes.len()), heap)?;
                out.reserve_exact(bytes.len() + bytes.len() / 16);
            }
            let mut counting = counting(heap, meter, is_kept);
            let count = |cost, length| counting(cost, words_of_string(length));
            put_case(bytes, case, at, out, count)?;
        }
        self.make_text(out)
    }

    /// Moves the start and the end of a part of a text over the white space at these sides.
    pub fn pass_white_space(
        &mut self,
        text: H::Term,
        sides: Sides,
        (start, end): (&mut usize, &mut usize),
        is_kept: bool,
    ) -> Result<(), Stop> {
        let (heap, meter) = self.heap_and_meter();
        let bytes = heap.bytes(text).unwrap_or_default();
        let mut counting = counting(heap, meter, is_kept);
        trim_sides(bytes, sides, start, end, |cost| counting(cost, 0))?;
        Ok(())
    }

    /// Prepares the search for a part, unless that was done before.
    pub fn search_for<'o>(
        &mut self,
        part: H::Term,
        places: &'o mut Option<Box<Occurrences>>,
    ) -> Result<&'o mut Occurrences, Stop> {
        if let Some(places) = places {
            return Ok(places);
        }
        self.consume_fuel_to_copy(part)?;
        let length = self.heap.byte_length(part).unwrap_or(0);
        self.consume_fuel_at_once(Occurrences::cost(length))?;
        let part = self.heap.bytes(part).unwrap_or_default();
        Ok(places.insert(Box::new(Occurrences::new(part))))
    }

    /// Makes the text with all occurrences of a part replaced.
    pub fn replaced(
        &mut self,
        text: H::Term,
        (part, with): (H::Term, &[u8]),
        ongoing: &mut Ongoing,
        is_kept: bool,
    ) -> Made<H> {
        let Ongoing {
            at,
            count: ended,
            out,
            places,
            ..
        } = ongoing;
        let places = self.search_for(part, places)?;
        {
            let (heap, meter) = self.heap_and_meter();
            let bytes = heap.bytes(text).unwrap_or_default();
            let mut counting = counting(heap, meter, is_kept);
            while let Some(place) = places.next(bytes, |cost| counting(cost, 0))? {
                let more = place - *at + with.len();
                counting(1 + more / BYTES_A_UNIT, words_of_string(out.len() + more))?;
                out.extend_from_slice(&bytes[*at..place]);
                out.extend_from_slice(with);
                *at = place + places.length();
                places.take();
            }
            if *at == 0 {
                return Ok(text);
            }
            if *ended == 0 {
                let more = bytes.len() - *at;
                counting(1 + more / BYTES_A_UNIT, words_of_string(out.len() + more))?;
                out.extend_from_slice(&bytes[*at..]);
                *ended = 1;
            }
        }
        self.make_text(out)
    }

    /// Makes the parts of a text between the occurrences of another one that are not made yet. What was done is kept.
    pub fn split_by(
        &mut self,
        text: H::Term,
        by: H::Term,
        ongoing: &mut Ongoing,
        parts: &mut Roots<H::Term>,
    ) -> Result<(), Stop> {
        let Ongoing { at, places, .. } = ongoing;
        let places = self.search_for(by, places)?;
        loop {
            let next = {
                let (heap, meter) = self.heap_and_meter();
                let bytes = heap.bytes(text).unwrap_or_default();
                let mut counting = counting(heap, meter, true);
                places.next(bytes, |cost| counting(cost, 0))?
            };
            let end = next.or(self.heap.byte_length(text)).unwrap_or(*at);
            self.check_heap_limit(words_of_string(end - *at) + WORDS_KEPT * parts.len())?;
            let part = self.heap.bytes(text).unwrap_or_default()[*at..end].to_vec();
            parts.push(self.make_text(&part)?);
            self.meter.advanced();
            places.take();
            match next {
                Some(place) => *at = place + places.length(),
                None => return Ok(()),
            }
        }
    }

    /// Returns the number of characters of a part of a text, see [`graphemes`].
    pub fn characters(
        &mut self,
        text: H::Term,
        (start, end): (usize, usize),
        ongoing: &mut Ongoing,
        is_kept: bool,
    ) -> Result<usize, Stop> {
        let Ongoing {
            at, count, piece, ..
        } = ongoing;
        let (heap, meter) = self.heap_and_meter();
        let bytes = &heap.bytes(text).unwrap_or_default()[start..end];
        let mut counting = counting(heap, meter, is_kept);
        graphemes(bytes, at, count, piece, |cost| counting(cost, 0))
    }
}
