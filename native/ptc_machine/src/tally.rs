//! Tallies: the number, the sum or the mean of items, added one by one.

use super::machine::{Eval, Machine, UNITS_A_LIMB};
use crate::fault::{Code, Halt, Name};
use crate::program::ConstId;
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::number::{divide, Number};
use ptc_term::value::Value;

/// The tally so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Tally {
    /// The number of items.
    Count(i64),
    /// The sum of a field's numbers.
    Sum(Number),
    /// The sum of a field's numbers, and their count.
    Mean(Number, i64),
}

/// Why an item could not be added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrong<T> {
    /// The kind of error.
    pub code: Code,
    /// The offending term, if there is one.
    pub term: Option<T>,
}

/// Whether the item was added, unless the run must halt first.
pub type Added<T> = Result<Result<(), Wrong<T>>, Halt<T>>;

impl<T> Wrong<T> {
    /// Returns the error as the end of the run.
    pub fn halt<H: Heap<Term = T>>(self, machine: &Machine<'_, H>, op: impl Into<Name>) -> Halt<T> {
        machine.fault(op, self.code, self.term.into_iter().collect())
    }
}

impl Tally {
    /// Returns the fuel to add one more item, beyond the item itself.
    #[inline]
    pub fn cost(&self) -> usize {
        match self {
            Tally::Sum(Number::Big(sum)) | Tally::Mean(Number::Big(sum), _) => {
                (sum.bits() / 4096) as usize
            }
            _ => 0,
        }
    }

    /// Adds an item; `field` is the key of its number. Changes nothing if it halts.
    #[inline]
    pub fn add<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        field: ConstId,
        item: H::Term,
    ) -> Added<H::Term> {
        let wrong = |code, term| Ok(Err(Wrong { code, term }));
        match self {
            Tally::Count(count) => *count += 1,
            Tally::Sum(sum) => {
                if let Some(value) = machine.quick_lookup(item, field) {
                    if let (Number::Int(sum), Some(number)) =
                        (&mut *sum, machine.heap.small_integer(value))
                    {
                        if let Some(more) = sum.checked_add(number) {
                            *sum = more;
                            return Ok(Ok(()));
                        }
                    }
                }
                match machine.lookup(item, field)? {
                    Lookup::Found(value) => return self.add_value(machine, value),
                    Lookup::Missing => {}
                    Lookup::NotAMap => return wrong(Code::NeedsListOfMaps, Some(item)),
                }
            }
            Tally::Mean(..) => {
                let value = machine.value_or_nil(item, field)?;
                return self.add_value(machine, value);
            }
        }
        Ok(Ok(()))
    }

    /// Adds a value. Changes nothing if it halts.
    #[inline]
    pub fn add_value<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        value: H::Term,
    ) -> Added<H::Term> {
        let wrong = |code, term| Ok(Err(Wrong { code, term }));
        match self {
            Tally::Count(count) => *count += 1,
            Tally::Sum(sum) => match machine.number(value)? {
                Some(number) => {
                    if sum.add(number).is_err() {
                        return wrong(Code::BadArith, None);
                    }
                }
                None if machine.heap.kind(value) == Kind::Nil => {}
                None => return wrong(Code::NeedsNumbers, Some(value)),
            },
            Tally::Mean(sum, count) => {
                if let Some(number) = machine.number(value)? {
                    if sum.add(number).is_err() {
                        return wrong(Code::BadArith, None);
                    }
                    *count += 1;
                } else if let Some(Value::Decimal { .. }) = machine.value(value) {
                    // Others are skipped; a mean without the decimals would be a wrong one.
                    return wrong(Code::NeedsNumbers, Some(value));
                }
            }
        }
        Ok(Ok(()))
    }

    /// Returns the operation's value at the end of the list. `wrong`: the first item that could not be
    /// added, and is an error only now. Can be repeated if it halts.
    pub fn finish<H: Heap, O: Into<Name> + Copy>(
        &mut self,
        machine: &mut Machine<'_, H>,
        (op, field): (O, ConstId),
        wrong: Option<H::Term>,
    ) -> Eval<H> {
        if let Some(item) = wrong {
            if let Err(wrong) = self.add(machine, field, item)? {
                return Err(wrong.halt(machine, op));
            }
        }
        match self {
            Tally::Count(count) => machine.make_number(op, Number::Int(*count)),
            Tally::Sum(sum) => {
                if let Number::Big(_) = sum {
                    machine.consume_fuel(UNITS_A_LIMB * sum.limbs())?;
                }
                machine.make_number(op, std::mem::replace(sum, Number::Int(0)))
            }
            Tally::Mean(_, 0) => Ok(machine.heap.nil()),
            Tally::Mean(sum, count) => match divide(sum, &Number::Int(*count)) {
                Ok(mean) => machine.make_number(op, Number::Float(mean)),
                Err(_) => Err(machine.fault(op, Code::BadArith, vec![])),
            },
        }
    }
}
