//! The evaluation of `join`: the groups of the rows, and the matches of the items.

use crate::code::{Apply, Eval, Halt, Machine};
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use ptc_kernels::{Entries, Groups, Listing, Made, Origin, Walk, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{words_of_map, Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;

/// What the result has of an item and its matches.
pub(super) const INNER: u32 = 0;
pub(super) const LEFT: u32 = 1;
pub(super) const GROUP: u32 = 2;
pub(super) const KIND: u32 = 3;
/// The match stands under a name.
pub(super) const NAMED: u32 = 4;
/// The operand is only checked.
pub(super) const CHECK: u32 = 8;
/// The result has pairs, see [`makes_pairs`].
pub(super) const PAIRS: u32 = 16;

/// The constants of an instruction: the fields of the two lists, and the name of the match.
pub(super) const RIGHT: u32 = 1;
pub(super) const NAME: u32 = 2;

/// Number of matches that are put into a list at once.
pub(super) const BATCH: usize = 4_096;
/// Up to this many pairs of keys, a key that both maps have is found by comparing all.
pub(super) const FEW_PAIRS: usize = 4_096;

pub(super) fn requires<T>(phrase: &'static str, value: T) -> Halt<T> {
    let fault = Fault::new(Code::Requires, Some(OpCode::Join.name()), vec![value]);
    fault.about(phrase).into()
}

/// The stages of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum JoinStage {
    /// The items are checked, and their keys are searched for values.
    Items,
    /// The keys of the rows are searched for values.
    Search,
    /// The rows are put into groups.
    Rows,
    /// The groups are put in order.
    Arrange,
    /// The items find their matches.
    Match,
}

/// The groups of the rows, and the results so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Joining<T> {
    stage: JoinStage,
    walk: Walk<T>,
    groups: Groups,
    /// The keys of the groups.
    keys: Roots<T>,
    rows: Roots<T>,
    items: Roots<T>,
    /// The list of the matches of the current item, from its end.
    matches: Option<T>,
    /// Number of the matches of the current item that have been added.
    added: usize,
    listing: Listing<T>,
}

rooted!(Joining { optional: matches; states: walk, keys, rows, items, listing; plain: stage, groups, added });

impl<T> Joining<T> {
    pub(super) fn over(items: T) -> Self {
        Joining {
            stage: JoinStage::Items,
            walk: Walk::over(items),
            groups: Groups::new(1),
            keys: Roots::default(),
            rows: Roots::default(),
            items: Roots::default(),
            matches: None,
            added: 0,
            listing: Listing::default(),
        }
    }
}

pub(super) fn join<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Joining<H::Term>,
    with: H::Term,
) -> Eval<H> {
    let groups = &mut work.groups;
    if work.stage == JoinStage::Items {
        machine.each_item(apply, &mut work.walk, |machine, item| {
            need_map(machine, item)?;
            Ok(search(machine, groups, (item, apply.key))?)
        })?;
        (work.stage, work.walk.rest) = (JoinStage::Search, with);
    }
    if work.stage == JoinStage::Search {
        while let (Some((row, rest)), true) =
            (machine.heap.uncons(work.walk.rest), machine.values())
        {
            machine.consume_fuel(1)?;
            search(machine, groups, (row, apply.key + RIGHT))?;
            work.walk.rest = rest;
            machine.meter.advanced();
        }
        (work.stage, work.walk.rest) = (JoinStage::Rows, with);
    }
    if work.stage == JoinStage::Rows {
        while let Some((row, rest)) = machine.heap.uncons(work.walk.rest) {
            machine.consume_fuel(1)?;
            need_map(machine, row)?;
            let key = machine.value_or_nil(row, apply.key + RIGHT)?;
            if machine.heap.kind(key) != Kind::Nil {
                let entry = groups.entry(machine, &mut work.keys, (0, 0), key)?;
                groups.add(machine, &mut work.rows, (entry, row))?;
            }
            work.walk.rest = rest;
            machine.meter.advanced();
        }
        work.stage = JoinStage::Arrange;
    }
    if work.stage == JoinStage::Arrange {
        groups.arrange(machine, &work.keys)?;
        (work.stage, work.walk.rest) = (JoinStage::Match, machine.slot(apply.input));
    }
    while let (Some((item, rest)), false) = (
        machine.heap.uncons(work.walk.rest),
        work.listing.has_begun(),
    ) {
        machine.consume_fuel(1)?;
        add_matches(machine, apply, work, item)?;
        (work.walk.rest, work.added) = (rest, 0);
        machine.meter.advanced();
    }
    Ok(work.listing.all(machine, &work.items)?)
}

fn need_map<H: Heap>(machine: &Machine<'_, H>, item: H::Term) -> Result<(), Halt<H::Term>> {
    match machine.kind(item) {
        Kind::Map => Ok(()),
        _ => Err(requires("lists of maps", item)),
    }
}

/// Searches a field for values, where structs are values.
fn search<H: Heap>(
    machine: &mut Machine<'_, H>,
    groups: &mut Groups,
    (item, field): (H::Term, u32),
) -> Result<(), Stop> {
    if !machine.values() {
        return Ok(());
    }
    let key = machine.value_or_nil(item, field)?;
    groups.search_key(machine, key)
}

/// Adds the results of an item. Goes on where it was suspended.
fn add_matches<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Joining<H::Term>,
    item: H::Term,
) -> Result<(), Stop> {
    let (groups, rows) = (&mut work.groups, &work.rows);
    let key = machine.value_or_nil(item, apply.key)?;
    let entry = match machine.heap.kind(key) {
        Kind::Nil => None,
        _ => groups.find(machine, &work.keys, key)?,
    };
    // What is used once is as large in a copy of the result.
    let begins = work.added == 0 && work.matches.is_none();
    if let (Some(entry), true) = (entry, begins) {
        if !groups.is_first_use(entry) || groups.members(entry).len() > 1 {
            machine.uses_values_again();
        }
    }
    let members = entry.map_or(&[][..], |entry| groups.members(entry));
    if work.items.len() % KEPT_BETWEEN_CHECKS == 0 {
        machine.check_heap_limit(2 * work.items.len())?;
    }
    match apply.mode & KIND {
        GROUP => {
            let mut list = match work.matches {
                Some(list) => list,
                None => machine.make_list(&[])?,
            };
            while work.added < members.len() {
                let end = members.len() - work.added;
                let first = end.saturating_sub(BATCH);
                machine.consume_fuel(end - first)?;
                machine.check_heap_limit(2 * (end - first))?;
                let batch = members[first..end].iter();
                let batch: Vec<_> = batch
                    .map(|at| rows.get(machine.heap, *at as usize))
                    .collect();
                list = machine.heap.make_list_onto(&batch, list);
                (work.matches, work.added) = (Some(list), members.len() - first);
                machine.meter.advanced();
            }
            let made = named(machine, apply, item, list)?;
            work.items.push(made);
            work.matches = None;
        }
        kind if members.is_empty() => {
            if kind == LEFT {
                let nil = machine.heap.nil();
                work.items.push(match apply.mode & (NAMED | PAIRS) {
                    0 => item,
                    PAIRS => pair(machine, item, nil)?,
                    _ => named(machine, apply, item, nil)?,
                });
            }
        }
        _ => {
            while let Some(row) = members.get(work.added) {
                machine.consume_fuel(1)?;
                if work.items.len() % KEPT_BETWEEN_CHECKS == 0 {
                    machine.check_heap_limit(2 * work.items.len())?;
                }
                let row = rows.get(machine.heap, *row as usize);
                work.items.push(match apply.mode & (NAMED | PAIRS) {
                    0 => merged(machine, apply, item, row)?,
                    PAIRS => pair(machine, item, row)?,
                    _ => named(machine, apply, item, row)?,
                });
                work.added += 1;
                machine.meter.advanced();
            }
        }
    }
    Ok(())
}

/// Returns the item with what it is joined with under the name.
fn named<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    item: H::Term,
    value: H::Term,
) -> Made<H> {
    machine.check_heap_limit(0)?;
    let name = apply.key + NAME;
    if let Some(made) = machine.map_as_before(name, &[item], &[value])? {
        return Ok(made);
    }
    let mut entries = Entries::default();
    let value = (value, Origin::Operand(0));
    let key = machine.add_entry(&mut entries, (name, Some(item)), value)?;
    machine.add_entries(&mut entries, item, 0)?;
    machine.drop_entries(&mut entries, 1, vec![key])?;
    machine.make_map_of(name, &[item], entries)
}

/// Returns the cell of an item and its match.
fn pair<H: Heap>(machine: &mut Machine<'_, H>, item: H::Term, row: H::Term) -> Made<H> {
    machine.check_heap_limit(2)?;
    Ok(machine.heap.make_list_onto(&[item], row))
}

/// Returns the fields of a match and those of the item, where the item's win.
fn merged<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    item: H::Term,
    row: H::Term,
) -> Made<H> {
    machine.check_heap_limit(0)?;
    if let Some(made) = machine.map_as_before(apply.key, &[item, row], &[])? {
        return Ok(made);
    }
    let mut entries = Entries::default();
    add_both(machine, &mut entries, item, row)?;
    machine.make_map_of(apply.key, &[item, row], entries)
}

/// Adds the entries of an item and those of its match. Of equal keys the first one counts.
pub(super) fn add_both<H: Heap>(
    machine: &mut Machine<'_, H>,
    entries: &mut Entries<H::Term>,
    item: H::Term,
    row: H::Term,
) -> Result<(), Stop> {
    machine.add_entries(entries, item, 0)?;
    let own: Vec<_> = entries.all.iter().map(|entry| entry.key).collect();
    machine.add_entries(entries, row, 1)?;
    machine.check_heap_limit(words_of_map(entries.all.len()))?;
    machine.drop_other_forms(&mut entries.all, &[own.len()], |entry| entry.key)?;
    // Here it is only found sooner.
    if own.len() * (entries.all.len() - own.len()) <= FEW_PAIRS {
        machine.drop_entries(entries, own.len(), own)?;
    }
    Ok(())
}
