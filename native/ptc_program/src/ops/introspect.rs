//! Keys and types of values: `keys`, `typeof`.

use super::{Field, Operation};
use crate::code::{Apply, Eval, Machine};
use crate::fault::{Code, Errors};
use crate::shape::{Entry, OpShape};
use ptc_kernels::SortedEntries;
use ptc_term::heap::{Heap, Kind};
use ptc_term::value::Value;

pub(super) struct Keys;
pub(super) struct Typeof;

impl Operation for Keys {
    const NAME: &'static str = "keys";
    const FAMILY: &'static str = "Introspect";
    const ABOUT: &'static str = "The map's keys in ascending order.";
    const TYPES: &'static str = "object to [text]";
    const SHAPE: OpShape = OpShape::Entries(Entry::Key);
    const FIELDS: &'static [Field] = &[];

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let map = machine.slot(apply.input);
        super::entries::check(machine, apply, map)?;
        machine.resumable(
            |_| SortedEntries::default(),
            |machine, work| Ok(work.keys(machine, map)?),
        )
    }
}

impl Operation for Typeof {
    const NAME: &'static str = "typeof";
    const FAMILY: &'static str = "Introspect";
    const ABOUT: &'static str =
        "\"null\", \"object\", \"list\", \"string\", \"number\" or \"boolean\".";
    const TYPES: &'static str = "any value to one of six texts";
    const SHAPE: OpShape = OpShape::Kind;
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
}
