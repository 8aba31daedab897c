//! `join`: the items of two lists that have the same value in a field.
//!
//! The second list is grouped by its field, by hashing. Then each item of the first one finds its matches.

use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, ConstId, Slot, NO_CONST};
use crate::compile::Plan;
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::{Code, Fault, Halt};
use ptc_machine::{Entries, Eval, Groups, Machine, Origin, Work, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{words_of_map, Heap, Kind};

pub(super) struct Join;

/// What the result has of an item and its matches.
const INNER: u32 = 0;
const LEFT: u32 = 1;
const GROUP: u32 = 2;
const KIND: u32 = 3;
/// The match stands under a name.
const NAMED: u32 = 4;
/// The operand is only checked.
pub(super) const CHECK: u32 = 8;
/// The result has pairs, see [`makes_pairs`].
const PAIRS: u32 = 16;

/// The constants of an instruction: the fields of the two lists, and the name of the match.
const RIGHT: u32 = 1;
const NAME: u32 = 2;

/// Number of matches that are put into a list at once.
const BATCH: usize = 4_096;
/// Up to this many pairs of keys, a key that both maps have is found by comparing all.
const FEW_PAIRS: usize = 4_096;

impl Operation for Join {
    const NAME: &'static str = "join";
    const FAMILY: &'static str = "Group and join";
    const ABOUT: &'static str =
        "Each item with the items of another list whose field has the same value; \
         inner unless `kind` is given.";
    const TYPES: &'static str = "two lists of objects to a list of objects with the fields of both";
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "as",
            FieldKind::String,
            "the name under which a match stands in the result; \
             without it its keys are put beside those of the item, which win",
        ),
        Field::optional(
            "kind",
            FieldKind::Choice,
            "left keeps items without a match; group has one result \
             for each item, with the list of its matches",
        )
        .values("\"inner\", \"left\" or \"group\"")
        .choices(
            &["inner", "left", "group"],
            "'kind' must be 'inner', 'left' or 'group'",
        ),
        Field::alternative("left", FieldKind::String, "the items' key that is compared"),
        Field::alternative(
            "on",
            FieldKind::String,
            "the key that is compared in both lists",
        ),
        Field::alternative(
            "right",
            FieldKind::String,
            "the other items' key that is compared",
        ),
        Field::required("with", FieldKind::Template, "the other list"),
    ];

    fn check(plan: &Plan) -> Planned {
        let given = |name| plan.field(name).is_some();
        match (given("on"), given("left"), given("right")) {
            (true, false, false) | (false, true, true) => {}
            (true, ..) => {
                return plan.reject(
                    Code::Accepts,
                    "'on' or 'left' and 'right', not both",
                    vec![],
                )
            }
            (_, true, _) => return plan.reject(Code::FieldMissing, "right", vec![]),
            (_, _, true) => return plan.reject(Code::FieldMissing, "left", vec![]),
            _ => return plan.reject(Code::FieldMissing, "on", vec![]),
        }
        match kind(plan) == GROUP && !given("as") {
            true => plan.reject(Code::FieldMissing, "as", vec![]),
            false => Ok(()),
        }
    }

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        plan.expect();
        plan.template_of("with", plan.scope);
        plan.apply(1, (NO_CONST, NO_CONST, CHECK));
        let (on, nil) = (plan.field("on"), plan.nil());
        let name = plan.field("as");
        let field = |name| on.or(plan.field(name)).unwrap_or(nil);
        let consts = [field("left"), field("right"), name.unwrap_or(nil)];
        let first = plan.constants(consts.into_iter());
        let named = if name.is_some() { NAMED } else { 0 };
        plan.apply(1, (first, NO_CONST, kind(plan) | named));
        Ok(())
    }

    /// Checks that the current value is a list before the other one is evaluated.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, input: Slot) -> Result<(), Halt<H::Term>> {
        let input = machine.slot(input);
        match machine.is_proper_list(input)? {
            true => Ok(()),
            false => Err(machine.fault(OpCode::Join, Code::NeedsList, vec![input])),
        }
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let with = machine.one_operand(apply);
        if apply.mode == CHECK {
            return match machine.is_proper_list(with)? {
                true => Ok(with),
                false => Err(requires("a list in 'with'", with)),
            };
        }
        machine.resumable(apply, |machine, work| {
            let groups = work.progress.groups.take();
            let mut groups = groups.unwrap_or_else(|| Box::new(Groups::new(1)));
            let joined = join(machine, apply, work, (with, &mut groups));
            work.progress.groups = Some(groups);
            joined
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::join::join(rule)
    }
}

/// Returns the constant that is the name of a match, or [`NO_CONST`].
pub(super) fn name_of(apply: &Apply) -> ConstId {
    match apply.mode & (NAMED | CHECK) {
        NAMED => apply.key + NAME,
        _ => NO_CONST,
    }
}

/// Returns whether the result can have pairs: in place of each row that is made of an item and a match, a cell of the two.
/// Without a match the second one is nil.
pub(crate) fn makes_pairs(apply: &Apply) -> bool {
    apply.op == OpCode::Join && matches!(apply.mode, INNER | LEFT)
}

/// Lets the result have pairs.
pub(crate) fn make_pairs(apply: &mut Apply) {
    apply.mode |= PAIRS;
}

fn kind(plan: &Plan) -> u32 {
    let kind = plan.field("kind").and_then(|kind| plan.source().text(kind));
    match kind {
        Some(b"left") => LEFT,
        Some(b"group") => GROUP,
        _ => INNER,
    }
}

fn requires<T>(phrase: &'static str, value: T) -> Halt<T> {
    let fault = Fault::new(Code::Requires, Some(OpCode::Join.name()), vec![value]);
    fault.about(phrase).into()
}

/// The stages of a join; `count` of the work is the current one.
const ITEMS: usize = 0;
const SEARCH: usize = 1;
const ROWS: usize = 2;
const ARRANGE: usize = 3;
const MATCH: usize = 4;

fn join<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Work<H::Term>,
    (with, groups): (H::Term, &mut Groups),
) -> Eval<H> {
    let input = machine.slot(apply.input);
    if work.progress.count == ITEMS {
        machine.each_item(apply, &mut work.walk, |machine, item| {
            need_map(machine, item)?;
            search(machine, groups, (item, apply.key))
        })?;
        (work.progress.count, work.walk.rest) = (SEARCH, with);
    }
    if work.progress.count == SEARCH {
        while let (Some((row, rest)), true) =
            (machine.heap.uncons(work.walk.rest), machine.values())
        {
            machine.consume_fuel(1)?;
            search(machine, groups, (row, apply.key + RIGHT))?;
            work.walk.rest = rest;
            machine.meter.advanced();
        }
        (work.progress.count, work.walk.rest) = (ROWS, with);
    }
    if work.progress.count == ROWS {
        let rows = work.rows.get_or_insert_default();
        while let Some((row, rest)) = machine.heap.uncons(work.walk.rest) {
            machine.consume_fuel(1)?;
            need_map(machine, row)?;
            let key = machine.value_or_nil(row, apply.key + RIGHT)?;
            if machine.heap.kind(key) != Kind::Nil {
                let entry = groups.entry(machine, &mut work.keys, (0, 0), key)?;
                groups.add(machine, rows, (entry, row))?;
            }
            work.walk.rest = rest;
            machine.meter.advanced();
        }
        work.progress.count = ARRANGE;
    }
    if work.progress.count == ARRANGE {
        groups.arrange(machine, &work.keys)?;
        (work.progress.count, work.walk.rest) = (MATCH, input);
    }
    while let (Some((item, rest)), true) =
        (machine.heap.uncons(work.walk.rest), work.made.is_none())
    {
        machine.consume_fuel(1)?;
        add_matches(machine, apply, work, (item, groups))?;
        (work.walk.rest, work.missing) = (rest, 0);
        machine.meter.advanced();
    }
    machine.list_of(work)
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
) -> Result<(), Halt<H::Term>> {
    if !machine.values() {
        return Ok(());
    }
    let key = machine.value_or_nil(item, field)?;
    groups.search_key(machine, key)
}

/// Adds the results of an item. `missing` of the work is the number of its matches that have been added, so that it goes on
/// where it was suspended.
fn add_matches<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Work<H::Term>,
    (item, groups): (H::Term, &mut Groups),
) -> Result<(), Halt<H::Term>> {
    let key = machine.value_or_nil(item, apply.key)?;
    let entry = match machine.heap.kind(key) {
        Kind::Nil => None,
        _ => groups.find(machine, &work.keys, key)?,
    };
    // What is used once is as large in a copy of the result.
    let begins = work.missing == 0 && work.found.is_none();
    if let (Some(entry), true) = (entry, begins) {
        if !groups.is_first_use(entry) || groups.members(entry).len() > 1 {
            machine.uses_values_again();
        }
    }
    let members = entry.map_or(&[][..], |entry| groups.members(entry));
    if work.items.len() % KEPT_BETWEEN_CHECKS == 0 {
        machine.check_heap_limit(2 * work.items.len())?;
    }
    let rows = work.rows.get_or_insert_default();
    match apply.mode & KIND {
        GROUP => {
            let mut list = match work.found {
                Some(list) => list,
                None => machine.make_list(&[])?,
            };
            while work.missing < members.len() {
                let end = members.len() - work.missing;
                let first = end.saturating_sub(BATCH);
                machine.consume_fuel(end - first)?;
                machine.check_heap_limit(2 * (end - first))?;
                let batch = members[first..end].iter();
                let batch: Vec<_> = batch
                    .map(|at| rows.get(machine.heap, *at as usize))
                    .collect();
                list = machine.heap.make_list_onto(&batch, list);
                (work.found, work.missing) = (Some(list), members.len() - first);
                machine.meter.advanced();
            }
            let made = named(machine, apply, item, list)?;
            work.items.push(made);
            work.found = None;
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
            while let Some(row) = members.get(work.missing) {
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
                work.missing += 1;
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
) -> Eval<H> {
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
fn pair<H: Heap>(machine: &mut Machine<'_, H>, item: H::Term, row: H::Term) -> Eval<H> {
    machine.check_heap_limit(2)?;
    Ok(machine.heap.make_list_onto(&[item], row))
}

/// Returns the fields of a match and those of the item, where the item's win.
fn merged<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    item: H::Term,
    row: H::Term,
) -> Eval<H> {
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
) -> Result<(), Halt<H::Term>> {
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
