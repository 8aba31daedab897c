//! Numbers: arithmetic, bits, signs, and numbers of texts.
//!
//! * this file: which function evaluates which built-in, and what is evaluated without any of them
//! * `operand`: numbers and the specials, read and made; `sums`: `+ - * /`; `division`: `mod rem quot`
//! * `whole`: integers and floats of numbers, roots and powers; `bits`; `signs`: questions to numbers, `max`, `min`
//! * `parse`: numbers of texts

mod bits;
mod division;
mod operand;
mod parse;
mod signs;
mod sums;
mod whole;

use crate::code::{Eval, Machine};
use crate::exec::checks::invalid_types;
use crate::table::Builtin;
use crate::values::make_int;
use operand::Operand;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::rooted;

/// An evaluation with many arguments that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct NumbersWork<T> {
    /// The greatest or least argument so far.
    best: Option<T>,
    /// The value of the arguments so far.
    so_far: Operand,
    /// The next argument.
    at: usize,
}

rooted!(NumbersWork { optional: best; plain: so_far, at });

/// More arguments than this are taken one by one, with a state.
const FEW: usize = 64;

/// Whether a built-in is one of the most frequent of numbers.
#[inline]
pub fn is_arithmetic(builtin: Builtin) -> bool {
    let computes = matches!(
        builtin,
        Builtin::Add
            | Builtin::Subtract
            | Builtin::Multiply
            | Builtin::Mod
            | Builtin::Rem
            | Builtin::Quot
    );
    computes || is_comparison(builtin)
}

#[inline]
fn is_comparison(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Less
            | Builtin::Greater
            | Builtin::LessOrEqual
            | Builtin::GreaterOrEqual
            | Builtin::Equal
            | Builtin::SameNumber
            | Builtin::NotEqual
    )
}

/// Returns the value of a built-in with two arguments, if both are small numbers, and the built-in is one of the most frequent.
#[inline]
pub fn quick<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    operands: [H::Term; 2],
) -> Option<H::Term> {
    match is_arithmetic(builtin) {
        true => arithmetic(m, builtin, operands),
        false => None,
    }
}

/// Returns the value of one of the [most frequent](is_arithmetic) built-ins, if both arguments are small numbers.
#[inline(always)]
pub fn arithmetic<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    [left, right]: [H::Term; 2],
) -> Option<H::Term> {
    let (Some(a), Some(b)) = (m.heap.small_integer(left), m.heap.small_integer(right)) else {
        return of_floats(m, builtin, [left, right]);
    };
    let value = match builtin {
        Builtin::Add => a.checked_add(b)?,
        Builtin::Subtract => a.checked_sub(b)?,
        Builtin::Multiply => a.checked_mul(b)?,
        Builtin::Rem => a.checked_rem(b)?,
        Builtin::Quot => a.checked_div(b)?,
        Builtin::Mod => match a.checked_rem(b)? {
            rest if rest != 0 && (rest < 0) != (b < 0) => rest + b,
            rest => rest,
        },
        _ => return Some(m.heap.boolean(compared(builtin, a, b))),
    };
    Some(make_int(m, value))
}

/// Returns the truth of a comparison of small integers; `None` for others, and for other built-ins.
#[inline(always)]
pub fn comparison<H: Heap>(
    m: &Machine<'_, H>,
    builtin: Builtin,
    [left, right]: [H::Term; 2],
) -> Option<bool> {
    if !is_comparison(builtin) {
        return None;
    }
    let (a, b) = (m.heap.small_integer(left)?, m.heap.small_integer(right)?);
    Some(compared(builtin, a, b))
}

#[inline(always)]
fn compared(builtin: Builtin, a: i64, b: i64) -> bool {
    match builtin {
        Builtin::Less => a < b,
        Builtin::Greater => a > b,
        Builtin::LessOrEqual => a <= b,
        Builtin::GreaterOrEqual => a >= b,
        Builtin::NotEqual => a != b,
        _ => a == b,
    }
}

/// Returns the value of a built-in whose arguments are two floats.
#[inline(never)]
fn of_floats<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    [left, right]: [H::Term; 2],
) -> Option<H::Term> {
    let (a, b) = (m.heap.float(left)?, m.heap.float(right)?);
    let value = match builtin {
        Builtin::Add => a + b,
        Builtin::Subtract => a - b,
        Builtin::Multiply => a * b,
        Builtin::Less => return Some(m.heap.boolean(a < b)),
        Builtin::Greater => return Some(m.heap.boolean(a > b)),
        Builtin::LessOrEqual => return Some(m.heap.boolean(a <= b)),
        Builtin::GreaterOrEqual => return Some(m.heap.boolean(a >= b)),
        Builtin::Equal | Builtin::SameNumber => return Some(m.heap.boolean(a == b)),
        Builtin::NotEqual => return Some(m.heap.boolean(a != b)),
        _ => return None,
    };
    // No float is infinite: that is an error, which the caller finds.
    match value.is_finite() {
        true => m.heap.make_number(Number::Float(value)),
        false => None,
    }
}

/// Evaluates a built-in of the family.
pub fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, arguments: &[H::Term]) -> Eval<H> {
    if let [left, right] = *arguments {
        if let Some(value) = quick(m, builtin, [left, right]) {
            return Ok(value);
        }
    }
    use Builtin as B;
    match (builtin, arguments) {
        (B::Add | B::Multiply | B::AddPrime | B::MultiplyPrime, _)
        | (B::Subtract | B::SubtractPrime | B::Divide, _) => sums::eval(m, builtin, arguments),
        (B::Inc | B::IncPrime | B::Dec | B::DecPrime, [value]) => sums::step(m, builtin, *value),
        (B::Mod | B::Rem | B::Quot, [left, right]) => division::eval(m, builtin, *left, *right),
        (B::Max | B::Min, _) => signs::extreme(m, builtin, arguments),
        (B::IsZero | B::IsPos | B::IsNeg | B::IsEven | B::IsOdd, [value]) => {
            signs::eval(m, builtin, *value)
        }
        (B::Abs | B::Floor | B::Ceil | B::Round | B::Trunc, [value])
        | (B::Double | B::Float | B::Int | B::Sqrt, [value]) => whole::eval(m, builtin, *value),
        (B::Pow, [base, exponent]) => whole::pow(m, *base, *exponent),
        (B::BitAnd | B::BitOr | B::BitXor | B::BitAndNot, _) => {
            bits::combine(m, builtin, arguments)
        }
        (B::BitNot, [value]) => bits::not(m, *value),
        (B::BitShiftLeft | B::BitShiftRight, [value, count])
        | (B::BitClear | B::BitSet | B::BitFlip | B::BitTest, [value, count]) => {
            bits::at_place(m, builtin, *value, *count)
        }
        (B::ParseLong | B::ParseInt, [text]) => parse::long(m, *text),
        (B::ParseDouble, [text]) => parse::double(m, *text),
        (B::ParseBoolean, [text]) => parse::boolean(m, *text),
        _ => Err(invalid_types(builtin, arguments)),
    }
}
