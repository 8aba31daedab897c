//! The end of a walk: resolves labels to addresses and analyses the whole code.

use super::{optimise, Compiled, Walk};
use crate::opcode::OpCode;
use crate::ops::Tally;
use crate::program::{Const, ConstId, Instr, Loop, LoopKind, Program, INPUT};
use crate::source::Source;

impl<N: Copy> Walk<N> {
    /// Returns the program at the end of the walk.
    pub fn finish<S: Source<Node = N>>(mut self, source: &S) -> Compiled<N> {
        self.code.push(Instr::Done);
        let consts = self.all_consts(source);
        let (sites, detail) = self.take_sites();
        let labels = self.labels;
        let mut calls_tools = false;
        for instr in &mut self.code {
            match instr {
                Instr::Jump(to) | Instr::JumpIf { to, .. } => *to = labels[*to as usize],
                Instr::Enter(looped) | Instr::Next(looped) => {
                    looped.to = labels[looped.to as usize]
                }
                Instr::Slot(INPUT) => self.reads_input = true,
                Instr::Call { .. } => calls_tools = true,
                _ => {}
            }
        }
        let has_parts = |id: &ConstId| match consts.get(*id as usize) {
            Some(Const::Node(node)) => source.has_parts(*node),
            _ => false,
        };
        let multiplies = multiplies(&self.code, has_parts);
        // In an observed program each operation is executed as written.
        if sites.is_empty() {
            tally_in_loops(&mut self.code);
            optimise::optimise(&mut self.code);
        }
        Compiled {
            program: Program {
                code: self.code,
                slots: self.slots,
                reads_input: self.reads_input,
                multiplies,
                calls_tools,
                strict: self.strict,
                any_keys: self.any_keys,
                values: self.values,
                sites,
                detail,
            },
            consts,
        }
    }
}

/// The results of a program that may use a value more often than this are weighed.
const MANY_PLACES: u32 = 64;

/// See [`Program::multiplies`]: a value from outside a loop that the loop uses for each item; or a
/// term built from several terms, nested several times.
///
/// Constants without parts are ignored here: the weight of a result accounts for them.
fn multiplies(code: &[Instr], has_parts: impl Fn(&ConstId) -> bool) -> bool {
    // The first slots of the `map` loops around an instruction.
    let mut inside: Vec<u32> = Vec::new();
    let mut places: u32 = 1;
    for instr in code {
        let from_outside = match instr {
            Instr::Enter(enter) => {
                inside.extend((enter.kind == LoopKind::Map).then_some(enter.item));
                false
            }
            Instr::Next(next) => {
                inside.pop_if(|_| next.kind == LoopKind::Map);
                false
            }
            Instr::Apply(apply) if apply.op.combines() => {
                places = places.saturating_mul(apply.operands.max(1));
                false
            }
            Instr::Slot(slot) => inside.last().is_some_and(|item| slot < item),
            Instr::LoadContext(_) | Instr::LoadMemory(_) => !inside.is_empty(),
            Instr::Const(id) => !inside.is_empty() && has_parts(id),
            // The default is used for each item without a value.
            Instr::Apply(apply) if apply.op == OpCode::Get => {
                !inside.is_empty() && has_parts(&apply.c)
            }
            _ => false,
        };
        if from_outside || places >= MANY_PLACES {
            return true;
        }
    }
    false
}

/// Lets a loop tally its items if its list is only tallied.
fn tally_in_loops(code: &mut [Instr]) {
    for at in 0..code.len().saturating_sub(2) {
        let (Instr::Next(next), Instr::StoreOnce(slot), Instr::Apply(apply)) =
            (code[at], code[at + 1], code[at + 2])
        else {
            continue;
        };
        if apply.input == slot && Tally::of(apply.op).is_some() {
            let tally = Some((apply.op, apply.a));
            code[at] = Instr::Next(Loop { tally, ..next });
            // The loop's start directly precedes its body.
            if let Some(Instr::Enter(enter)) = code.get_mut((next.to as usize).wrapping_sub(1)) {
                enter.tally = tally;
            }
        }
    }
}
