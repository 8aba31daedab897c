//! Extremes by a field or an expression: `min`, `max`, `min_by`, `max_by`.

use super::field::FIELD_OF_ITEMS;
use super::keyed::Keying;
use super::{keyed, Field, Operation, Planned};
use crate::code::{Apply, Eval, Halt, Machine};
use crate::compile::Plan;
use crate::shape::{Aggregate, OpShape, Which};
use ptc_term::heap::{Heap, Kind};
use ptc_term::suspend::{Exchange, Rooted};
use ptc_vm::Keeps;
use std::cmp::Ordering;

/// An item and its key.
type Extreme<T> = (T, T);

/// Returns the item whose key is first in an order, with that key; of equal ones the first.
fn extreme<H: Heap>(
    machine: &mut Machine<'_, H>,
    apply: &Apply,
    better: Ordering,
) -> Result<Option<Extreme<H::Term>>, Halt<H::Term>> {
    machine.resumable(
        |machine| Best::over(machine.slot(apply.input)),
        |machine, work| {
            work.keying.begin(machine, apply)?;
            let Best { keying, best } = work;
            let (kinds, computed) = (&keying.kinds, &mut keying.computed);
            machine.each_item(apply, &mut keying.walk, |machine, item| {
                let keyed = keyed::key_of(machine, apply, *computed, item)?;
                let value = keyed.0;
                let is_better = match best {
                    _ if machine.heap.kind(value) == Kind::Nil => false,
                    None => true,
                    Some((_, least)) => match kinds.is_empty() {
                        true => machine.compare(value, *least)? == better,
                        false => machine.compare_among(kinds, value, *least)? == better,
                    },
                };
                if is_better {
                    *best = Some((item, value));
                }
                keyed::advance(computed, keyed);
                Ok(())
            })?;
            Ok(*best)
        },
    )
}

/// The best item so far, and its key.
#[derive(Debug, Clone, PartialEq)]
pub struct Best<T> {
    keying: Keying<T>,
    best: Option<Extreme<T>>,
}

impl<T> Rooted for Best<T> {
    type Term = T;
    type With<U> = Best<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Best<X::Into>, X::Lost> {
        Ok(Best {
            keying: self.keying.exchange(by)?,
            best: match self.best {
                None => None,
                Some((item, key)) => Some((by.term(item)?, by.term(key)?)),
            },
        })
    }
}

impl<T: Copy> Best<T> {
    fn over(list: T) -> Self {
        Best {
            keying: Keying::over(list),
            best: None,
        }
    }
}

macro_rules! extreme {
    ($op:ident, $name:literal, $about:literal, $types:literal, $shape:expr, $about_2:literal, $better:expr, $of:expr) => {
        pub(super) struct $op;

        impl Operation for $op {
            const NAME: &'static str = $name;
            const FAMILY: &'static str = "Aggregate";
            const ABOUT: &'static str = $about;
            const TYPES: &'static str = $types;
            const SHAPE: OpShape = $shape;
            const FIELDS: &'static [Field] = FIELD_OF_ITEMS;
            const FIELDS_2: &'static [Field] = keyed::FIELD_OR_EXPR;
            const ABOUT_2: &'static str = $about_2;
            const KEEPS: Keeps = Keeps::Value;

            fn check(plan: &Plan) -> Planned {
                keyed::check_forms(plan)
            }

            fn plan(plan: &mut Plan) -> Planned {
                let field = plan.constant_of("field");
                keyed::plan_keys(plan, field, 0);
                Ok(())
            }

            fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
                let best = extreme(machine, apply, $better)?;
                Ok(best.map_or(machine.heap.nil(), $of))
            }
        }
    };
}

extreme! {
    Min, "min", "The smallest value of a field.", "list of objects to the type of the field, or null", OpShape::Aggregate(Aggregate::Extreme), "The smallest value of a field or an expression.",
    Ordering::Less, |(_, value)| value
}
extreme! {
    Max, "max", "The largest value of a field.", "list of objects to the type of the field, or null", OpShape::Aggregate(Aggregate::Extreme), "The largest value of a field or an expression.",
    Ordering::Greater, |(_, value)| value
}
extreme! {
    MinBy, "min_by", "The item with a field's smallest value.", "[T] to T or null", OpShape::Item(Which::Keyed),
    "The item with a field's or an expression's smallest value.", Ordering::Less, |(item, _)| item
}
extreme! {
    MaxBy, "max_by", "The item with a field's largest value.", "[T] to T or null", OpShape::Item(Which::Keyed),
    "The item with a field's or an expression's largest value.", Ordering::Greater, |(item, _)| item
}
