//! The loop over the instructions, and how a run leaves and comes back.

use super::loops::Running;
use super::machine::Machine;
use super::stack::{Segment, Stack};
use super::watch::Watch;
use super::work::{Outline, Work};
use crate::fault::{Code, Fault, Halt};
use crate::heap::{Heap, Lookup};
use crate::meter::{Limits, Meter};
use crate::program::{Instr, Loop, LoopKind, Pc, Program, INPUT, NO_CONST};

/// From so many words on, beyond those that stand in memory, a term is not shown just so.
const EXPENSIVE_TO_INSPECT: usize = 10_000;

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
    /// A loop whose body calls tools begins: its rounds may run beside one another, each in a
    /// [`Vm::round`] of its own. What they come to goes to [`Checkpoint::behind_loop`].
    Fork {
        /// What the loop does.
        kind: LoopKind,
        /// Its list, which is not empty.
        list: T,
    },
    /// It stopped before its end.
    Halted(Halt<T>),
}

/// A run, between the calls that move it on.
pub struct Vm<'h, H: Heap> {
    pub(super) program: &'h Program,
    context: H::Term,
    memory: H::Term,
    pub(super) machine: Machine<'h, H>,
    pub(super) pc: Pc,
    /// The loops around the program counter, innermost last.
    pub(super) loops: Vec<Running>,
    has_input: bool,
    /// What is noted, if the run is observed.
    pub(super) watch: Option<Box<Watch>>,
    /// Whether loops that call tools are left at their start, see [`Exit::Fork`].
    pub forks: bool,
    /// The end of a round was met that runs on its own.
    pub(super) round_is_over: bool,
}

/// What is left of a run that was frozen, less its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pc: Pc,
    loops: Vec<Running>,
    has_input: bool,
    /// Whether the instruction was left before it had come further.
    whole: bool,
    /// The stack, less its values.
    segments: Vec<Segment>,
    /// The instruction in the middle of it.
    work: Option<Box<Outline>>,
}

impl Checkpoint {
    /// Where the run goes on.
    pub fn pc(&self) -> Pc {
        self.pc
    }

    /// Behind the loop at whose start the run was left: it goes on with the loop's value, as with
    /// an answer. `None` if that is not where it was left.
    pub fn behind_loop(mut self, program: &Program) -> Option<Self> {
        match program.code.get(self.pc as usize) {
            Some(Instr::Enter(enter)) => self.pc = enter.to,
            _ => return None,
        }
        Some(self)
    }
}

/// The terms of a run that was frozen.
pub struct Frozen<T> {
    /// The content of the slots.
    pub slots: Vec<T>,
    /// The stack as a list, topmost first; many values that were left together are one tuple.
    pub stack: T,
    /// What the instruction needs that it was left in the middle of.
    pub work: Vec<T>,
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
            loops: Vec::new(),
            has_input: input.is_some(),
            whole: false,
            segments: Vec::new(),
            work: None,
        };
        let stack = Stack::thawed(heap.make_list(&[]), Vec::new());
        Self::assemble(program, heap, inputs, checkpoint, slots, stack, meter)
    }

    /// A run from where it was frozen; `None` if these cannot be the terms that it was left with.
    pub fn thaw(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        checkpoint: Checkpoint,
        frozen: Frozen<H::Term>,
        meter: Meter,
    ) -> Option<Self> {
        let Frozen { slots, stack, work } = frozen;
        let mut checkpoint = checkpoint;
        let whole = checkpoint.whole;
        let work = match checkpoint.work.take() {
            None => work.is_empty().then_some(None)?,
            Some(outline) => Some(Work::thaw(heap, *outline, &work)?),
        };
        (slots.len() == program.slots as usize).then_some(())?;
        let stack = Stack::thawed(stack, std::mem::take(&mut checkpoint.segments));
        let mut vm = Self::assemble(program, heap, inputs, checkpoint, slots, stack, meter);
        vm.machine.work = work.map(Box::new);
        if whole {
            vm.machine.meter.next_step_whole();
        }
        Some(vm)
    }

    fn assemble(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        checkpoint: Checkpoint,
        slots: Vec<H::Term>,
        stack: Stack<H::Term>,
        meter: Meter,
    ) -> Self {
        Vm {
            program,
            context: inputs.context,
            memory: inputs.memory,
            machine: Machine::new(heap, program, meter, inputs.consts, slots, stack),
            pc: checkpoint.pc,
            loops: checkpoint.loops,
            has_input: checkpoint.has_input,
            watch: None,
            forks: false,
            round_is_over: false,
        }
    }

    /// One round of the loop at whose start a run was left, on its own: it ends with the body's value.
    /// `None` if that is not where it was left.
    pub fn round(
        program: &'h Program,
        heap: &'h mut H,
        inputs: Inputs<'h, H::Term>,
        left: &Checkpoint,
        mut slots: Vec<H::Term>,
        item: H::Term,
        meter: Meter,
    ) -> Option<Self> {
        let Some(Instr::Enter(enter)) = program.code.get(left.pc as usize) else {
            return None;
        };
        (slots.len() == program.slots as usize).then_some(())?;
        let nothing = heap.make_list(&[]);
        slots[enter.item as usize] = item;
        slots[enter.item as usize + 1] = nothing;
        let checkpoint = Checkpoint {
            pc: left.pc + 1,
            loops: Vec::new(),
            has_input: left.has_input,
            whole: false,
            segments: Vec::new(),
            work: None,
        };
        let stack = Stack::thawed(nothing, Vec::new());
        let vm = Self::assemble(program, heap, inputs, checkpoint, slots, stack, meter);
        Some(vm)
    }

    /// Whether the body of a loop calls tools.
    fn calls_tools(&self, enter: &Loop) -> bool {
        let body = self.program.code.get(self.pc as usize..enter.to as usize);
        let is_call = |instr: &Instr| matches!(instr, Instr::Call { .. });
        body.is_some_and(|body| body.iter().any(is_call))
    }

    /// Takes the run apart; [`Vm::thaw`] puts it together again, in another call of the heap.
    pub fn freeze(mut self) -> (Checkpoint, Frozen<H::Term>) {
        let (segments, stack) = self.machine.stack.freeze(self.machine.heap);
        let work = self.machine.work.take();
        let (outline, work) = match work.map(|work| work.freeze(self.machine.heap)) {
            Some((outline, terms)) => (Some(Box::new(outline)), terms),
            None => (None, Vec::new()),
        };
        let checkpoint = Checkpoint {
            pc: self.pc,
            loops: self.loops,
            has_input: self.has_input,
            whole: !self.machine.meter.has_advanced(),
            segments,
            work: outline,
        };
        let slots = self.machine.slots;
        (checkpoint, Frozen { slots, stack, work })
    }

    /// Whether the terms that this run was taken up with have turned out not to be its own.
    pub fn is_broken(&self) -> bool {
        self.machine.stack.is_broken()
    }

    /// Whether nothing is left to do but to give back the next value.
    pub fn is_at_end(&self) -> bool {
        self.loops.is_empty()
            && self.machine.stack.is_empty()
            && self.program.code.get(self.pc as usize) == Some(&Instr::Done)
    }

    /// Whether the next step cannot be cut up and is known to take longer than a slice.
    pub fn needs_quantum(&self) -> bool {
        self.machine.meter.needs_quantum()
    }

    /// The limits, with the clock of the deadline as it runs.
    pub fn limits(&self) -> Limits {
        self.machine.meter.limits
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
        if let Some(watch) = &mut self.watch {
            watch.go_on();
        }
        let exit = self.run_to_exit();
        if let Some(watch) = &mut self.watch {
            watch.pause(&exit, self.machine.heap.words_built());
        }
        exit
    }

    #[inline]
    fn run_to_exit(&mut self) -> Exit<H::Term> {
        let halt = match self.steps() {
            Ok(exit) => return exit,
            // What is left to do looks at a list or a term once more, and keeps no progress.
            Err(Halt::Fault(fault)) => {
                self.machine.meter.begin_whole();
                match self.earlier_fault(fault) {
                    Halt::Fault(fault) => self.shown(fault),
                    halt => halt,
                }
            }
            Err(halt) => halt,
        };
        Exit::Halted(halt)
    }

    /// The terms of a fault are going to be shown, which takes what a copy takes.
    fn shown(&mut self, mut fault: Box<Fault<H::Term>>) -> Halt<H::Term> {
        for term in fault.terms.clone() {
            match self.machine.check_copy_limit(term) {
                Ok(excess) => fault.expensive_to_inspect |= excess > EXPENSIVE_TO_INSPECT,
                Err(halt) => return halt,
            }
        }
        Halt::Fault(fault)
    }

    fn steps(&mut self) -> Result<Exit<H::Term>, Halt<H::Term>> {
        let program = self.program;
        loop {
            let machine = &mut self.machine;
            machine.meter.begin(machine.heap)?;
            match &program.code[self.pc as usize] {
                Instr::Const(id) => machine.stack.push(machine.constant(*id)),
                Instr::Nil => machine.stack.push(machine.heap.nil()),
                Instr::Bool(value) => machine.stack.push(machine.heap.boolean(*value)),
                Instr::Slot(slot) => machine.stack.push(machine.slot(*slot)),
                Instr::Store(slot) | Instr::StoreOnce(slot) => {
                    machine.slots[*slot as usize] = machine.stack.pop(machine.heap)
                }
                Instr::NeedInput(op) if !self.has_input => {
                    return Err(machine.fault(*op, Code::NoInput, vec![]));
                }
                Instr::NeedInput(_) => {}
                Instr::LoadContext(key) => {
                    let value = machine.load(self.context, *key, program.strict)?;
                    machine.stack.push(value);
                }
                Instr::LoadMemory(key) => {
                    let value = machine.value_or_nil(self.memory, *key)?;
                    machine.stack.push(value);
                }
                Instr::Drop => machine.stack.drop_top(1, machine.heap),
                Instr::Jump(to) => {
                    self.pc = *to;
                    continue;
                }
                Instr::JumpIf { when, to } => {
                    let value = machine.stack.pop(machine.heap);
                    if machine.heap.truthy(value) == *when {
                        self.pc = *to;
                        continue;
                    }
                }
                Instr::Enter(enter) => {
                    if self.forks && self.calls_tools(enter) {
                        if let Some(list) = self.list_to_fork(enter)? {
                            let kind = enter.kind;
                            return Ok(Exit::Fork { kind, list });
                        }
                    }
                    if !self.enter(enter)? {
                        self.pc = enter.to;
                        continue;
                    }
                }
                Instr::Next(next) => {
                    if let Some(to) = self.next(next)? {
                        self.pc = to;
                        continue;
                    }
                    if self.round_is_over {
                        return Ok(Exit::Done(self.machine.top()));
                    }
                }
                Instr::Sieve(looped, tests) => {
                    self.pc = self.sieve(looped, tests)?;
                    continue;
                }
                Instr::Expect { op, input } => op.expect(machine, *input)?,
                Instr::Apply(apply) => {
                    let value = apply.op.eval(machine, apply)?;
                    machine.check_heap_limit(0)?;
                    machine
                        .stack
                        .drop_top(apply.operands as usize, machine.heap);
                    machine.stack.push(value);
                }
                Instr::Call { tool, args } => {
                    self.pc += 1;
                    return Ok(Exit::Call {
                        tool: self.machine.constant(*tool),
                        args: self.machine.constant(*args),
                    });
                }
                Instr::Fail {
                    code,
                    op,
                    field,
                    subject,
                } => {
                    let terms = match *subject {
                        NO_CONST => vec![],
                        id => vec![machine.constant(id)],
                    };
                    let mut fault = Fault::new(*code, *op, terms);
                    fault.field = *field;
                    return Err(fault.into());
                }
                Instr::Watch(mark) => self.note(*mark)?,
                Instr::Done => {
                    let value = machine.top();
                    machine.check_copy_limit(value)?;
                    return Ok(Exit::Done(value));
                }
            }
            self.pc += 1;
        }
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
