//! Converts arithmetic on two fields, constants or slots to one instruction.

use crate::code::{Formula, Instr, Own, Pc, Side, NO_CONST, NO_PC};
use crate::ops::{is_computed, reads_field};
use crate::shape::{Aggregate, OpShape};

/// Replaces the first of the three instructions of each suitable operation; the other two stay, because they may be
/// reached in another way, and for sides that are no numbers.
pub(super) fn find(code: &mut [Instr]) {
    for at in 0..code.len().saturating_sub(2) {
        let op = match &code[at + 2] {
            Instr::Apply(apply) if is_computed(apply.op) => apply.op,
            _ => continue,
        };
        if let (Some(left), Some(right)) = (side(&code[at]), side(&code[at + 1])) {
            code[at] = Instr::Own(Own::Formula(Formula {
                op,
                left,
                right,
                at: at as Pc,
                tallied_by: tallied_by(code, at).unwrap_or(NO_PC),
            }));
        }
    }
}

fn side(instr: &Instr) -> Option<Side> {
    match instr {
        Instr::Const(id) => Some(Side::Const(*id)),
        Instr::Slot(slot) => Some(Side::Slot(*slot)),
        Instr::Apply(apply) => {
            let is_field = reads_field(apply) && apply.value == NO_CONST;
            is_field.then_some(Side::Field(apply.input, apply.key))
        }
        _ => None,
    }
}

/// Returns the address of the loop that tallies the values of the three instructions from an address on, if they are all
/// of its body.
fn tallied_by(code: &[Instr], at: usize) -> Option<Pc> {
    let start = at.checked_sub(1)?;
    let looped = code[start].as_loop()?;
    let is_tally = matches!(
        looped.op.shape(),
        OpShape::Aggregate(Aggregate::Sum | Aggregate::Mean)
    );
    let is_body = code.get(at + 3) == Some(&Instr::Next(start as Pc));
    (is_tally && is_body).then_some(start as Pc)
}
