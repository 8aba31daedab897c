//! `group_by`: the items of a list in groups, each as a map.
//!
//! First the groups are found: a list of cells, each with the key of a group and the list of its items. Then a loop over
//! the groups evaluates `each`, and makes the maps. Where `each` has only counts, sums, means, extremes and constants, they are
//! computed while the groups are found, and no items are kept. If that is not possible (an item has no number), the items
//! are grouped after all, so that the first error is found.

use super::grouping::{groups, totals, Grouping, Totalling, PER_TOTAL};
use super::{join, reshape, Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, ConstId, Eval, Instr, Machine, Slot, NO_CONST};
use crate::compile::{Plan, Scope, INPUT_NAME};
use crate::fault::Code;
use crate::shape::OpShape;
use ptc_json::{Node, Shape};
use ptc_term::heap::Heap;

pub(super) struct GroupBy;

/// What an instruction does.
const GROUP: u32 = 0;
const ITEMS: u32 = 1;
const KEY: u32 = 2;
const TOTALS: u32 = 3;
/// The mode of an instruction is what it does, and a number: of totals, or the index of a key plus one.
const BITS: u32 = 2;

/// Maximum number of totals that are computed while the groups are found.
const MOST_TOTALS: usize = 64;

/// The names of the keys of a group, as far as they are told apart: so many bytes for each.
static KEYS: [u8; 32] = [0; 32];

/// What the value of an instruction contains.
pub(crate) enum PartsOf {
    /// Its operands and its current value.
    All,
    /// Its operands.
    Operands,
    /// A part of its current value, which no other name means.
    Key(&'static [u8]),
    /// Fields of the items of its current value, named by constants, besides its operands.
    Fields(Vec<ConstId>),
}

/// Returns whether the value of an instruction contains both its operands and its current value.
pub(crate) fn combines_with_input(apply: &Apply) -> bool {
    match apply.op {
        OpCode::Set => apply.mode == reshape::MAKE,
        OpCode::Join => apply.mode != join::CHECK,
        _ => false,
    }
}

/// Returns what the value of `set`, `group_by`, `index_by` or `join` contains.
pub(crate) fn parts_of(apply: &Apply) -> PartsOf {
    let (mode, number) = (apply.mode & ((1 << BITS) - 1), apply.mode >> BITS);
    match (apply.op, mode) {
        (OpCode::Set, _) if apply.mode == reshape::RESULT => PartsOf::Operands,
        (OpCode::Join, _) if apply.mode == join::CHECK => PartsOf::Operands,
        (OpCode::GroupBy, KEY) => match KEYS.get(..=number as usize) {
            Some(name) => PartsOf::Key(name),
            None => PartsOf::All,
        },
        (OpCode::GroupBy, TOTALS) => {
            let totals = apply.key + apply.value;
            let fields = (0..number).map(|at| totals + PER_TOTAL * at + 1);
            PartsOf::Fields((apply.key..totals).chain(fields).collect())
        }
        _ => PartsOf::All,
    }
}

impl Operation for GroupBy {
    const NAME: &'static str = "group_by";
    const FAMILY: &'static str = "Group and join";
    const ABOUT: &'static str =
        "A map for each group of items with equal keys: the key, and what `each` computes of the list of its items.";
    const TYPES: &'static str = "[T] to a list of objects; the values in `each` read [T]";
    const SHAPE: OpShape = OpShape::Grouped;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::optional(
            "as",
            FieldKind::String,
            "the name of the key in the result; for expr else \"key\"",
        ),
        Field::optional(
            "each",
            FieldKind::TemplateMap,
            "the other values, computed of the list of the group's items; without it the list itself, as \"items\"",
        ),
        Field::alternative("expr", FieldKind::Expr, "the key of an item"),
        Field::alternative("field", FieldKind::String, "the items' key that is read"),
        Field::alternative("fields", FieldKind::StringList, "several keys that are read"),
    ];
    const KEEPS: Keeps = Keeps::Value;
    const FORKS: bool = true;

    fn check(plan: &Plan) -> Planned {
        plan.not_both(["field", "fields"], "'field' or 'fields', not both")?;
        plan.not_both(["field", "expr"], "'field' or 'expr', not both")?;
        plan.not_both(["fields", "expr"], "'fields' or 'expr', not both")?;
        plan.not_both(["as", "fields"], "'as' or 'fields', not both")?;
        let forms = ["field", "fields", "expr"];
        match forms.iter().all(|form| plan.field(form).is_none()) {
            true => plan.reject(Code::FieldMissing, "field", vec![]),
            false => Ok(()),
        }
    }

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        let keys = keys(plan)?;
        let entries = match plan.field("each") {
            Some(each) => plan.entries(each)?,
            None => vec![],
        };
        let end = simple(plan, &keys, &entries).map(|totals| with_totals(plan, &keys, totals));
        grouped(plan, &keys, &entries);
        if let Some((found, done)) = end {
            let end = plan.label();
            plan.jump(end);
            plan.mark(done);
            plan.emit(Instr::Slot(found));
            plan.mark(end);
        }
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let number = apply.mode >> BITS;
        let group = machine.slot(apply.input);
        match apply.mode & ((1 << BITS) - 1) {
            GROUP => machine.resumable(
                |_| Grouping::over(group, apply),
                |machine, work| groups(machine, apply, work),
            ),
            TOTALS => machine.resumable(
                |_| Totalling::over(group, apply),
                |machine, work| totals(machine, (apply, number), work),
            ),
            ITEMS => Ok(machine.heap.uncons(group).map_or(group, |(_, items)| items)),
            _ => {
                let key = machine.heap.uncons(group).map_or(group, |(key, _)| key);
                Ok(match number.checked_sub(1) {
                    None => key,
                    Some(at) => (machine.heap.element(key, at as usize)).unwrap_or(key),
                })
            }
        }
    }
}

/// The keys of the items.
struct GroupKeys {
    /// The names of the keys in the result.
    names: Vec<Node>,
    /// The fields that are read.
    fields: Vec<Node>,
    /// The slot with the list of the keys, if they are computed.
    computed: Option<Slot>,
}

/// Evaluates the key of each item, if it is computed.
fn keys(plan: &mut Plan) -> Result<GroupKeys, crate::compile::Failure> {
    let name = plan.field("as");
    if let Some(fields) = plan.field("fields") {
        let fields = plan.elements(fields)?;
        return Ok(GroupKeys {
            names: fields.clone(),
            fields,
            computed: None,
        });
    }
    if let Some(field) = plan.field("field") {
        return Ok(GroupKeys {
            names: vec![name.unwrap_or(field)],
            fields: vec![field],
            computed: None,
        });
    }
    let keys = plan.take_slot();
    let begun = plan.begin_loop(plan.scope.input);
    plan.expr_in("expr", begun.scope, true);
    plan.end_loop(begun);
    plan.emit(Instr::Store(keys));
    Ok(GroupKeys {
        names: vec![name.unwrap_or(plan.added("key"))],
        fields: vec![],
        computed: Some(keys),
    })
}

/// Pushes the list of the keys, if they are computed; returns the number of operands.
fn push_keys(plan: &mut Plan, keys: &GroupKeys) -> u32 {
    match keys.computed {
        Some(slot) => {
            plan.emit(Instr::Slot(slot));
            1
        }
        None => 0,
    }
}

/// Groups the items, and evaluates `each` for each group.
fn grouped(plan: &mut Plan, keys: &GroupKeys, entries: &[(Node, Node)]) {
    let operands = push_keys(plan, keys);
    let first = plan.constants(keys.fields.iter().copied());
    plan.apply(operands, (first, keys.fields.len() as ConstId, GROUP));
    let groups = plan.take_slot();
    plan.emit(Instr::Store(groups));
    let begun = plan.begin_loop(groups);
    let group = begun.scope.input;
    let nothing = (NO_CONST, NO_CONST);
    plan.apply_to(group, 0, (nothing.0, nothing.1, ITEMS));
    // Of equal names the first one counts.
    let mut names: Vec<_> = match plan.field("each") {
        None => vec![plan.added("items")],
        Some(_) => {
            let mut scope: Scope = begun.scope;
            let items = plan.take_slot_in(&mut scope);
            plan.emit(Instr::Store(items));
            let scope = scope.with_input(items);
            let values: Vec<_> = entries.iter().map(|(_, value)| *value).collect();
            plan.templates(&values, scope);
            entries.iter().map(|(name, _)| *name).collect()
        }
    };
    for at in 0..keys.names.len() as u32 {
        let number = match keys.names.len() {
            1 => 0,
            _ => at + 1,
        };
        plan.apply_to(group, 0, (nothing.0, nothing.1, KEY | number << BITS));
    }
    names.extend(&keys.names);
    plan.make_object(&names);
    plan.end_loop(begun);
}

/// The name of a total, the operation that computes it (none for a constant), and its field.
type Simple = (Node, Option<Node>, Node);

/// Returns the totals if `each` has nothing else.
fn simple(plan: &Plan, keys: &GroupKeys, entries: &[(Node, Node)]) -> Option<Vec<Simple>> {
    let possible = plan.field("each").is_some()
        && !plan.is_observed()
        && entries.len() <= MOST_TOTALS
        && !keys.names.is_empty();
    possible.then_some(())?;
    let text = |node| plan.source().text(node);
    let names = entries.iter().map(|(name, _)| name).chain(&keys.names);
    let mut names: Vec<_> = names.map(|name| text(*name)).collect::<Option<_>>()?;
    names.sort_unstable();
    names.is_sorted_by(|a, b| a < b).then_some(())?;
    let total = |(name, value): &(Node, Node)| simple_total(plan, *name, *value);
    entries.iter().map(total).collect()
}

fn simple_total(plan: &Plan, name: Node, value: Node) -> Option<Simple> {
    let source = plan.source();
    match plan.shape(value) {
        Shape::List => return None,
        Shape::Map => {}
        _ => return Some((name, None, value)),
    }
    let given = |field| {
        let node = source.field(value, field)?;
        (plan.shape(node) != Shape::Null).then_some(node)
    };
    let op = plan.is_operation(value).then(|| plan.operation(value))??;
    let is_free = source.field(value, INPUT_NAME).is_none();
    let others = ["where", "expr"]
        .into_iter()
        .any(|field| given(field).is_some());
    (is_free && !others).then_some(())?;
    let field = match op {
        OpCode::Count => plan.nil(),
        OpCode::Sum | OpCode::Avg | OpCode::Min | OpCode::Max => {
            given("field").filter(|field| source.text(*field).is_some())?
        }
        _ => return None,
    };
    Some((name, source.field(value, "op"), field))
}

/// Computes the totals of each group; returns the slot that has the result, and the label to go on at if there is one.
fn with_totals(
    plan: &mut Plan,
    keys: &GroupKeys,
    totals: Vec<Simple>,
) -> (Slot, crate::compile::Label) {
    let operands = push_keys(plan, keys);
    let count = totals.len() as u32;
    let nil = plan.nil();
    let of = totals
        .iter()
        .flat_map(|(_, op, field)| [op.unwrap_or(nil), *field]);
    let names = totals.iter().map(|(name, ..)| *name);
    let consts: Vec<_> = (keys.fields.iter().copied())
        .chain(of)
        .chain(names)
        .chain(keys.names.iter().copied())
        .collect();
    let first = plan.constants(consts.into_iter());
    let fields = keys.fields.len() as ConstId;
    plan.apply(operands, (first, fields, TOTALS | count << BITS));
    let (found, done) = (plan.take_slot(), plan.label());
    plan.emit(Instr::Store(found));
    plan.emit(Instr::Slot(found));
    plan.jump_if(true, done);
    (found, done)
}
