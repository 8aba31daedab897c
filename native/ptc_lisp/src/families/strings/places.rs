//! Places in texts, as indices of graphemes; whether and where a text has another one.

use super::{scanned, string, Scan};
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use crate::values::make_int;
use ptc_kernels::{counting, BYTES_A_UNIT};
use ptc_term::heap::Heap;
use ptc_text::{last_place, skip, Ongoing};

/// Whether a text begins with a part, ends with it, or has it. Both are strings.
pub(super) fn has<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    text: H::Term,
    part: H::Term,
) -> Eval<H> {
    let length = m.heap.byte_length(part).unwrap_or(0);
    m.consume_fuel_at_once(length / BYTES_A_UNIT)?;
    let holds = match builtin {
        Builtin::IsStartsWith | Builtin::MethodStartsWith => {
            let part = m.heap.bytes(part).unwrap_or_default();
            m.heap.bytes(text).unwrap_or_default().starts_with(part)
        }
        Builtin::IsEndsWith | Builtin::MethodEndsWith => {
            let part = m.heap.bytes(part).unwrap_or_default();
            m.heap.bytes(text).unwrap_or_default().ends_with(part)
        }
        _ => m.has_part(text, part)?.unwrap_or(false),
    };
    Ok(m.heap.boolean(holds))
}

/// A place that is given as an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// Before the start.
    Negative,
    /// A number of graphemes; it may be beyond the end.
    At(usize),
}

/// Reads an index; `None` for what is no integer.
pub(super) fn index_of<H: Heap>(
    m: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<Option<Index>, Halt<H>> {
    if let Some(value) = m.heap.small_integer(term) {
        return Ok(Some(match usize::try_from(value) {
            Ok(value) => Index::At(value),
            Err(_) => Index::Negative,
        }));
    }
    if m.heap.limbs(term) == 0 {
        return Ok(None);
    }
    let number = m.number(term)?;
    Ok(Some(match number.is_some_and(|it| it.is_negative()) {
        true => Index::Negative,
        false => Index::At(usize::MAX),
    }))
}

/// `index-of`, `last-index-of`: an index, or nil.
pub(super) fn index<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
    (text, part): (H::Term, H::Term),
    from: Option<H::Term>,
) -> Eval<H> {
    let (Some(text), Some(part)) = (string(m, text)?, string(m, part)?) else {
        return Err(invalid_types(builtin, arguments));
    };
    let from = match from {
        None => None,
        Some(from) => match index_of(m, from)? {
            Some(from) => Some(from),
            None => return Err(invalid_types(builtin, arguments)),
        },
    };
    let found = match builtin {
        Builtin::IndexOf => find(m, text, part, from)?,
        _ => find_last(m, text, part, from)?,
    };
    Ok(match found {
        Some(index) => make_int(m, index as i64),
        None => m.heap.nil(),
    })
}

fn from_index(from: Option<Index>, without: usize) -> usize {
    match from {
        None => without,
        Some(Index::Negative) => 0,
        Some(Index::At(index)) => index,
    }
}

/// Returns the index of the first occurrence of a part that begins at an index or after it.
pub(super) fn find<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    part: H::Term,
    from: Option<Index>,
) -> Result<Option<usize>, Halt<H>> {
    let length = m.heap.byte_length(text).unwrap_or(0);
    let part_length = m.heap.byte_length(part).unwrap_or(0);
    let from = from_index(from, 0);
    scanned(m, length + part_length, |m, scan| {
        if scan.stage == 0 {
            (scan.stage, scan.left) = (1, from);
        }
        if scan.stage == 1 {
            pass(m, text, scan)?;
            scan.start = scan.ongoing.at;
            scan.stage = 2;
        }
        // The graphemes before the place from which on it searches.
        let before = from - scan.left;
        if part_length == 0 {
            return Ok(Some(before));
        }
        if scan.stage == 2 {
            let is_kept = scan.is_kept;
            let places = &mut scan.ongoing.places;
            let places = m.search_for(part, places)?;
            let (heap, meter) = m.heap_and_meter();
            let bytes = &heap.bytes(text).unwrap_or_default()[scan.start..];
            let mut counting = counting(heap, meter, is_kept);
            let Some(place) = places.next(bytes, |cost| counting(cost, 0))? else {
                return Ok(None);
            };
            scan.ongoing = Ongoing::default();
            (scan.place, scan.stage) = (place, 3);
        }
        let (start, end) = (scan.start, scan.start + scan.place);
        Ok(Some(before + count(m, text, (start, end), scan)?))
    })
}

/// Returns the index of the last occurrence of a part that begins at an index or before it.
pub(super) fn find_last<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    part: H::Term,
    from: Option<Index>,
) -> Result<Option<usize>, Halt<H>> {
    let length = m.heap.byte_length(text).unwrap_or(0);
    let part_length = m.heap.byte_length(part).unwrap_or(0);
    let from = from_index(from, usize::MAX);
    scanned(m, length + part_length, |m, scan| {
        if scan.stage == 0 {
            (scan.stage, scan.left) = (1, from);
        }
        if scan.stage == 1 {
            match from {
                usize::MAX => scan.ongoing.at = length,
                _ => pass(m, text, scan)?,
            }
            scan.start = (scan.ongoing.at + part_length).min(length);
            scan.stage = 2;
        }
        if scan.stage == 2 {
            let (heap, meter) = m.heap_and_meter();
            let bytes = heap.bytes(text).unwrap_or_default();
            let place = match part_length {
                0 => Some(scan.ongoing.at),
                _ => {
                    // Both are read: the second one must not be copied for that.
                    let part = heap.bytes(part).unwrap_or_default();
                    let mut counting = counting(heap, meter, scan.is_kept);
                    last_place(bytes, part, &mut scan.start, |cost| counting(cost, 0))?
                }
            };
            let Some(place) = place else {
                return Ok(None);
            };
            scan.ongoing = Ongoing::default();
            (scan.place, scan.stage) = (place, 3);
        }
        let end = scan.place;
        Ok(Some(count(m, text, (0, end), scan)?))
    })
}

/// Passes the graphemes that are left to pass.
fn pass<H: Heap>(m: &mut Machine<'_, H>, text: H::Term, scan: &mut Scan) -> Result<(), Halt<H>> {
    let (heap, meter) = m.heap_and_meter();
    let bytes = heap.bytes(text).unwrap_or_default();
    let mut counting = counting(heap, meter, scan.is_kept);
    let ongoing = &mut scan.ongoing;
    skip(
        bytes,
        &mut ongoing.at,
        &mut scan.left,
        &mut ongoing.piece,
        |cost| counting(cost, 0),
    )?;
    Ok(())
}

/// Counts the graphemes of a part of a text.
fn count<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    (start, end): (usize, usize),
    scan: &mut Scan,
) -> Result<usize, Halt<H>> {
    Ok(m.characters(text, (start, end), &mut scan.ongoing, scan.is_kept)?)
}

/// Returns the number of graphemes of a string.
pub(super) fn length<H: Heap>(m: &mut Machine<'_, H>, text: H::Term) -> Result<usize, Halt<H>> {
    let length = m.heap.byte_length(text).unwrap_or(0);
    scanned(m, length, |m, scan| count(m, text, (0, length), scan))
}

/// A place in a text: in bytes, and how many graphemes are missing before it, if the text ends there.
pub(super) type TextPlace = (usize, usize);

/// Returns the places of two indices in a text. Without a second one, it is the end.
pub(super) fn both<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    (start, end): (usize, Option<usize>),
    scan: &mut Scan,
) -> Result<[TextPlace; 2], Halt<H>> {
    if scan.stage == 0 {
        (scan.stage, scan.left) = (1, start);
    }
    if scan.stage == 1 {
        pass(m, text, scan)?;
        (scan.start, scan.place) = (scan.ongoing.at, scan.left);
        scan.stage = 2;
        scan.left += end.map_or(0, |end| end.saturating_sub(start));
    }
    let first = (scan.start, scan.place);
    if end.is_none() {
        return Ok([first, (m.heap.byte_length(text).unwrap_or(0), 0)]);
    }
    pass(m, text, scan)?;
    Ok([first, (scan.ongoing.at, scan.left)])
}
