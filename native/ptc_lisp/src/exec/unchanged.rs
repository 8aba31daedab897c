//! A short look at a value that leaves a run: most values have nothing in them that is converted.

use super::states::Mode;
use crate::cache::TEXTS;
use crate::code::{Halt, Machine};
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Kind};
use ptc_term::roots::Roots;

/// Number of levels of lists and maps that are looked into at once. A part is looked at so often at most.
const LEVELS: usize = 4;

/// Number of parts that are looked at at once.
const PARTS: usize = 256;

/// Whether a value stays as it is, as far as a short look can say: it is neither deep nor large, and nothing in it is
/// converted.
pub(super) fn stays<H: Heap>(
    m: &mut Machine<'_, H>,
    value: H::Term,
    mode: Mode,
) -> Result<bool, Halt<H>> {
    let mut texts = m.cache.texts;
    let mut looking = Looking {
        mode,
        left: PARTS,
        texts: &mut texts,
    };
    let stays = looked(m, value, LEVELS, &mut looking);
    let left = looking.left;
    m.cache.texts = texts;
    m.consume_fuel_at_once((PARTS - left) / 4)?;
    Ok(stays)
}

/// Passes over the first items of a list that stay as they are, as far as a short look can say, and keeps them. Returns the others.
pub(super) fn pass<H: Heap>(
    m: &mut Machine<'_, H>,
    (list, mode): (H::Term, Mode),
    kept: &mut Roots<H::Term>,
) -> Result<H::Term, Halt<H>> {
    let mut texts = m.cache.texts;
    let mut looking = Looking {
        mode,
        left: PARTS,
        texts: &mut texts,
    };
    let (mut rest, before) = (list, kept.len());
    while let Some((part, tail)) = m.heap.uncons(rest) {
        let stays = m.heap.is_scalar(part) || looked(m, part, LEVELS, &mut looking);
        if !stays || looking.left == 0 {
            break;
        }
        looking.left -= 1;
        kept.push(part);
        rest = tail;
    }
    let left = looking.left;
    m.cache.texts = texts;
    if let Err(stop) = m.consume_fuel_at_once((PARTS - left) / 4) {
        kept.truncate(before, m.heap);
        return Err(stop.into());
    }
    Ok(rest)
}

/// A look.
struct Looking<'l> {
    mode: Mode,
    /// Number of parts that may still be looked at.
    left: usize,
    /// Where keys of small maps stand that are all texts, see [`crate::cache::Cache::texts`].
    texts: &'l mut [usize; TEXTS],
}

/// Calls itself for so many levels at most.
fn looked<H: Heap>(
    m: &Machine<'_, H>,
    value: H::Term,
    levels: usize,
    looking: &mut Looking,
) -> bool {
    match m.heap.kind(value) {
        Kind::Nil | Kind::Bool | Kind::Number | Kind::String => true,
        Kind::Other => m.heap.is_name(value),
        Kind::List if m.heap.is_empty_list(value) => true,
        Kind::List | Kind::Map if levels == 0 => false,
        Kind::List => {
            let mut rest = value;
            while let Some((part, tail)) = m.heap.uncons(rest) {
                if looking.left == 0 || !looked(m, part, levels - 1, looking) {
                    return false;
                }
                looking.left -= 1;
                rest = tail;
            }
            m.heap.is_empty_list(rest)
        }
        Kind::Map => {
            let Some((keys, values)) = m.heap.flat(value) else {
                return false;
            };
            if keys.len() > looking.left {
                return false;
            }
            looking.left -= keys.len();
            (are_texts(m, keys, looking) || are_plain(m, value, keys, looking))
                && (values.iter()).all(|value| {
                    // Most are known at once.
                    m.heap.is_scalar(*value) || looked(m, *value, levels - 1, looking)
                })
        }
    }
}

/// Whether all keys of a small map are texts.
fn are_texts<H: Heap>(m: &Machine<'_, H>, keys: &[H::Term], looking: &mut Looking) -> bool {
    // Maps of one kind share their keys.
    let at = keys.as_ptr() as usize;
    let place = &mut looking.texts[(at >> 4) % TEXTS];
    if *place == at {
        return true;
    }
    let all = (keys.iter()).all(|key| m.heap.kind(*key) == Kind::String);
    if all {
        *place = at;
    }
    all
}

/// Whether the other keys of a small map stay as they are. A map with other keys may be a struct.
fn are_plain<H: Heap>(
    m: &Machine<'_, H>,
    map: H::Term,
    keys: &[H::Term],
    looking: &mut Looking,
) -> bool {
    looking.mode != Mode::Arguments
        && class(m, map) == Class::Map
        && keys.iter().all(|key| looked(m, *key, 0, looking))
}
