//! Demand analysis: a list is built only as far as its consumer reads it.
//!
//! If a list goes through a slot to one operation only, that operation's entry tells which items it
//! reads. The demand is passed to the producer of the list. If the producer reads its own list index
//! by index, and cannot fail for an item, it passes the demand on. So the code is walked from its
//! end.

use super::residue;
use crate::program::{Demand, Instr, LoopKind};

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
            Instr::Enter(enter) if enter.list == slot && enter.kind == LoopKind::Map => {
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
            Instr::Next(next) => {
                next.demand = demand;
                let body = next.to as usize;
                if next.kind == LoopKind::Map {
                    residue::add(code, at - 1);
                }
                // The loop's start directly precedes its body.
                if let Some(Instr::Enter(enter)) = code.get_mut(body.wrapping_sub(1)) {
                    enter.demand = demand;
                }
            }
            _ => {}
        }
    }
}
