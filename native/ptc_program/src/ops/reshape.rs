//! Maps with other entries: `set`, `unset`, `rename`. Each takes one map, or a list of maps.

use super::keeping::Keeping;
use super::{Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Instr, Machine, Slot, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Fault};
use crate::shape::{OpShape, Reshaping};
use ptc_kernels::{add_both, Entries, MapEntry, Origin, KEPT_BETWEEN_CHECKS, MAP_ENTRY};
use ptc_term::heap::{words_of_map, Heap, Kind, FLAT_MAP};

pub(super) struct Set;
pub(super) struct Unset;
pub(super) struct Rename;

const FAMILY: &str = "Objects";

/// What `set` does in an instruction.
const LIST: u32 = 0;
pub(super) const MAKE: u32 = 1;
pub(super) const RESULT: u32 = 2;
/// Same as `MAKE` for a pair, see [`makes_pairs`](super::join::makes_pairs).
const MAKE_OF_PAIR: u32 = 3;

/// Returns whether an instruction makes a map with other entries.
pub(super) fn makes(apply: &Apply) -> bool {
    matches!(apply.mode, MAKE | MAKE_OF_PAIR)
}

/// Returns whether an instruction makes sure that its current value is a list; the loop over that follows.
pub(crate) fn begins(apply: &Apply) -> bool {
    apply.op == OpCode::Set && apply.mode == LIST
}

/// Lets an instruction make its map of a pair; returns whether it can.
pub(crate) fn make_of_pair(apply: &mut Apply) -> bool {
    let can = apply.op == OpCode::Set && apply.mode == MAKE && apply.operands > 0;
    if can {
        apply.mode = MAKE_OF_PAIR;
    }
    can
}

/// Builds the fault for a value that is neither a map nor a list of maps, or an item that is no map.
fn needs_maps<H: Heap>(machine: &Machine<'_, H>, op: OpCode, value: H::Term) -> Halt<H::Term> {
    let _ = machine;
    let fault = Fault::new(Code::Requires, Some(op.name()), vec![value]);
    fault.about("a map or a list of maps").into()
}

impl Operation for Set {
    const NAME: &'static str = "set";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str = "The map, or each map of the list, with these keys.";
    const TYPES: &'static str = "object, or list of objects, to the same with these fields";
    const SHAPE: OpShape = OpShape::Reshaped(Reshaping::Set);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[Field::required(
        "fields",
        FieldKind::TemplateMap,
        "the keys and their values; each value sees the map as it was",
    )];
    const KEEPS: Keeps = Keeps::Value;
    const FORKS: bool = true;

    /// One map is a list of one, and the result is its only item.
    fn plan(plan: &mut Plan) -> Planned {
        let Some(fields) = plan.field("fields") else {
            return Ok(());
        };
        plan.needs_input();
        let input = plan.scope.input;
        let entries = plan.entries(fields)?;
        let names = plan.constants(entries.iter().map(|(name, _)| *name));
        let list = plan.take_slot();
        plan.apply(0, (NO_CONST, NO_CONST, LIST));
        plan.emit(Instr::Store(list));
        let begun = plan.begin_loop(list);
        let scope = begun.scope;
        plan.emit(Instr::Expect {
            op: OpCode::Set,
            input: scope.input,
        });
        let values: Vec<_> = entries.iter().map(|(_, value)| *value).collect();
        plan.templates(&values, scope);
        let count = entries.len() as u32;
        plan.apply_to(scope.input, count, (names, NO_CONST, MAKE));
        plan.end_loop(begun);
        plan.apply_to(input, 1, (NO_CONST, NO_CONST, RESULT));
        Ok(())
    }

    fn expect<H: Heap>(machine: &mut Machine<'_, H>, input: Slot) -> Result<(), Halt<H::Term>> {
        let item = machine.slot(input);
        match machine.kind(item) {
            Kind::Map => Ok(()),
            _ => Err(needs_maps(machine, OpCode::Set, item)),
        }
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let input = machine.slot(apply.input);
        match apply.mode {
            MAKE => set(machine, apply, input),
            MAKE_OF_PAIR => match machine.heap.uncons(input) {
                Some((item, row)) if machine.kind(row) == Kind::Map => {
                    set_in_both(machine, apply, item, row)
                }
                pair => set(machine, apply, pair.map_or(input, |(item, _)| item)),
            },
            LIST if machine.kind(input) == Kind::Map => Ok(machine.make_list(&[input])?),
            LIST => match machine.is_proper_list(input)? {
                true => Ok(input),
                false => Err(needs_maps(machine, apply.op, input)),
            },
            _ => {
                let made = machine.one_operand(apply);
                match machine.kind(input) {
                    Kind::Map => Ok(machine.heap.uncons(made).map_or(made, |(map, _)| map)),
                    _ => Ok(made),
                }
            }
        }
    }
}

/// Returns the map with the operands as the values of the constant keys.
fn set<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, map: H::Term) -> Eval<H> {
    if apply.operands > 0 {
        if let Some(made) = machine.map_of_operands_as_before(apply, &[map])? {
            return Ok(made);
        }
    }
    let (entries, keys) = entries_of_operands(machine, apply, map)?;
    with_others(machine, apply, map, entries, keys)
}

/// Returns the entries with the operands as values, and their keys as the map has them.
#[allow(clippy::type_complexity)]
fn entries_of_operands<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    map: H::Term,
) -> Result<(Entries<H::Term>, Vec<H::Term>), Halt<H::Term>> {
    machine.consume_fuel_for_names(map, apply.operands as usize, MAP_ENTRY)?;
    let values = machine.operands(apply).to_vec();
    let (mut entries, mut keys) = (Entries::default(), Vec::with_capacity(values.len()));
    for (value, at) in values.into_iter().zip(0..) {
        let value = (value, Origin::Operand(at));
        let name = apply.key + at;
        keys.push(machine.add_entry(&mut entries, (name, Some(map)), value)?);
        keys.extend(machine.second_key_in(map, machine.constant(name)));
    }
    Ok((entries, keys))
}

/// Returns the fields of an item and its match with the operands as the values of the constant keys.
fn set_in_both<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    item: H::Term,
    row: H::Term,
) -> Eval<H> {
    if let Some(made) = machine.map_of_operands_as_before(apply, &[item, row])? {
        return Ok(made);
    }
    let (mut entries, keys) = entries_of_operands(machine, apply, item)?;
    let made = entries.all.len();
    let mut others = Entries::default();
    add_both(machine, &mut others, item, row)?;
    machine.check_heap_limit(words_of_map(made + others.all.len()))?;
    entries.heavy += others.heavy;
    entries.all.append(&mut others.all);
    machine.drop_entries(&mut entries, made, keys)?;
    Ok(machine.make_map_of(apply.key, &[item, row], entries)?)
}

/// Makes the map of these entries and those of `map` that do not have one of the keys.
fn with_others<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    map: H::Term,
    mut entries: Entries<H::Term>,
    keys: Vec<H::Term>,
) -> Eval<H> {
    if keys.is_empty() && !machine.hides(map) {
        return Ok(map);
    }
    let made = entries.all.len();
    machine.add_entries(&mut entries, map, 0)?;
    machine.drop_entries(&mut entries, made, keys)?;
    Ok(machine.make_map_of(apply.key, &[map], entries)?)
}

/// A change of one map.
type Change<H> = fn(&mut Machine<'_, H>, &Apply, <H as Heap>::Term) -> Eval<H>;

/// Changes the current value, if it is a map, or each of its items.
fn change<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, change: Change<H>) -> Eval<H> {
    let input = machine.slot(apply.input);
    if machine.kind(input) == Kind::Map {
        return change_one(machine, apply, change, input);
    }
    machine.resumable(
        |_| Keeping::over(input),
        |machine, work| {
            let items = &mut work.items;
            let walked = machine.each_item(apply, &mut work.walk, |machine, item| {
                if machine.kind(item) != Kind::Map {
                    return Err(needs_maps(machine, apply.op, item));
                }
                if items.len() % KEPT_BETWEEN_CHECKS == 0 {
                    machine.check_heap_limit(2 * items.len())?;
                }
                items.push(change_one(machine, apply, change, item)?);
                Ok(())
            });
            match walked {
                Err(Halt::Fault(fault)) if fault.code == Code::NeedsList => {
                    Err(needs_maps(machine, apply.op, input))
                }
                Err(halt) => Err(halt),
                Ok(()) => Ok(work.list(machine)?),
            }
        },
    )
}

fn change_one<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    change: Change<H>,
    map: H::Term,
) -> Eval<H> {
    if apply.mode > 0 {
        if let Some(made) = machine.map_as_before(apply.key, &[map], &[])? {
            return Ok(made);
        }
    }
    machine.check_heap_limit(0)?;
    // `rename` looks for the new names, too.
    let (lookups, each) = match apply.op {
        OpCode::Rename => (2 * apply.mode, MAP_ENTRY / 2),
        _ => (apply.mode, MAP_ENTRY),
    };
    machine.consume_fuel_for_names(map, lookups as usize, each)?;
    change(machine, apply, map)
}

impl Operation for Unset {
    const NAME: &'static str = "unset";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str = "The map, or each map of the list, without these keys.";
    const TYPES: &'static str = "object, or list of objects, to the same without these fields";
    const SHAPE: OpShape = OpShape::Reshaped(Reshaping::Unset);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[Field::required(
        "fields",
        FieldKind::StringList,
        "the keys that are left out",
    )];
    const READS_INPUT_ONCE: bool = true;

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        let names = plan.list("fields")?.unwrap_or_default();
        let count = names.len() as u32;
        let first = plan.constants(names.into_iter());
        plan.apply(0, (first, NO_CONST, count));
        Ok(())
    }

    /// The mode is the number of keys.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        change(machine, apply, |machine, apply, map| {
            let mut keys = Vec::new();
            for name in apply.key..apply.key + apply.mode {
                if let Some((key, _)) = machine.entry(map, name)? {
                    keys.push(key);
                    // Otherwise the name would then be found in its other form.
                    keys.extend(machine.second_key_in(map, machine.constant(name)));
                }
            }
            with_others(machine, apply, map, Entries::default(), keys)
        })
    }
}

impl Operation for Rename {
    const NAME: &'static str = "rename";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str = "The map, or each map of the list, with other names for its keys.";
    const TYPES: &'static str = "object, or list of objects, to the same with other names";
    const SHAPE: OpShape = OpShape::Reshaped(Reshaping::Rename);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[Field::required(
        "fields",
        FieldKind::StringMap,
        "the new name of each key, by the old one",
    )];
    const READS_INPUT_ONCE: bool = true;

    /// The old names are followed by the new ones.
    fn plan(plan: &mut Plan) -> Planned {
        let Some(fields) = plan.field("fields") else {
            return Ok(());
        };
        plan.needs_input();
        let entries = plan.entries(fields)?;
        let (old, new): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
        let count = old.len() as u32;
        let first = plan.constants(old.into_iter().chain(new));
        plan.apply(0, (first, NO_CONST, count));
        Ok(())
    }

    /// The mode is the number of names. Of two keys that get one name the last one stays: it is the first entry.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        change(machine, apply, |machine, apply, map| {
            let (mut entries, mut keys) = (Entries::default(), Vec::new());
            for at in (0..apply.mode).rev() {
                let Some((old, value)) = machine.entry(map, apply.key + at)? else {
                    continue;
                };
                let new = apply.key + apply.mode + at;
                let weight = machine.weight_of_key(new)?;
                machine.consume_fuel_for_lookup(map, weight)?;
                entries.heavy += weight;
                let key = machine.constant(new);
                let replaced = machine.key_in(map, key);
                let (name, second) = (machine.constant(apply.key + at), |name| {
                    machine.second_key_in(map, name)
                });
                let all = [Some(old), second(name), replaced, second(key)];
                keys.extend(all.into_iter().flatten());
                let origin = origin_of(machine, map, old);
                let is_new = |entry: &MapEntry<_>| !machine.heap.identical(entry.key, key);
                if entries.all.len() > FLAT_MAP || entries.all.iter().all(is_new) {
                    entries.all.push(MapEntry { key, value, origin });
                }
            }
            with_others(machine, apply, map, entries, keys)
        })
    }
}

/// Returns where the value of a key stands in a flat map.
fn origin_of<H: Heap>(machine: &Machine<'_, H>, map: H::Term, key: H::Term) -> Origin {
    let keys = machine.heap.flat(map).map(|(keys, _)| keys);
    let is_key = |other: &H::Term| machine.heap.identical(*other, key);
    let at = keys.and_then(|keys| keys.iter().position(is_key));
    at.map_or(Origin::Unknown, |at| Origin::Map(0, at as u32))
}
