//! What is dropped is not built: each list is made as far as what comes after it looks at it.
//!
//! Where a list goes through a slot to one operation and to nothing else, that operation's entry says
//! what it looks at. What makes the list is told. If it looks at its own list place by place, and
//! cannot fail for an item, the same goes for the list that it gets: so the code is walked from its
//! end.

use super::residue;
use crate::program::{Demand, Instr, LoopKind};

/// Tells what makes a list what is looked at.
pub(super) fn find(code: &mut Vec<Instr>) {
    for at in (1..code.len().saturating_sub(1)).rev() {
        let Instr::StoreOnce(slot) = code[at] else {
            continue;
        };
        let demand = match code[at + 1] {
            Instr::Apply(apply) if apply.input == slot && apply.operands == 0 => {
                apply.op.needs(&apply, apply.demand)
            }
            // A `map` looks at each place for the same place of its own value. It must not fail for
            // one that is left out.
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
                // The loop's start stands right before its body.
                if let Some(Instr::Enter(enter)) = code.get_mut(body.wrapping_sub(1)) {
                    enter.demand = demand;
                }
            }
            _ => {}
        }
    }
}
