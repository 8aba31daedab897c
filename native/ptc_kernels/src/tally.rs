//! Tallies: the number, the sum or the mean of items, added one by one.

use crate::context::{ConstId, Context, UNITS_A_LIMB};
use crate::wrong::{Why, Wrong};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::number::{divide, Number};
use ptc_term::stop::Stop;
use ptc_term::value::{Exact, Value};

/// The tally so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Tally {
    /// The number of items.
    Count(i64),
    /// The sum of a field's numbers.
    Sum(Number),
    /// The sum of a field's numbers, and their count.
    Mean(Number, i64),
    /// The sum or the mean of decimals and integers.
    Exact(Box<ExactTally>),
}

/// A sum or a mean of decimals.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactTally {
    sum: Exact,
    /// How many there are, if it is a mean.
    count: Option<i64>,
    /// Words of native memory that have been counted.
    counted: usize,
}

impl ExactTally {
    /// Returns the words of native memory that have not been counted yet.
    pub(super) fn more_words(&mut self) -> usize {
        let words = size_of::<ExactTally>() / 8 + self.sum.limbs();
        let more = words.saturating_sub(self.counted);
        self.counted += more;
        more
    }
}

/// Whether the item was added, unless the run must halt first.
pub type Added<T> = Result<Result<(), Wrong<T>>, Stop>;

impl Tally {
    /// Counts the fuel to add one more item, beyond the item itself.
    #[inline]
    pub fn count_cost<H: Heap>(&self, machine: &mut Context<'_, H>) -> Result<(), Stop> {
        match self.cost() {
            0 => Ok(()),
            cost => machine.consume_fuel(cost),
        }
    }

    #[inline]
    fn cost(&self) -> usize {
        match self {
            Tally::Sum(Number::Big(sum)) | Tally::Mean(Number::Big(sum), _) => {
                (sum.bits() / 4096) as usize
            }
            Tally::Exact(tally) => tally.sum.cost(),
            _ => 0,
        }
    }

    /// Adds an item; `field` is the key of its number. Changes nothing if it halts.
    #[inline]
    pub fn add<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        field: ConstId,
        item: H::Term,
    ) -> Added<H::Term> {
        let wrong = |why, term| Ok(Err(Wrong { why, term }));
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
                    Lookup::NotAMap => return wrong(Why::NotAMap, Some(item)),
                }
            }
            Tally::Mean(..) => {
                let value = machine.value_or_nil(item, field)?;
                return self.add_value(machine, value);
            }
            Tally::Exact(_) => return self.add_exact_of(machine, field, item),
        }
        Ok(Ok(()))
    }

    /// Adds a value. Changes nothing if it halts.
    #[inline]
    pub fn add_value<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        value: H::Term,
    ) -> Added<H::Term> {
        let wrong = |why, term| Ok(Err(Wrong { why, term }));
        match self {
            Tally::Count(count) => *count += 1,
            Tally::Sum(sum) => match machine.number(value)? {
                Some(number) => {
                    if sum.add(number).is_err() {
                        return wrong(Why::BadArith, None);
                    }
                }
                None if machine.heap.kind(value) == Kind::Nil => {}
                None => return self.add_exact(machine, value),
            },
            Tally::Mean(sum, count) => {
                if let Some(number) = machine.number(value)? {
                    if sum.add(number).is_err() {
                        return wrong(Why::BadArith, None);
                    }
                    *count += 1;
                } else if let Some(Value::Decimal { .. }) = machine.value(value) {
                    return self.add_exact(machine, value);
                }
            }
            Tally::Exact(_) => return self.add_exact(machine, value),
        }
        Ok(Ok(()))
    }

    /// Adds the field of an item to decimals.
    #[cold]
    #[inline(never)]
    fn add_exact_of<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        field: ConstId,
        item: H::Term,
    ) -> Added<H::Term> {
        let is_mean = matches!(self, Tally::Exact(tally) if tally.count.is_some());
        match machine.lookup(item, field)? {
            Lookup::Found(value) => self.add_exact(machine, value),
            Lookup::NotAMap if !is_mean => Ok(Err(Wrong {
                why: Why::NotAMap,
                term: Some(item),
            })),
            Lookup::Missing | Lookup::NotAMap => Ok(Ok(())),
        }
    }

    /// Adds the first decimal to integers, or a value to decimals. Changes nothing if it halts.
    #[cold]
    #[inline(never)]
    fn add_exact<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        value: H::Term,
    ) -> Added<H::Term> {
        let wrong = |why| {
            let term = Some(value);
            Ok(Err(Wrong { why, term }))
        };
        let is_mean = matches!(self, Tally::Mean(..))
            || matches!(self, Tally::Exact(tally) if tally.count.is_some());
        let is_exact = matches!(self, Tally::Exact(_));
        if !is_exact && !machine.is_decimal(value) {
            return wrong(Why::NotANumber);
        }
        let kind = machine.heap.kind(value);
        if kind == Kind::Nil || is_mean && kind != Kind::Number && !machine.is_decimal(value) {
            return Ok(Ok(()));
        }
        let more = match machine.exact(value)? {
            Ok(more) => more,
            Err(why) => return wrong(why),
        };
        let (sum, count, counted) = match self {
            Tally::Exact(tally) => (Some(Ok(tally.sum.clone())), tally.count, tally.counted),
            Tally::Mean(sum, count) => (Exact::of_integer(sum.clone()), Some(*count), 0),
            Tally::Sum(sum) => (Exact::of_integer(sum.clone()), None, 0),
            Tally::Count(_) => return Ok(Ok(())),
        };
        let sum = match sum {
            None => return wrong(Why::DecimalAndFloat),
            Some(sum) => sum.and_then(|sum| sum.plus(&more)),
        };
        let Ok(sum) = sum else {
            return wrong(Why::TooLong);
        };
        let count = count.map(|count| count + 1);
        *self = Tally::Exact(Box::new(ExactTally {
            sum,
            count,
            counted,
        }));
        Ok(Ok(()))
    }

    /// Returns the value at the end of the list. `wrong`: the first item that could not be added, and is an error only now.
    /// Can be repeated if it halts.
    pub fn finish<H: Heap>(
        &mut self,
        machine: &mut Context<'_, H>,
        field: ConstId,
        wrong: Option<H::Term>,
    ) -> Result<Result<H::Term, Wrong<H::Term>>, Stop> {
        if let Some(item) = wrong {
            if let Err(wrong) = self.add(machine, field, item)? {
                return Ok(Err(wrong));
            }
        }
        let number = match self {
            Tally::Count(count) => Number::Int(*count),
            Tally::Sum(sum) => {
                if let Number::Big(_) = sum {
                    machine.consume_fuel(UNITS_A_LIMB * sum.limbs())?;
                }
                std::mem::replace(sum, Number::Int(0))
            }
            Tally::Mean(_, 0) => return Ok(Ok(machine.heap.nil())),
            Tally::Mean(sum, count) => match divide(sum, &Number::Int(*count)) {
                Ok(mean) => Number::Float(mean),
                Err(_) => return Ok(Err(Wrong::result(Why::BadArith))),
            },
            Tally::Exact(tally) => {
                let value = match tally.count {
                    None => Ok(tally.sum.clone()),
                    Some(count) => match Exact::of_integer(Number::Int(count)) {
                        Some(count) => count.and_then(|count| tally.sum.over(&count)),
                        None => Ok(Exact::ZERO),
                    },
                };
                return Ok(machine.make_decimal(value)?.map_err(Wrong::result));
            }
        };
        let made = machine.heap.make_number(number);
        Ok(made.ok_or(Wrong::result(Why::BadArith)))
    }
}
