//! Lists made of a list's items in another arrangement: `flat_map`, `flatten`, `reverse`, `chunk`.

use super::transform::{plan_loop, AS, EXPR};
use super::{Edition, Field, FieldKind, Keeps, OpCode, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine, Slot};
use crate::compile::Plan;
use crate::fault::{Code, Errors};
use crate::shape::{OpShape, Order};
use ptc_kernels::{chunked, flattened, Chunks, Flattening, Walk};
use ptc_term::heap::Heap;
use ptc_term::rooted;

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
        machine.resumable(begin, |machine, work| {
            let items = flattened(machine, lists, work, true);
            machine.worked(apply.op, items)
        })
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
        let list = machine.slot(apply.input);
        machine.resumable(begin, |machine, work| {
            let items = flattened(machine, list, work, false);
            machine.worked(apply.op, items)
        })
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
        let list = machine.slot(apply.input);
        machine.resumable(begin, |machine, work| {
            let chunks = chunked(machine, list, work, size);
            machine.worked(apply.op, chunks)
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
