//! A text to which others were added.

use super::string;
use crate::code::{Eval, Machine};
use ptc_term::heap::Heap;

/// Texts between two counts of fuel.
const BATCH: usize = 16;

/// Bytes that are copied to new memory per unit of fuel.
const BYTES_A_UNIT: usize = 8;

/// Makes one text of a text and of those that were added to it, newest first.
pub fn joined<H: Heap>(m: &mut Machine<'_, H>, base: H::Term, added: H::Term) -> Eval<H> {
    let (mut texts, mut rest) = (Vec::new(), added);
    let mut length = 0;
    while let Some((text, tail)) = m.heap.uncons(rest) {
        if texts.len() % BATCH == 0 {
            m.consume_fuel_at_once(BATCH)?;
        }
        texts.push(text);
        rest = tail;
    }
    texts.push(base);
    for text in &mut texts {
        if let Some(aligned) = string(m, *text)? {
            *text = aligned;
        }
        length += m.heap.byte_length(*text).unwrap_or(0);
    }
    m.check_heap_limit(length / 8)?;
    m.consume_fuel_at_once(length / BYTES_A_UNIT)?;
    let mut bytes = Vec::with_capacity(length);
    for text in texts.iter().rev() {
        bytes.extend_from_slice(m.heap.bytes(*text).unwrap_or_default());
    }
    Ok(m.make_text(&bytes)?)
}
