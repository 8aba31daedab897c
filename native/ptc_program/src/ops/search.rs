//! Searches that end at the first item that decides: `some`, `every`, `find`.

use super::transform::{plan_loop, AS, CONDITION};
use super::{Edition, Field, Operation, Planned};
use crate::code::{Loop, Machine, Stepped};
use crate::compile::Plan;
use crate::shape::{Aggregate, OpShape, Which};
use ptc_term::heap::Heap;
use ptc_vm::{Frame, Searched, Step};

macro_rules! search {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $decisive:literal, $value:ident) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Filter/Transform";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const EDITION: Edition = Edition::Two;
            const FIELDS: &'static [Field] = &[AS, CONDITION];
            const READS_INPUT_ONCE: bool = true;

            fn plan(plan: &mut Plan) -> Planned {
                plan_loop(plan, CONDITION.name, false)
            }

            fn step<H: Heap>(
                machine: &mut Machine<'_, H>,
                looped: &Loop,
                frame: &mut Frame<H::Term>,
                returned: Option<H::Term>,
            ) -> Stepped<H> {
                let searched = machine.search_list(looped, frame, returned, $decisive)?;
                Ok(match searched {
                    Searched::Call(item) => Step::Call(item),
                    Searched::Found(item) => Step::Done($value(machine, Some(item))),
                    Searched::NotFound => Step::Done($value(machine, None)),
                })
            }
        }
    };
}

search! { ForSome, "some", "Whether the condition holds for an item; stops at the first one.", "[T] to boolean", OpShape::Aggregate(Aggregate::Decided), true, is_found }
search! { ForEvery, "every", "Whether the condition holds for all items; stops at the first other one.", "[T] to boolean", OpShape::Aggregate(Aggregate::Decided), false, is_not_found }
search! { Find, "find", "The first item for which the condition holds, nil if there is none.", "[T] to T or null", OpShape::Item(Which::Found), true, found_item }

fn is_found<H: Heap>(machine: &Machine<'_, H>, found: Option<H::Term>) -> H::Term {
    machine.heap.boolean(found.is_some())
}

fn is_not_found<H: Heap>(machine: &Machine<'_, H>, found: Option<H::Term>) -> H::Term {
    machine.heap.boolean(found.is_none())
}

fn found_item<H: Heap>(machine: &Machine<'_, H>, found: Option<H::Term>) -> H::Term {
    found.unwrap_or(machine.heap.nil())
}
