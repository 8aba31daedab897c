//! Demand analysis: a list is built only as far as its consumer reads it.
//!
//! If a list goes through a slot to one operation only, that operation's entry tells which items it
//! reads. The demand is passed to the producer of the list. If the producer reads its own list index
//! by index, and cannot fail for an item, it passes the demand on. So the code is walked from its
//! end.

use super::residue;
use crate::code::{Demand, Instr};
use ptc_vm::Keeps;

/// Passes the demand of each list to its producer.
pub(super) fn find(code: &mut Vec<Instr>) {
    for at in (1..code.len().saturating_sub(1)).rev() {
        let Instr::StoreOnce(slot) = code[at] else {
            continue;
        };
        let demand = match code[at + 1] {
            Instr::Apply(apply) if apply.input == slot && apply.operands == 0 => {
                apply.op.needs(&apply, apply.demand)
            }
            // A `map` reads an index for the same index of its own value. It must not fail for an
            // item that is skipped.
            Instr::Enter(enter) if enter.list == slot && enter.op.keeps() == Keeps::Value => {
                match residue::is_empty(code, at + 1) {
                    true => enter.demand,
                    false => Demand::All,
                }
            }
            _ => Demand::All,
        };
        if demand == Demand::All {
            continue;
        }
        match &mut code[at - 1] {
            Instr::Apply(apply) => apply.demand = demand,
            Instr::Next(start) => {
                let start = *start as usize;
                if let Instr::Enter(looped) = &mut code[start] {
                    looped.demand = demand;
                    if looped.op.keeps() == Keeps::Value {
                        residue::add(code, start, at - 1);
                    }
                }
            }
            _ => {}
        }
    }
}
