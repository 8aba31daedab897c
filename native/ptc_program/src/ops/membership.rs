//! Membership, by strict equality: `contains`, `in`, `filter_in`.

use super::compare::{self, FIELD_AND_VALUE, FIELD_AND_VALUE_2, LIKE};
use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, ConstId, Slot, NO_CONST};
use crate::compile::Plan;
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::{Code, Halt};
use ptc_machine::{Eval, Machine, Work, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{Heap, Kind, Lookup};

pub(super) struct Contains;
pub(super) struct In;
pub(super) struct FilterIn;

impl Operation for Contains {
    const NAME: &'static str = "contains";
    const FAMILY: &'static str = "Compare";
    const ABOUT: &'static str =
        "Whether the field's list has the member, its string the part, its map the key.";
    const TYPES: &'static str = "boolean; of a text, a list or an object";
    const FIELDS: &'static [Field] = FIELD_AND_VALUE;
    const FIELDS_2: &'static [Field] = FIELD_AND_VALUE_2;
    const CHECKED_IN_ORDER: bool = true;

    fn check(plan: &Plan) -> Planned {
        compare::check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        compare::plan(plan)
    }

    fn expect<H: Heap>(machine: &mut Machine<'_, H>, input: Slot) -> Result<(), Halt<H::Term>> {
        compare::need_map(machine, OpCode::Contains, input)
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let (whole, part) = compare::sides(machine, apply)?;
        let found = match machine.has_part(whole, part)? {
            Some(found) => found,
            None => is_member(machine, part, whole)?,
        };
        Ok(machine.heap.boolean(found))
    }

    fn types(rule: &mut Rule) -> Next {
        rules::compare::comparison(rule)
    }
}

impl Operation for In {
    const NAME: &'static str = "in";
    const FAMILY: &'static str = "Compare";
    const ABOUT: &'static str = "Whether the value is a member of the field's list or a key of it.";
    const TYPES: &'static str = "boolean; one side is a list or an object";
    const FIELDS: &'static [Field] = FIELD_AND_VALUE;
    const FIELDS_2: &'static [Field] = FIELD_AND_VALUE_2;
    const CHECKED_IN_ORDER: bool = true;

    fn check(plan: &Plan) -> Planned {
        compare::check(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        compare::plan(plan)
    }

    fn expect<H: Heap>(machine: &mut Machine<'_, H>, input: Slot) -> Result<(), Halt<H::Term>> {
        compare::need_map(machine, OpCode::In, input)
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let (left, right) = compare::sides(machine, apply)?;
        // In edition 2, what is no collection itself is looked for in the value.
        let holds = |kind| matches!(kind, Kind::List | Kind::Map);
        let (collection, value) = match apply.mode & LIKE != 0 && !holds(machine.kind(left)) {
            true => (right, left),
            false => (left, right),
        };
        let found = is_member(machine, value, collection)?;
        Ok(machine.heap.boolean(found))
    }

    fn types(rule: &mut Rule) -> Next {
        rules::compare::comparison(rule)
    }
}

/// Returns whether the value is a member of a list or a key of a map; other terms have no members.
fn is_member<H: Heap>(
    machine: &mut Machine<'_, H>,
    value: H::Term,
    collection: H::Term,
) -> Result<bool, Halt<H::Term>> {
    if machine.kind(collection) == Kind::Map {
        return has_key(machine, collection, value);
    }
    machine.resumable_over(collection, |machine, work| {
        while let Some((member, tail)) = machine.heap.uncons(work.walk.rest) {
            machine.consume_fuel(1)?;
            if machine.identical(member, value)? {
                return Ok(true);
            }
            work.walk.rest = tail;
            machine.meter.advanced();
        }
        Ok(false)
    })
}

fn has_key<H: Heap>(
    machine: &mut Machine<'_, H>,
    map: H::Term,
    key: H::Term,
) -> Result<bool, Halt<H::Term>> {
    let weight = machine.weigh(key)?;
    machine.consume_fuel_for_lookup(map, weight)?;
    let found = machine.key_in(map, key).is_some();
    if found {
        return Ok(true);
    }
    Ok(match machine.text_of_value(key)? {
        Some(text) => machine.key_in(map, text).is_some(),
        None => false,
    })
}

impl Operation for FilterIn {
    const NAME: &'static str = "filter_in";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The items whose field is a member of the value.";
    const TYPES: &'static str = "[object] to [object]; the value is a list or an object";
    const FIELDS: &'static [Field] = &[
        Field::required("field", FieldKind::String, "the items' key that is read"),
        Field::required(
            "value",
            FieldKind::Any,
            "the list of the values to keep, or a map of them",
        ),
    ];
    const FIELDS_2: &'static [Field] = &[
        Field::required("field", FieldKind::String, "the items' key that is read"),
        Field::required(
            "value",
            FieldKind::Template,
            "the list of the values to keep, or a map of them",
        ),
    ];

    fn plan(plan: &mut Plan) -> Planned {
        let field = plan.constant_of("field");
        plan.needs_input();
        match plan.field("value") {
            _ if plan.edition() == Edition::Two => {
                let value = compare::value_of(plan)?;
                plan.expect();
                plan.template(value, plan.scope);
                plan.compare(1, (field, NO_CONST, 0));
            }
            Some(value) if plan.is_operation(value) => {
                plan.expect();
                plan.visit(value, plan.scope.unchecked(), false);
                plan.apply(1, (field, NO_CONST, 0));
            }
            _ => {
                let value = plan.constant_of("value");
                plan.apply(0, (field, value, 0));
            }
        }
        Ok(())
    }

    /// Checks that the current value is a list before the value is evaluated.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, input: Slot) -> Result<(), Halt<H::Term>> {
        let input = machine.slot(input);
        match machine.is_proper_list(input)? {
            true => Ok(()),
            false => Err(machine.fault(OpCode::FilterIn, Code::NeedsList, vec![input])),
        }
    }

    /// The value is the operand, if it is no constant.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let collection = match apply.value {
            NO_CONST => machine.one_operand(apply),
            value => machine.constant(value),
        };
        let kind = machine.kind(collection);
        let input = machine.slot(apply.input);
        machine.resumable_over(collection, |machine, work| {
            if machine.values() && kind == Kind::List && !work.progress.searched {
                search(machine, apply, work, input, collection)?;
            }
            if !work.progress.second {
                // The tail of an improper list is not a member.
                while let Some((member, tail)) = machine.heap.uncons(work.walk.rest) {
                    machine.consume_fuel_to_hash(member)?;
                    let (terms, progress) = (&mut work.keys, &mut work.progress);
                    let table = progress.table.get_or_insert_default();
                    table.insert(machine, &progress.kinds, terms, member)?;
                    work.walk.rest = tail;
                    machine.meter.advanced();
                }
                let table = work.progress.table.get_or_insert_default();
                table.settle(machine, &work.keys)?;
                work.walk.rest = machine.slot(apply.input);
                work.progress.second = true;
            }
            let (members, table) = (&work.keys, work.progress.table.get_or_insert_default());
            let kinds = &work.progress.kinds;
            let kept = &mut work.items;
            machine.each_item(apply, &mut work.walk, |machine, item| {
                let Some(value) = field_of(machine, item, apply.key)? else {
                    return Ok(());
                };
                let keep = match kind {
                    Kind::List => {
                        machine.consume_fuel_to_hash(value)?;
                        table.contains(machine, kinds, members, value)
                    }
                    _ => kind == Kind::Map && has_key(machine, collection, value)?,
                };
                if keep {
                    kept.push(item);
                    if kept.len() % KEPT_BETWEEN_CHECKS == 0 {
                        machine.check_heap_limit(table.words() + 2 * kept.len())?;
                    }
                }
                Ok(())
            })?;
            machine.list_of(work)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::filter_in(rule)
    }
}

/// Searches the items' fields, then the members, for values.
fn search<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Work<H::Term>,
    input: H::Term,
    members: H::Term,
) -> Result<(), Halt<H::Term>> {
    let progress = &mut work.progress;
    if progress.count == 0 {
        progress.count = 1;
        work.walk.rest = input;
    }
    if progress.count == 1 {
        let kinds = &mut progress.kinds;
        machine.search_items(&mut work.walk.rest, kinds, |machine, item| {
            machine.value_or_nil(item, apply.key)
        })?;
        progress.count = 2;
        work.walk.rest = members;
    }
    let kinds = &mut progress.kinds;
    machine.search_items(&mut work.walk.rest, kinds, |_, member| Ok(member))?;
    work.walk.rest = members;
    progress.searched = true;
    Ok(())
}

/// Returns the field of an item, or nil if it is missing; `None` if the item is not a map.
fn field_of<H: Heap>(
    machine: &mut Machine<'_, H>,
    item: H::Term,
    field: ConstId,
) -> Result<Option<H::Term>, Halt<H::Term>> {
    Ok(match machine.lookup(item, field)? {
        Lookup::Found(value) => Some(value),
        Lookup::Missing => Some(machine.heap.nil()),
        Lookup::NotAMap => None,
    })
}
