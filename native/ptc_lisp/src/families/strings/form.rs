//! The case of texts, and white space around them.

use super::{counting, make_part, make_string, only_string, scanned, SHORT};
use crate::code::{Eval, Machine};
use crate::table::Builtin;
use ptc_term::heap::{words_of_string, Heap, Kind};
use ptc_text::{put_case, trim_sides, Case, Ongoing, Sides};

/// Longer texts have space of their own while they are made.
const VERY_SHORT: usize = 256;

/// `upcase`, `downcase`, and the same by other names.
pub(super) fn in_case<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, term: H::Term) -> Eval<H> {
    let case = match builtin {
        Builtin::Upcase | Builtin::UpperCase | Builtin::MethodToUpperCase => Case::Upper,
        _ => Case::Lower,
    };
    let text = only_string(m, builtin, term)?;
    let bytes = m.heap.bytes(text).unwrap_or_default();
    let length = bytes.len();
    // Most texts are short and of ASCII.
    if length <= VERY_SHORT && bytes.is_ascii() {
        let mut short = [0; VERY_SHORT];
        let short = &mut short[..length];
        short.copy_from_slice(bytes);
        match case {
            Case::Upper => short.make_ascii_uppercase(),
            Case::Lower => short.make_ascii_lowercase(),
        }
        return make_string(m, short);
    }
    scanned(m, length, |m, scan| {
        let (heap, meter) = m.heap_and_meter();
        let bytes = heap.bytes(text).unwrap_or_default();
        let is_kept = scan.is_kept;
        let Ongoing { at, out, .. } = &mut scan.ongoing;
        {
            if out.capacity() == 0 {
                meter.check_heap_limit(words_of_string(bytes.len()), heap)?;
                out.reserve_exact(bytes.len() + bytes.len() / 16);
            }
            let mut counting = counting(heap, meter, is_kept);
            let count = |cost, length| counting(cost, words_of_string(length));
            put_case(bytes, case, at, out, count)?;
        }
        make_string(m, out)
    })
}

/// `trim`, `triml`, `trimr`, `trim-newline`: a text without what is around it; `blank?`: whether nothing is left.
pub(super) fn trimmed<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, term: H::Term) -> Eval<H> {
    if builtin == Builtin::IsBlank && m.heap.kind(term) == Kind::Nil {
        return Ok(m.heap.boolean(true));
    }
    let text = only_string(m, builtin, term)?;
    let sides = match builtin {
        Builtin::Triml => Sides::Start,
        Builtin::Trimr => Sides::End,
        Builtin::TrimNewline => return without_newlines(m, text),
        _ => Sides::Both,
    };
    let length = m.heap.byte_length(text).unwrap_or(0);
    scanned(m, length, |m, scan| {
        let (heap, meter) = m.heap_and_meter();
        let bytes = heap.bytes(text).unwrap_or_default();
        if scan.stage == 0 {
            (scan.stage, scan.left) = (1, bytes.len());
        }
        {
            let mut counting = counting(heap, meter, scan.is_kept);
            let (start, end) = (&mut scan.start, &mut scan.left);
            trim_sides(bytes, sides, start, end, |cost| counting(cost, 0))?;
        }
        match builtin {
            Builtin::IsBlank => Ok(m.heap.boolean(scan.start == scan.left)),
            _ => make_part(m, text, scan.start, scan.left),
        }
    })
}

/// Bytes that are passed per unit of fuel.
const BYTES_PASSED_A_UNIT: usize = 16;

/// The text without the line breaks at its end.
fn without_newlines<H: Heap>(m: &mut Machine<'_, H>, text: H::Term) -> Eval<H> {
    let bytes = m.heap.bytes(text).unwrap_or_default();
    let is_newline = |byte: &&u8| matches!(byte, b'\n' | b'\r');
    // No text has so many of them that passing them takes long, unless someone has made it for that.
    let few = bytes.iter().rev().take(SHORT).take_while(is_newline);
    let few = few.count();
    let newlines = match few < SHORT {
        true => few,
        false => {
            let length = bytes.len();
            m.consume_fuel_at_once(length / BYTES_PASSED_A_UNIT)?;
            let bytes = m.heap.bytes(text).unwrap_or_default();
            bytes.iter().rev().take_while(is_newline).count()
        }
    };
    let end = m.heap.byte_length(text).unwrap_or(0) - newlines;
    make_part(m, text, 0, end)
}
