//! The instruction loop.

use crate::activations::{Caller, Returning};
use crate::built_ins::{BuiltIns, BuiltInsOf};
use crate::counts::Watch;
use crate::execute::Execute;
use crate::exit::{Exit, BRANCHES};
use crate::frame::Frame;
use crate::halt::Halt;
use crate::handlers::Handler;
use crate::language::Language;
use crate::machine::{HaltOf, Machine};
use crate::program::{ConstId, Instr, Loop, Pc, Program, NO_PC};
use crate::stack::Stack;
use crate::state::FailingOf;
use crate::turn::Turn;
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::number::Number;
use std::ops::Range;

/// One execution of a run.
pub struct Vm<'h, H: Heap, L: Language> {
    pub(crate) program: &'h Program<L>,
    pub(crate) context: H::Term,
    pub(crate) environment: H::Term,
    pub(crate) machine: Machine<'h, H, L>,
    pub(crate) pc: Pc,
    /// The operations around the program counter, innermost last.
    pub(crate) frames: Vec<Frame<H::Term>>,
    /// The activations around the current one, innermost last.
    pub(crate) callers: Vec<Caller>,
    pub(crate) built_ins: BuiltInsOf<L, H::Term>,
    pub(crate) returning: Returning,
    /// The handlers that are in force, innermost last.
    pub(crate) handlers: Vec<Handler>,
    pub(crate) has_input: bool,
    /// The recorded counts, if the run is observed.
    pub(crate) watch: Option<Box<Watch>>,
    /// Whether the run stops at the start of loops that call tools, see [`Exit::Fork`].
    pub forks: bool,
    /// The run is one iteration of a loop.
    pub(crate) is_round: bool,
    /// The address at which it ends if it is a branch, or goes on without an answer, else [`NO_PC`].
    pub(crate) ends_at: Pc,
    /// Number of operations with a body around that address.
    pub(crate) ends_in: u32,
    /// What runs in turn.
    pub(crate) turn: Turn,
    /// An instruction has found that the state of the run is not its own.
    pub(crate) is_broken: bool,
    /// The fault of a run that has failed, while it is checked. No further instruction runs.
    pub(crate) failing: Option<FailingOf<L, H::Term>>,
}

/// How an execution of a program ends.
pub type ExitOf<H, L> = Exit<<H as Heap>::Term, <L as Language>::Fault<<H as Heap>::Term>>;

/// The machine, and the operation with a body that is run.
pub type Innermost<'v, 'h, H, L> = (
    &'v mut Machine<'h, H, L>,
    Option<(&'v mut Frame<<H as Heap>::Term>, &'h Loop<L>)>,
);

impl<'h, H: Heap, L: Execute> Vm<'h, H, L> {
    /// Returns the machine and the program, for the instructions of a language.
    #[inline]
    pub fn parts(&mut self) -> (&mut Machine<'h, H, L>, &'h Program<L>) {
        (&mut self.machine, self.program)
    }

    /// Returns the machine, and the innermost operation with a body.
    #[inline]
    pub fn innermost(&mut self) -> Innermost<'_, 'h, H, L> {
        let looped = |frame: &Frame<_>| self.program.code[frame.at as usize].as_loop();
        let frame = self.frames.last_mut();
        let frame = frame.and_then(|frame| Some((looped(frame)?, frame)));
        (
            &mut self.machine,
            frame.map(|(looped, frame)| (frame, looped)),
        )
    }

    /// Leaves all activations and operations that have begun, with nothing on the stack.
    pub fn leave_all(&mut self) {
        self.callers.clear();
        self.handlers.clear();
        self.built_ins = BuiltIns::default();
        self.returning = Returning::Nothing;
        self.frames.clear();
        self.machine.work = None;
        let nothing = self.machine.heap.make_list(&[]);
        self.machine.stack = Stack::new(nothing);
        let nil = self.machine.heap.nil();
        let slots = self.program.slots as usize;
        self.machine.slots.reset(slots, nil, nothing);
    }

    /// Returns how the machine stops where branches begin or end.
    #[cold]
    fn branch(&mut self) -> Option<ExitOf<H, L>> {
        if self.pc == self.ends_at && self.frames.len() == self.ends_in as usize {
            return Some(Exit::Done(self.machine.top()));
        }
        self.turn.reached(self.program, self.pc);
        let forks = self.forks && self.turn.at().is_none();
        let branches = self.program.branches_at(self.pc).filter(|_| forks)?;
        let heap = &mut *self.machine.heap;
        let index = |index| heap.make_number(Number::Int(index as i64));
        let indices: Option<Vec<_>> = (0..branches.starts.len()).map(index).collect();
        let indices = indices?;
        Some(Exit::Fork {
            name: BRANCHES,
            list: self.machine.heap.make_list(&indices),
            tools: self.tools(self.pc..branches.end),
        })
    }

    /// Returns the names of the tools that a part of the code calls.
    fn tools(&mut self, part: Range<Pc>) -> H::Term {
        let part = self
            .program
            .code
            .get(part.start as usize..part.end as usize);
        let names = part.into_iter().flatten().filter_map(|instr| match instr {
            Instr::Call { tool, .. } => Some(*tool),
            _ => None,
        });
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.dedup();
        let name = |id: ConstId| self.machine.constant(id);
        let names: Vec<_> = names.into_iter().map(name).collect();
        self.machine.heap.make_list(&names)
    }

    /// Returns whether the body of a loop calls tools.
    fn calls_tools(&self, enter: &Loop<L>) -> bool {
        let body = self.program.code.get(self.pc as usize..enter.end as usize);
        let is_call = |instr: &Instr<L>| matches!(instr, Instr::Call { .. });
        body.is_some_and(|body| body.iter().any(is_call))
    }

    /// Resumes with the answer to a call.
    pub fn resume(&mut self, answer: H::Term) -> ExitOf<H, L> {
        self.machine.stack.push(answer);
        self.run()
    }

    /// Runs until there is a reason to stop.
    pub fn run(&mut self) -> ExitOf<H, L> {
        self.machine.forks = self.forks;
        if let Some(watch) = &mut self.watch {
            watch.resume();
        }
        let exit = self.run_to_exit();
        if let Some(watch) = &mut self.watch {
            watch.pause(&exit, self.machine.heap.words_built());
        }
        exit
    }

    #[inline]
    fn run_to_exit(&mut self) -> ExitOf<H, L> {
        if self.failing.is_none() {
            let watched =
                (self.forks && !self.program.branches.is_empty()) || self.ends_at != NO_PC;
            let exit = match watched {
                true => self.steps::<true>(),
                false => self.steps::<false>(),
            };
            match exit {
                Ok(exit) => return exit,
                // The instruction may have left its loop or its work. So the run never resumes at it.
                Err(Halt::Fault(mut fault)) => {
                    L::guarded(&mut fault, self.guards());
                    self.fail(*fault)
                }
                Err(halt) => return Exit::Halted(halt),
            }
        }
        Exit::Halted(self.check_fault())
    }

    /// `WATCHED`: whether the address can be one at which branches begin or end.
    fn steps<const WATCHED: bool>(&mut self) -> Result<ExitOf<H, L>, HaltOf<H, L>> {
        let program = self.program;
        if let Some(exit) = self.go_on_returning()? {
            return Ok(exit);
        }
        loop {
            if WATCHED {
                if let Some(exit) = self.branch() {
                    return Ok(exit);
                }
            }
            let machine = &mut self.machine;
            let context = &mut machine.context;
            context.meter.begin(context.heap)?;
            match &program.code[self.pc as usize] {
                Instr::Const(id) => machine.stack.push(machine.constant(*id)),
                Instr::Nil => machine.stack.push(machine.heap.nil()),
                Instr::Bool(value) => machine.stack.push(machine.heap.boolean(*value)),
                Instr::Slot(slot) => machine.stack.push(machine.slot(*slot)),
                Instr::Store(slot) | Instr::StoreOnce(slot) => {
                    machine.slots[*slot as usize] = machine.pop()
                }
                Instr::LoadContext(key) => {
                    let value = match machine.lookup(self.context, *key)? {
                        Lookup::Found(value) => value,
                        _ => program.language.missing(machine, self.context, *key)?,
                    };
                    machine.stack.push(value);
                }
                Instr::LoadMemory(key) => {
                    let value = machine.value_or_nil(self.environment, *key)?;
                    machine.stack.push(value);
                }
                Instr::Drop => machine.drop_top(1),
                Instr::Jump(to) => {
                    self.pc = *to;
                    continue;
                }
                Instr::JumpIf { when, to } => {
                    let value = machine.pop();
                    if machine.heap.truthy(value) == *when {
                        self.pc = *to;
                        continue;
                    }
                }
                Instr::JumpIfSome(to) => {
                    let value = machine.top();
                    if machine.heap.kind(value) != Kind::Nil {
                        self.pc = *to;
                        continue;
                    }
                    machine.drop_top(1);
                }
                Instr::Enter(enter) => {
                    let forks = self.forks && self.turn.at().is_none();
                    if forks && L::forks(enter.op) && self.calls_tools(enter) {
                        if let Some(list) = self.list_to_fork(enter)? {
                            let name = enter.op.into();
                            let tools = self.tools(self.pc..enter.end);
                            return Ok(Exit::Fork { name, list, tools });
                        }
                    }
                    self.pc = self.enter(enter)?;
                    continue;
                }
                Instr::Next(_) => match self.next()? {
                    Some(to) => {
                        self.pc = to;
                        continue;
                    }
                    None => return Ok(Exit::Done(self.machine.top())),
                },
                Instr::Own(own) => {
                    self.pc = L::execute(self, own)?;
                    continue;
                }
                Instr::Expect { op, input } => L::expect(machine, *op, *input)?,
                Instr::Apply(apply) => {
                    let value = L::eval(machine, apply)?;
                    machine.check_heap_limit(0)?;
                    machine.drop_top(apply.operands as usize);
                    machine.stack.push(value);
                }
                Instr::Call { tool, .. } => {
                    self.pc += 1;
                    return Ok(Exit::Call {
                        tool: machine.constant(*tool),
                        args: machine.pop(),
                    });
                }
                Instr::Invoke(arguments) => match self.invoke(*arguments)? {
                    Some(exit) => return Ok(exit),
                    None => continue,
                },
                Instr::InvokeCount(slot) => {
                    let count = machine.heap.small_integer(machine.slot(*slot));
                    match self.invoke(count.unwrap_or(0) as u32)? {
                        Some(exit) => return Ok(exit),
                        None => continue,
                    }
                }
                Instr::Return => match self.return_value()? {
                    Some(exit) => return Ok(exit),
                    None => continue,
                },
                Instr::Ask(what) => {
                    self.pc += 1;
                    return Ok(Exit::Ask {
                        what: *what,
                        about: machine.pop(),
                    });
                }
                Instr::Fail(failure) => return Err(Halt::fault(L::fail(machine, failure))),
                Instr::Watch(mark) => self.note(*mark)?,
                Instr::Done => {
                    let value = machine.top();
                    self.check_copy_limit(value)?;
                    return Ok(Exit::Done(value));
                }
            }
            self.pc += 1;
        }
    }
}
