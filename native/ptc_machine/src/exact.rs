//! Decimals in arithmetic: operands, results, and the words for what is none.

use super::machine::{Eval, Machine};
use crate::fault::{Code, Halt, Name};
use ptc_term::heap::{Heap, Kind};
use ptc_term::value::{with_text, Coefficient, Exact, TooLong, Value, MOST_LIMBS};

/// Words of a decimal that is made, beside those of a long coefficient.
const WORDS_OF_DECIMAL: usize = 10;

/// Fuel to read the parts of a decimal, and to make one.
const PARTS: usize = 8;

/// An operand of decimal arithmetic, or why it is none; unless the run must halt first.
pub type Operand<T> = Result<Result<Exact, Code>, Halt<T>>;

impl<H: Heap> Machine<'_, H> {
    /// Returns whether the term is a decimal, and decimals are values.
    pub fn is_decimal(&self, term: H::Term) -> bool {
        matches!(self.value(term), Some(Value::Decimal { .. }))
    }

    /// Reads a decimal or an integer. A float, which is none of decimal arithmetic, is
    /// [`Code::DecimalAndFloat`], what is no number is [`Code::NeedsNumbers`].
    pub fn exact(&mut self, term: H::Term) -> Operand<H::Term> {
        if self.heap.float(term).is_some() {
            return Ok(Err(Code::DecimalAndFloat));
        }
        let (negative, digits, exponent) = match self.value(term) {
            None => (false, term, None),
            Some(Value::Decimal {
                negative,
                coefficient,
                exponent,
            }) => match coefficient {
                Coefficient::Integer(digits) => (negative, digits, Some(exponent)),
                Coefficient::Infinite | Coefficient::NotANumber => {
                    return Ok(Err(Code::DecimalNotFinite))
                }
            },
            Some(_) => return Ok(Err(Code::NeedsNumbers)),
        };
        if self.heap.limbs(digits) > MOST_LIMBS {
            return Ok(Err(Code::DecimalTooLong));
        }
        let Some(number) = self.number(digits)? else {
            return Ok(Err(Code::NeedsNumbers));
        };
        let read = match exponent {
            Some(exponent) => Exact::new(negative, number, exponent),
            None => Exact::of_integer(number),
        };
        self.counted(read)
    }

    /// Same as [`Machine::exact`]; also reads the text of a number, as where decimals are compared.
    pub fn exact_or_text(&mut self, term: H::Term) -> Operand<H::Term> {
        let is_text = match self.heap.kind(term) {
            Kind::String => true,
            Kind::Other => self.heap.is_name(term),
            _ => false,
        };
        match is_text {
            true => {
                let read = with_text(self.heap, term, Exact::read).flatten();
                self.counted(read)
            }
            false => self.exact(term),
        }
    }

    fn counted(&mut self, read: Option<Result<Exact, TooLong>>) -> Operand<H::Term> {
        Ok(match read {
            None => Err(Code::NeedsNumbers),
            Some(Err(TooLong)) => Err(Code::DecimalTooLong),
            Some(Ok(exact)) => {
                self.consume_fuel(PARTS + exact.cost())?;
                Ok(exact)
            }
        })
    }

    /// Makes a decimal, computed from these operands.
    pub fn make_exact(
        &mut self,
        name: impl Into<Name>,
        exact: Result<Exact, TooLong>,
        operands: Vec<H::Term>,
    ) -> Eval<H> {
        let Ok(exact) = exact else {
            return Err(self.fault(name, Code::DecimalTooLong, operands));
        };
        self.consume_fuel(PARTS)?;
        let (negative, coefficient, exponent) = exact.into_parts();
        self.check_heap_limit(WORDS_OF_DECIMAL + coefficient.limbs())?;
        match self.heap.make_decimal(negative, coefficient, exponent) {
            Some(decimal) => Ok(decimal),
            None => Err(self.fault(name, Code::BadArith, vec![])),
        }
    }
}
