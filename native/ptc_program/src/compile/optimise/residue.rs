//! The part of a `map`'s body that must run for an item whose value is not read: whatever can fail for
//! this item and not for another. Failures that do not depend on the item are found with the first
//! item, for which the whole body runs.

use crate::code::{Instr, Loop, Slot, NO_PC};

/// An instruction of a body without jumps, with the instructions that produce its operands.
struct ResiduePart {
    /// How many instructions produce its value; they are consecutive, and it is the last of them.
    length: usize,
    /// Whether its value depends on the item.
    depends: bool,
    /// Whether it must be run for each item.
    checks: bool,
}

/// Returns whether the residue of the loop that starts at `enter` is empty.
pub(super) fn is_empty(code: &[Instr], enter: usize) -> bool {
    match code[enter] {
        Instr::Enter(enter) if enter.residue != NO_PC => {
            matches!(code[enter.residue as usize], Instr::Next(_))
        }
        _ => false,
    }
}

/// Appends the residue of a loop to the code, given its `Enter` and its `Next`, if its body is simple
/// enough.
pub(super) fn add(code: &mut Vec<Instr>, enter: usize, next: usize) {
    let body = enter + 1;
    let Instr::Enter(looped) = code[enter] else {
        return;
    };
    let Some(parts) = parts(&code[body..next], looped.item) else {
        return;
    };
    // Starts from the end: a part that must run, runs with all its operands.
    let mut runs = Vec::new();
    let mut end = parts.len();
    while end > 0 {
        let part = &parts[end - 1];
        match part.checks {
            true => {
                runs.push(body + end - part.length..body + end);
                end -= part.length;
            }
            false => end -= 1,
        }
    }
    let residue = match runs.is_empty() {
        true => next as u32,
        false => code.len() as u32,
    };
    for run in runs.into_iter().rev() {
        code.extend_from_within(run);
        code.push(Instr::Drop);
    }
    if residue != next as u32 {
        code.push(Instr::Jump(next as u32));
    }
    code[enter] = Instr::Enter(Loop { residue, ..looped });
}

/// Returns the parts of a body; `None` if it contains other instructions, such as jumps or
/// calls.
fn parts(body: &[Instr], item: Slot) -> Option<Vec<ResiduePart>> {
    let mut parts: Vec<ResiduePart> = Vec::with_capacity(body.len());
    // The indices of the values that no instruction has consumed yet.
    let mut open: Vec<usize> = Vec::new();
    for instr in body {
        let mut part = ResiduePart {
            length: 1,
            depends: false,
            checks: false,
        };
        match instr {
            Instr::Const(_) | Instr::Nil | Instr::Bool(_) => {}
            Instr::LoadContext(_) | Instr::LoadMemory(_) => {}
            Instr::Slot(slot) => part.depends = *slot == item,
            Instr::Apply(apply) => {
                let taken = open.len().checked_sub(apply.operands as usize)?;
                for operand in open.drain(taken..) {
                    part.length += parts[operand].length;
                    part.depends |= parts[operand].depends;
                }
                part.depends |= apply.input == item;
                part.checks = part.depends && apply.op.can_fail(apply);
            }
            _ => return None,
        }
        open.push(parts.len());
        parts.push(part);
    }
    (open.len() == 1).then_some(parts)
}
