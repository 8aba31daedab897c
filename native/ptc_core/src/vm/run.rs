//! The loop over the instructions, and how a run leaves and comes back.

use super::machine::Machine;
use super::meter::Meter;
use super::stack::Stack;
use crate::fault::{Code, Fault, Halt};
use crate::heap::{Heap, Lookup};
use crate::program::{Instr, Loop, LoopKind, Pc, Program, INPUT, NO_CONST};

/// What a program is run over.
pub struct Inputs<'i, T> {
    /// The program's constants.
    pub consts: &'i [T],
    /// Read by `load`.
    pub context: T,
    /// Read by `var`.
    pub memory: T,
}

/// Why the machine was left.
#[derive(Debug, PartialEq)]
pub enum Exit<T> {
    /// The program's value.
    Done(T),
    /// A tool is called; its answer goes to [`Vm::resume`].
    Call {
        /// The tool's name.
        tool: T,
        /// Its arguments.
        args: T,
    },
    /// It stopped before its end.
    Halted(Halt<T>),
}

/// A run, between the calls that move it on.
pub struct Vm<'h, H: Heap> {
    program: &'h Program,
    context: H::Term,
    memory: H::Term,
    machine: Machine<'h, H>,
    pc: Pc,
    /// How many values each loop has kept, innermost last.
    kept: Vec<usize>,
    has_input: bool,
}

/// What is left of a run that was frozen, less its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pc: Pc,
    kept: Vec<usize>,
    has_input: bool,
    stacked: usize,
}

/// The terms of a run that was frozen.
pub struct Frozen<T> {
    /// The content of the slots.
    pub slots: Vec<T>,
    /// The stack as a list, topmost first.
    pub stack: T,
}

impl<'h, H: Heap> Vm<'h, H> {
    /// A run from the start. `input`: the value the program starts with.
    pub fn start(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        input: Option<H::Term>,
        meter: Meter,
    ) -> Self {
        let mut slots = vec![heap.nil(); program.slots as usize];
        slots[INPUT as usize] = input.unwrap_or(slots[INPUT as usize]);
        let checkpoint = Checkpoint {
            pc: 0,
            kept: Vec::new(),
            has_input: input.is_some(),
            stacked: 0,
        };
        let stack = heap.make_list(&[]);
        Self::thaw(program, heap, inputs, checkpoint, Frozen { slots, stack }, meter)
    }

    /// A run from where it was frozen.
    pub fn thaw(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        checkpoint: Checkpoint,
        frozen: Frozen<H::Term>,
        meter: Meter,
    ) -> Self {
        let stack = Stack::thawed(frozen.stack, checkpoint.stacked);
        Vm {
            program,
            context: inputs.context,
            memory: inputs.memory,
            machine: Machine::new(heap, meter, inputs.consts, frozen.slots, stack),
            pc: checkpoint.pc,
            kept: checkpoint.kept,
            has_input: checkpoint.has_input,
        }
    }

    /// Takes the run apart; [`Vm::thaw`] puts it together again, in another call of the heap.
    pub fn freeze(mut self) -> (Checkpoint, Frozen<H::Term>) {
        let (stack, stacked) = self.machine.stack.freeze(self.machine.heap);
        let checkpoint = Checkpoint {
            pc: self.pc,
            kept: self.kept,
            has_input: self.has_input,
            stacked,
        };
        let slots = self.machine.slots;
        (checkpoint, Frozen { slots, stack })
    }

    /// How much of a scheduler's time slice has been used, in per cent.
    pub fn percent_of_slice(&self) -> i32 {
        self.machine.meter.percent_of_slice()
    }

    /// Goes on with the answer to a call.
    pub fn resume(&mut self, answer: H::Term) -> Exit<H::Term> {
        self.machine.stack.push(answer);
        self.run()
    }

    /// Goes on until there is a reason to leave.
    pub fn run(&mut self) -> Exit<H::Term> {
        match self.steps() {
            Ok(exit) => exit,
            Err(halt) => Exit::Halted(halt),
        }
    }

    fn steps(&mut self) -> Result<Exit<H::Term>, Halt<H::Term>> {
        loop {
            let instr = self.program.code[self.pc as usize];
            let machine = &mut self.machine;
            machine.tick(1)?;
            match instr {
                Instr::Const(id) => machine.stack.push(machine.constant(id)),
                Instr::Nil => machine.stack.push(machine.heap.nil()),
                Instr::Bool(value) => machine.stack.push(machine.heap.boolean(value)),
                Instr::Slot(slot) => machine.stack.push(machine.slot(slot)),
                Instr::Store(slot) => {
                    machine.slots[slot as usize] = machine.stack.pop(machine.heap)
                }
                Instr::NeedInput(op) if !self.has_input => {
                    return Err(machine.fault(op, Code::NoInput, vec![]));
                }
                Instr::NeedInput(_) => {}
                Instr::Load(key) => {
                    let value = machine.value_or_nil(self.context, key);
                    machine.stack.push(value);
                }
                Instr::Recall(key) => {
                    let value = machine.value_or_nil(self.memory, key);
                    machine.stack.push(value);
                }
                Instr::Jump(to) => {
                    self.pc = to;
                    continue;
                }
                Instr::JumpIf { when, to } => {
                    let value = machine.stack.pop(machine.heap);
                    if machine.heap.truthy(value) == when {
                        self.pc = to;
                        continue;
                    }
                }
                Instr::Enter(enter) => {
                    if !self.enter(enter)? {
                        self.pc = enter.to;
                        continue;
                    }
                }
                Instr::Next(next) => {
                    if self.next(next)? {
                        self.pc = next.to;
                        continue;
                    }
                }
                Instr::Expect { op, input } => op.expect(machine, input)?,
                Instr::Apply(apply) => {
                    let value = apply.op.eval(machine, &apply)?;
                    machine.stack.drop_top(apply.operands as usize);
                    machine.stack.push(value);
                    machine.room_for(0)?;
                }
                Instr::Call { tool, args } => {
                    self.pc += 1;
                    return Ok(Exit::Call {
                        tool: self.machine.constant(tool),
                        args: self.machine.constant(args),
                    });
                }
                Instr::Fail {
                    code,
                    op,
                    field,
                    subject,
                } => {
                    let terms = match subject {
                        NO_CONST => vec![],
                        id => vec![machine.constant(id)],
                    };
                    return Err(Halt::from(Fault {
                        code,
                        op,
                        field,
                        terms,
                    }));
                }
                Instr::Done => return Ok(Exit::Done(machine.stack.pop(machine.heap))),
            }
            self.pc += 1;
        }
    }

    /// Prepares the first round; false if there is none, with the empty list as the value.
    fn enter(&mut self, enter: Loop) -> Result<bool, Halt<H::Term>> {
        let machine = &mut self.machine;
        let list = machine.slot(enter.list);
        if machine.list_length(list)?.is_none() {
            let op = enter.kind.op();
            return Err(machine.fault(op, Code::NeedsList, vec![list]));
        }
        let Some((item, rest)) = machine.heap.uncons(list) else {
            machine.stack.push(list);
            return Ok(false);
        };
        machine.slots[enter.item as usize] = item;
        machine.slots[enter.item as usize + 1] = rest;
        self.kept.push(0);
        Ok(true)
    }

    /// Takes the body's value and prepares the next round; false after the last one, with the kept
    /// values as a list.
    fn next(&mut self, next: Loop) -> Result<bool, Halt<H::Term>> {
        let machine = &mut self.machine;
        let rest = machine.slot(next.item + 1);
        let following = machine.heap.uncons(rest);
        let kept = self.kept.last_mut();
        if let Some(kept) = kept {
            *kept += match next.kind {
                LoopKind::Map => 1,
                LoopKind::Filter | LoopKind::Reject => {
                    let value = machine.stack.pop(machine.heap);
                    let keep = machine.heap.truthy(value) == (next.kind == LoopKind::Filter);
                    if keep {
                        machine.stack.push(machine.slot(next.item));
                    }
                    usize::from(keep)
                }
            };
        }
        if let Some((item, rest)) = following {
            machine.slots[next.item as usize] = item;
            machine.slots[next.item as usize + 1] = rest;
            return Ok(true);
        }
        let kept = self.kept.pop().unwrap_or(0);
        machine.room_for(2 * kept)?;
        let list = machine
            .heap
            .make_list(machine.stack.top(kept, machine.heap));
        machine.stack.drop_top(kept);
        machine.stack.push(list);
        Ok(false)
    }
}

impl<'h, H: Heap> Vm<'h, H> {
    /// The value of `memory` at `key`, which the program starts with, if it looks at it at all.
    pub fn input_of(
        program: &Program,
        heap: &mut H,
        memory: H::Term,
        key: &[u8],
    ) -> Option<H::Term> {
        if !program.reads_input || heap.map_size(memory).unwrap_or(0) == 0 {
            return None;
        }
        let key = heap.make_string(key);
        match heap.lookup(memory, key, &mut H::KeyCache::default()) {
            Lookup::Found(value) => Some(value),
            _ => None,
        }
    }
}

