//! Dates, times and decimals as text: in ISO 8601, and without an exponent.

use super::*;
use ptc_kernels::Why;
use ptc_term::value::{Coefficient, Value};

/// Writes a date, a time or a decimal. Returns false for all other terms and for one that is malformed, and an error for a
/// decimal that is too long to be written without an exponent.
pub(super) fn put_value_text<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
    out: &mut Vec<u8>,
) -> Result<Result<bool, Code>, Halt<H::Term>> {
    let (negative, coefficient) = match machine.value(term) {
        Some(Value::Iso(iso)) => {
            let text = ptc_date::text_of(iso);
            out.extend_from_slice(text.as_deref().unwrap_or_default());
            return Ok(Ok(text.is_some()));
        }
        Some(Value::Decimal {
            negative,
            coefficient,
            ..
        }) => (negative, coefficient),
        Some(Value::Opaque) | None => return Ok(Ok(false)),
    };
    let word = match coefficient {
        Coefficient::NotANumber => "NaN",
        Coefficient::Infinite => "Infinity",
        Coefficient::Integer(_) => match machine.exact(term)? {
            Ok(exact) => {
                // The digits of a long one take a time that grows with the square of its length.
                machine.consume_fuel(exact.limbs() * exact.limbs() + 2 * exact.cost())?;
                let text = exact.text();
                machine.check_heap_limit(words_of_string(out.len() + text.len()))?;
                out.extend_from_slice(text.as_bytes());
                return Ok(Ok(true));
            }
            Err(Why::TooLong) => return Ok(Err(Code::DecimalTooLong)),
            Err(_) => return Ok(Ok(false)),
        },
    };
    out.extend_from_slice(if negative { b"-" } else { b"" });
    out.extend_from_slice(word.as_bytes());
    Ok(Ok(true))
}
