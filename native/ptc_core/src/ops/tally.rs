//! Counts and sums: `count`, `sum`, `avg`.
//!
//! Each is a tally to which items are added. A list is tallied by one instruction; a loop tallies the
//! items that it keeps immediately, and then the intermediate list is never made.

use super::field::FIELD_OF_ITEMS;
use super::{Field, OpCode, Operation};
use crate::code::{Apply, ConstId, Demand};
use crate::fault::{Code, Halt};
use crate::heap::{Heap, Kind, Lookup};
use crate::number::{divide, Number};
use crate::value::Value;
use crate::vm::{Eval, Machine, UNITS_A_LIMB};

pub(super) struct Count;

impl Operation for Count {
    const NAME: &'static str = "count";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "How many items the list has.";
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        tally(machine, apply)
    }

    fn needs(_apply: &Apply, _demand: Demand) -> Demand {
        Demand::Number
    }
}

macro_rules! tally_of_field {
    ($op:ident, $name:literal, $about:literal) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Aggregate";
            const ABOUT: &'static str = $about;
            const FIELDS: &'static [Field] = FIELD_OF_ITEMS;
            const READS_INPUT_ONCE: bool = true;

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                tally(machine, apply)
            }
        }
    };
}

tally_of_field! { Sum, "sum", "The sum of a field's numbers; missing and nil are left out." }
tally_of_field! { Avg, "avg", "The mean of a field's numbers, nil if there are none." }

/// Computes the tally of the operation's current value.
fn tally<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
    machine.resumable(apply, |machine, work| {
        let so_far = work.progress.tally.take();
        let Some(mut tally) = so_far.or_else(|| Tally::of(apply.op)) else {
            return Ok(machine.heap.nil());
        };
        let walked = machine.each_item(apply, &mut work.walk, |machine, item| {
            machine.consume_fuel(tally.cost())?;
            let added = tally.add(machine, apply.key, item)?;
            added.map_err(|wrong| wrong.halt(machine, apply.op))
        });
        let value = walked.and_then(|()| tally.finish(machine, (apply.op, apply.key), None));
        work.progress.tally = Some(tally);
        value
    })
}

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
    pub fn halt<H: Heap<Term = T>>(self, machine: &Machine<'_, H>, op: OpCode) -> Halt<T> {
        machine.fault(op, self.code, self.term.into_iter().collect())
    }
}

impl Tally {
    /// Returns the empty tally of an operation, if it is one of these.
    pub fn of(op: OpCode) -> Option<Self> {
        match op {
            OpCode::Count => Some(Tally::Count(0)),
            OpCode::Sum => Some(Tally::Sum(Number::Int(0))),
            OpCode::Avg => Some(Tally::Mean(Number::Int(0), 0)),
            _ => None,
        }
    }

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
                let value = match machine.lookup(item, field)? {
                    Lookup::Found(value) => value,
                    Lookup::Missing => return Ok(Ok(())),
                    Lookup::NotAMap => return wrong(Code::NeedsListOfMaps, Some(item)),
                };
                match machine.number(value)? {
                    Some(number) => {
                        if sum.add(number).is_err() {
                            return wrong(Code::BadArith, None);
                        }
                    }
                    None if machine.heap.kind(value) == Kind::Nil => {}
                    None => return wrong(Code::NeedsNumbers, Some(value)),
                }
            }
            Tally::Mean(sum, count) => {
                let value = machine.value_or_nil(item, field)?;
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
    pub fn finish<H: Heap>(
        &mut self,
        machine: &mut Machine<'_, H>,
        (op, field): (OpCode, ConstId),
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
