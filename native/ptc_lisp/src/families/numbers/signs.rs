//! Questions to numbers, which are false for anything else; and the greatest and the least of values.

use super::operand::{operand, Operand};
use super::{NumbersWork, FEW};
use crate::code::{Eval, Halt, Machine};
use crate::consts::Word;
use crate::exec::checks::failed;
use crate::table::Builtin;
use crate::values::is_word;
use num_bigint::Sign;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use std::cmp::Ordering;

/// `zero?`, `pos?`, `neg?`, `even?`, `odd?`
pub(super) fn eval<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, term: H::Term) -> Eval<H> {
    if let Some(value) = m.heap.small_integer(term) {
        let holds = match builtin {
            Builtin::IsZero => value == 0,
            Builtin::IsPos => value > 0,
            Builtin::IsNeg => value < 0,
            Builtin::IsEven => value % 2 == 0,
            _ => value % 2 != 0,
        };
        return Ok(m.heap.boolean(holds));
    }
    let holds = match operand(m, term)? {
        Operand::Number(Number::Big(big)) => match builtin {
            Builtin::IsZero => false,
            Builtin::IsPos => big.sign() == Sign::Plus,
            Builtin::IsNeg => big.sign() == Sign::Minus,
            Builtin::IsEven => !big.bit(0),
            _ => big.bit(0),
        },
        Operand::None => false,
        value => {
            let value = value.float().unwrap_or(f64::NAN);
            match builtin {
                Builtin::IsZero => value == 0.0,
                Builtin::IsPos => value > 0.0,
                Builtin::IsNeg => value < 0.0,
                // No infinity has a remainder.
                Builtin::IsEven => value % 2.0 == 0.0,
                _ => (value % 2.0).abs() == 1.0,
            }
        }
    };
    Ok(m.heap.boolean(holds))
}

/// `max`, `min`: the greatest or the least argument in the order of all values; the first of equal ones. NaN wins.
pub(super) fn extreme<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Eval<H> {
    let Some(&first) = arguments.first() else {
        return Err(failed("no_value", builtin, &[]));
    };
    if arguments.len() <= FEW {
        let mut best = first;
        for other in &arguments[1..] {
            best = better(m, builtin, best, *other)?;
        }
        return Ok(best);
    }
    let begin = |_: &mut Machine<'_, H>| NumbersWork {
        best: Some(first),
        so_far: Operand::None,
        at: 1,
    };
    m.resumable(begin, |m, work| {
        while work.at < arguments.len() {
            m.consume_fuel(1)?;
            let best = work.best.unwrap_or(first);
            work.best = Some(better(m, builtin, best, arguments[work.at])?);
            work.at += 1;
            m.meter.advanced();
        }
        Ok(work.best.unwrap_or(first))
    })
}

/// Returns one of two values.
fn better<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    best: H::Term,
    other: H::Term,
) -> Result<H::Term, Halt<H>> {
    if is_word(m, best, Word::NaN) {
        return Ok(best);
    }
    if is_word(m, other, Word::NaN) {
        return Ok(other);
    }
    let order = match side(m, best).cmp(&side(m, other)) {
        Ordering::Equal if side(m, best) == 0 => m.compare(best, other)?,
        order => order,
    };
    let is_better = match builtin {
        Builtin::Max => order.is_lt(),
        _ => order.is_gt(),
    };
    Ok(if is_better { other } else { best })
}

/// Returns on which side of all other values a value is: the infinities are outside.
fn side<H: Heap>(m: &Machine<'_, H>, term: H::Term) -> i8 {
    match m.heap.is_name(term) {
        true if is_word(m, term, Word::Infinity) => 1,
        true if is_word(m, term, Word::NegativeInfinity) => -1,
        _ => 0,
    }
}
