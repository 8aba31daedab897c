//! `distinct`.

use super::{keyed, Field, FieldKind, Operation, Planned};
use crate::code::{Apply, NO_CONST};
use crate::compile::Plan;
use crate::typing::{rules, Next, Rule};
use ptc_machine::{Eval, Keeps, Machine, KEPT_BETWEEN_CHECKS};
use ptc_term::heap::Heap;

pub(super) struct Distinct;

impl Operation for Distinct {
    const NAME: &'static str = "distinct";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items without repetitions; 1 and 1.0 are two.";
    const TYPES: &'static str = "[T] to [T]";
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
        machine.resumable(apply, |machine, work| {
            keyed::begin(machine, apply, work)?;
            let (items, keys, progress) = (&mut work.items, &mut work.keys, &mut work.progress);
            let table = progress.table.get_or_insert_default();
            let (kinds, rests) = (&progress.kinds, &mut work.rests);
            let by_itself = apply.operands == 0 && apply.key == NO_CONST;
            if by_itself {
                machine.each_item(apply, &mut work.walk, |machine, item| {
                    machine.consume_fuel_to_hash(item)?;
                    table.insert(machine, kinds, items, item)?;
                    Ok(())
                })?;
                return machine.list_of(work);
            }
            machine.each_item(apply, &mut work.walk, |machine, item| {
                let keyed = keyed::key_of(machine, apply, rests.first().copied(), item)?;
                machine.consume_fuel_to_hash(keyed.0)?;
                let before = keys.len();
                if before % KEPT_BETWEEN_CHECKS == 0 {
                    machine.check_heap_limit(table.words() + 2 * before)?;
                }
                table.insert(machine, kinds, keys, keyed.0)?;
                if keys.len() > before {
                    items.push(item);
                }
                keyed::advance(rests, keyed);
                Ok(())
            })?;
            machine.list_of(work)
        })
    }

    fn types(rule: &mut Rule) -> Next {
        rules::lists::keyed(rule)
    }
}
