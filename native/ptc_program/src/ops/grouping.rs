//! The evaluation of `group_by`: the groups with their items, or with their totals.

use crate::code::{Apply, ConstId, Eval, Halt, Machine};
use ptc_kernels::{Entries, GroupListing, Groups, Listing, Made, Origin, Total, Totals, Walk};
use ptc_term::heap::{words_of_map, Heap};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Constants for each total: its operation, and its field.
pub(super) const PER_TOTAL: u32 = 2;

/// The groups that are found.
#[derive(Debug, Clone, PartialEq)]
struct GroupFinding<T> {
    walk: Walk<T>,
    /// The keys that are left, if they are computed; else the items whose keys have not been searched for values.
    left: Option<T>,
    /// The keys of the groups.
    keys: Roots<T>,
    groups: Groups,
}

rooted!(GroupFinding { optional: left; states: walk, keys; plain: groups });

impl<T> GroupFinding<T> {
    fn over(list: T, apply: &Apply) -> Self {
        GroupFinding {
            walk: Walk::over(list),
            left: None,
            keys: Roots::default(),
            groups: Groups::new(apply.value.max(apply.operands) as usize),
        }
    }
}

/// The groups with their items.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouping<T> {
    finding: GroupFinding<T>,
    items: Roots<T>,
    listing: GroupListing<T>,
}

rooted!(Grouping { states: finding, items, listing; plain: });

impl<T> Grouping<T> {
    pub(super) fn over(list: T, apply: &Apply) -> Self {
        Grouping {
            finding: GroupFinding::over(list, apply),
            items: Roots::default(),
            listing: GroupListing::default(),
        }
    }
}

/// The groups with their totals.
#[derive(Debug, Clone, PartialEq)]
pub struct Totalling<T> {
    finding: GroupFinding<T>,
    /// The smallest and the largest values of all groups.
    extremes: Vec<T>,
    /// Whether the items must be kept.
    failed: bool,
    /// Whether all items have been added.
    is_found: bool,
    /// The next group whose map is made.
    next: usize,
    maps: Roots<T>,
    listing: Listing<T>,
}

rooted!(Totalling {
    lists: extremes; states: finding, maps, listing; plain: failed, is_found, next
});

impl<T> Totalling<T> {
    pub(super) fn over(list: T, apply: &Apply) -> Self {
        Totalling {
            finding: GroupFinding::over(list, apply),
            extremes: Vec::new(),
            failed: false,
            is_found: false,
            next: 0,
            maps: Roots::default(),
            listing: Listing::default(),
        }
    }
}

/// Passes each item with its group to `visit`. The fields that are read start at the key of the instruction, and its value is
/// their number; without fields the keys are the operand.
fn each_in_group<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    finding: &mut GroupFinding<H::Term>,
    mut visit: impl FnMut(
        &mut Machine<'_, H>,
        &mut Groups,
        (usize, H::Term),
    ) -> Result<(), Halt<H::Term>>,
) -> Result<(), Halt<H::Term>> {
    let GroupFinding {
        walk,
        left: rest,
        keys,
        groups,
    } = finding;
    let computed = (apply.operands == 1).then(|| machine.one_operand(apply));
    let list = computed.unwrap_or(machine.slot(apply.input));
    let left = rest.get_or_insert(list);
    groups.search(machine, (left, list), |machine, at, item| match computed {
        Some(_) => Ok(item),
        None => machine.value_or_nil(item, apply.key + at as ConstId),
    })?;
    let field = |at: usize| apply.key + at as ConstId;
    let fields = apply.value as usize;
    machine.each_item(apply, walk, |machine, item| {
        let next = match computed {
            Some(_) => machine.heap.uncons(*left),
            None => None,
        };
        let entry = match (next, fields) {
            (Some((key, _)), _) => groups.entry(machine, keys, (0, 0), key)?,
            (None, 0) => groups.only_entry(),
            (None, 1) => {
                let key = machine.value_or_nil(item, apply.key)?;
                groups.entry(machine, keys, (0, 0), key)?
            }
            (None, _) => {
                let mut above = 0;
                for at in 0..fields {
                    let key = machine.value_or_nil(item, field(at))?;
                    above = 1 + groups.entry(machine, keys, (at, above), key)? as u32;
                }
                above as usize - 1
            }
        };
        visit(machine, groups, (entry, item))?;
        if let Some((_, rest)) = next {
            *left = rest;
        }
        Ok(())
    })
}

/// Returns the list of the groups, each a cell of its key and its items.
pub(super) fn groups<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Grouping<H::Term>,
) -> Eval<H> {
    let Grouping {
        finding,
        items,
        listing,
    } = work;
    if !listing.has_begun() {
        each_in_group(machine, apply, finding, |machine, groups, item| {
            Ok(groups.add(machine, items, item)?)
        })?;
    }
    let terms = (&finding.keys, &*items);
    Ok(listing.list(machine, &mut finding.groups, terms, apply.key)?)
}

/// Returns the totals of an instruction.
fn totals_of<H: Heap>(machine: &Machine<'_, H>, first: ConstId, count: u32) -> Totals {
    let total = |at: u32| {
        let (op, field) = (first + PER_TOTAL * at, first + PER_TOTAL * at + 1);
        match machine.heap.bytes(machine.constant(op)) {
            Some(b"count") => Total::Count,
            Some(b"sum") => Total::Sum(field),
            Some(b"avg") => Total::Mean(field),
            Some(b"min") => Total::Least(field),
            Some(b"max") => Total::Most(field),
            _ => Total::Const(field),
        }
    };
    Totals::new((0..count).map(total).collect())
}

/// Returns the list of the groups' maps, with so many totals each; nil if the items must be kept.
pub(super) fn totals<H: Heap>(
    machine: &mut Machine<'_, H>,
    (apply, count): (&Apply, u32),
    work: &mut Totalling<H::Term>,
) -> Eval<H> {
    let fields = apply.value;
    let totals = totals_of(machine, apply.key + fields, count);
    if !work.is_found {
        let (extremes, failed) = (&mut work.extremes, &mut work.failed);
        each_in_group(
            machine,
            apply,
            &mut work.finding,
            |machine, groups, item| {
                if !*failed {
                    *failed = groups.varied() || !totals.add(machine, groups, extremes, item)?;
                }
                Ok(())
            },
        )?;
        if work.failed {
            return Ok(machine.heap.nil());
        }
        work.is_found = true;
    }
    let GroupFinding { keys, groups, .. } = &work.finding;
    let names = apply.key + fields + PER_TOTAL * count;
    let mut values = Vec::with_capacity(count as usize + groups.keys());
    while !work.listing.has_begun() && work.next < groups.len() {
        machine.consume_fuel(1 + count as usize)?;
        if groups.is_group(work.next) {
            values.clear();
            let found = (groups, &*work.extremes);
            if !totals.finish(machine, found, work.next, &mut values)? {
                return Ok(machine.heap.nil());
            }
            groups.keys_of(machine.heap, keys, work.next, &mut values);
            machine.check_heap_limit(2 * work.maps.len() + words_of_map(values.len()))?;
            let map = map_of_constants(machine, names, &values)?;
            work.maps.push(map);
        }
        work.next += 1;
        machine.meter.advanced();
    }
    Ok(work.listing.all(machine, &work.maps)?)
}

/// Makes a map of the constant keys from `first` on.
fn map_of_constants<H: Heap>(
    machine: &mut Machine<'_, H>,
    first: ConstId,
    values: &[H::Term],
) -> Made<H> {
    if let Some(map) = machine.map_of_new_as_before(first, values)? {
        return Ok(map);
    }
    let mut entries = Entries::default();
    for (value, at) in values.iter().zip(0..) {
        let value = (*value, Origin::Operand(at));
        machine.add_entry(&mut entries, (first + at, None), value)?;
    }
    machine.make_map_of(first, &[], entries)
}
