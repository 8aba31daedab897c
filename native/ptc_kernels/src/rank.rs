//! Numbers by their rank.

use crate::context::{ConstId, Context, KEPT_BETWEEN_CHECKS};
use crate::lists::Walk;
use crate::order::{Sorting, WORDS_OF_SORTED};
use crate::wrong::{Early, Why, Worked, Wrong};
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::{divide, Arithmetic, BadArith, Number};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::value::{Coefficient, Exact, TooLong, Value};

/// Which of the sorted numbers is wanted.
pub enum Wanted {
    /// The middle one, or the mean of the two middle ones.
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
    /// That part read exactly, where there are decimals.
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

impl<T: Copy> Ranking<T> {
    /// Returns the start.
    pub fn over(list: T) -> Self {
        Ranking {
            walk: Walk::over(list),
            numbers: Roots::default(),
            decimal: None,
            float: None,
            sorting: Sorting::default(),
        }
    }

    /// Returns the number of a rank among the items that are numbers, or among the values of a field of the items; nil if there are
    /// none. As many numbers are sorted as are read.
    pub fn number<H: Heap<Term = T>>(
        &mut self,
        context: &mut Context<'_, H>,
        (list, field): (T, Option<ConstId>),
        wanted: &Wanted,
    ) -> Worked<H> {
        let (keys, decimal, float) = (&mut self.numbers, &mut self.decimal, &mut self.float);
        context.each_item_of(list, &mut self.walk, |context, item| {
            let value = match field {
                None => item,
                Some(field) => context.value_or_nil(item, field)?,
            };
            let is_number = context.heap.kind(value) == Kind::Number;
            if !is_number {
                match context.value(value) {
                    Some(Value::Decimal {
                        coefficient: Coefficient::Integer(_),
                        ..
                    }) => {}
                    Some(Value::Decimal { .. }) => {
                        return Err(Wrong::of(Why::NotFinite, value).into())
                    }
                    _ => return Ok(()),
                }
            }
            if keys.len() % KEPT_BETWEEN_CHECKS == 0 {
                context.check_heap_limit(WORDS_OF_SORTED * keys.len())?;
            }
            if context.values() {
                if !is_number {
                    decimal.get_or_insert(value);
                } else if context.heap.float(value).is_some() {
                    float.get_or_insert(value);
                }
                if decimal.is_some() && float.is_some() {
                    return Err(Wrong::of(Why::DecimalAndFloat, value).into());
                }
            }
            keys.push(value);
            Ok(())
        })?;
        if keys.is_empty() {
            return Ok(context.heap.nil());
        }
        let rank = match decimal {
            None => Ok(wanted.rank(keys.len())),
            Some(_) => wanted.exact_rank(keys.len()),
        };
        let rank = rank.map_err(|TooLong| Wrong::result(Why::TooLong))?;
        let needed = rank.before + 1 + usize::from(rank.beyond > 0.0);
        (self.sorting).sort(context, &self.numbers, needed, &[false])?;
        let places = self.sorting.places();
        let number = |index: usize| {
            let place = places.get(index).copied().unwrap_or_default();
            self.numbers.get(context.heap, place as usize)
        };
        let terms = (number(rank.before), number(needed - 1));
        if rank.beyond == 0.0 {
            return Ok(terms.0);
        }
        if self.decimal.is_some() {
            return between_decimals(context, wanted, terms, &rank);
        }
        let (Some(a), Some(b)) = (context.number(terms.0)?, context.number(terms.1)?) else {
            return Ok(context.heap.nil());
        };
        let between = wanted.between(&a, &b, &rank).ok();
        let made = between.and_then(|number| context.heap.make_number(number));
        Ok(made.ok_or(Wrong::result(Why::BadArith))?)
    }
}

#[cold]
fn between_decimals<H: Heap>(
    context: &mut Context<'_, H>,
    wanted: &Wanted,
    terms: (H::Term, H::Term),
    rank: &Rank,
) -> Worked<H> {
    let mut read = [Exact::ZERO, Exact::ZERO];
    for (term, into) in [terms.0, terms.1].into_iter().zip(&mut read) {
        match context.exact(term)? {
            Ok(exact) => *into = exact,
            Err(why) => return Err(Wrong::of(why, term).into()),
        }
    }
    let value = wanted.exactly_between(&read[0], &read[1], rank);
    match context.make_decimal(value)? {
        Ok(decimal) => Ok(decimal),
        Err(Why::TooLong) => Err(Early::OfBoth(Why::TooLong, [terms.0, terms.1])),
        Err(why) => Err(Wrong::result(why).into()),
    }
}
