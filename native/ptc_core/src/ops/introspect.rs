//! What a value is: `keys`, `typeof`.

use super::order::sorted;
use super::{Checked, Field, Operation};
use crate::compile::Plan;
use crate::fault::Code;
use crate::heap::{Heap, Kind};
use crate::program::{Apply, NO_CONST};
use crate::source::Source;
use crate::vm::{Eval, Machine};

pub(super) struct Keys;
pub(super) struct Typeof;

impl Operation for Keys {
    const NAME: &'static str = "keys";
    const FAMILY: &'static str = "Introspect";
    const ABOUT: &'static str = "The map's keys in ascending order.";
    const FIELDS: &'static [Field] = &[];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.apply_to_input(NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let map = machine.slot(apply.input);
        let Some(size) = machine.heap.map_size(map) else {
            return Err(machine.fault(apply.op, Code::NeedsMap, vec![map]));
        };
        machine.consume_fuel(2 * size)?;
        machine.check_heap_limit(2 * size)?;
        let entries = machine.heap.entries(map);
        let keys: Vec<_> = entries.into_iter().map(|(key, _)| key).collect();
        let places = sorted(machine, &keys, false)?;
        let keys: Vec<_> = places.iter().map(|place| keys[*place as usize]).collect();
        machine.make_list(&keys)
    }
}

impl Operation for Typeof {
    const NAME: &'static str = "typeof";
    const FAMILY: &'static str = "Introspect";
    const ABOUT: &'static str =
        "\"null\", \"object\", \"list\", \"string\", \"number\" or \"boolean\".";
    const FIELDS: &'static [Field] = &[];

    fn plan<S: Source>(plan: &mut Plan<'_, '_, S>) -> Checked<S> {
        plan.apply_to_input(NO_CONST);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let value = machine.slot(apply.input);
        let name: &[u8] = match machine.heap.kind(value) {
            Kind::Nil => b"null",
            Kind::Bool => b"boolean",
            Kind::Number => b"number",
            Kind::String => b"string",
            Kind::List => b"list",
            Kind::Map => b"object",
            Kind::Other => return Err(machine.fault(apply.op, Code::NoTypeName, vec![value])),
        };
        Ok(machine.heap.make_string(name))
    }
}
