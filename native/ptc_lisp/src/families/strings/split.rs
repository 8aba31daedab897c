//! `split` by a character, `split-lines`: the parts of a text.

use super::{is_one_character, only_string, string};
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::{failed, invalid_types};
use crate::families::seqs;
use crate::table::Builtin;
use memchr::{memchr, memrchr};
use ptc_kernels::{Listing, BYTES_A_UNIT, SHORT_TEXT};
use ptc_term::heap::{words_of_string, Heap, WORDS_OF_CELL};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_text::Ongoing;

/// Bytes of a text that are taken at once.
const BLOCK: usize = 16_384;
/// Bytes that are searched at once.
const PIECE: usize = 1 << 16;
/// Fuel for a part.
const PART: usize = 4;
/// Words of a new part without its bytes, and those that it will take in the list, and takes in native memory.
const WORDS_OF_PART: usize = 2;
const WORDS_KEPT: usize = WORDS_OF_CELL + 1;

/// Where a text is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// At line breaks: `\n` or `\r\n`.
    Lines,
    /// At a byte.
    Byte(u8),
    /// At the occurrences of a text.
    Text,
}

/// The parts of a text so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Splitting<T> {
    /// Where the next part begins.
    at: usize,
    /// How far it has been searched for its end.
    searched: usize,
    /// Whether all parts are made.
    is_split: bool,
    /// Number of empty parts at the end.
    empty: usize,
    items: Roots<T>,
    listing: Listing<T>,
    ongoing: Ongoing,
}

rooted!(Splitting { states: items, listing; plain: at, searched, is_split, empty, ongoing });

impl<T> Splitting<T> {
    fn new() -> Self {
        Splitting {
            at: 0,
            searched: 0,
            is_split: false,
            empty: 0,
            items: Roots::default(),
            listing: Listing::default(),
            ongoing: Ongoing::default(),
        }
    }
}

/// `split` by a text: one of one character, or an empty one for all characters.
pub(super) fn split<H: Heap>(
    m: &mut Machine<'_, H>,
    arguments: &[H::Term],
    text: H::Term,
    by: H::Term,
) -> Eval<H> {
    let (Some(text), Some(by)) = (string(m, text)?, string(m, by)?) else {
        return Err(invalid_types(Builtin::Split, arguments));
    };
    let byte = match m.heap.bytes(by).unwrap_or_default() {
        [] => return seqs::items(m, text),
        [byte] => Some(*byte),
        _ => None,
    };
    let how = match byte {
        Some(byte) if byte.is_ascii() => By::Byte(byte),
        _ if is_one_character(m, by)? => By::Text,
        _ => return Err(failed("long_separator", Builtin::Split, &[by])),
    };
    if let By::Byte(byte) = how {
        if m.heap.byte_length(text).unwrap_or(0) <= SHORT_TEXT {
            return short(m, text, byte);
        }
    }
    m.resumable(
        |_| Splitting::new(),
        |m, work| parts(m, text, by, how, work),
    )
}

/// `split-lines`
pub(super) fn lines<H: Heap>(m: &mut Machine<'_, H>, text: H::Term) -> Eval<H> {
    let text = only_string(m, Builtin::SplitLines, text)?;
    m.resumable(
        |_| Splitting::new(),
        |m, work| parts(m, text, text, By::Lines, work),
    )
}

/// The parts of a short text.
fn short<H: Heap>(m: &mut Machine<'_, H>, text: H::Term, byte: u8) -> Eval<H> {
    let bytes = m.heap.bytes(text).unwrap_or_default();
    let count = 1 + bytes.iter().filter(|it| **it == byte).count();
    let length = bytes.len();
    m.consume_fuel(1 + length / BYTES_A_UNIT + PART * count)?;
    m.check_heap_limit(length / 8 + (WORDS_OF_PART + WORDS_KEPT) * count)?;
    let bytes = m.heap.bytes(text).unwrap_or_default().to_vec();
    let mut parts = Vec::with_capacity(count);
    for part in bytes.split(|it| *it == byte) {
        parts.push(m.heap.make_string(part));
    }
    Ok(m.heap.make_list(&parts))
}

fn parts<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    by: H::Term,
    how: By,
    work: &mut Splitting<H::Term>,
) -> Eval<H> {
    if !work.is_split {
        match how {
            By::Lines => by_byte(m, text, b'\n', true, work)?,
            By::Byte(byte) => by_byte(m, text, byte, false, work)?,
            By::Text => m.split_by(text, by, &mut work.ongoing, &mut work.items)?,
        }
        // Empty lines at the end are dropped, unless the text itself is the only one.
        let is_empty_text = m.heap.byte_length(text) == Some(0);
        if how == By::Lines && !is_empty_text {
            let kept = work.items.len() - work.empty;
            work.items.truncate(kept, m.heap);
        }
        work.is_split = true;
    }
    Ok(work.listing.all(m, &work.items)?)
}

/// Makes the parts between the occurrences of a byte that are not made yet.
fn by_byte<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    byte: u8,
    is_lines: bool,
    work: &mut Splitting<H::Term>,
) -> Result<(), Halt<H>> {
    let length = m.heap.byte_length(text).unwrap_or(0);
    loop {
        let start = work.at;
        let bytes = m.heap.bytes(text).unwrap_or_default();
        let window = &bytes[start..length.min(start + BLOCK)];
        let Some(last) = memrchr(byte, window) else {
            let (end, is_last) = end_of_part(m, text, byte, work)?;
            let cut =
                usize::from(is_lines && !is_last && end > start && ends_by_return(m, text, end));
            m.check_heap_limit(words_of_string(end - start) + WORDS_KEPT * work.items.len())?;
            let part = m.heap.bytes(text).unwrap_or_default()[start..end - cut].to_vec();
            let part = m.make_text(&part)?;
            push(work, part, end - cut == start);
            (work.at, work.searched) = (end + 1, end + 1);
            m.meter.advanced();
            if is_last {
                return Ok(());
            }
            continue;
        };
        let block = &window[..last];
        let count = 1 + block.iter().filter(|it| **it == byte).count();
        let length = block.len();
        m.consume_fuel(1 + length / BYTES_A_UNIT + PART * count)?;
        let kept = WORDS_KEPT * (work.items.len() + count);
        m.check_heap_limit(length / 8 + WORDS_OF_PART * count + kept)?;
        let block = m.heap.bytes(text).unwrap_or_default()[start..start + last].to_vec();
        for part in block.split(|it| *it == byte) {
            let part = match part {
                [line @ .., b'\r'] if is_lines => line,
                part => part,
            };
            let made = m.heap.make_string(part);
            push(work, made, part.is_empty());
        }
        (work.at, work.searched) = (start + last + 1, start + last + 1);
        m.meter.advanced();
    }
}

fn push<T: Copy>(work: &mut Splitting<T>, part: T, is_empty: bool) {
    work.items.push(part);
    work.empty = if is_empty { work.empty + 1 } else { 0 };
}

fn ends_by_return<H: Heap>(m: &Machine<'_, H>, text: H::Term, end: usize) -> bool {
    m.heap.bytes(text).unwrap_or_default()[end - 1] == b'\r'
}

/// Returns where the next part ends, and whether it is the last one.
fn end_of_part<H: Heap>(
    m: &mut Machine<'_, H>,
    text: H::Term,
    byte: u8,
    work: &mut Splitting<H::Term>,
) -> Result<(usize, bool), Halt<H>> {
    let length = m.heap.byte_length(text).unwrap_or(0);
    work.searched = work.searched.max(work.at);
    while work.searched < length {
        let end = length.min(work.searched + PIECE);
        m.consume_fuel(1 + (end - work.searched) / BYTES_A_UNIT)?;
        let piece = &m.heap.bytes(text).unwrap_or_default()[work.searched..end];
        if let Some(place) = memchr(byte, piece) {
            return Ok((work.searched + place, false));
        }
        work.searched = end;
        m.meter.advanced();
    }
    Ok((length, true))
}
