//! Sorting: by a kernel where the order is that of the terms, else by questions to a comparator.

use super::function::{Applied, FunctionLike, FUNCTIONS};
use super::merge::Merge;
use super::Turn;
use crate::code::{Halt, Machine};
use crate::exec::checks::failed;
use crate::families::seqs;
use crate::table::Builtin;
use crate::values::{class, is_named, Class};
use ptc_kernels::{Listing, Sorting, WORDS_OF_SORTED};
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Number of terms that are examined, or places that are put in order, between two checks of the limits.
const BATCH: usize = 512;

/// How two items are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    /// In the order of terms or against it; equal items keep their order. Then all are reversed, perhaps.
    Terms { descending: bool, reversed: bool },
    /// As a comparator says.
    Asked,
}

/// How far a sort is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum SortStage {
    /// A list is made of the sequence.
    Reading,
    /// The items are collected.
    Collecting,
    /// Special numbers are searched, which comparators order in their own way.
    Searching(usize),
    /// The places are sorted.
    Sorting,
    /// The list is made.
    Listing,
}

/// A sort that has begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Sort<T> {
    /// The built-in that sorts, for its errors.
    builtin: Builtin,
    /// The items that are not collected yet.
    rest: T,
    items: Roots<T>,
    /// Their keys; none if they are keys themselves.
    keys: Option<Roots<T>>,
    order: Order,
    comparator: Option<FunctionLike<T>>,
    stage: SortStage,
    awaits: bool,
    sorting: Sorting,
    merge: Option<Merge>,
    places: Vec<u32>,
    listing: Listing<T>,
}

rooted!(Sort {
    terms: rest; states: items, keys, comparator, listing;
    plain: builtin, order, stage, awaits, sorting, merge, places
});

impl<T: Copy> Sort<T> {
    /// Sorts a sequence.
    pub fn of<H: Heap<Term = T>>(
        m: &mut Machine<'_, H>,
        comparator: Option<T>,
        source: T,
    ) -> Result<Self, Halt<H>> {
        let sort = Sort::with(m, Builtin::Sort, comparator)?;
        Ok(Sort {
            rest: source,
            ..sort
        })
    }

    /// Sorts items by their keys.
    pub fn by_keys<H: Heap<Term = T>>(
        m: &mut Machine<'_, H>,
        comparator: Option<T>,
        (items, keys): (Roots<T>, Roots<T>),
    ) -> Result<Self, Halt<H>> {
        let sort = Sort::with(m, Builtin::SortBy, comparator)?;
        let (keys, stage) = (Some(keys), SortStage::Searching(0));
        Ok(Sort {
            items,
            keys,
            stage,
            ..sort
        })
    }

    /// Fails if this is no comparator.
    pub fn check_comparator<H: Heap<Term = T>>(
        m: &mut Machine<'_, H>,
        builtin: Builtin,
        comparator: Option<T>,
    ) -> Result<(), Halt<H>> {
        order_of(m, builtin, comparator).map(|_| ())
    }

    fn with<H: Heap<Term = T>>(
        m: &mut Machine<'_, H>,
        builtin: Builtin,
        comparator: Option<T>,
    ) -> Result<Self, Halt<H>> {
        let (order, comparator) = order_of(m, builtin, comparator)?;
        Ok(Sort {
            builtin,
            rest: m.heap.nil(),
            items: Roots::default(),
            keys: None,
            order,
            comparator,
            stage: SortStage::Reading,
            awaits: false,
            sorting: Sorting::default(),
            merge: None,
            places: Vec::new(),
            listing: Listing::default(),
        })
    }

    pub(super) fn step<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        returned: Option<T>,
    ) -> Result<Turn<T>, Halt<H>> {
        if let Some(value) = returned.filter(|_| self.awaits) {
            self.answer(m, value)?;
        }
        self.awaits = false;
        loop {
            match self.stage {
                SortStage::Reading => {
                    self.rest = seqs::items(m, self.rest)?;
                    self.stage = SortStage::Collecting;
                }
                SortStage::Collecting => {
                    self.collect(m)?;
                    self.stage = SortStage::Searching(0);
                }
                SortStage::Searching(from) => self.search(m, from)?,
                SortStage::Sorting => match self.order {
                    Order::Terms {
                        descending,
                        reversed,
                    } => self.sort(m, descending, reversed)?,
                    Order::Asked => {
                        if let Some(turn) = self.ask(m)? {
                            return Ok(turn);
                        }
                    }
                },
                SortStage::Listing => {
                    let list = self.listing.at_places(m, &self.items, Some(&self.places))?;
                    return Ok(Turn::done(list));
                }
            }
            m.meter.advanced();
        }
    }

    fn keys(&self) -> &Roots<T> {
        self.keys.as_ref().unwrap_or(&self.items)
    }

    fn collect<H: Heap<Term = T>>(&mut self, m: &mut Machine<'_, H>) -> Result<(), Halt<H>> {
        while let Some((item, tail)) = m.heap.uncons(self.rest) {
            m.consume_fuel(1)?;
            if self.items.len().is_multiple_of(BATCH) {
                m.check_heap_limit(WORDS_OF_SORTED * self.items.len())?;
            }
            self.items.push(item);
            self.rest = tail;
            m.meter.advanced();
        }
        Ok(())
    }

    /// A comparator that is a built-in orders terms, but not special numbers.
    fn search<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        from: usize,
    ) -> Result<(), Halt<H>> {
        let count = self.keys().len();
        let needed = self.comparator.is_some() && self.order != Order::Asked;
        if !needed || from >= count {
            self.stage = SortStage::Sorting;
            return Ok(());
        }
        let end = count.min(from + BATCH);
        m.consume_fuel((end - from) / 2)?;
        let is_special = |place| {
            let key = self.keys().get(m.heap, place);
            m.heap.kind(key) == Kind::Other && class(m, key) == Class::Special
        };
        let found = (from..end).any(is_special);
        if found {
            (self.order, self.stage) = (Order::Asked, SortStage::Sorting);
        } else {
            self.stage = SortStage::Searching(end);
        }
        Ok(())
    }

    fn sort<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        descending: bool,
        reversed: bool,
    ) -> Result<(), Halt<H>> {
        let keys = self.keys.as_ref().unwrap_or(&self.items);
        let count = keys.len();
        m.check_heap_limit(WORDS_OF_SORTED * count)?;
        self.sorting.sort(m, keys, count, &[descending])?;
        m.consume_fuel_at_once(count / BATCH)?;
        self.places = self.sorting.places().to_vec();
        if reversed {
            self.places.reverse();
        }
        self.sorting = Sorting::default();
        self.stage = SortStage::Listing;
        Ok(())
    }

    /// Asks the comparator until it must be called, or all are in order.
    fn ask<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<Option<Turn<T>>, Halt<H>> {
        loop {
            let Some((first, second)) = self.question(m)? else {
                self.places = match self.merge.take() {
                    Some(merge) => merge.places().to_vec(),
                    None => Vec::new(),
                };
                self.stage = SortStage::Listing;
                return Ok(None);
            };
            m.consume_fuel(1)?;
            let keys = self.keys();
            let given = [keys.get(m.heap, first), keys.get(m.heap, second)];
            let Some(comparator) = &mut self.comparator else {
                return Err(failed("comparator", self.builtin, &given));
            };
            match comparator.apply_to(m, &given)? {
                Applied::Value(value) => {
                    self.answer(m, value)?;
                    m.meter.advanced();
                }
                Applied::Called => {
                    let next = comparator.call(m, &given)?;
                    self.awaits = true;
                    return Ok(Some(Turn::Next(next)));
                }
                Applied::Refused => {
                    return Err(failed("comparator", self.builtin, &[comparator.term]))
                }
            }
        }
    }

    fn question<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
    ) -> Result<Option<(usize, usize)>, Halt<H>> {
        if self.merge.is_none() {
            let count = self.keys().len();
            m.check_heap_limit(Merge::words(count))?;
            m.consume_fuel_at_once(count / BATCH)?;
            self.merge = Some(Merge::of(count));
        }
        match &mut self.merge {
            Some(merge) => Ok(merge.question(|cost| m.consume_fuel(cost))?),
            None => Ok(None),
        }
    }

    /// Takes what the comparator has said: an integer counts as at most 0, a boolean as it is.
    fn answer<H: Heap<Term = T>>(
        &mut self,
        m: &mut Machine<'_, H>,
        said: T,
    ) -> Result<(), Halt<H>> {
        let first = match m.heap.kind(said) {
            Kind::Bool => m.heap.truthy(said),
            Kind::Number => match m.number(said)? {
                Some(Number::Int(value)) => value <= 0,
                Some(Number::Big(value)) => value.sign() != num_bigint::Sign::Plus,
                _ => return Err(failed("comparator_result", self.builtin, &[said])),
            },
            _ => return Err(failed("comparator_result", self.builtin, &[said])),
        };
        if let Some(merge) = &mut self.merge {
            merge.answer(first);
        }
        Ok(())
    }
}

/// Returns the order of a comparator. Those that are built-ins are known: `<` and `>` are false for equal items, so they
/// reverse them.
#[allow(clippy::type_complexity)]
fn order_of<H: Heap>(
    m: &mut Machine<'_, H>,
    builtin: Builtin,
    comparator: Option<H::Term>,
) -> Result<(Order, Option<FunctionLike<H::Term>>), Halt<H>> {
    let terms = |descending, reversed| Order::Terms {
        descending,
        reversed,
    };
    let Some(comparator) = comparator else {
        return Ok((terms(false, false), None));
    };
    if is_named(m, comparator, b"asc") {
        return Ok((terms(false, false), None));
    }
    if is_named(m, comparator, b"desc") {
        return Ok((terms(true, false), None));
    }
    let function = FunctionLike::of(m, comparator, FUNCTIONS)?;
    if !function.is_some() {
        return Err(failed("comparator", builtin, &[comparator]));
    }
    let order = match function.built_in() {
        Some(Builtin::LessOrEqual | Builtin::Compare) => terms(false, false),
        Some(Builtin::GreaterOrEqual) => terms(true, false),
        Some(Builtin::Less) => terms(true, true),
        Some(Builtin::Greater) => terms(false, true),
        _ => Order::Asked,
    };
    Ok((order, Some(function)))
}
