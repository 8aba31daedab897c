//! The items of two lists that have the same value in a field: the groups of the rows, and the matches of the items.
//!
//! The second list, whose items are called rows, is grouped by its field, by hashing. Then each item of the first one finds its
//! matches.

use crate::context::{ConstId, Context, Made, KEPT_BETWEEN_CHECKS};
use crate::groups::Groups;
use crate::lists::{Listing, Walk};
use crate::new_map::{Entries, Origin};
use crate::wrong::{Why, Worked, Wrong};
use ptc_term::heap::{words_of_map, Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;

/// Number of matches that are put into a list at once.
const BATCH: usize = 4_096;
/// Up to this many pairs of keys, a key that both maps have is found by comparing all.
const FEW_PAIRS: usize = 4_096;

/// Which items a join has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// Each item once for each of its matches: not at all without one.
    Inner,
    /// Each item once for each of its matches, and once without one.
    Left,
    /// Each item once, with the list of its matches: only with [`JoinForm::Named`].
    Group,
}

/// What is made of an item and its match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinForm {
    /// The fields of both; those of the item win.
    Merged,
    /// A cell of both.
    Pairs,
    /// The item with its match under this name.
    Named(ConstId),
}

/// How two lists are joined.
#[derive(Debug, Clone, Copy)]
pub struct JoinBy {
    /// The field of the items that is compared.
    pub left: ConstId,
    /// The field of the rows.
    pub right: ConstId,
    /// Which items the result has.
    pub kind: JoinKind,
    /// What is made of them.
    pub form: JoinForm,
}

fn name_of(by: &JoinBy) -> ConstId {
    match by.form {
        JoinForm::Named(name) => name,
        JoinForm::Merged | JoinForm::Pairs => by.left,
    }
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
    /// See [`Joining::shares`].
    shares: bool,
}

rooted!(Joining { optional: matches; states: walk, keys, rows, items, listing; plain: stage, groups, added, shares });

impl<T: Copy> Joining<T> {
    /// Returns the start.
    pub fn over(items: T) -> Self {
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
            shares: false,
        }
    }

    /// Returns whether a row is a part of several results so far: a copy of the list may be much larger than the list.
    pub fn shares(&self) -> bool {
        self.shares
    }
}

/// Makes the list of the items with their matches.
pub fn joined<H: Heap>(
    context: &mut Context<'_, H>,
    (list, with): (H::Term, H::Term),
    by: &JoinBy,
    work: &mut Joining<H::Term>,
) -> Worked<H> {
    let groups = &mut work.groups;
    if work.stage == JoinStage::Items {
        context.each_item_of(list, &mut work.walk, |context, item| {
            need_map(context, item)?;
            Ok(search(context, groups, (item, by.left))?)
        })?;
        (work.stage, work.walk.rest) = (JoinStage::Search, with);
    }
    if work.stage == JoinStage::Search {
        while let (Some((row, rest)), true) =
            (context.heap.uncons(work.walk.rest), context.values())
        {
            context.consume_fuel(1)?;
            search(context, groups, (row, by.right))?;
            work.walk.rest = rest;
            context.meter.advanced();
        }
        (work.stage, work.walk.rest) = (JoinStage::Rows, with);
    }
    if work.stage == JoinStage::Rows {
        while let Some((row, rest)) = context.heap.uncons(work.walk.rest) {
            context.consume_fuel(1)?;
            need_map(context, row)?;
            let key = context.value_or_nil(row, by.right)?;
            if context.heap.kind(key) != Kind::Nil {
                let entry = groups.entry(context, &mut work.keys, (0, 0), key)?;
                groups.add(context, &mut work.rows, (entry, row))?;
            }
            work.walk.rest = rest;
            context.meter.advanced();
        }
        work.stage = JoinStage::Arrange;
    }
    if work.stage == JoinStage::Arrange {
        groups.arrange(context, &work.keys)?;
        (work.stage, work.walk.rest) = (JoinStage::Match, list);
    }
    while let (Some((item, rest)), false) = (
        context.heap.uncons(work.walk.rest),
        work.listing.has_begun(),
    ) {
        context.consume_fuel(1)?;
        add_matches(context, by, work, item)?;
        (work.walk.rest, work.added) = (rest, 0);
        context.meter.advanced();
    }
    Ok(work.listing.all(context, &work.items)?)
}

fn need_map<H: Heap>(context: &Context<'_, H>, item: H::Term) -> Result<(), Wrong<H::Term>> {
    match context.kind(item) {
        Kind::Map => Ok(()),
        _ => Err(Wrong::of(Why::NotAMap, item)),
    }
}

/// Searches a field for values, where structs are values.
fn search<H: Heap>(
    context: &mut Context<'_, H>,
    groups: &mut Groups,
    (item, field): (H::Term, u32),
) -> Result<(), Stop> {
    if !context.values() {
        return Ok(());
    }
    let key = context.value_or_nil(item, field)?;
    groups.search_key(context, key)
}

/// Adds the results of an item. Goes on where it was suspended.
fn add_matches<H: Heap>(
    context: &mut Context<'_, H>,
    by: &JoinBy,
    work: &mut Joining<H::Term>,
    item: H::Term,
) -> Result<(), Stop> {
    let (groups, rows) = (&mut work.groups, &work.rows);
    let key = context.value_or_nil(item, by.left)?;
    let entry = match context.heap.kind(key) {
        Kind::Nil => None,
        _ => groups.find(context, &work.keys, key)?,
    };
    // What is used once is as large in a copy of the result.
    let begins = work.added == 0 && work.matches.is_none();
    if let (Some(entry), true) = (entry, begins) {
        if !groups.is_first_use(entry) || groups.members(entry).len() > 1 {
            work.shares = true;
        }
    }
    let members = entry.map_or(&[][..], |entry| groups.members(entry));
    if work.items.len() % KEPT_BETWEEN_CHECKS == 0 {
        context.check_heap_limit(2 * work.items.len())?;
    }
    match by.kind {
        JoinKind::Group => {
            let mut list = match work.matches {
                Some(list) => list,
                None => context.make_list(&[])?,
            };
            while work.added < members.len() {
                let end = members.len() - work.added;
                let first = end.saturating_sub(BATCH);
                context.consume_fuel(end - first)?;
                context.check_heap_limit(2 * (end - first))?;
                let batch = members[first..end].iter();
                let batch: Vec<_> = batch
                    .map(|at| rows.get(context.heap, *at as usize))
                    .collect();
                list = context.heap.make_list_onto(&batch, list);
                (work.matches, work.added) = (Some(list), members.len() - first);
                context.meter.advanced();
            }
            let made = named(context, name_of(by), item, list)?;
            work.items.push(made);
            work.matches = None;
        }
        kind if members.is_empty() => {
            if kind == JoinKind::Left {
                let nil = context.heap.nil();
                work.items.push(match by.form {
                    JoinForm::Merged => item,
                    JoinForm::Pairs => pair(context, item, nil)?,
                    JoinForm::Named(name) => named(context, name, item, nil)?,
                });
            }
        }
        _ => {
            while let Some(row) = members.get(work.added) {
                context.consume_fuel(1)?;
                if work.items.len() % KEPT_BETWEEN_CHECKS == 0 {
                    context.check_heap_limit(2 * work.items.len())?;
                }
                let row = rows.get(context.heap, *row as usize);
                work.items.push(match by.form {
                    JoinForm::Merged => merged(context, by.left, item, row)?,
                    JoinForm::Pairs => pair(context, item, row)?,
                    JoinForm::Named(name) => named(context, name, item, row)?,
                });
                work.added += 1;
                context.meter.advanced();
            }
        }
    }
    Ok(())
}

/// Returns the item with what it is joined with under the name.
fn named<H: Heap>(
    context: &mut Context<'_, H>,
    name: ConstId,
    item: H::Term,
    value: H::Term,
) -> Made<H> {
    context.check_heap_limit(0)?;
    if let Some(made) = context.map_as_before(name, &[item], &[value])? {
        return Ok(made);
    }
    let mut entries = Entries::default();
    let value = (value, Origin::Operand(0));
    let key = context.add_entry(&mut entries, (name, Some(item)), value)?;
    context.add_entries(&mut entries, item, 0)?;
    context.drop_entries(&mut entries, 1, vec![key])?;
    context.make_map_of(name, &[item], entries)
}

/// Returns the cell of an item and its match.
fn pair<H: Heap>(context: &mut Context<'_, H>, item: H::Term, row: H::Term) -> Made<H> {
    context.check_heap_limit(2)?;
    Ok(context.heap.make_list_onto(&[item], row))
}

/// Returns the fields of a match and those of the item, where the item's win. `layout`: the constant that stands for all
/// these maps.
fn merged<H: Heap>(
    context: &mut Context<'_, H>,
    layout: ConstId,
    item: H::Term,
    row: H::Term,
) -> Made<H> {
    context.check_heap_limit(0)?;
    if let Some(made) = context.map_as_before(layout, &[item, row], &[])? {
        return Ok(made);
    }
    let mut entries = Entries::default();
    add_both(context, &mut entries, item, row)?;
    context.make_map_of(layout, &[item, row], entries)
}

/// Adds the entries of an item and those of its match. Of equal keys the first one counts.
pub fn add_both<H: Heap>(
    context: &mut Context<'_, H>,
    entries: &mut Entries<H::Term>,
    item: H::Term,
    row: H::Term,
) -> Result<(), Stop> {
    context.add_entries(entries, item, 0)?;
    let own: Vec<_> = entries.all.iter().map(|entry| entry.key).collect();
    context.add_entries(entries, row, 1)?;
    context.check_heap_limit(words_of_map(entries.all.len()))?;
    context.drop_other_forms(&mut entries.all, &[own.len()], |entry| entry.key)?;
    // Here it is only found sooner.
    if own.len() * (entries.all.len() - own.len()) <= FEW_PAIRS {
        context.drop_entries(entries, own.len(), own)?;
    }
    Ok(())
}
