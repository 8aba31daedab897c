//! The evaluation of `group_by`: the groups with their items, or with their totals.

use crate::code::{Apply, ConstId};
use ptc_machine::fault::Halt;
use ptc_machine::{Entries, Eval, Groups, Machine, Origin, Total, Totals, Walk, Work};
use ptc_term::heap::{words_of_map, Heap};
use ptc_term::roots::Roots;

/// Constants for each total: its operation, and its field.
pub(super) const PER_TOTAL: u32 = 2;

/// The parts of a work while groups are found: the walk, the keys that are left if they are computed, the keys of the
/// groups, and the groups.
type GroupFinding<'w, T> = (
    &'w mut Walk<T>,
    &'w mut Option<T>,
    &'w mut Roots<T>,
    &'w mut Groups,
);

/// Passes each item with its group to `visit`. The fields that are read start at the key of the instruction, and its value is
/// their number; without fields the keys are the operand.
fn each_in_group<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    (walk, rest, keys, groups): GroupFinding<'_, H::Term>,
    mut visit: impl FnMut(
        &mut Machine<'_, H>,
        &mut Groups,
        (usize, H::Term),
    ) -> Result<(), Halt<H::Term>>,
) -> Result<(), Halt<H::Term>> {
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

/// Takes the groups of a work.
fn take_groups<T>(work: &mut Work<T>, apply: &Apply) -> Box<Groups> {
    let keys = apply.value.max(apply.operands) as usize;
    let groups = work.progress.groups.take();
    groups.unwrap_or_else(|| Box::new(Groups::new(keys)))
}

/// Returns the list of the groups, each a cell of its key and its items.
pub(super) fn groups<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Work<H::Term>,
) -> Eval<H> {
    if work.made.is_none() {
        let mut groups = take_groups(work, apply);
        let finding = (
            &mut work.walk,
            &mut work.field,
            &mut work.keys,
            &mut *groups,
        );
        let items = &mut work.items;
        let walked = each_in_group(machine, apply, finding, |machine, groups, item| {
            groups.add(machine, items, item)
        });
        work.progress.groups = Some(groups);
        walked?;
    }
    machine.list_of_groups(work, apply.key)
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
    work: &mut Work<H::Term>,
) -> Eval<H> {
    let mut groups = take_groups(work, apply);
    let made = totals_in(machine, (apply, count), work, &mut groups);
    work.progress.groups = Some(groups);
    made
}

fn totals_in<H: Heap>(
    machine: &mut Machine<'_, H>,
    (apply, count): (&Apply, u32),
    work: &mut Work<H::Term>,
    groups: &mut Groups,
) -> Eval<H> {
    let fields = apply.value;
    let totals = totals_of(machine, apply.key + fields, count);
    if work.missing == 0 {
        let finding = (
            &mut work.walk,
            &mut work.field,
            &mut work.keys,
            &mut *groups,
        );
        let (extremes, failed) = (&mut work.rests, &mut work.progress.second);
        each_in_group(machine, apply, finding, |machine, groups, item| {
            if !*failed {
                *failed = groups.varied() || !totals.add(machine, groups, extremes, item)?;
            }
            Ok(())
        })?;
        if *failed {
            return Ok(machine.heap.nil());
        }
    }
    let names = apply.key + fields + PER_TOTAL * count;
    let mut values = Vec::with_capacity(count as usize + groups.keys());
    // From now on `count` is the next group.
    while work.made.is_none() && work.progress.count < groups.len() {
        work.missing = 1;
        let entry = work.progress.count;
        machine.consume_fuel(1 + count as usize)?;
        if groups.is_group(entry) {
            values.clear();
            let found = (&*groups, &*work.rests);
            if !totals.finish(machine, found, (apply.op.name(), entry), &mut values)? {
                return Ok(machine.heap.nil());
            }
            groups.keys_of(machine.heap, &work.keys, entry, &mut values);
            machine.check_heap_limit(2 * work.items.len() + words_of_map(values.len()))?;
            let map = map_of_constants(machine, names, &values)?;
            work.items.push(map);
        }
        work.progress.count += 1;
        machine.meter.advanced();
    }
    machine.list_of(work)
}

/// Makes a map of the constant keys from `first` on.
fn map_of_constants<H: Heap>(
    machine: &mut Machine<'_, H>,
    first: ConstId,
    values: &[H::Term],
) -> Eval<H> {
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
