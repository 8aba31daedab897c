//! `distinct`.

use super::{Field, Operation};
use crate::code::Apply;
use ptc_machine::{Eval, Machine};
use ptc_term::heap::Heap;

pub(super) struct Distinct;

impl Operation for Distinct {
    const NAME: &'static str = "distinct";
    const FAMILY: &'static str = "Aggregate";
    const ABOUT: &'static str = "The items without repetitions; 1 and 1.0 are two.";
    const FIELDS: &'static [Field] = &[];

    fn eval<H: Heap>(machine: &mut Machine<'_, H>, apply: &Apply) -> Eval<H> {
        machine.resumable(apply, |machine, work| {
            if machine.values() && !work.progress.searched {
                let kinds = &mut work.progress.kinds;
                machine.search_items(&mut work.walk.rest, kinds, |_, item| Ok(item))?;
                work.walk.rest = machine.slot(apply.input);
                work.progress.searched = true;
            }
            let (items, progress) = (&mut work.items, &mut work.progress);
            let (table, kinds) = (&mut progress.table, &progress.kinds);
            machine.each_item(apply, &mut work.walk, |machine, item| {
                machine.consume_fuel_to_hash(item)?;
                table.insert(machine, kinds, items, item)?;
                Ok(())
            })?;
            machine.list_of(work)
        })
    }
}
