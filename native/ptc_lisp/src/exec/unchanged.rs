//! A short look at a value that leaves a run: most values have nothing in them that is converted.

use super::states::Mode;
use crate::code::{Halt, Machine};
use crate::values::{class, Class};
use ptc_term::heap::{Heap, Kind};

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
    let mut left = PARTS;
    let stays = looked(m, value, mode, LEVELS, &mut left);
    m.consume_fuel_at_once((PARTS - left) / 4)?;
    Ok(stays)
}

/// Calls itself for so many levels at most.
fn looked<H: Heap>(
    m: &Machine<'_, H>,
    value: H::Term,
    mode: Mode,
    levels: usize,
    left: &mut usize,
) -> bool {
    match m.heap.kind(value) {
        Kind::Nil | Kind::Bool | Kind::Number | Kind::String => true,
        Kind::Other => m.heap.is_name(value),
        Kind::List if m.heap.is_empty_list(value) => true,
        Kind::List | Kind::Map if levels == 0 => false,
        Kind::List => {
            let mut rest = value;
            while let Some((part, tail)) = m.heap.uncons(rest) {
                if *left == 0 || !looked(m, part, mode, levels - 1, left) {
                    return false;
                }
                *left -= 1;
                rest = tail;
            }
            m.heap.is_empty_list(rest)
        }
        Kind::Map => {
            let Some((keys, values)) = m.heap.flat(value) else {
                return false;
            };
            if keys.len() > *left {
                return false;
            }
            *left -= keys.len();
            let is_text = |key: &H::Term| m.heap.kind(*key) == Kind::String;
            let mut is_plain = || {
                // A map with other keys may be a struct.
                mode != Mode::Arguments
                    && class(m, value) == Class::Map
                    && keys.iter().all(|key| looked(m, *key, mode, 0, left))
            };
            (keys.iter().all(is_text) || is_plain())
                && (values.iter()).all(|value| looked(m, *value, mode, levels - 1, left))
        }
    }
}
