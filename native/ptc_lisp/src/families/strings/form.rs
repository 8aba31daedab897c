//! The case of texts, and white space around them.

use super::{only_string, scanned};
use crate::code::{Eval, Machine};
use crate::table::Builtin;
use ptc_kernels::SHORT_TEXT;
use ptc_term::heap::{Heap, Kind};
use ptc_text::{Case, Sides};

/// `upcase`, `downcase`, and the same by other names.
pub(super) fn in_case<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, term: H::Term) -> Eval<H> {
    let case = match builtin {
        Builtin::Upcase | Builtin::UpperCase | Builtin::MethodToUpperCase => Case::Upper,
        _ => Case::Lower,
    };
    let text = only_string(m, builtin, term)?;
    if let Some(made) = m.ascii_in_case(text, case)? {
        return Ok(made);
    }
    let length = m.heap.byte_length(text).unwrap_or(0);
    scanned(m, length, |m, scan| {
        Ok(m.in_case(text, case, &mut scan.ongoing, scan.is_kept)?)
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
        if scan.stage == 0 {
            (scan.stage, scan.left) = (1, length);
        }
        let part = (&mut scan.start, &mut scan.left);
        m.pass_white_space(text, sides, part, scan.is_kept)?;
        match builtin {
            Builtin::IsBlank => Ok(m.heap.boolean(scan.start == scan.left)),
            _ => Ok(m.make_part(text, scan.start, scan.left)?),
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
    let few = bytes.iter().rev().take(SHORT_TEXT).take_while(is_newline);
    let few = few.count();
    let newlines = match few < SHORT_TEXT {
        true => few,
        false => {
            let length = bytes.len();
            m.consume_fuel_at_once(length / BYTES_PASSED_A_UNIT)?;
            let bytes = m.heap.bytes(text).unwrap_or_default();
            bytes.iter().rev().take_while(is_newline).count()
        }
    };
    let end = m.heap.byte_length(text).unwrap_or(0) - newlines;
    Ok(m.make_part(text, 0, end)?)
}
