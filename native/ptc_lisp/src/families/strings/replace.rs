//! `replace` with a plain text: all occurrences; an empty one is between all characters.

use super::split::prepared;
use super::{counting, make_string, scanned, string, Scan, BYTES_A_UNIT};
use crate::code::{Eval, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use ptc_term::heap::{words_of_string, Heap};
use ptc_text::Ongoing;

/// Evaluates it.
pub(super) fn replace<H: Heap>(
    m: &mut Machine<'_, H>,
    arguments: &[H::Term],
    [text, what, with]: [H::Term; 3],
) -> Eval<H> {
    let texts = (string(m, text)?, string(m, what)?, string(m, with)?);
    let (Some(text), Some(what), Some(with)) = texts else {
        return Err(invalid_types(Builtin::Replace, arguments));
    };
    let with = m.heap.bytes(with).unwrap_or_default().to_vec();
    let length = m.heap.byte_length(text).unwrap_or(0).max(with.len());
    let is_empty = m.heap.byte_length(what) == Some(0);
    scanned(m, length, |m, scan| match is_empty {
        true if with.is_empty() => Ok(text),
        true => between(m, text, &with, scan),
        false => occurrences(m, text, what, &with, scan),
    })
}

/// Makes the text with the replaced parts.
fn occurrences<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    what: H::Term,
    with: &[u8],
    scan: &mut Scan,
) -> Eval<H> {
    let is_kept = scan.is_kept;
    let Ongoing {
        at, out, places, ..
    } = &mut scan.ongoing;
    let places = prepared(m, what, places)?;
    let (heap, meter) = m.heap_and_meter();
    let bytes = heap.bytes(text).unwrap_or_default();
    {
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
        if scan.stage == 0 {
            let more = bytes.len() - *at;
            counting(1 + more / BYTES_A_UNIT, words_of_string(out.len() + more))?;
            out.extend_from_slice(&bytes[*at..]);
            scan.stage = 1;
        }
    }
    make_string(m, out)
}

/// Makes the text with another one before, between and after its graphemes.
fn between<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    with: &[u8],
    scan: &mut Scan,
) -> Eval<H> {
    let is_kept = scan.is_kept;
    let Ongoing { at, out, piece, .. } = &mut scan.ongoing;
    {
        let (heap, meter) = m.heap_and_meter();
        let bytes = heap.bytes(text).unwrap_or_default();
        if scan.stage == 0 {
            meter.check_heap_limit(words_of_string(with.len()), heap)?;
            meter.consume_fuel(1 + with.len() / BYTES_A_UNIT, heap)?;
            out.extend_from_slice(with);
            scan.stage = 1;
        }
        let mut ends = Vec::new();
        while scan.start < bytes.len() {
            let (mut next, mut length) = (*at, *piece);
            ptc_text::cuts(bytes, &mut next, &mut length, &mut ends, |cost| {
                meter.consume_fuel(cost, heap)
            })?;
            let more = next - scan.start + ends.len() * with.len();
            meter.check_heap_limit(words_of_string(out.len() + more), heap)?;
            for end in ends.drain(..) {
                out.extend_from_slice(&bytes[scan.start..end]);
                out.extend_from_slice(with);
                scan.start = end;
            }
            (*at, *piece) = (next, length);
            // What was written counts afterwards: nothing of it is lost then.
            if is_kept {
                meter.advanced();
            }
            meter.consume_fuel(1 + more / BYTES_A_UNIT, heap)?;
        }
    }
    make_string(m, out)
}
