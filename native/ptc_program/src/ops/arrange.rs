//! Lists made of a list's items in another arrangement: `flat_map`, `flatten`, `reverse`, `chunk`.

use super::transform::{plan_loop, AS, EXPR};
use super::{Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, Slot};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use crate::shape::{OpShape, Order};
use ptc_kernels::{Listing, Walk, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{Heap, Kind};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;

pub(super) struct FlatMap;
pub(super) struct Flatten;
pub(super) struct Reverse;
pub(super) struct Chunk;

impl Operation for FlatMap {
    const NAME: &'static str = "flat_map";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str =
        "The lists that the expression gives for the items, one after the other.";
    const TYPES: &'static str = "[T] to the list of the items of the lists";
    const SHAPE: OpShape = OpShape::FlatListOfBody;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[AS, EXPR];
    const KEEPS: Keeps = Keeps::Value;

    fn plan(plan: &mut Plan) -> Planned {
        plan_loop(plan, EXPR.name, true)
    }

    /// Checks the value of the expression for an item.
    fn expect<H: Heap>(machine: &mut Machine<'_, H>, _input: Slot) -> Result<(), Halt<H::Term>> {
        let value = machine.top();
        match machine.is_proper_list(value)? {
            true => Ok(()),
            false => Err(machine.fault(OpCode::FlatMap, Code::NeedsListValues, vec![value])),
        }
    }

    /// The operand is the list of the lists.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let lists = machine.one_operand(apply);
        let begin = |_: &mut Machine<'_, H>| Flattening::of(lists);
        machine.resumable(begin, |machine, work| flattened(machine, apply, work, true))
    }
}

impl Operation for Flatten {
    const NAME: &'static str = "flatten";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str =
        "Items that are lists are replaced by their items, one level; others stay.";
    const TYPES: &'static str = "[[T]] to [T]";
    const SHAPE: OpShape = OpShape::Flattened;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let begin = |machine: &mut Machine<'_, H>| Flattening::of(machine.slot(apply.input));
        machine.resumable(begin, |machine, work| {
            flattened(machine, apply, work, false)
        })
    }
}

/// The items of the lists so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Flattening<T> {
    rest: T,
    /// How far the next item is known to be a proper list.
    proper: Option<T>,
    /// The items of the list inside that are not visited yet.
    inside: Option<T>,
    items: Roots<T>,
    listing: Listing<T>,
}

rooted!(Flattening { terms: rest; optional: proper, inside; states: items, listing; plain: });

impl<T> Flattening<T> {
    fn of(lists: T) -> Self {
        Flattening {
            rest: lists,
            proper: None,
            inside: None,
            items: Roots::default(),
            listing: Listing::default(),
        }
    }
}

/// Makes the list of the items, and of the items of those that are lists; with `all_proper` all items are proper lists.
fn flattened<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Flattening<H::Term>,
    all_proper: bool,
) -> Eval<H> {
    loop {
        while let Some(rest) = work.inside {
            machine.consume_fuel(1)?;
            work.inside = match machine.heap.uncons(rest) {
                Some((item, tail)) => {
                    check_room(machine, work.items.len())?;
                    work.items.push(item);
                    Some(tail)
                }
                None => None,
            };
            machine.meter.advanced();
        }
        let Some((item, tail)) = machine.heap.uncons(work.rest) else {
            break;
        };
        machine.consume_fuel(1)?;
        let is_list = all_proper || machine.heap.kind(item) == Kind::List;
        let proper = &mut work.proper;
        if is_list && (all_proper || machine.walk_to_end(proper.get_or_insert(item))?) {
            work.inside = Some(item);
        } else {
            check_room(machine, work.items.len())?;
            work.items.push(item);
        }
        (work.proper, work.rest) = (None, tail);
        machine.meter.advanced();
    }
    match machine.heap.is_empty_list(work.rest) {
        true => Ok(work.listing.all(machine, &work.items)?),
        false => Err(machine.not_a_list(apply.op, machine.slot(apply.input))),
    }
}

/// Checks, now and then, that a list of so many items may be made.
fn check_room<H: Heap>(machine: &Machine<'_, H>, items: usize) -> Result<(), Stop> {
    match items % KEPT_BETWEEN_CHECKS {
        0 => machine.check_heap_limit(2 * items),
        _ => Ok(()),
    }
}

impl Operation for Reverse {
    const NAME: &'static str = "reverse";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "The items from the last to the first.";
    const TYPES: &'static str = "[T] to [T]";
    const SHAPE: OpShape = OpShape::Permuted(Order::Backwards);
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let begin = |machine: &mut Machine<'_, H>| Reversal {
            walk: Walk::over(machine.slot(apply.input)),
            made: machine.heap.make_list(&[]),
        };
        machine.resumable(begin, |machine, work| {
            let made = &mut work.made;
            machine.each_item(apply, &mut work.walk, |machine, item| {
                machine.check_heap_limit(2)?;
                *made = machine.heap.make_list_onto(&[item], *made);
                Ok(())
            })?;
            Ok(work.made)
        })
    }
}

impl Operation for Chunk {
    const NAME: &'static str = "chunk";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "Lists of as many items as the size; the last one may be shorter.";
    const TYPES: &'static str = "[T] to [[T]]";
    const SHAPE: OpShape = OpShape::Chunked;
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] =
        &[
            Field::required("size", FieldKind::Positive, "how many items a list has")
                .must_be("'size' must be a positive integer"),
        ];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let size = machine.count(apply.key)?.unwrap_or(1).max(1);
        let begin = |machine: &mut Machine<'_, H>| Chunks::of(machine.slot(apply.input));
        machine.resumable(begin, |machine, work| loop {
            if work.is_over {
                return Ok(work.listing.all(machine, &work.lists)?);
            }
            let (items, lists) = (&mut work.items, work.lists.len());
            // A list that is full is made when its last item has been visited.
            while items.len() < size {
                let Some((item, tail)) = machine.heap.uncons(work.walk.rest) else {
                    break;
                };
                machine.consume_fuel(1)?;
                if (items.len() + lists) % KEPT_BETWEEN_CHECKS == 0 {
                    machine.check_heap_limit(2 * (items.len() + lists))?;
                }
                items.push(item);
                work.walk.rest = tail;
                machine.meter.advanced();
            }
            if items.is_empty() {
                machine.each_item(apply, &mut work.walk, |_, _| Ok(()))?;
                work.is_over = true;
            } else {
                let list = work.listing.all(machine, &work.items)?;
                work.lists.push(list);
                work.items.truncate(0, machine.heap);
                work.listing = Listing::default();
            }
            machine.meter.advanced();
        })
    }
}

/// The list of the items in reverse so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Reversal<T> {
    walk: Walk<T>,
    made: T,
}

rooted!(Reversal { terms: made; states: walk; plain: });

/// The lists that are made, and the items of the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunks<T> {
    walk: Walk<T>,
    items: Roots<T>,
    lists: Roots<T>,
    is_over: bool,
    /// The list that is being made: one of items, or that of all lists.
    listing: Listing<T>,
}

rooted!(Chunks { states: walk, items, lists, listing; plain: is_over });

impl<T> Chunks<T> {
    fn of(list: T) -> Self {
        Chunks {
            walk: Walk::over(list),
            items: Roots::default(),
            lists: Roots::default(),
            is_over: false,
            listing: Listing::default(),
        }
    }
}
