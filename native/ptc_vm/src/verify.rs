//! Checks of a program's instructions: where they jump, which slots they name, and how many values are on the stack.
//!
//! A program that passes never reads a value that is missing, and never leaves its code. It runs in debug builds and where
//! programs are fuzzed.

use crate::language::Language;
use crate::program::{ConstId, Instr, Loop, Pc, Program, Slot, NO_CONST, NO_PC};

/// What is wrong with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// The instruction jumps out of the code, or the code ends behind it.
    Target(Pc),
    /// It names a slot that the program does not have.
    Slot(Pc),
    /// It takes values that are not on the stack, or can be reached with different numbers of them.
    Depth(Pc),
    /// It ends a round of what is no loop, or of a loop that does not surround it.
    Loop(Pc),
    /// It names a constant that the program does not have.
    Const(Pc),
}

/// Checks the instructions from the start, and from each of these entries of functions. `consts`: the number of constants.
pub fn verify<L: Language>(
    program: &Program<L>,
    entries: &[Pc],
    consts: usize,
) -> Result<(), Broken> {
    let code = &program.code[..];
    let mut depths: Vec<Option<u32>> = vec![None; code.len()];
    let mut open: Vec<(Pc, Pc, u32)> = Vec::from([(0, 0, 0)]);
    open.extend(entries.iter().map(|entry| (*entry, *entry, 0)));
    while let Some((from, pc, depth)) = open.pop() {
        let known = depths.get_mut(pc as usize).ok_or(Broken::Target(from))?;
        match *known {
            // A residue pushes no value for the round that it ends.
            Some(known)
                if matches!(code[pc as usize], Instr::Next(_)) && known.abs_diff(depth) == 1 =>
            {
                continue
            }
            Some(known) if known != depth => return Err(Broken::Depth(pc)),
            Some(_) => continue,
            None => *known = Some(depth),
        }
        let instr = &code[pc as usize];
        if slots_of(instr).any(|slot| slot >= program.slots) {
            return Err(Broken::Slot(pc));
        }
        if constants_of(instr).any(|id| id != NO_CONST && id as usize >= consts) {
            return Err(Broken::Const(pc));
        }
        let (takes, leaves) = effect(instr);
        let below = depth.checked_sub(takes).ok_or(Broken::Depth(pc))?;
        let after = below + leaves;
        let mut goes = |to: Pc, depth: u32| open.push((pc, to, depth));
        match instr {
            Instr::Jump(to) => goes(*to, after),
            Instr::JumpIf { to, .. } => {
                goes(pc + 1, after);
                goes(*to, after);
            }
            Instr::JumpIfSome(to) => {
                goes(pc + 1, below);
                goes(*to, depth);
            }
            Instr::Enter(looped) => {
                goes(pc + 1, depth);
                goes(looped.end, depth + 1);
                if looped.residue != NO_PC {
                    goes(looped.residue, depth);
                }
            }
            Instr::Next(start) => {
                let looped = code.get(*start as usize).and_then(Instr::as_loop);
                looped.filter(|_| *start < pc).ok_or(Broken::Loop(pc))?;
            }
            Instr::Call { on_error, .. } => {
                goes(pc + 1, after);
                if *on_error != NO_PC {
                    goes(*on_error, after);
                }
            }
            Instr::Own(own) => {
                let flow = L::flow(own);
                goes(flow.next.unwrap_or(pc + 1), after);
                if let Some((to, leaves)) = flow.branch {
                    goes(to, below + leaves);
                }
            }
            Instr::Done | Instr::Return | Instr::Fail(_) => {}
            _ => goes(pc + 1, after),
        }
    }
    Ok(())
}

/// Returns how many values an instruction takes from the stack, and how many it leaves there.
fn effect<L: Language>(instr: &Instr<L>) -> (u32, u32) {
    match instr {
        Instr::Const(_) | Instr::Nil | Instr::Bool(_) | Instr::Slot(_) => (0, 1),
        Instr::LoadContext(_) | Instr::LoadMemory(_) => (0, 1),
        Instr::Store(_) | Instr::StoreOnce(_) | Instr::Drop | Instr::JumpIf { .. } => (1, 0),
        Instr::JumpIfSome(_) => (1, 0),
        Instr::Call { .. } | Instr::Ask(_) | Instr::Return | Instr::Done => (1, 1),
        Instr::Invoke(arguments) => (arguments + 1, 1),
        // How many it takes is known when it runs.
        Instr::InvokeCount(_) => (1, 1),
        Instr::Apply(apply) => (apply.operands, 1),
        Instr::Own(own) => L::flow(own).depth,
        Instr::Jump(_) | Instr::Enter(_) | Instr::Next(_) | Instr::Expect { .. } => (0, 0),
        Instr::Fail(_) | Instr::Watch(_) => (0, 0),
    }
}

/// Returns the slots that an instruction names.
fn slots_of<L: Language>(instr: &Instr<L>) -> impl Iterator<Item = Slot> {
    let slots = match instr {
        Instr::Slot(slot)
        | Instr::Store(slot)
        | Instr::StoreOnce(slot)
        | Instr::InvokeCount(slot) => [Some(*slot), None],
        Instr::Enter(Loop { list, item, .. }) => [Some(*list), Some(*item)],
        Instr::Expect { input, .. } => [Some(*input), None],
        Instr::Apply(apply) => [Some(apply.input), None],
        Instr::Own(own) => [Some(L::flow(own).reads), None],
        _ => [None, None],
    };
    slots.into_iter().flatten()
}

/// Returns the constants that an instruction names; those of an operation are its own matter.
fn constants_of<L: Language>(instr: &Instr<L>) -> impl Iterator<Item = ConstId> {
    let id = match instr {
        Instr::Const(id) | Instr::LoadContext(id) | Instr::LoadMemory(id) => Some(*id),
        Instr::Call { tool, .. } => Some(*tool),
        _ => None,
    };
    id.into_iter()
}
