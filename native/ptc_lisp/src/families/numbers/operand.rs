//! Operands of arithmetic: numbers, and the specials, which are atoms.

use crate::code::{Eval, Halt, Machine};
use crate::consts::Word;
use crate::exec::checks::failed;
use crate::fault::Fault;
use crate::table::Builtin;
use crate::values::is_word;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_vm::Halt as VmHalt;

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    /// A number.
    Number(Number),
    /// An infinity, or NaN.
    Special(f64),
    /// No number.
    None,
}

impl Operand {
    /// An integer.
    pub(super) fn int(value: i64) -> Self {
        Operand::Number(Number::Int(value))
    }

    /// The operand that a float is, if it is finite or not.
    pub(super) fn of_float(value: f64) -> Self {
        match value.is_finite() {
            true => Operand::Number(Number::Float(value)),
            false => Operand::Special(value),
        }
    }

    /// Returns whether it is NaN.
    pub(super) fn is_nan(&self) -> bool {
        matches!(self, Operand::Special(value) if value.is_nan())
    }

    /// Returns it as a float; an integer that is too large for one is infinite. `None` for what is no number.
    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Operand::Number(number) => {
                Some(
                    number
                        .to_float()
                        .unwrap_or_else(|_| match number.is_negative() {
                            true => f64::NEG_INFINITY,
                            false => f64::INFINITY,
                        }),
                )
            }
            Operand::Special(value) => Some(*value),
            Operand::None => None,
        }
    }
}

/// Reads an operand.
#[inline]
pub(super) fn operand<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Result<Operand, Halt<H>> {
    if let Some(number) = m.number(term)? {
        return Ok(Operand::Number(number));
    }
    if !m.heap.is_name(term) {
        return Ok(Operand::None);
    }
    let specials = [
        (Word::Infinity, f64::INFINITY),
        (Word::NegativeInfinity, f64::NEG_INFINITY),
        (Word::NaN, f64::NAN),
    ];
    let special = specials.iter().find(|(word, _)| is_word(m, term, *word));
    Ok(special.map_or(Operand::None, |(_, value)| Operand::Special(*value)))
}

/// Makes the value of a built-in.
#[inline]
pub(super) fn made<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, value: Operand) -> Eval<H> {
    match value {
        Operand::Number(number) => make(m, builtin, number),
        Operand::Special(value) => {
            let word = match value {
                value if value.is_nan() => Word::NaN,
                value if value < 0.0 => Word::NegativeInfinity,
                _ => Word::Infinity,
            };
            Ok(m.constant(word.id()))
        }
        Operand::None => Err(failed("no_value", builtin, &[])),
    }
}

/// Makes a number.
#[inline]
pub(super) fn make<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, number: Number) -> Eval<H> {
    if let Number::Big(big) = &number {
        let words = 1 + big.bits().div_ceil(64) as usize;
        m.check_heap_limit(words)?;
        m.consume_fuel_at_once(words)?;
    }
    match m.heap.make_counter(number) {
        Some(term) => Ok(term),
        None => Err(failed("number_too_large", builtin, &[])),
    }
}

/// The error of an argument that is no number; `place` counts from 0.
#[cold]
pub(super) fn not_a_number<T>(builtin: Builtin, term: T, place: usize) -> VmHalt<Fault<T>> {
    let fault = Fault::of("not_a_number", builtin.name(), vec![term]);
    VmHalt::fault(fault.with((place + 1).to_string()))
}
