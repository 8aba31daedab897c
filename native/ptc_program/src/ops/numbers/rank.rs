//! Numbers by their rank: `median`, `percentile`.

use crate::code::{Apply, ConstId, Eval, Instr, Machine, NO_CONST};
use crate::compile::Plan;
use crate::edition::Edition;
use crate::fault::{Code, Errors};
use crate::ops::keyed::check_forms;
use crate::ops::sort::WORDS_OF_SORTED;
use crate::ops::{Field, FieldKind, Operation, Planned};
use crate::shape::{Aggregate, OpShape};
use ptc_kernels::{Sorting, Walk, Wrong, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::{divide, Arithmetic, BadArith, Number};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::value::{Coefficient, Exact, TooLong, Value};
use ptc_vm::Keeps;

/// Which of the sorted numbers is wanted.
enum Wanted {
    Middle,
    /// At this percentage of the way from the first number to the last.
    PerCent(Number),
}

/// It lies at a rank, or between that and the next one.
struct Rank {
    /// The number of numbers before it.
    before: usize,
    /// How far it is from there to the next number: 0 to 1.
    beyond: f64,
    /// The same exactly, where there are decimals.
    exactly: Exact,
}

impl Wanted {
    /// Returns the rank among a number of numbers, at least one.
    fn rank(&self, count: usize) -> Rank {
        let exactly = Exact::ZERO;
        match self {
            Wanted::Middle => Rank {
                before: (count - 1) / 2,
                beyond: if count.is_multiple_of(2) { 0.5 } else { 0.0 },
                exactly,
            },
            Wanted::PerCent(per_cent) => {
                let part = per_cent.to_float().unwrap_or(0.0) / 100.0;
                let rank = part * (count - 1) as f64;
                Rank {
                    before: (rank as usize).min(count - 1),
                    beyond: rank - rank.floor(),
                    exactly,
                }
            }
        }
    }

    /// Returns the rank among numbers with decimals, computed without floats. A percentage that is a float is its
    /// shortest text.
    fn exact_rank(&self, count: usize) -> Result<Rank, TooLong> {
        let per_cent = match self {
            Wanted::Middle => return Ok(self.rank(count)),
            Wanted::PerCent(Number::Float(float)) => Exact::read(format!("{float}").as_bytes()),
            Wanted::PerCent(number) => Exact::of_integer(number.clone()),
        };
        let last = Exact::of_integer(Number::Int(count as i64 - 1)).ok_or(TooLong)??;
        let hundredth = Exact::new(false, Number::Int(1), -2).ok_or(TooLong)??;
        let rank = per_cent.ok_or(TooLong)??.times(&last)?.times(&hundredth)?;
        let whole = rank.whole(false);
        let before = match whole {
            Number::Int(before) => usize::try_from(before).unwrap_or(0),
            _ => 0,
        };
        let whole = Exact::of_integer(whole).ok_or(TooLong)??;
        let exactly = rank.plus(&whole.negated())?;
        Ok(Rank {
            before: before.min(count - 1),
            beyond: if exactly.is_zero() { 0.0 } else { 0.5 },
            exactly,
        })
    }

    fn between(&self, a: &Number, b: &Number, rank: &Rank) -> Result<Number, BadArith> {
        match self {
            Wanted::Middle => {
                let sum = Arithmetic::Add.apply(a, b)?;
                divide(&sum, &Number::Int(2)).map(Number::Float)
            }
            Wanted::PerCent(_) => {
                let difference = Arithmetic::Sub.apply(b, a)?;
                let part = Arithmetic::Mul.apply(&difference, &Number::Float(rank.beyond))?;
                Arithmetic::Add.apply(a, &part)
            }
        }
    }

    fn exactly_between(&self, a: &Exact, b: &Exact, rank: &Rank) -> Result<Exact, TooLong> {
        match self {
            Wanted::Middle => {
                let two = Exact::of_integer(Number::Int(2)).ok_or(TooLong)??;
                a.plus(b)?.over(&two)
            }
            Wanted::PerCent(_) => {
                let difference = b.plus(&a.clone().negated())?;
                a.plus(&difference.times(&rank.exactly)?)
            }
        }
    }
}

/// Collects the numbers among the items, or among the values of a field of the items, and sorts as many as are read.
fn at_rank<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, wanted: Wanted) -> Eval<H> {
    machine.resumable(
        |machine| Ranking::over(machine.slot(apply.input)),
        |machine, work| {
            let (keys, decimal, float) = (&mut work.numbers, &mut work.decimal, &mut work.float);
            machine.each_item(apply, &mut work.walk, |machine, item| {
                let value = match apply.key {
                    NO_CONST => item,
                    field => machine.value_or_nil(item, field)?,
                };
                let is_number = machine.heap.kind(value) == Kind::Number;
                if !is_number {
                    match machine.value(value) {
                        Some(Value::Decimal {
                            coefficient: Coefficient::Integer(_),
                            ..
                        }) => {}
                        Some(Value::Decimal { .. }) => {
                            return Err(machine.fault(
                                apply.op,
                                Code::DecimalNotFinite,
                                vec![value],
                            ))
                        }
                        _ => return Ok(()),
                    }
                }
                if keys.len() % KEPT_BETWEEN_CHECKS == 0 {
                    machine.check_heap_limit(WORDS_OF_SORTED * keys.len())?;
                }
                if machine.values() {
                    if !is_number {
                        decimal.get_or_insert(value);
                    } else if machine.heap.float(value).is_some() {
                        float.get_or_insert(value);
                    }
                    if decimal.is_some() && float.is_some() {
                        return Err(machine.fault(apply.op, Code::DecimalAndFloat, vec![value]));
                    }
                }
                keys.push(value);
                Ok(())
            })?;
            if keys.is_empty() {
                return Ok(machine.heap.nil());
            }
            let rank = match decimal {
                None => Ok(wanted.rank(keys.len())),
                Some(_) => wanted.exact_rank(keys.len()),
            };
            let Ok(rank) = rank else {
                return Err(machine.fault(apply.op, Code::DecimalTooLong, vec![]));
            };
            let needed = rank.before + 1 + usize::from(rank.beyond > 0.0);
            (work.sorting).sort(machine, &work.numbers, needed, &[false])?;
            let places = work.sorting.places();
            let number = |index: usize| {
                let place = places.get(index).copied().unwrap_or_default();
                work.numbers.get(machine.heap, place as usize)
            };
            let terms = (number(rank.before), number(needed - 1));
            if rank.beyond == 0.0 {
                return Ok(terms.0);
            }
            if work.decimal.is_some() {
                return between_decimals(machine, apply, &wanted, terms, &rank);
            }
            let (Some(a), Some(b)) = (machine.number(terms.0)?, machine.number(terms.1)?) else {
                return Ok(machine.heap.nil());
            };
            match wanted.between(&a, &b, &rank) {
                Ok(number) => machine.make_number(apply.op, number),
                Err(BadArith) => Err(machine.fault(apply.op, Code::BadArith, vec![])),
            }
        },
    )
}

/// The numbers, while they are collected and sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking<T> {
    walk: Walk<T>,
    numbers: Roots<T>,
    /// The first decimal and the first float.
    decimal: Option<T>,
    float: Option<T>,
    sorting: Sorting,
}

rooted!(Ranking { optional: decimal, float; states: walk, numbers; plain: sorting });

impl<T> Ranking<T> {
    fn over(list: T) -> Self {
        Ranking {
            walk: Walk::over(list),
            numbers: Roots::default(),
            decimal: None,
            float: None,
            sorting: Sorting::default(),
        }
    }
}

#[cold]
fn between_decimals<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    wanted: &Wanted,
    terms: (H::Term, H::Term),
    rank: &Rank,
) -> Eval<H> {
    let mut read = [Exact::ZERO, Exact::ZERO];
    for (term, into) in [terms.0, terms.1].into_iter().zip(&mut read) {
        match machine.exact(term)? {
            Ok(exact) => *into = exact,
            Err(why) => return Err(machine.wrong(apply.op, Wrong::of(why, term))),
        }
    }
    let value = wanted.exactly_between(&read[0], &read[1], rank);
    machine.make_exact(apply.op, value, vec![terms.0, terms.1])
}

/// With `expr` the operation is applied to the list of its values.
fn plan(plan: &mut Plan, value: ConstId) {
    if plan.field("expr").is_some() {
        plan.each_item("expr");
        let values = plan.take_slot();
        plan.emit(Instr::Store(values));
        plan.scope = plan.scope.with_input(values);
        plan.apply(0, (NO_CONST, value, 0));
    } else {
        let field = plan.constant_of("field");
        plan.needs_input();
        plan.apply(0, (field, value, 0));
    }
}

const EXPR: Field = Field::alternative("expr", FieldKind::Expr, "the number of an item, computed");
const FIELD: Field = Field::alternative("field", FieldKind::String, "the items' key that is read");

pub(in crate::ops) struct Median;

impl Operation for Median {
    const NAME: &'static str = "median";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str =
        "The middle number, or the mean of the two middle ones; others are left out; nil if there are none.";
    const TYPES: &'static str =
        "list of numbers, or of objects with numbers in the field, to number or null";
    const SHAPE: OpShape = OpShape::Aggregate(Aggregate::Rank);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[EXPR, FIELD];
    const KEEPS: Keeps = Keeps::Value;

    fn check(plan: &Plan) -> Planned {
        check_forms(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        self::plan(plan, NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        at_rank(machine, apply, Wanted::Middle)
    }
}

pub(in crate::ops) struct Percentile;

impl Operation for Percentile {
    const NAME: &'static str = "percentile";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str =
        "The number that so many per cent of the numbers do not exceed, between the closest two; nil if there are none.";
    const TYPES: &'static str =
        "list of numbers, or of objects with numbers in the field, to number or null";
    const SHAPE: OpShape = OpShape::Aggregate(Aggregate::Rank);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        EXPR,
        FIELD,
        Field::required("p", FieldKind::Percent, "how many per cent")
            .must_be("'p' must be a number from 0 to 100"),
    ];
    const KEEPS: Keeps = Keeps::Value;

    fn check(plan: &Plan) -> Planned {
        check_forms(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let per_cent = plan.constant_of("p");
        self::plan(plan, per_cent);
        Ok(())
    }

    /// The value is the number of per cent.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let per_cent = machine.constant(apply.value);
        let per_cent = machine.number(per_cent)?.unwrap_or(Number::Int(0));
        at_rank(machine, apply, Wanted::PerCent(per_cent))
    }
}
