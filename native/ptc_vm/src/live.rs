//! Liveness analysis: the slots, and the keys of the context and the memory, that a run can still read.
//!
//! A run that moves to another process takes only these along. What is reported dead is never read
//! again; what is reported live may be read.

use crate::language::Language;
use crate::program::{ConstId, Instr, Pc, Program, Slot, NO_PC};
use std::sync::OnceLock;

/// Longer programs are not analysed: everything in them counts as live.
const LONGEST: usize = 1024;
/// Programs with more slots are not analysed: a set of slots is one word.
const MOST_SLOTS: u32 = 64;
/// Maximum number of passes over the code to propagate liveness through loops.
const MOST_PASSES: usize = 16;

/// The live data at one address of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// The live slots, one per bit.
    slots: u64,
    /// The keys that are read from the context.
    pub context: Vec<ConstId>,
    /// The keys that are read from the memory.
    pub memory: Vec<ConstId>,
    /// The innermost loop around the address.
    pub around: Option<Around>,
}

/// A loop during an iteration that has called a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Around {
    /// Whether any of the remaining items is read, and not only counted.
    pub reads_items: bool,
    /// Whether each remaining iteration calls a tool, unless an earlier one fails.
    pub calls_each_round: bool,
}

impl Live {
    /// Returns whether a slot can still be read.
    pub fn slot(&self, slot: Slot) -> bool {
        self.slots >> slot & 1 == 1
    }
}

/// What is live behind each call of a program; computed when it is first asked for.
#[derive(Debug, Clone, Default)]
pub struct LiveAfterCalls(Vec<(Pc, OnceLock<Option<Live>>)>);

/// What has been computed is no part of a program.
impl PartialEq for LiveAfterCalls {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl LiveAfterCalls {
    /// For a program with these instructions. Nothing is known behind the calls of a long one.
    pub fn of<L: Language>(code: &[Instr<L>]) -> Self {
        let is_call = |instr: &Instr<L>| matches!(instr, Instr::Call { .. });
        let short = code.iter().take_while(|_| code.len() <= LONGEST);
        let calls = short.enumerate().filter(|(_, instr)| is_call(instr));
        LiveAfterCalls(
            calls
                .map(|(at, _)| (at as Pc + 1, OnceLock::new()))
                .collect(),
        )
    }
}

/// Returns what is live before the instruction at `pc`, which follows a call. `None` if liveness is unknown, see
/// [`analyse`].
pub fn live_at<L: Language>(program: &Program<L>, pc: Pc) -> Option<&Live> {
    let LiveAfterCalls(calls) = &program.live;
    let place = calls.binary_search_by_key(&pc, |(after, _)| *after).ok()?;
    calls[place].1.get_or_init(|| analyse(program, pc)).as_ref()
}

/// Computes what is live before the instruction at `pc`, which follows a call. All loops of the run must
/// have proper lists, as in a program that calls tools. `None` if liveness is unknown: for a long
/// program, for one that is observed or may report existing names, and for one whose keys can be atoms.
fn analyse<L: Language>(program: &Program<L>, pc: Pc) -> Option<Live> {
    let code = &program.code[..];
    // The slots behind a call are those of another activation.
    let calls = |instr: &Instr<L>| {
        matches!(
            instr,
            Instr::Invoke(_) | Instr::InvokeCount(_) | Instr::Return
        )
    };
    (!code.iter().any(calls)).then_some(())?;
    let reading = program.reading;
    let reads_names = program.language.reads_names() || reading.any_keys || reading.values;
    (program.sites.is_empty() && !reads_names).then_some(())?;
    (code.len() <= LONGEST && program.slots <= MOST_SLOTS).then_some(())?;
    let mut reached = vec![false; code.len()];
    // The call may also fail.
    let failed = (pc.checked_sub(1)).and_then(|call| next_of(code, &code[call as usize], call)[1]);
    let mut open = Vec::from_iter([Some(pc), failed].into_iter().flatten());
    while let Some(pc) = open.pop() {
        let Some(instr) = code.get(pc as usize) else {
            continue;
        };
        if !std::mem::replace(&mut reached[pc as usize], true) {
            open.extend(next_of(code, instr, pc).into_iter().flatten());
        }
    }
    let slots = slots(code, &reached)?;
    let mut live = Live {
        slots: slots.get(pc as usize)? | failed.map_or(0, |pc| slots[pc as usize]),
        context: Vec::new(),
        memory: Vec::new(),
        around: around(code, &slots, pc),
    };
    for (instr, _) in code.iter().zip(reached).filter(|(_, reached)| *reached) {
        match instr {
            Instr::LoadContext(key) => live.context.push(*key),
            Instr::LoadMemory(key) => live.memory.push(*key),
            _ => {}
        }
    }
    Some(live)
}

/// Returns the innermost loop around the call before `pc`.
fn around<L: Language>(code: &[Instr<L>], slots: &[u64], pc: Pc) -> Option<Around> {
    // A residue is outside of the loop that it belongs to.
    let mut loops = code.iter().filter_map(Instr::as_loop);
    if loops.any(|looped| looped.residue != NO_PC) {
        return None;
    }
    let start = code[pc as usize..].iter().find_map(|instr| match instr {
        Instr::Next(start) if *start < pc => Some(*start as usize),
        _ => None,
    })?;
    let looped = code[start].as_loop()?;
    let mut before = (start as Pc + 1..pc).zip(&code[start + 1..]);
    let jumps = |(at, instr): (Pc, &Instr<L>)| match instr {
        Instr::Own(own) => {
            let flow = L::flow(own);
            flow.next.is_some_and(|next| next != at + 1) || flow.branch.is_some()
        }
        _ => matches!(
            instr,
            Instr::Jump(_) | Instr::JumpIf { .. } | Instr::JumpIfSome(_) | Instr::Enter(_)
        ),
    };
    Some(Around {
        reads_items: slots[start + 1] >> looped.item & 1 == 1,
        calls_each_round: !before.any(jumps),
    })
}

/// Returns the live slots before each instruction, by fixed-point iteration; `None` after too many
/// passes.
fn slots<L: Language>(code: &[Instr<L>], reached: &[bool]) -> Option<Vec<u64>> {
    let mut live = vec![0; code.len()];
    for _ in 0..MOST_PASSES {
        let mut changed = false;
        for at in (0..code.len()).rev().filter(|at| reached[*at]) {
            let instr = &code[at];
            let next = next_of(code, instr, at as Pc).into_iter().flatten();
            let after = next
                .filter_map(|pc| live.get(pc as usize))
                .fold(0, |all, slots| all | slots);
            let (reads, writes) = slots_of(code, instr);
            let before = reads | (after & !writes);
            changed |= before != live[at];
            live[at] = before;
        }
        if !changed {
            return Some(live);
        }
    }
    None
}

/// Returns the possible addresses after an instruction.
fn next_of<L: Language>(code: &[Instr<L>], instr: &Instr<L>, pc: Pc) -> [Option<Pc>; 3] {
    match instr {
        Instr::Jump(to) => [Some(*to), None, None],
        Instr::JumpIf { to, .. } | Instr::JumpIfSome(to) => [Some(pc + 1), Some(*to), None],
        Instr::Enter(looped) => [Some(pc + 1), Some(looped.end), None],
        Instr::Own(own) => {
            let flow = L::flow(own);
            let branch = flow.branch.map(|(to, _)| to);
            [flow.next.or(Some(pc + 1)), branch, None]
        }
        Instr::Next(start) => [
            Some(*start + 1),
            code[*start as usize].as_loop().map(|looped| looped.end),
            (code[*start as usize].as_loop())
                .and_then(|looped| (looped.residue != NO_PC).then_some(looped.residue)),
        ],
        Instr::Call { on_error, .. } => {
            let failed = (*on_error != NO_PC).then_some(*on_error);
            [Some(pc + 1), failed, None]
        }
        Instr::Done | Instr::Return | Instr::Fail(_) => [None; 3],
        Instr::Const(_)
        | Instr::Nil
        | Instr::Bool(_)
        | Instr::Slot(_)
        | Instr::Store(_)
        | Instr::StoreOnce(_)
        | Instr::LoadContext(_)
        | Instr::LoadMemory(_)
        | Instr::Drop
        | Instr::Expect { .. }
        | Instr::Apply(_)
        | Instr::Invoke(_)
        | Instr::InvokeCount(_)
        | Instr::Ask(_)
        | Instr::Watch(_) => [Some(pc + 1), None, None],
    }
}

/// Returns the slots that an instruction reads, and those that it always writes.
fn slots_of<L: Language>(code: &[Instr<L>], instr: &Instr<L>) -> (u64, u64) {
    let bit = |slot: Slot| 1u64 << slot;
    match instr {
        Instr::Slot(slot) | Instr::InvokeCount(slot) => (bit(*slot), 0),
        Instr::Store(slot) | Instr::StoreOnce(slot) => (0, bit(*slot)),
        // The item is not written for an empty list; then the code after the loop does not read it.
        Instr::Enter(looped) => (bit(looped.list), bit(looped.item)),
        Instr::Own(own) => (bit(L::flow(own).reads), 0),
        Instr::Next(start) => match code[*start as usize].as_loop() {
            // The item is read where it is kept, and written if there is another one.
            Some(looped) if L::keeps_item(looped.op) || looped.residue != NO_PC => {
                (bit(looped.item), bit(looped.item))
            }
            Some(looped) => (0, bit(looped.item)),
            None => (0, 0),
        },
        Instr::Expect { input, .. } => (bit(*input), 0),
        Instr::Apply(apply) if L::reads_input(apply.op) => (bit(apply.input), 0),
        Instr::Apply(_) => (0, 0),
        Instr::Const(_)
        | Instr::Nil
        | Instr::Bool(_)
        | Instr::LoadContext(_)
        | Instr::LoadMemory(_)
        | Instr::Drop
        | Instr::Jump(_)
        | Instr::JumpIf { .. }
        | Instr::JumpIfSome(_)
        | Instr::Call { .. }
        | Instr::Invoke(_)
        | Instr::Return
        | Instr::Ask(_)
        | Instr::Fail(_)
        | Instr::Watch(_)
        | Instr::Done => (0, 0),
    }
}
