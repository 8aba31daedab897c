//! Bits of integers of any size, in two's complement.

use super::operand::{make, Operand};
use super::sums::fold;
use crate::code::{Eval, Halt, Machine};
use crate::exec::checks::failed;
use crate::table::Builtin;
use crate::values::make_int;
use num_bigint::{BigInt, Sign};
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::stop::Stop;

/// Bits of an integer that are made or read per unit of fuel.
const BITS_A_UNIT: u64 = 64;
/// No heap has integers of more bits.
const MOST_BITS: u64 = 1 << 26;

/// `bit-and`, `bit-or`, `bit-xor`, `bit-and-not`: of two or more integers, from the left.
pub(super) fn combine<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    arguments: &[H::Term],
) -> Eval<H> {
    if arguments.len() < 2 {
        let got = make_int(m, arguments.len() as i64);
        return Err(failed("at_least_two", builtin, &[got]));
    }
    let first = match m.begun() {
        Some(_) => Operand::None,
        None => Operand::Number(integer(m, builtin, arguments[0])?),
    };
    fold(m, builtin, arguments, (first, 1), |m, so_far, place| {
        let Operand::Number(left) = so_far else {
            return Ok(Operand::None);
        };
        let right = integer(m, builtin, arguments[place])?;
        if let (Number::Int(a), Number::Int(b)) = (left, &right) {
            return Ok(Operand::int(match builtin {
                Builtin::BitAnd => a & b,
                Builtin::BitOr => a | b,
                Builtin::BitXor => a ^ b,
                _ => a & !b,
            }));
        }
        m.consume_fuel_at_once(2 * left.limbs().max(right.limbs()))?;
        let (a, b) = (big(left), big(&right));
        Ok(Operand::Number(Number::from_big(match builtin {
            Builtin::BitAnd => a & b,
            Builtin::BitOr => a | b,
            Builtin::BitXor => a ^ b,
            _ => a & !b,
        })))
    })
}

/// `bit-not`
pub(super) fn not<H: Heap>(m: &mut Machine<'_, H>, term: H::Term) -> Eval<H> {
    let value = match integer(m, Builtin::BitNot, term)? {
        Number::Int(value) => Number::Int(!value),
        other => Number::from_big(!big(&other)),
    };
    make(m, Builtin::BitNot, value)
}

/// Shifts, and what is done to one bit.
pub(super) fn at_place<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    term: H::Term,
    count: H::Term,
) -> Eval<H> {
    let value = integer(m, builtin, term)?;
    // No integer has so many bits that the number of them needs more than 64 bits.
    let place = match m.heap.small_integer(count) {
        Some(place) if place >= 0 => place as u64,
        None if is_large(m, count)? => u64::MAX,
        _ => return Err(failed("shift_amount", builtin, &[count])),
    };
    if let (Number::Int(value), 0..=62) = (&value, place) {
        let (value, bit) = (*value, 1_i64 << place);
        let small = match builtin {
            Builtin::BitShiftRight => Some(value >> place),
            Builtin::BitTest => return Ok(m.heap.boolean(value & bit != 0)),
            Builtin::BitClear => Some(value & !bit),
            Builtin::BitSet => Some(value | bit),
            Builtin::BitFlip => Some(value ^ bit),
            _ => ((value << place) >> place == value).then_some(value << place),
        };
        if let Some(small) = small {
            return Ok(make_int(m, small));
        }
    }
    let value = big(&value);
    m.consume_fuel_at_once((value.bits() / BITS_A_UNIT) as usize)?;
    let is_negative = value.sign() == Sign::Minus;
    let is_set = match place < value.bits() {
        true => value.bit(place),
        // Beyond the digits stands the sign.
        false => is_negative,
    };
    let made = match builtin {
        Builtin::BitTest => return Ok(m.heap.boolean(is_set)),
        Builtin::BitShiftRight if place < value.bits() => value >> place,
        Builtin::BitShiftRight => BigInt::from(if is_negative { -1 } else { 0 }),
        Builtin::BitShiftLeft if value.sign() == Sign::NoSign => value,
        Builtin::BitShiftLeft => {
            count_bits(m, builtin, value.bits().saturating_add(place))?;
            value << place
        }
        Builtin::BitSet if is_set => value,
        Builtin::BitClear if !is_set => value,
        _ => {
            count_bits(m, builtin, value.bits().max(place).saturating_add(1))?;
            let bit = BigInt::from(1) << place;
            match is_set {
                true => value - bit,
                false => value + bit,
            }
        }
    };
    make(m, builtin, Number::from_big(made))
}

/// Counts an integer of so many bits before it is made.
fn count_bits<H: Heap>(m: &mut Machine<'_, H>, builtin: Builtin, bits: u64) -> Result<(), Halt<H>> {
    let words = usize::try_from(bits / 64).unwrap_or(usize::MAX);
    m.check_heap_limit(words.saturating_add(2))?;
    if bits > MOST_BITS {
        return Err(failed("number_too_large", builtin, &[]));
    }
    Ok(m.consume_fuel_at_once((bits / BITS_A_UNIT) as usize)?)
}

fn is_large<H: Heap>(m: &mut Machine<'_, H>, count: H::Term) -> Result<bool, Stop> {
    Ok(matches!(m.number(count)?, Some(Number::Big(big)) if big.sign() == Sign::Plus))
}

fn integer<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    term: H::Term,
) -> Result<Number, Halt<H>> {
    match m.number(term)? {
        Some(number) if number.is_integer() => Ok(number),
        _ => Err(failed("not_integer", builtin, &[term])),
    }
}

fn big(number: &Number) -> BigInt {
    match number {
        Number::Int(value) => BigInt::from(*value),
        Number::Big(big) => big.clone(),
        Number::Float(_) => BigInt::default(),
    }
}
