//! `+ - * /`, and steps by one.

use super::operand::{made, not_a_number, operand, Operand};
use super::{NumbersWork, FEW};
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::failed;
use crate::table::Builtin;
use crate::values::make_int;
use ptc_term::heap::Heap;
use ptc_term::number::{divide, Arithmetic, BadArith, Number};

/// An operation of two operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sum {
    Exact(Arithmetic),
    Divide,
}

/// Evaluates a built-in that takes any number of operands, from the left.
pub(super) fn eval<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Eval<H> {
    let (sum, start) = match builtin {
        Builtin::Add | Builtin::AddPrime => (Sum::Exact(Arithmetic::Add), 0),
        Builtin::Multiply | Builtin::MultiplyPrime => (Sum::Exact(Arithmetic::Mul), 1),
        Builtin::Divide => (Sum::Divide, 1),
        _ => (Sum::Exact(Arithmetic::Sub), 0),
    };
    let is_prime = matches!(
        builtin,
        Builtin::AddPrime | Builtin::MultiplyPrime | Builtin::SubtractPrime
    );
    let starts_with_first = matches!(sum, Sum::Divide | Sum::Exact(Arithmetic::Sub)) || !is_prime;
    match *arguments {
        [] if builtin == Builtin::SubtractPrime => {
            let counts = [0, 1, -1].map(|count| make_int(m, count));
            Err(failed("at_least_one", builtin, &counts))
        }
        [] => Ok(make_int(m, start)),
        [value] => one(m, builtin, sum, start, value),
        _ if starts_with_first => {
            let first = match m.begun() {
                Some(_) => Operand::None,
                None => operand(m, arguments[0])?,
            };
            fold(m, builtin, arguments, (first, 1), |m, so_far, place| {
                combined(m, builtin, sum, so_far, arguments, place)
            })
        }
        _ => {
            let start = (Operand::int(start), 0);
            fold(m, builtin, arguments, start, |m, so_far, place| {
                combined(m, builtin, sum, so_far, arguments, place)
            })
        }
    }
}

/// The value of a built-in with one operand.
fn one<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    sum: Sum,
    start: i64,
    term: H::Term,
) -> Eval<H> {
    let value = operand(m, term)?;
    let value = match (builtin, value) {
        (Builtin::Add | Builtin::Multiply, Operand::None) => {
            return Err(failed("expected_number", builtin, &[term]));
        }
        (Builtin::Add | Builtin::Multiply, _) => return Ok(term),
        (_, Operand::None) => return Err(not_a_number(builtin, term, 0)),
        (Builtin::Subtract | Builtin::SubtractPrime, value) => negated(value),
        (_, value) => apply(m, builtin, sum, Operand::int(start), value)?,
    };
    made(m, builtin, value)
}

/// Returns the operand with the other sign.
fn negated(value: Operand) -> Operand {
    match value {
        Operand::Number(Number::Float(value)) => Operand::Number(Number::Float(-value)),
        Operand::Number(number) => {
            let negated = Arithmetic::Sub.apply(&Number::Int(0), &number);
            negated.map_or(Operand::None, Operand::Number)
        }
        Operand::Special(value) => Operand::Special(-value),
        Operand::None => Operand::None,
    }
}

/// Combines the arguments from a place on with a value. `next` combines the value so far with the argument at a place.
pub(super) fn fold<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
    (start, from): (Operand, usize),
    mut next: impl FnMut(&mut Machine<'_, H>, &Operand, usize) -> Result<Operand, Halt<H>>,
) -> Eval<H> {
    if arguments.len() <= FEW {
        let mut so_far = start;
        for place in from..arguments.len() {
            so_far = next(m, &so_far, place)?;
        }
        return made(m, builtin, so_far);
    }
    let begin = |_: &mut Machine<'_, H>| NumbersWork {
        best: None,
        so_far: start,
        at: from,
    };
    m.resumable(begin, |m, work| {
        while work.at < arguments.len() {
            m.consume_fuel(1)?;
            work.so_far = next(m, &work.so_far, work.at)?;
            work.at += 1;
            m.meter.advanced();
        }
        made(m, builtin, work.so_far.clone())
    })
}

/// Combines a value with the argument at a place.
fn combined<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    sum: Sum,
    so_far: &Operand,
    arguments: &[H::Term],
    place: usize,
) -> Result<Operand, Halt<H>> {
    let right = operand(m, arguments[place])?;
    // NaN stays NaN, whatever follows it.
    if so_far.is_nan() || right.is_nan() {
        return Ok(Operand::Special(f64::NAN));
    }
    match (so_far, &right) {
        (Operand::None, _) => Err(not_a_number(builtin, arguments[place - 1], place - 1)),
        (_, Operand::None) => Err(not_a_number(builtin, arguments[place], place)),
        _ => apply(m, builtin, sum, so_far.clone(), right),
    }
}

fn apply<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    sum: Sum,
    left: Operand,
    right: Operand,
) -> Result<Operand, Halt<H>> {
    if let (Operand::Number(left), Operand::Number(right)) = (&left, &right) {
        let value = match sum {
            Sum::Exact(arithmetic) => {
                m.count_limbs(arithmetic, left, right)?;
                arithmetic.apply(left, right).map(Operand::Number)
            }
            Sum::Divide if right.is_zero() => match (left, right) {
                (_, Number::Int(_)) => return Err(failed("division_by_zero", builtin, &[])),
                (left, _) if left.is_zero() => Ok(Operand::Special(f64::NAN)),
                (left, _) if left.is_negative() => Ok(Operand::Special(f64::NEG_INFINITY)),
                _ => Ok(Operand::Special(f64::INFINITY)),
            },
            Sum::Divide => divide(left, right).map(|value| Operand::Number(Number::Float(value))),
        };
        return value.map_err(|BadArith| failed("number_too_large", builtin, &[]));
    }
    let (Some(a), Some(b)) = (left.float(), right.float()) else {
        return Ok(Operand::None);
    };
    Ok(match sum {
        Sum::Exact(Arithmetic::Add) => Operand::of_float(a + b),
        // One infinity less another one has no value, whatever their signs are.
        Sum::Exact(Arithmetic::Sub) if a.is_infinite() && b.is_infinite() => {
            Operand::Special(f64::NAN)
        }
        Sum::Exact(Arithmetic::Sub) => Operand::of_float(a - b),
        Sum::Exact(Arithmetic::Mul) => Operand::of_float(a * b),
        // A number divided by an infinity is zero, without a sign.
        Sum::Divide if b.is_infinite() && !a.is_infinite() => Operand::of_float(0.0),
        Sum::Divide => Operand::of_float(a / if b == 0.0 { 0.0 } else { b }),
    })
}

/// `inc`, `dec`: the next number, or the one before.
pub(super) fn step<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, term: H::Term) -> Eval<H> {
    let by = match builtin {
        Builtin::Inc | Builtin::IncPrime => 1,
        _ => -1,
    };
    if let Some(value) = m.heap.small_integer(term) {
        if let Some(value) = value.checked_add(by) {
            return Ok(make_int(m, value));
        }
    }
    let value = match operand(m, term)? {
        Operand::None => return Err(not_a_number(builtin, term, 0)),
        value => value,
    };
    let next = apply(
        m,
        builtin,
        Sum::Exact(Arithmetic::Add),
        value,
        Operand::int(by),
    )?;
    made(m, builtin, next)
}
