//! Converts filters whose condition is a comparison of a field with a constant, or `and` or
//! `or` of such comparisons, to one instruction.

use crate::code::{Apply, Instr, Own, Pc, Sieve, Slot, Tests, NO_CONST};
use crate::ops::Orders;
use ptc_vm::Keeps;

/// Replaces the start of each suitable loop with a sieve.
pub(super) fn find(code: &mut [Instr]) {
    for at in 0..code.len() {
        let Instr::Enter(enter) = code[at] else {
            continue;
        };
        if let (Keeps::Item(_), Some(tests)) = (enter.op.keeps(), tests(code, at, enter.item)) {
            code[at] = Instr::Own(Own::Sieve(Sieve {
                looped: enter,
                tests,
            }));
        }
    }
}

/// Returns whether this compares a field with a constant, so that a sieve can evaluate it.
fn is_test(apply: &Apply) -> bool {
    apply.op.holds_for() != Orders::NONE && apply.key != NO_CONST && apply.value != NO_CONST
}

/// Returns the comparisons in the body of the loop that starts at `start`.
fn tests(code: &[Instr], start: usize, item: Slot) -> Option<Tests> {
    let first = start + 1;
    let compares = |at: usize| match code.get(at) {
        Some(Instr::Apply(apply)) => apply.input == item && is_test(apply),
        _ => false,
    };
    let ends = |at: usize| code.get(at) == Some(&Instr::Next(start as Pc));
    let tests = |count, decisive| {
        Some(Tests {
            first: first as Pc,
            count,
            decisive,
        })
    };
    if compares(first) && ends(first + 1) {
        return tests(1, true);
    }
    let Some(Instr::JumpIf { when, to }) = code.get(first + 1).copied() else {
        return None;
    };
    let jump = Some(Instr::JumpIf { when, to });
    let (mut at, mut count) = (first, 0);
    while compares(at) && code.get(at + 1).copied() == jump {
        (at, count) = (at + 2, count + 1);
    }
    let behind = [
        Instr::Bool(!when),
        Instr::Jump(at as Pc + 3),
        Instr::Bool(when),
    ];
    let decided = to as usize == at + 2;
    match count > 0 && decided && code.get(at..at + 3) == Some(&behind) && ends(at + 3) {
        true => tests(count, when),
        false => None,
    }
}
