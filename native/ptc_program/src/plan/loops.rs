//! Loops: what an item is, how often the body runs, and what the numbers of the body become outside.

mod ended;

use super::formula::{Factor, FormulaId, LoopId, Product};
use super::sets::{Extent, SetId};
use super::sources::{PathStep, SourceId};
use super::value::{ItemsOf, Value, ValueId, Values};

/// A loop. Its rounds may be gone through again: over the list that it made.
#[derive(Debug, Clone, Copy)]
struct LoopRounds {
    /// The list of the data that it goes over, in the current round of the loop around it.
    over: Option<(SourceId, LoopId)>,
    /// The number of rounds, if it is exact.
    exact: FormulaId,
    open: bool,
}

/// A loop that has begun.
#[derive(Debug, Clone, Copy)]
pub struct Looped {
    /// Its number.
    pub id: LoopId,
    /// Its item.
    pub item: ValueId,
    /// The least number of rounds.
    pub least: FormulaId,
    /// The largest number.
    pub most: FormulaId,
    /// What the number of rounds depends on.
    pub spine: SetId,
    /// What decides about the list.
    pub by: SetId,
}

/// All loops.
#[derive(Debug, Default)]
pub struct Loops {
    all: Vec<LoopRounds>,
}

impl Loops {
    /// Forgets all loops, and keeps the memory. Returns the words of that.
    pub(super) fn clear(&mut self) -> usize {
        self.all.clear();
        3 * self.all.capacity()
    }

    fn new_loop(&mut self, over: Option<(SourceId, LoopId)>, exact: FormulaId) -> LoopId {
        let id = LoopId(self.all.len() as u32);
        self.all.push(LoopRounds {
            over,
            exact,
            open: false,
        });
        id
    }

    fn round(&self, of: LoopId) -> Option<LoopRounds> {
        self.all.get(of.0 as usize).copied()
    }

    /// Returns the loop whose current item a part belongs to, and whether it is that item's own.
    fn now(&self, mut of: LoopId) -> (LoopId, bool) {
        let mut own = true;
        loop {
            match self.round(of) {
                Some(round) if round.open => return (of, own),
                Some(round) => of = round.over.map_or(LoopId::ROOT, |over| over.1),
                None => return (LoopId::ROOT, own && of == LoopId::ROOT),
            }
            own = false;
        }
    }

    /// Returns the least and the largest number of items, what that depends on, and an item.
    fn items(&mut self, list: ValueId, values: &mut Values) -> ItemsOf {
        let none = ItemsOf {
            item: ValueId::CONSTANT,
            of: None,
            least: FormulaId::ZERO,
            most: FormulaId::ZERO,
            spine: SetId::EMPTY,
        };
        match values.get(list) {
            Value::At(source, of) if values.tree.has(source, PathStep::Each) => {
                let (of, own) = self.now(of);
                let count = values.count(source, of);
                let least = if own { count } else { FormulaId::ZERO };
                let item = values.step(source, PathStep::Each, LoopId::LOST);
                let spine = values.sets.one(source, Extent::Count);
                ItemsOf {
                    item,
                    of: None,
                    least,
                    most: count,
                    spine,
                }
            }
            Value::List(items) => ItemsOf {
                item: self.lost(items.item, values),
                of: None,
                least: self.settled(items.least, false, values),
                most: self.settled(items.most, true, values),
                ..items
            },
            Value::Made(data) if list != ValueId::CONSTANT => ItemsOf {
                item: list,
                most: FormulaId::UNKNOWN,
                spine: data,
                ..none
            },
            Value::OneOf(_) => {
                let mut all = ItemsOf {
                    least: FormulaId::UNKNOWN,
                    ..none
                };
                for member in values.members(list) {
                    let items = self.items_of(member, values);
                    let items = match values.get(items) {
                        Value::List(items) => items,
                        _ => none,
                    };
                    all.item = values.join(all.item, items.item);
                    all.least = values.formulas.smaller(all.least, items.least);
                    all.most = values.formulas.larger(all.most, items.most);
                    all.spine = values.both(all.spine, items.spine);
                }
                all
            }
            _ => none,
        }
    }

    /// Returns a list as such, apart from the loop that made it.
    pub fn items_of(&mut self, list: ValueId, values: &mut Values) -> ValueId {
        let (inner, by) = values.undecided(list);
        let items = self.items(inner, values);
        let list = values.list(items);
        values.decided(list, by)
    }

    /// Returns an item of a list, if it has one, and what decides about that.
    pub fn item(&mut self, list: ValueId, values: &mut Values) -> ValueId {
        let (inner, by) = values.undecided(list);
        let items = self.items(inner, values);
        let by = values.both(by, items.spine);
        values.decided(items.item, by)
    }

    /// Returns some of the items of a list: all of them if `all`.
    pub fn some(&mut self, list: ValueId, all: bool, values: &mut Values) -> ValueId {
        let (inner, by) = values.undecided(list);
        let some = match values.get(inner) {
            _ if all => inner,
            Value::At(source, of) => {
                let (of, own) = self.now(of);
                let most = values.count(source, of);
                let exact = if own { most } else { FormulaId::UNKNOWN };
                let id = self.new_loop(Some((source, of)), exact);
                let item = values.step(source, PathStep::Each, id);
                let spine = values.sets.one(source, Extent::Count);
                values.list(ItemsOf {
                    item,
                    of: Some(id),
                    least: FormulaId::ZERO,
                    most,
                    spine,
                })
            }
            Value::List(items) => values.list(ItemsOf {
                least: FormulaId::ZERO,
                ..items
            }),
            Value::OneOf(_) => {
                let items = self.items(inner, values);
                values.list(ItemsOf {
                    least: FormulaId::ZERO,
                    ..items
                })
            }
            _ => inner,
        };
        values.decided(some, by)
    }

    /// Returns the first items of a list, or the last.
    pub fn taken(&mut self, list: ValueId, most: u64, values: &mut Values) -> ValueId {
        let (inner, by) = values.undecided(list);
        let all = self.items(inner, values);
        let some = self.some(inner, false, values);
        let Value::List(items) = values.get(some) else {
            return list;
        };
        let least = values.formulas.at_most(most, all.least);
        let most = values.formulas.at_most(most, all.most);
        let taken = values.list(ItemsOf {
            least,
            most,
            ..items
        });
        values.decided(taken, by)
    }

    /// Begins a loop over a list.
    pub fn begin(&mut self, list: ValueId, values: &mut Values) -> Looped {
        let (inner, by) = values.undecided(list);
        let all = self.items(inner, values);
        let (id, item) = match values.get(inner) {
            Value::At(source, of) => {
                let (of, _) = self.now(of);
                let id = self.new_loop(Some((source, of)), all.least);
                (id, values.step(source, PathStep::Each, id))
            }
            Value::List(ItemsOf {
                of: Some(id), item, ..
            }) if self.round(id).is_some_and(|round| !round.open) => (id, item),
            _ => (self.new_loop(None, all.least), all.item),
        };
        if let Some(round) = self.all.get_mut(id.0 as usize) {
            round.open = true;
        }
        Looped {
            id,
            item,
            least: all.least,
            most: all.most,
            spine: all.spine,
            by,
        }
    }

    /// Ends a loop.
    pub fn end(&mut self, looped: &Looped) {
        if let Some(round) = self.all.get_mut(looped.id.0 as usize) {
            round.open = false;
        }
    }

    /// Returns a number of all rounds from that of one round: the largest one if `upper`, else the least.
    pub fn times(
        &mut self,
        formula: FormulaId,
        looped: &Looped,
        upper: bool,
        values: &mut Values,
    ) -> FormulaId {
        let rounds = if upper { looped.most } else { looped.least };
        if formula == FormulaId::ZERO || formula == FormulaId::UNKNOWN {
            return values.formulas.product(formula, rounds);
        }
        let round = self.round(looped.id);
        let outer = round.and_then(|round| round.over).map(|over| over.1);
        let full =
            looped.least == looped.most && round.is_some_and(|round| round.exact == looped.least);
        let mut sum = FormulaId::ZERO;
        for product in values.formulas.get(formula).to_vec() {
            let (mut own, mut times) = (0, Some(product.times));
            let mut factors = Vec::with_capacity(product.factors.len());
            let mut bounded = false;
            for factor in product.factors {
                match factor {
                    Factor::Count(source, of) if of == looped.id => {
                        own += 1;
                        factors.push(Factor::Count(source, outer.unwrap_or(LoopId::ROOT)));
                    }
                    Factor::AtMost(number, inner) if depends(inner, looped.id, values) => {
                        bounded = true;
                        times = times.and_then(|times| times.checked_mul(number));
                    }
                    _ => factors.push(factor),
                }
            }
            if !upper && (bounded || own > 1 || own == 1 && !full) {
                continue;
            }
            let Some(times) = times else {
                return FormulaId::UNKNOWN;
            };
            let mut one = values.formulas.of(vec![Product { times, factors }]);
            if own == 0 {
                one = values.formulas.product(one, rounds);
            }
            sum = values.formulas.sum(sum, one);
        }
        match (upper, sum) {
            (false, FormulaId::UNKNOWN) => FormulaId::ZERO,
            _ => sum,
        }
    }

    /// Returns what `flat_map` and `flatten` make: the items of the lists that a loop gave.
    pub fn flattened(&mut self, lists: ValueId, looped: &Looped, values: &mut Values) -> ValueId {
        let (inner, by) = values.undecided(lists);
        let items = self.items(inner, values);
        let spine = values.both(items.spine, looped.spine);
        let flat = match (values.get(inner), self.round(looped.id)) {
            // The lists of all items of a list are one part of the data.
            (Value::At(source, of), Some(round)) if of == looped.id && round.over.is_some() => {
                let outer = round.over.map_or(LoopId::ROOT, |over| over.1);
                let full = looped.least == looped.most && looped.least == round.exact;
                let all = values.at(source, outer);
                self.some(all, full, values)
            }
            _ => {
                let least = self.times(items.least, looped, false, values);
                let most = self.times(items.most, looped, true, values);
                let item = self.lost(items.item, values);
                values.list(ItemsOf {
                    item,
                    of: None,
                    least,
                    most,
                    spine,
                })
            }
        };
        let by = values.both(by, looped.by);
        values.decided(flat, by)
    }
}

fn depends(formula: FormulaId, of: LoopId, values: &Values) -> bool {
    let mut todo = vec![formula];
    while let Some(next) = todo.pop() {
        for factor in values.formulas.get(next).iter().flat_map(|it| &it.factors) {
            match factor {
                Factor::AtMost(_, inner) => todo.push(*inner),
                Factor::Count(_, other) if *other == of => return true,
                Factor::Count(..) => {}
            }
        }
    }
    false
}
