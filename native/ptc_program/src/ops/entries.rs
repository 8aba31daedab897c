//! Maps and lists of their entries: `entries`, `from_entries`, `index_by`.

use super::{Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, Slot, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Errors, Fault};
use crate::shape::{Entry, KeyedBy, OpShape};
use ptc_kernels::{SortedEntries, Walk, KEPT_BETWEEN_CHECKS, KEY_OF_NEW, MAP_ENTRY, UNITS_A_LIMB};
use ptc_term::heap::{words_of_map, Heap, Kind};
use ptc_term::number::Number;
use ptc_term::rooted;
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
    const SHAPE: OpShape = OpShape::Entries(Entry::Pair);
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
        check(machine, apply, map)?;
        let names = machine.constants(apply.key, 2);
        machine.resumable(
            |_| SortedEntries::default(),
            |machine, work| {
                let entry = |heap: &mut H, pair: [H::Term; 2]| heap.make_map(names, &pair);
                Ok(work.list(machine, map, words_of_map(2), entry)?)
            },
        )
    }
}

/// Fails unless this is a map, and no value that a struct is.
pub(super) fn check<H: Heap>(
    machine: &Machine<'_, H>,
    apply: &Apply,
    map: H::Term,
) -> Result<(), Halt<H::Term>> {
    match machine.heap.map_size(map).is_some() && !machine.is_value(map) {
        true => Ok(()),
        false => Err(machine.fault(apply.op, Code::NeedsMap, vec![map])),
    }
}

/// The keys and values of a new map, while the items are visited.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMap<T> {
    walk: Walk<T>,
    /// The keys of the items that are not visited yet, if they are computed.
    computed: Option<T>,
    keys: Roots<T>,
    values: Roots<T>,
    /// The cost of the long keys.
    heavy: usize,
}

rooted!(NewMap { optional: computed; states: walk, keys, values; plain: heavy });

impl<T> NewMap<T> {
    fn over(list: T, computed: Option<T>) -> Self {
        NewMap {
            walk: Walk::over(list),
            computed,
            keys: Roots::default(),
            values: Roots::default(),
            heavy: 0,
        }
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
        _ => return Ok(machine.text_of_value(term)?),
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
fn made<H: Heap>(machine: &mut Machine<'_, H>, work: &NewMap<H::Term>) -> Eval<H> {
    let count = work.keys.len();
    machine.check_heap_limit(2 * count + words_of_map(count))?;
    machine.consume_fuel_at_once(MAP_ENTRY * count + KEY_OF_NEW * work.heavy)?;
    let heap = &*machine.heap;
    let backwards = |terms: &Roots<H::Term>| -> Vec<H::Term> {
        (0..count).rev().map(|at| terms.get(heap, at)).collect()
    };
    let (keys, values) = (backwards(&work.keys), backwards(&work.values));
    Ok(machine.heap.make_map(&keys, &values))
}

impl Operation for FromEntries {
    const NAME: &'static str = "from_entries";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "The map of a list of {\"key\", \"value\"}; of equal keys the last one counts.";
    const TYPES: &'static str = "[{key, value}] to an object with any fields";
    const SHAPE: OpShape = OpShape::KeyedMap(KeyedBy::Pairs);
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
        let begin = |machine: &mut Machine<'_, H>| NewMap::over(machine.slot(apply.input), None);
        machine.resumable(begin, |machine, work| {
            let (keys, values, heavy) = (&mut work.keys, &mut work.values, &mut work.heavy);
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
            made(machine, work)
        })
    }
}

impl Operation for IndexBy {
    const NAME: &'static str = "index_by";
    const FAMILY: &'static str = FAMILY;
    const ABOUT: &'static str =
        "A map of the items by their keys; of equal keys the last one counts.";
    const TYPES: &'static str = "[T] to an object with any fields; the keys are texts or integers";
    const SHAPE: OpShape = OpShape::KeyedMap(KeyedBy::Items);
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
        let begin = |machine: &mut Machine<'_, H>| {
            let computed = (apply.operands == 1).then(|| machine.one_operand(apply));
            NewMap::over(machine.slot(apply.input), computed)
        };
        machine.resumable(begin, |machine, work| {
            let (keys, values, heavy) = (&mut work.keys, &mut work.values, &mut work.heavy);
            let computed = &mut work.computed;
            machine.each_item(apply, &mut work.walk, |machine, item| {
                let (key, rest) = match *computed {
                    None => (machine.value_or_nil(item, apply.key)?, None),
                    Some(rest) => match machine.heap.uncons(rest) {
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
                if rest.is_some() {
                    *computed = rest;
                }
                Ok(())
            })?;
            made(machine, work)
        })
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
