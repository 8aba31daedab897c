//! `replace` with a plain text: all occurrences; an empty one is between all characters.

use super::{scanned, string, Scan};
use crate::code::{Eval, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use ptc_kernels::BYTES_A_UNIT;
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
        false => Ok(m.replaced(text, (what, &with), &mut scan.ongoing, scan.is_kept)?),
    })
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
    Ok(m.make_text(out)?)
}
