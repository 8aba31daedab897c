//! One value as text.

use super::{collections, opaque, scalars, Style, Writing};
use crate::code::{Halt, Machine};
use crate::values::{class, with_keyword_name, Class};
use ptc_json::put_integer;
use ptc_term::heap::{words_of_string, Heap};
use ptc_term::number::Number;

/// Bytes that are written per unit of fuel. A text that grows is copied to new memory now and then.
pub(super) const BYTES_A_UNIT: usize = 8;

/// Writes the value on top of the stack, or begins to.
pub(super) fn value<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    style: Style,
) -> Result<(), Halt<H>> {
    m.consume_fuel(1)?;
    let term = match work.terms.last_mut(m.heap) {
        Some(term) => *term,
        None => m.heap.nil(),
    };
    let is_key = style == Style::Key;
    match class(m, term) {
        Class::Nil if style == Style::Plain => {}
        Class::Nil => work
            .out
            .extend_from_slice(if is_key { b":nil" } else { b"nil" }),
        Class::Bool => {
            work.out.extend_from_slice(if is_key { b":" } else { b"" });
            let word: &[u8] = if m.heap.truthy(term) {
                b"true"
            } else {
                b"false"
            };
            work.out.extend_from_slice(word);
        }
        Class::Number => number(m, work, term, style)?,
        Class::Special if is_key => keyword(m, work, term),
        Class::Special => opaque::special(m, work, term, style),
        Class::String => string(m, work, term, style)?,
        Class::Keyword => keyword(m, work, term),
        Class::List | Class::Map | Class::Set => return collections::begin(m, work, term, style),
        Class::Opaque if m.heap.elements(term).is_some() => {
            return collections::begin(m, work, term, style)
        }
        other => opaque::put(m, work, term, style, other)?,
    }
    work.done(m, 1);
    Ok(())
}

fn number<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
    style: Style,
) -> Result<(), Halt<H>> {
    // The digits of a long integer take a time that grows with the square of its length.
    let limbs = m.heap.limbs(term);
    if limbs > 0 {
        m.consume_fuel_at_once(limbs.saturating_mul(limbs))?;
        m.check_heap_limit(words_of_string(work.out.len() + 20 * limbs))?;
    }
    match m.number(term)? {
        Some(Number::Int(value)) => put_integer(&mut work.out, value),
        Some(Number::Float(value)) if style == Style::Plain => {
            scalars::put_shortest(&mut work.out, value);
        }
        Some(Number::Float(value)) => scalars::put_rounded(&mut work.out, value),
        Some(Number::Big(value)) => work.out.extend_from_slice(value.to_string().as_bytes()),
        None => {}
    }
    Ok(())
}

fn string<H: Heap>(
    m: &mut Machine<'_, H>,
    work: &mut Writing<H::Term>,
    term: H::Term,
    style: Style,
) -> Result<(), Halt<H>> {
    let length = m.heap.byte_length(term).unwrap_or(0);
    let is_plain = matches!(style, Style::Plain | Style::Printed);
    let read = match is_plain {
        true => length,
        false => length.min(scalars::MOST_READ),
    };
    m.consume_fuel_to_copy(term)?;
    m.consume_fuel_at_once(1 + read / BYTES_A_UNIT)?;
    m.check_heap_limit(words_of_string(work.out.len() + read))?;
    let bytes = m.heap.bytes(term).unwrap_or_default();
    match is_plain {
        true => work.out.extend_from_slice(bytes),
        false => scalars::put_string(&mut work.out, bytes),
    }
    Ok(())
}

/// Writes `:name`.
fn keyword<H: Heap>(m: &Machine<'_, H>, work: &mut Writing<H::Term>, term: H::Term) {
    work.out.push(b':');
    with_keyword_name(m, term, |name| work.out.extend_from_slice(name));
}
