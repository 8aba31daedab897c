//! The end of a walk: resolves labels to addresses and analyses the whole code.

use super::multiplies::{multiplies, Consts};
use super::{optimise, Compiled, Walk};
use crate::code::{ConstId, Instr, Pc, Program, PtcJson, INPUT, NOW, NO_PC};
use ptc_json::Document;
use ptc_kernels::Reading;
use ptc_vm::{live::LiveAfterCalls, verify::verify, Execute, Keeps};

impl Walk {
    /// Returns the program at the end of the walk.
    pub fn finish(&mut self, source: &Document) -> Compiled {
        self.code.push(Instr::Done);
        let (sites, detail) = self.take_sites();
        let labels = std::mem::take(&mut self.labels);
        let mut calls_tools = false;
        // Behind all others, so that only the programs that read it have this slot.
        let mut now = None;
        for instr in &mut self.code {
            match instr {
                Instr::Jump(to)
                | Instr::JumpIf { to, .. }
                | Instr::JumpIfSome(to)
                | Instr::Next(to) => *to = labels[*to as usize],
                Instr::Enter(looped) => looped.end = labels[looped.end as usize],
                Instr::Slot(slot) if *slot == NOW => {
                    *slot = self.slots;
                    now = Some(self.slots);
                }
                Instr::Slot(INPUT) => self.reads_input = true,
                Instr::Call { on_error, .. } => {
                    calls_tools = true;
                    if *on_error != NO_PC {
                        *on_error = labels[*on_error as usize];
                    }
                }
                _ => {}
            }
        }
        let mut consts = std::mem::take(&mut self.consts);
        let node = |id: ConstId| consts.get(id as usize).copied();
        let multiplies = multiplies(
            &self.code,
            &Consts {
                has_parts: |id| node(id).is_some_and(|node| source.has_parts(node)),
                text: |id| source.text(node(id)?),
            },
        );
        // In an observed program each operation is executed as written.
        if sites.is_empty() {
            tally_in_loops(&mut self.code);
            let only_strings = !self.any_keys && !self.values;
            optimise::optimise(&mut self.code, only_strings.then_some(&mut consts));
        }
        // The outermost of those that begin at one address come first.
        let mut branches = std::mem::take(&mut self.branches);
        branches.sort_by_key(|it| (it.starts[0], std::cmp::Reverse(it.end)));
        let compiled = Compiled {
            program: Program {
                branches,
                live: LiveAfterCalls::of(&self.code),
                code: std::mem::take(&mut self.code),
                patterns: self
                    .patterns
                    .take()
                    .map_or(vec![], |patterns| patterns.compiled()),
                slots: self.slots + u32::from(now.is_some()),
                now,
                globals: 0,
                reads_input: self.reads_input,
                multiplies,
                calls_tools,
                reading: Reading {
                    any_keys: self.any_keys,
                    values: self.values,
                },
                language: PtcJson {
                    strict: self.strict,
                },
                sites,
                detail,
            },
            consts,
        };
        let consts = compiled.consts.len();
        debug_assert_eq!(verify(&compiled.program, &[], consts), Ok(()));
        compiled
    }
}

/// Lets a loop that makes a list tally its items if the list is only tallied.
fn tally_in_loops(code: &mut [Instr]) {
    for at in 0..code.len().saturating_sub(2) {
        let (Instr::Next(start), Instr::StoreOnce(slot), Instr::Apply(apply)) =
            (code[at], code[at + 1], code[at + 2])
        else {
            continue;
        };
        if let (Instr::Enter(looped), Some(_)) =
            (&mut code[start as usize], PtcJson::tally(apply.op))
        {
            let makes_list = looped.op.keeps() != Keeps::Other && looped.tally.is_none();
            if apply.input == slot && makes_list {
                looped.tally = Some((apply.op, apply.key));
                looped.end = at as Pc + 3;
            }
        }
    }
}
