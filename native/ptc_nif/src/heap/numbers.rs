//! Numbers beyond a word, and decimals.

use super::Beam;
use crate::big_view;
use crate::raw::{Raw, TermKind};
use crate::structs::{keys_of_decimal, module_of_decimals};
use num_bigint::BigInt;
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::Number;
use rustler::Encoder;

/// Bits of the largest integer in any version of the VM.
const LARGEST_INTEGER: u64 = 64 * ((1 << 19) - 1);

impl<'a> Beam<'a> {
    /// The limbs of an integer beyond 64 bits, read from its header. If this VM's headers are not known, the
    /// integer is decoded.
    #[cold]
    pub(super) fn limbs_of_big(&self, term: Raw<'a>) -> usize {
        match self.terms.kind(term) {
            TermKind::Integer => big_view::limbs(self.terms, term)
                .or_else(|| self.number(term).map(|number| number.limbs()))
                .unwrap_or(0),
            _ => 0,
        }
    }

    /// Reads an integer of any size.
    pub(super) fn big_number(&self, term: Raw<'a>) -> Option<Number> {
        match self.terms.kind(term) {
            TermKind::Integer => {
                let big: Option<BigInt> = term.term(self.terms.env).decode().ok();
                big.map(Number::from_big)
            }
            _ => None,
        }
    }

    /// See [`Heap::make_number`].
    pub(super) fn make_number_term(&mut self, number: Number) -> Option<Raw<'a>> {
        match number {
            Number::Int(value) => {
                self.words += 2;
                Some(self.terms.make_integer(value))
            }
            Number::Float(value) => {
                self.words += 2;
                self.terms.make_float(value)
            }
            Number::Big(value) if value.bits() > LARGEST_INTEGER => None,
            Number::Big(value) => {
                self.words += 1 + value.bits().div_ceil(64) as usize;
                let term = Raw::from(value.encode(self.terms.env));
                // Later versions of the VM have a lower limit; rustler then returns an atom.
                (self.kind(term) == Kind::Number).then_some(term)
            }
        }
    }

    /// See [`Heap::make_decimal`].
    pub(super) fn make_decimal_struct(
        &mut self,
        negative: bool,
        coefficient: Number,
        exponent: i64,
    ) -> Option<Raw<'a>> {
        let coefficient = self.make_number(coefficient)?;
        let sign = self.make_number(Number::Int(if negative { -1 } else { 1 }))?;
        let exponent = self.make_number(Number::Int(exponent))?;
        let keys = keys_of_decimal(self.terms);
        let module = module_of_decimals(self.terms);
        Some(self.make_map(&keys, &[module, coefficient, exponent, sign]))
    }
}
