//! Rows of a join that are only read by field, and are not put together therefore.
//!
//! `set` and `map` make a new map of each row, so the row itself is dropped. If the body of such a loop reads nothing but single
//! fields of the row, the join gives it pairs of an item and its match: see [`makes_pairs`]. The fields are
//! read from the two, and `set` makes its map of the two.

use crate::code::{Apply, ConstId, Instr, Own, Pc, Slot, NO_PC};
use crate::ops::{
    begins_set, compares_input, make_of_pair, make_pairs, makes_pairs, read_of_pair, reads_field,
};
use crate::shape::{Comparison, NumberOf, OpShape, Reshaping};
use ptc_json::Node;
use ptc_vm::Keeps;

/// Loops with a longer body get whole rows, and those where it takes longer to find out that no instruction behind them reads
/// the rows.
const LONGEST: usize = 256;

/// Replaces the rows of each suitable join with pairs. Only for maps with strings as keys: an item and its match may
/// have an atom and a string of one name, of which the row has one.
pub(super) fn find(code: &mut [Instr], consts: &mut Vec<Node>) {
    let is_join = |instr: &Instr| matches!(instr, Instr::Apply(apply) if makes_pairs(apply));
    if !code.iter().any(is_join) {
        return;
    }
    let targets = targets(code);
    for at in 0..code.len().saturating_sub(4) {
        let Instr::Apply(join) = code[at] else {
            continue;
        };
        let (Instr::Store(rows) | Instr::StoreOnce(rows)) = code[at + 1] else {
            continue;
        };
        // The rows may also be the value of another branch.
        if !makes_pairs(&join) || targets[at + 1..at + 4].contains(&true) {
            continue;
        }
        let begun = match (code[at + 2], code[at + 3]) {
            (Instr::Apply(set), Instr::Store(list)) if begins_set(&set) && set.input == rows => {
                Some((at + 4, list))
            }
            (Instr::Enter(_), _) => Some((at + 2, rows)),
            _ => None,
        };
        let Some(reads) = begun.and_then(|(enter, list)| reads(code, enter, [rows, list])) else {
            continue;
        };
        let loaded = |instr: &Instr| match instr {
            Instr::Apply(apply) => Some(consts[apply.key as usize]),
            _ => None,
        };
        let keys: Vec<_> = reads
            .fields
            .iter()
            .filter_map(|at| loaded(&code[*at]))
            .collect();
        for (at, key) in reads.fields.iter().zip(keys) {
            if let Instr::Apply(apply) = &mut code[*at] {
                read_of_pair(apply, consts.len() as ConstId);
                consts.extend([key, key]);
            }
        }
        if let Some(made) = reads.made {
            // Each row is a map, as `set` expects.
            code[reads.first] = Instr::Jump(reads.first as Pc + 1);
            if let Instr::Apply(set) = &mut code[made] {
                make_of_pair(set);
            }
        }
        if let Instr::Apply(join) = &mut code[at] {
            make_pairs(join);
        }
    }
}

/// Returns for each address whether an instruction jumps there.
fn targets(code: &[Instr]) -> Vec<bool> {
    let mut targets = vec![false; code.len()];
    for instr in code {
        let to = match instr {
            Instr::Jump(to) | Instr::JumpIf { to, .. } | Instr::JumpIfSome(to) => *to,
            Instr::Call { on_error, .. } => *on_error,
            _ => NO_PC,
        };
        if let Some(target) = targets.get_mut(to as usize) {
            *target = true;
        }
    }
    targets
}

/// How a loop reads its rows.
struct Reads {
    /// The first instruction of its body.
    first: usize,
    /// The instructions that read a field.
    fields: Vec<usize>,
    /// The instruction with which `set` makes its map.
    made: Option<usize>,
}

/// Returns how the loop that starts at `enter` reads its rows; `None` if it needs them whole, or if they are read
/// behind it.
fn reads(code: &[Instr], enter: usize, [rows, list]: [Slot; 2]) -> Option<Reads> {
    let Some(Instr::Enter(looped)) = code.get(enter) else {
        return None;
    };
    if looped.list != list || looped.op.keeps() != Keeps::Value || looped.residue != NO_PC {
        return None;
    }
    let mut body = code[enter..].iter().take(LONGEST);
    let next = enter + body.position(|it| *it == Instr::Next(enter as Pc))?;
    let mut reads = Reads {
        first: enter + 1,
        fields: Vec::new(),
        made: None,
    };
    let mut body = reads.first..next;
    if looped.op.shape() == OpShape::Reshaped(Reshaping::Set) {
        let expects = Instr::Expect {
            op: looped.op,
            input: looped.item,
        };
        let Some(Instr::Apply(mut set)) = code.get(next - 1).copied() else {
            return None;
        };
        if code[reads.first] != expects || set.input != looped.item || !make_of_pair(&mut set) {
            return None;
        }
        reads.made = Some(next - 1);
        body = reads.first + 1..next - 1;
    }
    let slots = [rows, list, looped.item];
    for at in body {
        match &code[at] {
            Instr::Apply(apply) if reads_field(apply) && apply.input == looped.item => {
                reads.fields.push(at);
            }
            Instr::Call { .. } | Instr::Watch(_) => return None,
            instr if slots.iter().any(|slot| uses(instr, *slot)) => return None,
            _ => {}
        }
    }
    // Behind the loop stands what makes the value of `set`, which reads whether the rows are a list.
    let behind = next + 1 + usize::from(reads.made.is_some());
    let following = code.get(behind..)?;
    let mut nearest = following.iter().take(LONGEST);
    match nearest.find(|instr| uses(instr, rows)) {
        None if following.len() > LONGEST => None,
        None | Some(Instr::Store(_) | Instr::StoreOnce(_)) => Some(reads),
        Some(_) => None,
    }
}

/// Returns whether an instruction reads or writes a slot.
fn uses(instr: &Instr, slot: Slot) -> bool {
    match instr {
        Instr::Slot(it) | Instr::Store(it) | Instr::StoreOnce(it) => *it == slot,
        Instr::Enter(looped) => looped.list == slot || looped.item == slot,
        // It reads only whether there is a value.
        Instr::Own(Own::NeedInput(_)) => false,
        // Made later, by the other optimisations.
        Instr::Own(_)
        | Instr::Invoke(_)
        | Instr::InvokeCount(_)
        | Instr::Return
        | Instr::Ask(_) => true,
        Instr::Expect { input, .. } => *input == slot,
        Instr::Apply(apply) => apply.input == slot && may_read_input(apply),
        Instr::Const(_)
        | Instr::Nil
        | Instr::Bool(_)
        | Instr::LoadContext(_)
        | Instr::LoadMemory(_)
        | Instr::Drop
        | Instr::Jump(_)
        | Instr::JumpIf { .. }
        | Instr::JumpIfSome(_)
        | Instr::Next(_)
        | Instr::Call { .. }
        | Instr::Fail(_)
        | Instr::Watch(_)
        | Instr::Done => false,
    }
}

fn may_read_input(apply: &Apply) -> bool {
    use NumberOf::{Quotient, Rounded, Sum};
    match apply.op.shape() {
        OpShape::Number(Sum | Quotient | Rounded) => false,
        OpShape::Compared(Comparison::Equal(_) | Comparison::Order(_)) => compares_input(apply),
        shape => !shape.combines(),
    }
}
