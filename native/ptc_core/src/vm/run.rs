//! The instruction loop, and how a run is suspended and resumed.

use super::loops::Running;
use super::machine::Machine;
use super::stack::{Segment, Stack};
use super::watch::Watch;
use super::work::{Outline, Work};
use crate::fault::{Code, Fault, Halt};
use crate::heap::{Heap, Lookup};
use crate::meter::{Limits, Meter};
use crate::program::{Instr, Loop, LoopKind, Pc, Program, INPUT, NO_CONST};

/// Additional words of a copy from which on a term in a fault is too expensive to inspect.
const EXPENSIVE_TO_INSPECT: usize = 10_000;

/// The inputs of a run.
pub struct Inputs<'i, T> {
    /// The program's constants.
    pub consts: &'i [T],
    /// The term that `load` reads.
    pub context: T,
    /// The term that `var` reads.
    pub memory: T,
}

/// Why the machine stopped.
#[derive(Debug, PartialEq)]
pub enum Exit<T> {
    /// The program's value.
    Done(T),
    /// The program calls a tool; [`Vm::resume`] receives the answer.
    Call {
        /// The tool's name.
        tool: T,
        /// Its arguments.
        args: T,
    },
    /// A loop whose body calls tools begins. Its iterations may run concurrently, each in a
    /// [`Vm::round`] of its own. [`Checkpoint::behind_loop`] receives the results.
    Fork {
        /// The kind of loop.
        kind: LoopKind,
        /// Its list, which is not empty.
        list: T,
    },
    /// The run halted before its end.
    Halted(Halt<T>),
}

/// A run, between the calls that advance it.
pub struct Vm<'h, H: Heap> {
    pub(super) program: &'h Program,
    context: H::Term,
    memory: H::Term,
    pub(super) machine: Machine<'h, H>,
    pub(super) pc: Pc,
    /// The loops around the program counter, innermost last.
    pub(super) loops: Vec<Running>,
    has_input: bool,
    /// The recorded counts, if the run is observed.
    pub(super) watch: Option<Box<Watch>>,
    /// Whether the run stops at the start of loops that call tools, see [`Exit::Fork`].
    pub forks: bool,
    /// A separate iteration has reached its end.
    pub(super) round_is_over: bool,
}

/// The state of a frozen run, without its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    pc: Pc,
    loops: Vec<Running>,
    has_input: bool,
    /// Whether the run was suspended before the instruction had advanced.
    whole: bool,
    /// The layout of the stack, without its values.
    segments: Vec<Segment>,
    /// The suspended work of the instruction.
    work: Option<Box<Outline>>,
}

impl Checkpoint {
    /// The instruction at which the run resumes.
    pub fn pc(&self) -> Pc {
        self.pc
    }

    /// Moves from the start of the loop at which the run stopped to its end: the run resumes with
    /// the loop's value, as with an answer. `None` if the run did not stop there.
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
    /// The stack as a list, topmost first; values that were frozen together can be one tuple.
    pub stack: T,
    /// The terms of the suspended work.
    pub work: Vec<T>,
}

impl<'h, H: Heap> Vm<'h, H> {
    /// Creates a run at its start. `input`: the value the program starts with.
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

    /// Rebuilds a run from its frozen state; `None` if the terms do not fit the checkpoint.
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

    /// Creates a run of one iteration of the loop at whose start a run stopped; its result is the
    /// body's value. `None` if the run did not stop there.
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

    /// Returns whether the body of a loop calls tools.
    fn calls_tools(&self, enter: &Loop) -> bool {
        let body = self.program.code.get(self.pc as usize..enter.to as usize);
        let is_call = |instr: &Instr| matches!(instr, Instr::Call { .. });
        body.is_some_and(|body| body.iter().any(is_call))
    }

    /// Freezes the run; [`Vm::thaw`] rebuilds it in another call of the heap.
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

    /// Returns whether the terms that the run was resumed with have turned out not to be its
    /// own.
    pub fn is_broken(&self) -> bool {
        self.machine.stack.is_broken()
    }

    /// Returns whether the only remaining step is to return the next value.
    pub fn is_at_end(&self) -> bool {
        self.loops.is_empty()
            && self.machine.stack.is_empty()
            && self.program.code.get(self.pc as usize) == Some(&Instr::Done)
    }

    /// Returns whether the next step cannot be interrupted and is known to take longer than a
    /// slice.
    pub fn needs_quantum(&self) -> bool {
        self.machine.meter.needs_quantum()
    }

    /// Returns the limits, with the running clock of the deadline.
    pub fn limits(&self) -> Limits {
        self.machine.meter.limits
    }

    /// Returns how much of a scheduler's time slice has been used, in per cent.
    pub fn percent_of_slice(&self) -> i32 {
        self.machine.meter.percent_of_slice()
    }

    /// Resumes with the answer to a call.
    pub fn resume(&mut self, answer: H::Term) -> Exit<H::Term> {
        self.machine.stack.push(answer);
        self.run()
    }

    /// Runs until there is a reason to stop.
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
            // The rest reads a list or a term once more, and keeps no progress.
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

    /// Prepares the terms of a fault for inspection, which costs as much as copying them.
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
    /// Returns the value of `memory` at `key`, which the program starts with, if the program
    /// reads it.
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
