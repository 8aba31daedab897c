//! Decimals in arithmetic: operands, results, and the words for what is none.

use crate::context::Context;
use crate::wrong::Why;
use ptc_term::heap::{Heap, Kind};
use ptc_term::stop::Stop;
use ptc_term::value::{with_text, Coefficient, Exact, TooLong, Value, MOST_LIMBS};

/// Words of a decimal that is made, beside those of a long coefficient.
const WORDS_OF_DECIMAL: usize = 10;

/// Fuel to read the parts of a decimal, and to make one.
const PARTS: usize = 8;

/// An operand of decimal arithmetic, or why it is none; unless the run must halt first.
pub type Operand = Result<Result<Exact, Why>, Stop>;

impl<H: Heap> Context<'_, H> {
    /// Returns whether the term is a decimal, and decimals are values.
    pub fn is_decimal(&self, term: H::Term) -> bool {
        matches!(self.value(term), Some(Value::Decimal { .. }))
    }

    /// Reads a decimal or an integer. A float, which is none of decimal arithmetic, is
    /// [`Why::DecimalAndFloat`], what is no number is [`Why::NotANumber`].
    pub fn exact(&mut self, term: H::Term) -> Operand {
        if self.heap.float(term).is_some() {
            return Ok(Err(Why::DecimalAndFloat));
        }
        let (negative, digits, exponent) = match self.value(term) {
            None => (false, term, None),
            Some(Value::Decimal {
                negative,
                coefficient,
                exponent,
            }) => match coefficient {
                Coefficient::Integer(digits) => (negative, digits, Some(exponent)),
                Coefficient::Infinite | Coefficient::NotANumber => return Ok(Err(Why::NotFinite)),
            },
            Some(_) => return Ok(Err(Why::NotANumber)),
        };
        if self.heap.limbs(digits) > MOST_LIMBS {
            return Ok(Err(Why::TooLong));
        }
        let Some(number) = self.number(digits)? else {
            return Ok(Err(Why::NotANumber));
        };
        let read = match exponent {
            Some(exponent) => Exact::new(negative, number, exponent),
            None => Exact::of_integer(number),
        };
        self.counted(read)
    }

    /// Same as [`Context::exact`]; also reads the text of a number, as where decimals are compared.
    pub fn exact_or_text(&mut self, term: H::Term) -> Operand {
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

    fn counted(&mut self, read: Option<Result<Exact, TooLong>>) -> Operand {
        Ok(match read {
            None => Err(Why::NotANumber),
            Some(Err(TooLong)) => Err(Why::TooLong),
            Some(Ok(exact)) => {
                self.consume_fuel(PARTS + exact.cost())?;
                Ok(exact)
            }
        })
    }

    /// Makes a decimal.
    pub fn make_decimal(
        &mut self,
        exact: Result<Exact, TooLong>,
    ) -> Result<Result<H::Term, Why>, Stop> {
        let Ok(exact) = exact else {
            return Ok(Err(Why::TooLong));
        };
        self.consume_fuel(PARTS)?;
        let (negative, coefficient, exponent) = exact.into_parts();
        self.check_heap_limit(WORDS_OF_DECIMAL + coefficient.limbs())?;
        let decimal = self.heap.make_decimal(negative, coefficient, exponent);
        Ok(decimal.ok_or(Why::BadArith))
    }
}
