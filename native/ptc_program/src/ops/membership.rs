//! Membership, by strict equality: `contains`, `in`, `filter_in`.

use super::compare::{self, FIELD_AND_VALUE, FIELD_AND_VALUE_2, LIKE};
use super::keeping::Keeping;
use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, ConstId, Eval, Halt, Machine, Slot, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use crate::shape::{Chosen, Comparison, OpShape};
use ptc_kernels::{Kinds, Table, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::suspend::One;

pub(super) struct Contains;
pub(super) struct In;
pub(super) struct FilterIn;

impl Operation for Contains {
    const NAME: &'static str = "contains";
    const FAMILY: &'static str = "Compare";
    const ABOUT: &'static str =
        "Whether the field's list has the member, its string the part, its map the key.";
    const TYPES: &'static str = "boolean; of a text, a list or an object";
    const SHAPE: OpShape = OpShape::Compared(Comparison::Contains);
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
}

impl Operation for In {
    const NAME: &'static str = "in";
    const FAMILY: &'static str = "Compare";
    const ABOUT: &'static str = "Whether the value is a member of the field's list or a key of it.";
    const TYPES: &'static str = "boolean; one side is a list or an object";
    const SHAPE: OpShape = OpShape::Compared(Comparison::In);
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
    machine.resumable(
        |_| One(collection),
        |machine, One(rest)| {
            while let Some((member, tail)) = machine.heap.uncons(*rest) {
                machine.consume_fuel(1)?;
                if machine.identical(member, value)? {
                    return Ok(true);
                }
                *rest = tail;
                machine.meter.advanced();
            }
            Ok(false)
        },
    )
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
    const SHAPE: OpShape = OpShape::Subset(Chosen::Among);
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
        machine.resumable(
            |_| Members::of(collection, input),
            |machine, work| {
                if !work.is_read {
                    if kind == Kind::List && machine.values() {
                        work.search(machine, (apply.key, input))?;
                    }
                    // The tail of an improper list is not a member.
                    while let Some((member, tail)) = machine.heap.uncons(work.rest) {
                        machine.consume_fuel_to_hash(member)?;
                        (work.table).insert(machine, &work.kinds, &mut work.members, member)?;
                        work.rest = tail;
                        machine.meter.advanced();
                    }
                    work.table.settle(machine, &work.members)?;
                    work.is_read = true;
                }
                let (members, table, kinds) = (&work.members, &work.table, &work.kinds);
                let kept = &mut work.kept.items;
                machine.each_item(apply, &mut work.kept.walk, |machine, item| {
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
                Ok(work.kept.list(machine)?)
            },
        )
    }
}

/// How far the search for values is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Searching {
    /// In the items' fields.
    Items,
    /// In the members.
    Members,
    /// It has ended.
    Over,
}

/// The set of the members, and the items that are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Members<T> {
    collection: T,
    /// The members that are not read yet.
    rest: T,
    searching: Searching,
    kinds: Kinds,
    members: Roots<T>,
    table: Table,
    /// Whether all members are in the set.
    is_read: bool,
    kept: Keeping<T>,
}

rooted!(Members { terms: collection, rest; states: members, kept; plain: searching, kinds, table, is_read });

impl<T: Copy> Members<T> {
    fn of(collection: T, items: T) -> Self {
        Members {
            collection,
            rest: collection,
            searching: Searching::Items,
            kinds: Kinds::default(),
            members: Roots::default(),
            table: Table::default(),
            is_read: false,
            kept: Keeping::over(items),
        }
    }

    /// Searches the items' fields, then the members, for values. Then the walk over the items begins again.
    fn search<H: Heap<Term = T>>(
        &mut self,
        machine: &mut Machine<'_, H>,
        (field, items): (ConstId, T),
    ) -> Result<(), Stop> {
        if self.searching == Searching::Items {
            let rest = &mut self.kept.walk.rest;
            machine.search_items(rest, &mut self.kinds, |context, item| {
                context.value_or_nil(item, field)
            })?;
            *rest = items;
            self.searching = Searching::Members;
        }
        if self.searching == Searching::Members {
            machine.search_items(&mut self.rest, &mut self.kinds, |_, member| Ok(member))?;
            self.rest = self.collection;
            self.searching = Searching::Over;
        }
        Ok(())
    }
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
