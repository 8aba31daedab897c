//! Keys and types of values: `keys`, `typeof`.

use super::{Field, Operation};
use crate::code::{Apply, Eval, Machine};
use crate::fault::{Code, Errors};
use crate::shape::{Entry, OpShape};
use ptc_kernels::{Listing, Sorting, WORDS_OF_SORTED};
use ptc_term::heap::{Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;
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
        let size = match machine.heap.map_size(map) {
            Some(size) if !machine.is_value(map) => size,
            _ => return Err(machine.fault(apply.op, Code::NeedsMap, vec![map])),
        };
        machine.resumable(
            |_| SortedKeys::default(),
            |machine, work| {
                if !work.is_read {
                    machine.consume_fuel(2 * size)?;
                    machine.check_heap_limit(WORDS_OF_SORTED * size)?;
                    let entries = machine.heap.entries(map).into_iter().map(|(key, _)| key);
                    match machine.hides(map) {
                        true => {
                            let heap = &*machine.heap;
                            work.keys
                                .extend(entries.filter(|key| !heap.is_hidden(*key)));
                        }
                        false => work.keys.extend(entries),
                    }
                    work.is_read = true;
                    machine.meter.advanced();
                }
                (work.sorting).sort(machine, &work.keys, usize::MAX, &[false])?;
                let places = Some(work.sorting.places());
                Ok((work.listing).at_places(machine, &work.keys, places)?)
            },
        )
    }
}

/// The keys of a map, while they are sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct SortedKeys<T> {
    is_read: bool,
    keys: Roots<T>,
    sorting: Sorting,
    listing: Listing<T>,
}

rooted!(SortedKeys { states: keys, listing; plain: is_read, sorting });

impl<T> Default for SortedKeys<T> {
    fn default() -> Self {
        SortedKeys {
            is_read: false,
            keys: Roots::default(),
            sorting: Sorting::default(),
            listing: Listing::default(),
        }
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
