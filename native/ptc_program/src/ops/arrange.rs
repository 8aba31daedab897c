//! Lists made of a list's items in another arrangement: `flat_map`, `flatten`, `reverse`, `chunk`.

use super::transform::{plan_loop, AS, EXPR};
use super::{Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, Slot};
use crate::compile::Plan;
use crate::typing::{rules, Next, Rule};
use ptc_machine::fault::{Code, Halt};
use ptc_machine::{Eval, Machine, Work, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::{Heap, Kind};

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
        machine.resumable_over(lists, |machine, work| flattened(machine, apply, work, true))
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::each(rule)
    }
}

impl Operation for Flatten {
    const NAME: &'static str = "flatten";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str =
        "Items that are lists are replaced by their items, one level; others stay.";
    const TYPES: &'static str = "[[T]] to [T]";
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(apply, |machine, work| {
            flattened(machine, apply, work, false)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::same(rule)
    }
}

/// Makes the list of the items, and of the items of those that are lists. The list inside that is being read is in
/// `rests`, and `found` is how far it is known to be proper; with `all_proper` all items are proper lists.
fn flattened<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    work: &mut Work<H::Term>,
    all_proper: bool,
) -> Eval<H> {
    loop {
        while let Some(rest) = work.rests.last_mut() {
            machine.consume_fuel(1)?;
            match machine.heap.uncons(*rest) {
                Some((item, tail)) => {
                    check_room(machine, work.items.len())?;
                    *rest = tail;
                    work.items.push(item);
                }
                None => drop(work.rests.pop()),
            }
            machine.meter.advanced();
        }
        let Some((item, tail)) = machine.heap.uncons(work.walk.rest) else {
            break;
        };
        machine.consume_fuel(1)?;
        let is_list = all_proper || machine.heap.kind(item) == Kind::List;
        if is_list && (all_proper || is_proper(machine, work, item)?) {
            work.rests.push(item);
        } else {
            check_room(machine, work.items.len())?;
            work.items.push(item);
        }
        work.found = None;
        work.walk.rest = tail;
        machine.meter.advanced();
    }
    match machine.heap.is_empty_list(work.walk.rest) {
        true => machine.list_of(work),
        false => Err(machine.not_a_list(apply.op, machine.slot(apply.input))),
    }
}

/// Returns whether an item is a proper list; others are no lists. Can be suspended and resumed.
fn is_proper<H: Heap>(
    machine: &mut Machine<'_, H>,
    work: &mut Work<H::Term>,
    item: H::Term,
) -> Result<bool, Halt<H::Term>> {
    let rest = work.found.get_or_insert(item);
    while let Some((_, tail)) = machine.heap.uncons(*rest) {
        machine.consume_fuel(1)?;
        *rest = tail;
        machine.meter.advanced();
    }
    Ok(machine.heap.is_empty_list(*rest))
}

/// Checks, now and then, that a list of so many items may be made.
fn check_room<H: Heap>(machine: &Machine<'_, H>, items: usize) -> Result<(), Halt<H::Term>> {
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
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] = &[];
    const READS_INPUT_ONCE: bool = true;

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(apply, |machine, work| {
            let mut made = match work.made {
                Some(made) => made,
                None => machine.heap.make_list(&[]),
            };
            let made_before = &mut work.made;
            machine.each_item(apply, &mut work.walk, |machine, item| {
                machine.check_heap_limit(2)?;
                made = machine.heap.make_list_onto(&[item], made);
                *made_before = Some(made);
                Ok(())
            })?;
            Ok(made)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::same(rule)
    }
}

impl Operation for Chunk {
    const NAME: &'static str = "chunk";
    const FAMILY: &'static str = "Filter/Transform";
    const ABOUT: &'static str = "Lists of as many items as the size; the last one may be shorter.";
    const TYPES: &'static str = "[T] to [[T]]";
    const EDITION: Edition = Edition::Two;
    const FIELDS: &'static [Field] =
        &[
            Field::required("size", FieldKind::Positive, "how many items a list has")
                .must_be("'size' must be a positive integer"),
        ];
    const READS_INPUT_ONCE: bool = true;

    /// `items` are those of the next list, `keys` the lists that are made.
    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        let size = machine.count(apply.key)?.unwrap_or(1).max(1);
        machine.resumable(apply, |machine, work| loop {
            if work.progress.second {
                return machine.list_of(work);
            }
            let (items, lists) = (&mut work.items, work.keys.len());
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
                std::mem::swap(&mut work.items, &mut work.keys);
                work.progress.second = true;
            } else {
                let list = machine.list_of(work)?;
                work.keys.push(list);
                work.items.truncate(0, machine.heap);
                work.made = None;
            }
            machine.meter.advanced();
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::same(rule)
    }
}
