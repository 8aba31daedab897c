//! `mod`, `rem`, `quot`: division with a remainder.

use super::operand::{made, not_a_number, operand, Operand};
use crate::code::{Eval, Machine};
use crate::exec::checks::failed;
use crate::table::Builtin;
use num_bigint::BigInt;
use ptc_term::heap::Heap;
use ptc_term::number::Number;

/// Evaluates one of the three.
pub(super) fn eval<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    left: H::Term,
    right: H::Term,
) -> Eval<H> {
    let operands = (operand(m, left)?, operand(m, right)?);
    let (a, b) = match &operands {
        (Operand::None, _) => return Err(not_a_number(builtin, left, 0)),
        (_, Operand::None) => return Err(not_a_number(builtin, right, 1)),
        (Operand::Number(a), Operand::Number(b)) => (a, b),
        _ => return made(m, builtin, Operand::Special(f64::NAN)),
    };
    if b.is_zero() {
        return Err(failed("division_by_zero", builtin, &[]));
    }
    let value = match (integer(a), integer(b)) {
        (Some(x), Some(y)) => {
            m.count_division(a, b)?;
            match builtin {
                Builtin::Mod => a.modulo(b),
                Builtin::Rem => Some(Number::from_big(x % y)),
                _ => Some(Number::from_big(x / y)),
            }
        }
        _ => of_floats(builtin, a, b),
    };
    match value {
        Some(value) => made(m, builtin, Operand::Number(value)),
        None => Err(failed("number_too_large", builtin, &[])),
    }
}

/// Returns the value for two numbers of which one is a float; `None` if it is too large.
fn of_floats(builtin: Builtin, a: &Number, b: &Number) -> Option<Number> {
    let (a, b) = (a.to_float().ok()?, b.to_float().ok()?);
    let rest = a % b;
    match builtin {
        Builtin::Rem => Some(Number::Float(rest)),
        Builtin::Mod if rest == 0.0 => Some(Number::Float(0.0)),
        Builtin::Mod if (rest < 0.0) != (b < 0.0) => Some(Number::Float(rest + b)),
        Builtin::Mod => Some(Number::Float(rest)),
        _ => {
            let quotient = a / b;
            Number::of_whole(quotient.is_finite().then_some(quotient)?.trunc())
        }
    }
}

fn integer(number: &Number) -> Option<BigInt> {
    match number {
        Number::Int(value) => Some(BigInt::from(*value)),
        Number::Big(big) => Some(big.clone()),
        Number::Float(_) => None,
    }
}
