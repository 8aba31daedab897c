//! `distinct`.

use super::keyed::Keying;
use super::{keyed, Field, FieldKind, Operation, Planned};
use crate::code::{Apply, Eval, Machine, NO_CONST};
use crate::compile::Plan;
use crate::shape::{Chosen, OpShape};
use ptc_kernels::{Listing, Table, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::Heap;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_vm::Keeps;

pub(super) struct Distinct;

impl Operation for Distinct {
    const NAME: &'static str = "distinct";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items without repetitions; 1 and 1.0 are two.";
    const TYPES: &'static str = "[T] to [T]";
    const SHAPE: OpShape = OpShape::Subset(Chosen::Distinct);
    const FIELDS: &'static [Field] = &[];
    const FIELDS_2: &'static [Field] = &[
        Field::optional(
            "expr",
            FieldKind::Expr,
            "the key of an item, evaluated for each",
        ),
        Field::optional("field", FieldKind::String, "the items' key that is read"),
    ];
    const ABOUT_2: &'static str =
        "The items without repetitions, or the first one of each key; 1 and 1.0 are two.";
    const KEEPS: Keeps = Keeps::Value;

    fn check(plan: &Plan) -> Planned {
        keyed::check_not_both(plan)
    }

    fn plan(plan: &mut Plan) -> Planned {
        let key = match keyed::has_field(plan) {
            true => plan.constant_of("field"),
            false => NO_CONST,
        };
        keyed::plan_keys(plan, key, 0);
        Ok(())
    }

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(
            |machine| Distinction::over(machine.slot(apply.input)),
            |machine, work| {
                work.keying.begin(machine, apply)?;
                let Distinction {
                    keying,
                    items,
                    keys,
                    table,
                    listing,
                } = work;
                let (kinds, computed) = (&keying.kinds, &mut keying.computed);
                let by_itself = apply.operands == 0 && apply.key == NO_CONST;
                if by_itself {
                    machine.each_item(apply, &mut keying.walk, |machine, item| {
                        machine.consume_fuel_to_hash(item)?;
                        table.insert(machine, kinds, items, item)?;
                        Ok(())
                    })?;
                    return Ok(listing.all(machine, items)?);
                }
                machine.each_item(apply, &mut keying.walk, |machine, item| {
                    let keyed = keyed::key_of(machine, apply, *computed, item)?;
                    machine.consume_fuel_to_hash(keyed.0)?;
                    let before = keys.len();
                    if before % KEPT_BETWEEN_CHECKS == 0 {
                        machine.check_heap_limit(table.words() + 2 * before)?;
                    }
                    table.insert(machine, kinds, keys, keyed.0)?;
                    if keys.len() > before {
                        items.push(item);
                    }
                    keyed::advance(computed, keyed);
                    Ok(())
                })?;
                Ok(listing.all(machine, items)?)
            },
        )
    }
}

/// The different items, or the first ones of the different keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Distinction<T> {
    keying: Keying<T>,
    items: Roots<T>,
    /// The keys in the table, if the items are not keys themselves.
    keys: Roots<T>,
    table: Table,
    listing: Listing<T>,
}

rooted!(Distinction { states: keying, items, keys, listing; plain: table });

impl<T: Copy> Distinction<T> {
    fn over(list: T) -> Self {
        Distinction {
            keying: Keying::over(list),
            items: Roots::default(),
            keys: Roots::default(),
            table: Table::default(),
            listing: Listing::default(),
        }
    }
}
