//! The forms that a value can be converted to.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use num_bigint::BigInt;
use ptc_core::heap::Heap;
use ptc_core::number::Number;
use rustler::{Atom, Error, NifResult};

/// A form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Keys are strings with underscores.
    Keys,
    /// Like `Keys`; in addition, tuples become lists, and whole floats become integers.
    CacheKey,
    /// Maps have no hidden keys.
    Public,
}

impl Form {
    /// The form with this name.
    pub fn of(name: Atom) -> NifResult<Self> {
        match name {
            name if name == atoms::keys() => Ok(Form::Keys),
            name if name == atoms::cache_key() => Ok(Form::CacheKey),
            name if name == atoms::public() => Ok(Form::Public),
            _ => Err(Error::BadArg),
        }
    }

    /// Converts a float.
    pub fn float<'a>(self, heap: &mut Beam<'a>, term: Raw<'a>) -> Raw<'a> {
        match self {
            Form::CacheKey => whole(heap, term).unwrap_or(term),
            Form::Keys | Form::Public => term,
        }
    }
}

/// The integer that is equal to a whole float.
fn whole<'a>(heap: &mut Beam<'a>, term: Raw<'a>) -> Option<Raw<'a>> {
    /// Bits of a double's fraction; the biased exponent is `BIAS` more than that of the integer.
    const FRACTION_BITS: i32 = 52;
    const BIAS: i32 = 1023 + FRACTION_BITS;
    let value = heap.float(term).filter(|value| value.fract() == 0.0)?;
    if value.abs() < 9e18 {
        return Some(heap.terms.make_integer(value as i64));
    }
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION_BITS) - 1) | 1 << FRACTION_BITS;
    let exponent = (bits >> FRACTION_BITS & 0x7FF) as i32 - BIAS;
    let size = BigInt::from(fraction) << exponent;
    let signed = if value < 0.0 { -size } else { size };
    heap.make_number(Number::Big(signed))
}
