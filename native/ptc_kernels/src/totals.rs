//! Totals of groups, computed while the groups are found: no list of a group's items is made.

use crate::context::{ConstId, Context, KEPT_BETWEEN_CHECKS};
use crate::groups::Groups;
use crate::tally::Tally;
use ptc_term::heap::{Heap, Kind};
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use std::cmp::Ordering;

/// Maximum number of extremes of all groups: they are exchanged whenever the run is suspended.
const MOST_EXTREMES: usize = 32_768;

/// What is computed of the items of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// Their number.
    Count,
    /// The sum of a field.
    Sum(ConstId),
    /// The mean of a field.
    Mean(ConstId),
    /// The smallest value of a field.
    Least(ConstId),
    /// The largest value of a field.
    Most(ConstId),
    /// A constant.
    Const(ConstId),
}

/// The totals of each group.
#[derive(Debug, Clone)]
pub struct Totals {
    of: Vec<Total>,
    tallies: usize,
    extremes: usize,
}

impl Totals {
    /// Creates the totals of each group.
    pub fn new(of: Vec<Total>) -> Self {
        let count = |is_it: fn(&Total) -> bool| of.iter().filter(|it| is_it(it)).count();
        Totals {
            tallies: count(|it| matches!(it, Total::Sum(_) | Total::Mean(_))),
            extremes: count(|it| matches!(it, Total::Least(_) | Total::Most(_))),
            of,
        }
    }

    /// Adds an item to the totals of its group; returns false if that is not possible, so that the items must be kept.
    /// `extremes` are the smallest and the largest values of all groups. Goes on with the total where it was suspended.
    #[inline]
    pub fn add<H: Heap>(
        &self,
        machine: &mut Context<'_, H>,
        groups: &mut Groups,
        extremes: &mut Vec<H::Term>,
        (entry, item): (usize, H::Term),
    ) -> Result<bool, Stop> {
        if groups.size(entry) == 0 && !self.make_room(machine, groups, extremes, entry)? {
            return Ok(false);
        }
        let mut tally = entry * self.tallies;
        let mut extreme = entry * self.extremes;
        for (at, total) in self.of.iter().enumerate() {
            let is_due = at >= groups.added;
            match *total {
                Total::Count | Total::Const(_) => {}
                Total::Sum(field) | Total::Mean(field) => {
                    if is_due {
                        let tally = &mut groups.tallies[tally];
                        tally.count_cost(machine)?;
                        if tally.add(machine, field, item)?.is_err() {
                            return Ok(false);
                        }
                        if let Tally::Exact(tally) = tally {
                            groups.long_tallies += tally.more_words();
                        }
                    }
                    tally += 1;
                }
                Total::Least(field) | Total::Most(field) => {
                    if is_due {
                        let better = match total {
                            Total::Least(_) => Ordering::Less,
                            _ => Ordering::Greater,
                        };
                        let best = &mut extremes[extreme];
                        if !improve(machine, best, (field, better), item)? {
                            return Ok(false);
                        }
                    }
                    extreme += 1;
                }
            }
            groups.added = groups.added.max(at + 1);
        }
        groups.added = 0;
        groups.count(entry);
        Ok(true)
    }

    #[cold]
    fn make_room<H: Heap>(
        &self,
        machine: &Context<'_, H>,
        groups: &mut Groups,
        extremes: &mut Vec<H::Term>,
        entry: usize,
    ) -> Result<bool, Stop> {
        if entry.is_multiple_of(KEPT_BETWEEN_CHECKS) {
            machine.check_heap_limit(groups.words() + extremes.len())?;
        }
        if (entry + 1) * self.extremes > MOST_EXTREMES {
            return Ok(false);
        }
        while extremes.len() < (entry + 1) * self.extremes {
            extremes.push(machine.heap.nil());
        }
        let kinds = self.of.iter().filter_map(|total| match total {
            Total::Sum(_) => Some(Tally::Sum(Number::Int(0))),
            Total::Mean(_) => Some(Tally::Mean(Number::Int(0), 0)),
            _ => None,
        });
        while groups.tallies.len() < (entry + 1) * self.tallies {
            groups.tallies.extend(kinds.clone());
        }
        Ok(true)
    }

    /// Adds the totals of a group to `values`; returns false if one is no number.
    pub fn finish<H: Heap>(
        &self,
        machine: &mut Context<'_, H>,
        (groups, extremes): (&Groups, &[H::Term]),
        entry: usize,
        values: &mut Vec<H::Term>,
    ) -> Result<bool, Stop> {
        let mut tally = entry * self.tallies;
        let mut extreme = entry * self.extremes;
        for total in &self.of {
            values.push(match *total {
                Total::Const(id) => machine.constant(id),
                Total::Count => {
                    let count = Number::Int(i64::from(groups.size(entry)));
                    match machine.heap.make_number(count) {
                        Some(count) => count,
                        None => return Ok(false),
                    }
                }
                Total::Sum(field) | Total::Mean(field) => {
                    tally += 1;
                    // The group is finished again if this is suspended.
                    let mut tally = groups.tallies[tally - 1].clone();
                    match tally.finish(machine, field, None)? {
                        Ok(value) => value,
                        Err(_) => return Ok(false),
                    }
                }
                Total::Least(_) | Total::Most(_) => {
                    extreme += 1;
                    extremes[extreme - 1]
                }
            });
        }
        Ok(true)
    }
}

/// Replaces `best` with the item's field if that is better; returns false if the values must be compared by their meaning.
fn improve<H: Heap>(
    machine: &mut Context<'_, H>,
    best: &mut H::Term,
    (field, better): (ConstId, Ordering),
    item: H::Term,
) -> Result<bool, Stop> {
    let value = machine.value_or_nil(item, field)?;
    let kind = machine.heap.kind(value);
    if machine.values() && matches!(kind, Kind::List | Kind::Map | Kind::Other) {
        return Ok(false);
    }
    let is_better = match (kind, machine.heap.kind(*best)) {
        (Kind::Nil, _) => false,
        (_, Kind::Nil) => true,
        _ => machine.compare(value, *best)? == better,
    };
    if is_better {
        *best = value;
    }
    Ok(true)
}
