//! Keys and types of values: `keys`, `typeof`.

use super::sort::WORDS_OF_SORTED;
use super::{Field, Operation};
use crate::code::Apply;
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::Code;
use ptc_machine::{Eval, Machine};
use ptc_term::heap::{Heap, Kind};
use ptc_term::value::Value;

pub(super) struct Keys;
pub(super) struct Typeof;

impl Operation for Keys {
    const NAME: &'static str = "keys";
    const FAMILY: &'static str = "Introspect";
    const ABOUT: &'static str = "The map's keys in ascending order.";
    const TYPES: &'static str = "object to [text]";
    const FIELDS: &'static [Field] = &[];

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let map = machine.slot(apply.input);
        let size = match machine.heap.map_size(map) {
            Some(size) if !machine.is_value(map) => size,
            _ => return Err(machine.fault(apply.op, Code::NeedsMap, vec![map])),
        };
        machine.resumable(apply, |machine, work| {
            if !work.progress.second {
                machine.consume_fuel(2 * size)?;
                machine.check_heap_limit(WORDS_OF_SORTED * size)?;
                let entries = machine.heap.entries(map).into_iter().map(|(key, _)| key);
                match machine.hides(map) {
                    true => {
                        let heap = &*machine.heap;
                        work.items
                            .extend(entries.filter(|key| !heap.is_hidden(*key)));
                    }
                    false => work.items.extend(entries),
                }
                work.progress.second = true;
                machine.meter.advanced();
            }
            let sorting = work.progress.sorting.get_or_insert_default();
            sorting.sort(machine, &work.items, usize::MAX, &[false])?;
            machine.list_in_order(work)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::values::introspect(rule)
    }
}

impl Operation for Typeof {
    const NAME: &'static str = "typeof";
    const FAMILY: &'static str = "Introspect";
    const ABOUT: &'static str =
        "\"null\", \"object\", \"list\", \"string\", \"number\" or \"boolean\".";
    const TYPES: &'static str = "any value to one of six texts";
    const FIELDS: &'static [Field] = &[];

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let value = machine.slot(apply.input);
        let name: &[u8] = match machine.kind(value) {
            Kind::Nil => b"null",
            Kind::Bool => b"boolean",
            Kind::Number => b"number",
            Kind::String => b"string",
            Kind::List => b"list",
            Kind::Map => b"object",
            Kind::Other => match machine.value(value) {
                Some(Value::Decimal { .. }) => b"number",
                Some(_) => b"string",
                None if machine.values() && machine.heap.is_name(value) => b"string",
                None => return Err(machine.fault(apply.op, Code::NoTypeName, vec![value])),
            },
        };
        Ok(machine.heap.make_string(name))
    }

    fn types(rule: &mut Rule) -> Next {
        rules::values::introspect(rule)
    }
}
