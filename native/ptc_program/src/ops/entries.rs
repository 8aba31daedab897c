//! Maps and lists of their entries: `entries`, `from_entries`, `index_by`.

use super::sort::WORDS_OF_SORTED;
use super::{Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, Slot, NO_CONST};
use crate::compile::Plan;
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::{Code, Fault, Halt};
use ptc_machine::{Eval, Machine, Work, KEPT_BETWEEN_CHECKS, KEY_OF_NEW, MAP_ENTRY, UNITS_A_LIMB};
use ptc_term::heap::{words_of_map, Heap, Kind};
use ptc_term::number::Number;
use ptc_term::roots::Roots;

pub(super) struct EntriesOf;
pub(super) struct FromEntries;
pub(super) struct IndexBy;

const FAMILY: &str = "Objects";

impl Operation for EntriesOf {
    const NAME: &'static str = "entries";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str = "The map as a list of {\"key\", \"value\"}, by ascending keys.";
    const TYPES: &'static str = "object to [{key text, value}]";
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        let names = [plan.added("key"), plan.added("value")];
        let names = plan.constants(names.into_iter());
        plan.apply(0, (names, NO_CONST, 0));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let map = machine.slot(apply.input);
        let size = match machine.heap.map_size(map) {
            Some(size) if !machine.is_value(map) => size,
            _ => return Err(machine.fault(apply.op, Code::NeedsMap, vec![map])),
        };
        machine.resumable(apply, |machine, work| {
            if !work.progress.second {
                machine.consume_fuel_at_once(2 * size)?;
                machine.check_heap_limit(2 * WORDS_OF_SORTED * size)?;
                let hides = machine.hides(map);
                for (key, value) in machine.heap.entries(map) {
                    if !hides || !machine.heap.is_hidden(key) {
                        work.keys.push(key);
                        work.items.push(value);
                    }
                }
                work.missing = work.keys.len();
                work.progress.second = true;
                machine.meter.advanced();
            }
            let sorting = work.progress.sorting.get_or_insert_default();
            sorting.sort(machine, &work.keys, usize::MAX, &[false])?;
            let mut list = match work.made {
                Some(list) => list,
                None => machine.make_list(&[])?,
            };
            while let Some(left) = work.missing.checked_sub(1) {
                machine.consume_fuel(2)?;
                machine.check_heap_limit(words_of_map(2) + 2)?;
                let place = sorting.places()[left] as usize;
                let key = work.keys.get(machine.heap, place);
                let value = work.items.get(machine.heap, place);
                let names = machine.constants(apply.key, 2);
                let entry = machine.heap.make_map(names, &[key, value]);
                list = machine.heap.make_list_onto(&[entry], list);
                (work.made, work.missing) = (Some(list), left);
                machine.meter.advanced();
            }
            Ok(list)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::entries::entries(rule)
    }
}

/// Returns the key that a term stands for in a new map: a string, or the digits of an integer; `None` for others.
fn key_of<H: Heap>(
    machine: &mut Machine<'_, H>,
    term: H::Term,
) -> Result<Option<H::Term>, Halt<H::Term>> {
    match machine.heap.kind(term) {
        Kind::String => return Ok(Some(term)),
        Kind::Number => {}
        _ => return machine.text_of_value(term),
    }
    if let Some(number) = machine.heap.small_integer(term) {
        return Ok(Some(
            machine.heap.make_string(number.to_string().as_bytes()),
        ));
    }
    // The conversion to digits takes longer than linear time.
    let limbs = machine.heap.limbs(term);
    machine.check_heap_limit(3 * limbs)?;
    machine.consume_fuel_at_once(UNITS_A_LIMB * limbs * (1 + limbs / 16))?;
    Ok(match machine.heap.number(term) {
        Some(Number::Big(number)) => Some(machine.heap.make_string(number.to_string().as_bytes())),
        _ => None,
    })
}

/// Counts a key before it is kept for a new map; `kept` is the number of keys so far.
fn count_key<H: Heap>(
    machine: &mut Machine<'_, H>,
    kept: usize,
    key: H::Term,
) -> Result<usize, Halt<H::Term>> {
    if kept.is_multiple_of(KEPT_BETWEEN_CHECKS) {
        machine.check_heap_limit(2 * kept)?;
    }
    let weight = machine.weigh(key)?;
    machine.consume_fuel(weight)?;
    Ok(weight - 1)
}

/// Makes the map of the keys and values of the work; of equal keys the last one counts.
fn made<H: Heap>(machine: &mut Machine<'_, H>, work: &Work<H::Term>, heavy: usize) -> Eval<H> {
    let count = work.keys.len();
    machine.check_heap_limit(2 * count + words_of_map(count))?;
    machine.consume_fuel_at_once(MAP_ENTRY * count + KEY_OF_NEW * heavy)?;
    let heap = &*machine.heap;
    let backwards = |terms: &Roots<H::Term>| -> Vec<H::Term> {
        (0..count).rev().map(|at| terms.get(heap, at)).collect()
    };
    let (keys, values) = (backwards(&work.keys), backwards(&work.items));
    Ok(machine.heap.make_map(&keys, &values))
}

impl Operation for FromEntries {
    const NAME: &'static str = "from_entries";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "The map of a list of {\"key\", \"value\"}; of equal keys the last one counts.";
    const TYPES: &'static str = "[{key, value}] to an object with any fields";
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        let key = plan.constant(plan.added("key"));
        let value = plan.constant(plan.added("value"));
        plan.apply(0, (key, value, 0));
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(apply, |machine, work| {
            let (keys, values) = (&mut work.keys, &mut work.items);
            let heavy = &mut work.progress.count;
            machine.each_item(apply, &mut work.walk, |machine, item| {
                let given = match machine.kind(item) {
                    Kind::Map => machine.value_or_nil(item, apply.key)?,
                    _ => machine.heap.nil(),
                };
                let value = machine.value_or_nil(item, apply.value)?;
                let more = count_key(machine, keys.len(), given)?;
                let Some(key) = key_of(machine, given)? else {
                    let fault = Fault::new(Code::Requires, Some(apply.op.name()), vec![item]);
                    let required = "a list of maps with a string or integer key";
                    return Err(fault.about(required).into());
                };
                *heavy += more;
                keys.push(key);
                values.push(value);
                Ok(())
            })?;
            let heavy = *heavy;
            made(machine, work, heavy)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::entries::from_entries(rule)
    }
}

impl Operation for IndexBy {
    const NAME: &'static str = "index_by";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "A map of the items by their keys; of equal keys the last one counts.";
    const TYPES: &'static str = "[T] to an object with any fields; the keys are texts or integers";
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[
        Field::alternative("expr", FieldKind::Expr, "the key of an item"),
        Field::alternative(
            "field",
            FieldKind::String,
            "the items' key that holds the key",
        ),
    ];
    const KEEPS: Keeps = Keeps::Value;
    const FORKS: bool = true;

    fn check(plan: &Plan) -> Planned {
        plan.not_both(["field", "expr"], "'field' or 'expr', not both")?;
        match (plan.field("field"), plan.field("expr")) {
            (None, None) => plan.reject(Code::FieldMissing, "field", vec![]),
            _ => Ok(()),
        }
    }

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        if plan.field("expr").is_none() {
            let field = plan.constant_of("field");
            plan.apply(0, (field, NO_CONST, 0));
            return Ok(());
        }
        let begun = plan.begin_loop(plan.scope.input);
        plan.expr_in("expr", begun.scope, true);
        plan.expect();
        plan.end_loop(begun);
        plan.apply(1, (NO_CONST, NO_CONST, 0));
        Ok(())
    }

    /// Checks the key of an item before that of the next one is evaluated.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        let key = machine.top();
        match is_key(machine, key) {
            true => Ok(()),
            false => Err(no_key(key)),
        }
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(apply, |machine, work| {
            if apply.operands == 1 && work.rests.is_empty() {
                work.rests.push(machine.one_operand(apply));
            }
            let (keys, values, rests) = (&mut work.keys, &mut work.items, &mut work.rests);
            let heavy = &mut work.progress.count;
            machine.each_item(apply, &mut work.walk, |machine, item| {
                let (key, rest) = match rests.first() {
                    None => (machine.value_or_nil(item, apply.key)?, None),
                    Some(rest) => match machine.heap.uncons(*rest) {
                        Some((key, rest)) => (key, Some(rest)),
                        None => return Ok(()),
                    },
                };
                let more = count_key(machine, keys.len(), key)?;
                let Some(text) = key_of(machine, key)? else {
                    return Err(no_key(key));
                };
                *heavy += more;
                keys.push(text);
                values.push(item);
                if let Some(rest) = rest {
                    rests[0] = rest;
                }
                Ok(())
            })?;
            let heavy = *heavy;
            made(machine, work, heavy)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::keyed(rule)
    }
}

fn is_key<H: Heap>(machine: &Machine<'_, H>, term: H::Term) -> bool {
    match machine.heap.kind(term) {
        Kind::String => true,
        Kind::Number => machine.heap.float(term).is_none(),
        _ => machine.has_text(term),
    }
}

fn no_key<T>(key: T) -> Halt<T> {
    let fault = Fault::new(Code::Requires, Some(OpCode::IndexBy.name()), vec![key]);
    fault.about("string or integer keys").into()
}
