//! Items by index: `first`, `last`, `nth`, `take`, `drop`.

use super::keeping::Keeping;
use super::{Field, FieldKind, Operation};
use crate::code::{Apply, Demand, Eval, Machine};
use crate::fault::{Code, Fault};
use crate::shape::{Chosen, OpShape, Which};
use ptc_kernels::{Walk, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::Heap;
use ptc_term::rooted;

pub(super) struct First;
pub(super) struct Last;
pub(super) struct Nth;
pub(super) struct Take;
pub(super) struct Drop;

impl Operation for First {
    const NAME: &'static str = "first";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The first item, nil if there is none.";
    const TYPES: &'static str = "[T] to T or null";
    const SHAPE: OpShape = OpShape::Item(Which::Placed);
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        item_at(machine, apply, 0)
    }

    fn needs(_apply: &Apply, _demand: Demand) -> Demand {
        Demand::One
    }
}

impl Operation for Last {
    const NAME: &'static str = "last";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The last item, nil if there is none.";
    const TYPES: &'static str = "[T] to T or null";
    const SHAPE: OpShape = OpShape::Item(Which::Placed);
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(
            |machine| Position::over(machine.slot(apply.input)),
            |machine, work| {
                let last = &mut work.found;
                machine.each_item(apply, &mut work.walk, |_, item| {
                    *last = Some(item);
                    Ok(())
                })?;
                Ok(work.found.unwrap_or(machine.heap.nil()))
            },
        )
    }

    fn needs(_apply: &Apply, _demand: Demand) -> Demand {
        Demand::Last
    }
}

impl Operation for Nth {
    const NAME: &'static str = "nth";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The item at an index counted from 0, nil if there is none.";
    const TYPES: &'static str = "[T] to T or null";
    const SHAPE: OpShape = OpShape::Item(Which::Placed);
    const FIELDS: &'static [Field] = &[Field::not_null(
        "index",
        FieldKind::Count,
        "the place, counted from 0",
    )];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        match machine.count(apply.key)? {
            Some(index) => item_at(machine, apply, index),
            None => no_count(machine, apply, "index"),
        }
    }

    fn needs(apply: &Apply, _demand: Demand) -> Demand {
        Demand::At(apply.key)
    }
}

impl Operation for Take {
    const NAME: &'static str = "take";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The first items, at most as many as the count.";
    const TYPES: &'static str = "[T] to [T]";
    const SHAPE: OpShape = OpShape::Subset(Chosen::Begin);
    const FIELDS: &'static [Field] = &[Field::not_null(
        "count",
        FieldKind::Count,
        "how many items to keep",
    )];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let Some(count) = machine.count(apply.key)? else {
            return no_count(machine, apply, "count");
        };
        machine.resumable(
            |machine| Keeping::over(machine.slot(apply.input)),
            |machine, work| {
                let taken = &mut work.items;
                machine.each_item(apply, &mut work.walk, |machine, item| {
                    if taken.len() < count {
                        if taken.len() % KEPT_BETWEEN_CHECKS == 0 {
                            machine.check_heap_limit(2 * taken.len())?;
                        }
                        taken.push(item);
                    }
                    Ok(())
                })?;
                Ok(work.list(machine)?)
            },
        )
    }

    fn needs(apply: &Apply, _demand: Demand) -> Demand {
        Demand::First(apply.key)
    }
}

impl Operation for Drop {
    const NAME: &'static str = "drop";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items after the first ones, as many as the count.";
    const TYPES: &'static str = "[T] to [T]";
    const SHAPE: OpShape = OpShape::Subset(Chosen::Rest);
    const FIELDS: &'static [Field] = &[Field::not_null(
        "count",
        FieldKind::Count,
        "how many items to leave out",
    )];

    /// The result is a tail of the list itself: nothing is built.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let Some(count) = machine.count(apply.key)? else {
            return no_count(machine, apply, "count");
        };
        machine.resumable(
            |machine| Position::over(machine.slot(apply.input)),
            |machine, work| {
                while work.at < count {
                    let Some((_, tail)) = machine.heap.uncons(work.walk.rest) else {
                        break;
                    };
                    machine.consume_fuel(1)?;
                    work.walk.rest = tail;
                    work.at += 1;
                    machine.meter.advanced();
                }
                // The walk continues to the end of the list, which must be proper.
                let left = *work.found.get_or_insert(work.walk.rest);
                work.at = count;
                machine.each_item(apply, &mut work.walk, |_, _| Ok(()))?;
                Ok(left)
            },
        )
    }
}

/// A walk to an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Position<T> {
    pub(super) walk: Walk<T>,
    /// Number of items visited.
    pub(super) at: usize,
    /// The item, or the items from it on.
    found: Option<T>,
}

rooted!(Position { optional: found; states: walk; plain: at });

impl<T> Position<T> {
    pub(super) fn over(list: T) -> Self {
        Position {
            walk: Walk::over(list),
            at: 0,
            found: None,
        }
    }
}

fn item_at<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, index: usize) -> Eval<H> {
    machine.resumable(
        |machine| Position::over(machine.slot(apply.input)),
        |machine, work| {
            let (at, found) = (&mut work.at, &mut work.found);
            machine.each_item(apply, &mut work.walk, |_, item| {
                if *at == index {
                    *found = Some(item);
                }
                *at += 1;
                Ok(())
            })?;
            Ok(work.found.unwrap_or(machine.heap.nil()))
        },
    )
}

/// The constant of an unchecked part is not a count. This is an error only if the current value is
/// a list.
#[cold]
fn no_count<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply, field: &'static str) -> Eval<H> {
    machine.resumable(
        |machine| Position::over(machine.slot(apply.input)),
        |machine, work| {
            machine.each_item(apply, &mut work.walk, |_, _| Ok(()))?;
            let term = machine.constant(apply.key);
            let fault = Fault::new(Code::NotACount, Some(apply.op.name()), vec![term]);
            Err(fault.about(field).into())
        },
    )
}
