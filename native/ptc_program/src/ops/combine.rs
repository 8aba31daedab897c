//! Maps and lists built from several values: `object`, `merge`, `concat`, `zip`.

use super::{Edition, Field, FieldKind, OpCode, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, Slot, NO_CONST};
use crate::compile::{Plan, INPUT_NAME};
use crate::fault::{Code, Errors};
use crate::shape::OpShape;
use ptc_json::{Node, Shape};
use ptc_kernels::{Listing, KEY_OF_NEW, MAP_ENTRY};
use ptc_term::heap::{words_of_map, Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;

/// Maximum length in bytes of a key that costs no more than its entry.
const SHORT_KEY: usize = 64;

pub(super) struct Object;
pub(super) struct Merge;
pub(super) struct Concat;
pub(super) struct Zip;

impl Operation for Object {
    const NAME: &'static str = "object";
    const FAMILY: &'static str = "Combine";
    const ABOUT: &'static str = "A map; fields that are operations are evaluated.";
    const TYPES: &'static str = "object with the types of its fields";
    const SHAPE: OpShape = OpShape::ObjectOfParts;
    const FIELDS: &'static [Field] = &[Field::required(
        "fields",
        FieldKind::Map,
        "the new map; what is no operation is taken as it is",
    )];
    const FIELDS_2: &'static [Field] = &[Field::required(
        "fields",
        FieldKind::TemplateMap,
        "the new map",
    )];
    const ABOUT_2: &'static str = "A map of computed values.";

    /// In an object without `op`, all keys are its fields.
    fn plan(plan: &mut Plan) -> Planned {
        let entries = if plan.implicit {
            let has_input = plan.source().field(plan.node, INPUT_NAME).is_some();
            if plan.edition() == Edition::Two && !has_input {
                plan.template_map(plan.node, plan.scope);
                return Ok(());
            }
            plan.entries(plan.node)?
        } else {
            match plan.field("fields") {
                None => vec![],
                Some(fields) if plan.shape(fields) == Shape::Map => {
                    if plan.edition() == Edition::Two {
                        plan.template_map(fields, plan.scope);
                        return Ok(());
                    }
                    plan.entries(fields)?
                }
                Some(fields) => {
                    plan.report(Code::FieldNotMap, "fields", vec![])?;
                    plan.fail(Code::UncheckedNotMap, "fields", fields);
                    return Ok(());
                }
            }
        };
        let (source, implicit) = (plan.source(), plan.implicit);
        let is_input = |key| implicit && source.text(key) == Some(INPUT_NAME.as_bytes());
        let fields = entries.iter().filter(|(key, _)| !is_input(*key));
        let count = fields.clone().count() as u32;
        let long = fields.clone().any(|(key, _)| plan.is_long(*key));
        let keys = plan.constants(fields.map(|(key, _)| *key));
        for (key, value) in &entries {
            match is_input(*key) {
                true => checked_only(plan, *value),
                false if plan.edition() == Edition::Two => plan.template(*value, plan.scope),
                false => plan.value(*value, plan.scope),
            }
        }
        plan.apply(count, (keys, NO_CONST, u32::from(long)));
        Ok(())
    }

    /// The mode is 1 if a key is long.
    #[inline]
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.count_new_map(apply.operands as usize)?;
        if apply.mode == 1 {
            let mut heavy = 0;
            for key in apply.key..apply.key + apply.operands {
                heavy += machine.weight_of_key(key)?;
            }
            machine.consume_fuel_at_once(KEY_OF_NEW * heavy)?;
        }
        Ok(machine.map_of_operands(apply, apply.key))
    }

    fn can_fail(_apply: &Apply) -> bool {
        false
    }
}

/// The current value (`__input`) of an object without `op` is not one of its fields, and is taken
/// literally; but it is checked like a field.
fn checked_only(plan: &mut Plan, value: Node) {
    if plan.scope.checked && plan.is_operation(value) {
        let end = plan.label();
        plan.jump(end);
        plan.visit(value, plan.scope, false);
        plan.mark(end);
    }
}

/// Evaluates the members of a list of operations, and checks each value before the next is evaluated.
fn each_checked(plan: &mut Plan, field: &'static str) -> Planned {
    let Some(members) = plan.list(field)? else {
        return Ok(());
    };
    let count = members.len() as u32;
    for member in members {
        match plan.edition() {
            Edition::One => plan.visit(member, plan.scope, false),
            Edition::Two => plan.template(member, plan.scope),
        }
        plan.expect();
    }
    plan.apply(count, (NO_CONST, NO_CONST, 0));
    Ok(())
}

impl Operation for Merge {
    const NAME: &'static str = "merge";
    const FAMILY: &'static str = "Combine";
    const ABOUT: &'static str = "One map out of several; of equal keys the last one counts.";
    const TYPES: &'static str = "objects to an object with the fields of all; later ones win";
    const SHAPE: OpShape = OpShape::Merged;
    const FIELDS: &'static [Field] = &[Field::required("objects", FieldKind::ExprList, "the maps")];
    const FIELDS_2: &'static [Field] = &[Field::required(
        "objects",
        FieldKind::TemplateList,
        "the maps",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        each_checked(plan, "objects")
    }

    fn expect<H: Heap>(machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        let value = machine.top();
        match machine.kind(value) {
            Kind::Map => Ok(()),
            _ => Err(machine.fault(OpCode::Merge, Code::NeedsMapValues, vec![value])),
        }
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let maps = machine.operands(apply).to_vec();
        let Some((last, earlier)) = maps.split_last() else {
            return Ok(machine.heap.make_map(&[], &[]));
        };
        // The last map's entries come first, because the first of equal keys counts.
        if earlier.is_empty() && !machine.hides(*last) {
            return Ok(*last);
        }
        let (mut entries, mut heavy, mut starts) = (Vec::new(), 0, Vec::new());
        for map in maps.iter().rev() {
            starts.push(entries.len());
            let size = machine.heap.map_size(*map).unwrap_or(0);
            machine.check_heap_limit(words_of_map(entries.len() + size))?;
            machine.consume_fuel(MAP_ENTRY * size)?;
            let mut more = machine.heap.entries(*map);
            if machine.hides(*map) {
                more.retain(|(key, _)| !machine.heap.is_hidden(*key));
            }
            for (key, _) in &more {
                let bytes = machine.heap.byte_length(*key);
                if bytes.is_none_or(|bytes| bytes >= SHORT_KEY) {
                    heavy += machine.weigh(*key)?;
                }
            }
            entries.extend(more);
        }
        // The keys are hashed or compared in one call, which must end before the deadline.
        machine.consume_fuel_at_once(KEY_OF_NEW * heavy)?;
        machine.drop_other_forms(&mut entries, &starts, |(key, _)| *key)?;
        let (keys, values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
        Ok(machine.heap.make_map(&keys, &values))
    }
}

/// Checks that the top of the stack is a proper list.
fn expect_list<H: Heap>(machine: &mut Machine<'_, H>, op: OpCode) -> Result<(), Halt<H::Term>> {
    let value = machine.top();
    match machine.is_proper_list(value)? {
        true => Ok(()),
        false => Err(machine.fault(op, Code::NeedsListValues, vec![value])),
    }
}

impl Operation for Concat {
    const NAME: &'static str = "concat";
    const FAMILY: &'static str = "Combine";
    const ABOUT: &'static str = "One list out of several, one after another.";
    const TYPES: &'static str = "lists to a list of the items of all";
    const SHAPE: OpShape = OpShape::Concatenated;
    const FIELDS: &'static [Field] = &[Field::required(
        "lists",
        FieldKind::ExprList,
        "the lists, one after another",
    )];
    const FIELDS_2: &'static [Field] = &[Field::required(
        "lists",
        FieldKind::TemplateList,
        "the lists, one after another",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        each_checked(plan, "lists")
    }

    fn expect<H: Heap>(machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        expect_list(machine, OpCode::Concat)
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let Some(first) = machine.operands(apply).first().copied() else {
            return Ok(machine.make_list(&[])?);
        };
        machine.resumable(
            |_| Concatenation::of(first),
            |machine, work| loop {
                while let Some((item, tail)) = machine.heap.uncons(work.rest) {
                    if work.items.len() % 1024 == 0 {
                        machine.check_heap_limit(2 * work.items.len())?;
                    }
                    machine.consume_fuel(1)?;
                    work.items.push(item);
                    work.rest = tail;
                    machine.meter.advanced();
                }
                match machine.operands(apply).get(work.next) {
                    Some(next) => work.rest = *next,
                    None => return Ok(work.listing.all(machine, &work.items)?),
                }
                work.next += 1;
            },
        )
    }
}

impl Operation for Zip {
    const NAME: &'static str = "zip";
    const FAMILY: &'static str = "Combine";
    const ABOUT: &'static str = "Lists of the items that stand at the same place, as many as fit.";
    const TYPES: &'static str = "lists to a list of lists";
    const SHAPE: OpShape = OpShape::Zipped;
    const FIELDS: &'static [Field] = &[Field::required(
        "lists",
        FieldKind::ExprList,
        "the lists, side by side",
    )];
    const FIELDS_2: &'static [Field] = &[Field::required(
        "lists",
        FieldKind::TemplateList,
        "the lists, side by side",
    )];

    fn plan(plan: &mut Plan) -> Planned {
        each_checked(plan, "lists")
    }

    fn expect<H: Heap>(machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        expect_list(machine, OpCode::Zip)
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        if apply.operands == 0 {
            return Ok(machine.make_list(&[])?);
        }
        let begin = |machine: &mut Machine<'_, H>| Zipping {
            rests: machine.operands(apply).to_vec(),
            items: Roots::default(),
            listing: Listing::default(),
        };
        machine.resumable(begin, |machine, work| {
            let mut row = Vec::with_capacity(work.rests.len());
            loop {
                machine.consume_fuel(1 + work.rests.len())?;
                machine.check_heap_limit(2 * work.items.len())?;
                row.clear();
                for rest in &mut work.rests {
                    let Some((item, tail)) = machine.heap.uncons(*rest) else {
                        // If this is suspended, the resumed loop ends here again, at the shortest list.
                        return Ok(work.listing.all(machine, &work.items)?);
                    };
                    row.push(item);
                    *rest = tail;
                }
                work.items.push(machine.heap.make_list(&row));
                machine.meter.advanced();
            }
        })
    }
}

/// The items of several lists, one list after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Concatenation<T> {
    /// The items of the current list that are not visited yet.
    rest: T,
    /// The index of the next list.
    next: usize,
    items: Roots<T>,
    listing: Listing<T>,
}

rooted!(Concatenation { terms: rest; states: items, listing; plain: next });

impl<T> Concatenation<T> {
    fn of(first: T) -> Self {
        Concatenation {
            rest: first,
            next: 1,
            items: Roots::default(),
            listing: Listing::default(),
        }
    }
}

/// The rows of items that stand at the same place.
#[derive(Debug, Clone, PartialEq)]
pub struct Zipping<T> {
    rests: Vec<T>,
    items: Roots<T>,
    listing: Listing<T>,
}

rooted!(Zipping { lists: rests; states: items, listing; plain: });
