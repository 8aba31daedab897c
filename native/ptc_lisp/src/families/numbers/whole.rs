//! Integers and floats of numbers; their size, roots and powers.

use super::operand::{made, not_a_number, operand, Operand};
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::failed;
use crate::table::Builtin;
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::Number;

/// Evaluates a built-in of one number.
pub(super) fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, term: H::Term) -> Eval<H> {
    if builtin == Builtin::Int && m.heap.kind(term) == Kind::String {
        return code_point(m, term);
    }
    let value = match operand(m, term)? {
        Operand::None => return Err(not_a_number(builtin, term, 0)),
        value => value,
    };
    let value = match builtin {
        Builtin::Abs => match value {
            Operand::Special(value) => Operand::Special(value.abs()),
            Operand::Number(number) => match number.absolute() {
                Some(size) => Operand::Number(size),
                None => return Ok(term),
            },
            Operand::None => Operand::None,
        },
        Builtin::Floor | Builtin::Ceil | Builtin::Round | Builtin::Trunc => match value {
            Operand::Number(Number::Float(value)) => whole(match builtin {
                Builtin::Floor => value.floor(),
                Builtin::Ceil => value.ceil(),
                Builtin::Round => value.round(),
                _ => value.trunc(),
            }),
            // An integer or a special.
            _ => return Ok(term),
        },
        Builtin::Double | Builtin::Float => match value {
            Operand::Number(number) => Operand::of_float(float(builtin, &number)?),
            special => special,
        },
        Builtin::Sqrt => match value {
            Operand::Number(number) => Operand::of_float(float(builtin, &number)?.sqrt()),
            Operand::Special(value) => Operand::of_float(value.sqrt()),
            Operand::None => Operand::None,
        },
        _ => return int(m, term, value),
    };
    made(m, builtin, value)
}

/// Returns the integer of a float without a fraction.
fn whole(value: f64) -> Operand {
    Number::of_whole(value).map_or(Operand::None, Operand::Number)
}

fn float<T: Copy>(
    builtin: Builtin,
    number: &Number,
) -> Result<f64, ptc_vm::Halt<crate::fault::Fault<T>>> {
    let float = number.to_float();
    float.map_err(|_| failed("number_too_large", builtin, &[]))
}

/// `int`: an integer of 32 bits.
fn int<H: Heap>(m: &mut Machine<'_, H>, term: H::Term, value: Operand) -> Eval<H> {
    let small = match value {
        Operand::Special(value) if value.is_nan() => Some(0),
        Operand::Special(_) => return Err(failed("int_of_infinity", Builtin::Int, &[term])),
        Operand::Number(Number::Int(value)) => i32::try_from(value).ok(),
        Operand::Number(Number::Float(value)) => {
            let value = value.trunc();
            let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value);
            fits.then_some(value as i32)
        }
        _ => None,
    };
    match small {
        Some(value) => made(m, Builtin::Int, Operand::int(i64::from(value))),
        None => Err(failed("int_overflow", Builtin::Int, &[term])),
    }
}

/// The code point of a text of one character.
fn code_point<H: Heap>(m: &mut Machine<'_, H>, text: H::Term) -> Eval<H> {
    let few = match m.heap.byte_length(text) {
        Some(1..=4) => {
            m.consume_fuel_to_copy(text)?;
            m.heap.bytes(text).unwrap_or_default()
        }
        _ => &[],
    };
    let mut chars = std::str::from_utf8(few).unwrap_or_default().chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) => {
            let point = Operand::int(i64::from(u32::from(char)));
            made(m, Builtin::Int, point)
        }
        _ => Err(not_a_number(Builtin::Int, text, 0)),
    }
}

/// `pow`, as `Math.pow` of Java has it.
pub(super) fn pow<H: Heap>(m: &mut Machine<'_, H>, base: H::Term, exponent: H::Term) -> Eval<H> {
    let base = side(m, base, 0)?;
    let exponent = side(m, exponent, 1)?;
    let value = match (base, exponent) {
        (_, 0.0) => 1.0,
        (base, exponent) if base.is_nan() || exponent.is_nan() => f64::NAN,
        (base, exponent) if base.abs() == 1.0 && exponent.is_infinite() => f64::NAN,
        (base, exponent) => base.powf(exponent),
    };
    made(m, Builtin::Pow, Operand::of_float(value))
}

fn side<H: Heap>(m: &mut Machine<'_, H>, term: H::Term, place: usize) -> Result<f64, Halt<H>> {
    match operand(m, term)?.float() {
        Some(value) => Ok(value),
        None => Err(not_a_number(Builtin::Pow, term, place)),
    }
}
