//! `select`: a map with some of the fields.

use super::{Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Demand, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::fault::{Code, Fault};
use crate::shape::{OpShape, Reshaping};
use ptc_kernels::{Listing, Walk, KEPT_BETWEEN_CHECKS, KEY_OF_NEW};
use ptc_term::heap::{Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_vm::Demanded;

pub(super) struct Select;

impl Operation for Select {
    const NAME: &'static str = "select";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "Each item, or the one map, with just these fields.";
    const TYPES: &'static str = "object, or list of objects, to the same with these fields only";
    const SHAPE: OpShape = OpShape::Reshaped(Reshaping::Select);
    const FIELDS: &'static [Field] = &[Field::not_null(
        "fields",
        FieldKind::StringList,
        "the keys to keep",
    )];
    const READS_INPUT_ONCE: bool = true;

    fn plan(plan: &mut Plan) -> Planned {
        plan.needs_input();
        let fields = plan.field("fields");
        match fields {
            Some(node) if !plan.is_list(node) => {
                let list = plan.constant(node);
                plan.apply(0, (NO_CONST, list, 0));
            }
            _ => {
                let names = match fields {
                    Some(node) => plan.elements(node)?,
                    None => vec![],
                };
                let count = names.len() as u32;
                let first = plan.constants(names.into_iter());
                plan.apply(0, (first, NO_CONST, count));
            }
        }
        Ok(())
    }

    /// The mode is the number of fields; the value is the part given instead of a list.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let input = machine.slot(apply.input);
        let one = machine.kind(input) == Kind::Map;
        let mut parts = FoundFields::default();
        if one && apply.value == NO_CONST {
            return parts.select(machine, apply, input);
        }
        let demanded = Demanded::of(apply.demand, machine)?;
        machine.resumable(
            |_| Selection::over(input),
            |machine, work| {
                if !work.is_checked {
                    if !one {
                        let last = &mut work.last;
                        machine.each_item(apply, &mut work.walk, |_, item| {
                            *last = Some(item);
                            Ok(())
                        })?;
                    }
                    if apply.value != NO_CONST {
                        let fields = machine.constant(apply.value);
                        let fault =
                            Fault::new(Code::UncheckedNotList, Some(apply.op.name()), vec![fields]);
                        return Err(fault.about("fields").into());
                    }
                    work.walk.rest = match (demanded, work.last) {
                        (Demanded::Number, _) => return Ok(input),
                        (Demanded::Last, Some(last)) => machine.make_list(&[last])?,
                        _ => input,
                    };
                    work.is_checked = true;
                }
                while work.items.len() < demanded.end() {
                    let Some((item, tail)) = machine.heap.uncons(work.walk.rest) else {
                        break;
                    };
                    if work.items.len() % KEPT_BETWEEN_CHECKS == 0 {
                        machine.check_heap_limit(2 * work.items.len())?;
                    }
                    let looked_at = work.items.len() >= demanded.start();
                    work.items.push(match machine.kind(item) {
                        Kind::Map if looked_at => parts.select(machine, apply, item)?,
                        _ => {
                            machine.consume_fuel(1)?;
                            item
                        }
                    });
                    work.walk.rest = tail;
                    machine.meter.advanced();
                }
                Ok(work.listing.all(machine, &work.items)?)
            },
        )
    }

    /// An item that is not a map stays as it is, so no item is an error.
    fn needs(apply: &Apply, demand: Demand) -> Demand {
        match apply.value {
            NO_CONST => demand,
            _ => Demand::All,
        }
    }
}

/// The parts of the items so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection<T> {
    walk: Walk<T>,
    /// The last item, once the list has been checked.
    last: Option<T>,
    is_checked: bool,
    items: Roots<T>,
    listing: Listing<T>,
}

rooted!(Selection { optional: last; states: walk, items, listing; plain: is_checked });

impl<T> Selection<T> {
    fn over(list: T) -> Self {
        Selection {
            walk: Walk::over(list),
            last: None,
            is_checked: false,
            items: Roots::default(),
            listing: Listing::default(),
        }
    }
}

/// The fields found in the maps, one map after another.
struct FoundFields<T> {
    keys: Vec<T>,
    values: Vec<T>,
}

impl<T> Default for FoundFields<T> {
    fn default() -> Self {
        FoundFields {
            keys: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Copy> FoundFields<T> {
    fn select<H: Heap<Term = T>>(
        &mut self,
        machine: &mut Machine<'_, H>,
        apply: &Apply,
        map: T,
    ) -> Eval<H> {
        machine.consume_fuel_for_names(map, 1 + apply.mode as usize, 1)?;
        machine.check_heap_limit(0)?;
        self.keys.clear();
        self.values.clear();
        let mut heavy = 0;
        for key in apply.key..apply.key + apply.mode {
            if let Some((name, value)) = machine.entry(map, key)? {
                heavy += machine.weight_of_key(key)?;
                self.keys.push(name);
                self.values.push(value);
            }
        }
        machine.count_new_map(self.keys.len())?;
        if heavy > 0 {
            machine.consume_fuel_at_once(KEY_OF_NEW * heavy)?;
        }
        Ok(machine.heap.make_map(&self.keys, &self.values))
    }
}
