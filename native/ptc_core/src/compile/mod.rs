//! From source to program in one walk: checks, lexical scopes, jumps.
//!
//! The walk keeps its own stack of steps, so that nesting costs memory and not call depth. The
//! steps of an operation come from its plan, in the order in which it checks and evaluates.

mod plan;
mod scope;

pub use plan::Plan;
pub use scope::Scope;

use crate::fault::{Code, Fault};
use crate::ops::OpCode;
use crate::program::{Const, ConstId, Instr, Loop, LoopKind, Program, INPUT};
use crate::source::{Shape, Source};
use scope::Bindings;

/// The name under which a program sees its current value.
pub const INPUT_NAME: &str = "__input";

/// What the check found, about parts of the source.
pub type Rejection<N> = Fault<Const<N>>;

/// How to read a program.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Report what is wrong with a part that was given; otherwise a mistake becomes an
    /// instruction that fails when (and if) it is reached.
    pub strict: bool,
    /// How many operations may stand inside one another.
    pub depth: u32,
    /// How many parts the walk may look at before it gives up as [`Failure::Exhausted`].
    pub parts: usize,
}

/// Why there is no program.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure<N> {
    /// The check found a mistake.
    Rejected(Rejection<N>),
    /// [`Options::parts`] is used up.
    Exhausted,
}

/// A program and its constants.
pub struct Compiled<N> {
    /// The instructions.
    pub program: Program,
    /// What [`ConstId`]s stand for.
    pub consts: Vec<Const<N>>,
}

/// Compiles the program whose root is `root`.
pub fn compile<S: Source>(
    source: &S,
    root: S::Node,
    options: Options,
) -> Result<Compiled<S::Node>, Failure<S::Node>> {
    let mut compiler = Compiler {
        source,
        // Enough for what an LLM writes in one go, and small enough to be had quickly.
        consts: Vec::with_capacity(24),
        code: Vec::with_capacity(24),
        labels: Vec::new(),
        bindings: Bindings::default(),
        slots: 1,
        reads_input: false,
        depth: options.depth,
        parts: options.parts,
        todo: Vec::with_capacity(16),
        planned: Vec::with_capacity(16),
    };
    compiler.todo.push(Step::Visit {
        node: root,
        scope: Scope::outermost(options.strict),
        given: false,
    });
    let walked = compiler.walk();
    match source.gave_up() {
        true => Err(Failure::Exhausted),
        false => walked.map(|()| compiler.finish()),
    }
}

/// A place in the code that is not known yet.
#[derive(Debug, Clone, Copy)]
pub struct Label(u32);

/// Whether the walk goes on.
type Walk<S> = Result<(), Failure<<S as Source>::Node>>;

/// One step of the walk.
enum Step<'s, N> {
    /// Check and compile a part as an operation. `given`: the operation around it set the current
    /// value, which then wins over the part's own `__input`.
    Visit { node: N, scope: Scope, given: bool },
    /// The same for a field of an operation, which must be there.
    Field {
        owner: N,
        op: OpCode,
        name: &'static str,
        number: bool,
        given: bool,
        scope: Scope,
    },
    /// Emit an instruction.
    Emit(Instr),
    /// A label stands here.
    Mark(Label),
    /// A `let` binding begins …
    Bind(&'s [u8], u32),
    /// … and ends.
    Unbind(&'s [u8]),
}

/// The state of one walk.
pub struct Compiler<'s, S: Source> {
    source: &'s S,
    consts: Vec<Const<S::Node>>,
    code: Vec<Instr>,
    labels: Vec<u32>,
    bindings: Bindings<'s>,
    slots: u32,
    reads_input: bool,
    depth: u32,
    parts: usize,
    /// What is left to do, next step last.
    todo: Vec<Step<'s, S::Node>>,
    /// The steps of the plan that is being made, first step first.
    planned: Vec<Step<'s, S::Node>>,
}

impl<'s, S: Source> Compiler<'s, S> {
    fn walk(&mut self) -> Walk<S> {
        while let Some(step) = self.todo.pop() {
            self.spend(1)?;
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: Step<'s, S::Node>) -> Walk<S> {
        match step {
            Step::Visit { node, scope, given } => self.visit(node, scope, given)?,
            Step::Field {
                owner,
                op,
                name,
                number,
                given,
                scope,
            } => match self.source.field(owner, name) {
                Some(node) if number && self.is_number(node) => {
                    let id = self.constant(Const::Node(node));
                    self.code.push(Instr::Const(id));
                }
                Some(node) => self.visit(node, scope, given)?,
                None => self.missing(scope, op, name)?,
            },
            Step::Emit(instr) => self.code.push(instr),
            Step::Mark(label) => self.labels[label.0 as usize] = self.code.len() as u32,
            Step::Bind(name, slot) => self.bindings.bind(name, slot),
            Step::Unbind(name) => self.bindings.unbind(name),
        }
        Ok(())
    }

    fn visit(&mut self, node: S::Node, mut scope: Scope, given: bool) -> Walk<S> {
        if !self.source.is_map(node) {
            return self.wrong(scope, Code::NodeNotAMap, node);
        }
        scope.depth += 1;
        if scope.depth > self.depth {
            let limit = Const::Int(i64::from(self.depth));
            return self.reject(scope, Fault::new(Code::TooDeep, None, vec![limit]));
        }
        let name = self.source.field(node, "op");
        let op = match name {
            None => OpCode::IMPLICIT_OBJECT,
            Some(name) if self.source.shape(name) == Shape::Null => {
                return self.reject(scope, Fault::new(Code::MissingOp, None, vec![]));
            }
            Some(name) => match self.source.text(name).and_then(OpCode::from_name) {
                Some(op) => op,
                None => return self.wrong(scope, Code::UnknownOp, name),
            },
        };
        if !given && op.sees_input() {
            if let Some(value) = self.source.field(node, INPUT_NAME) {
                let id = self.constant(Const::Node(value));
                scope.input = self.take_slot(&mut scope);
                self.code.push(Instr::Const(id));
                self.code.push(Instr::Store(scope.input));
            }
        }
        let planned = op.plan(&mut Plan::new(self, node, op, scope, name.is_none()));
        let steps = self.planned.drain(..).rev();
        self.todo.extend(steps);
        planned
    }

    fn spend(&mut self, parts: usize) -> Walk<S> {
        self.parts = self.parts.checked_sub(parts).ok_or(Failure::Exhausted)?;
        Ok(())
    }

    fn is_number(&self, node: S::Node) -> bool {
        matches!(
            self.source.shape(node),
            Shape::Integer { .. } | Shape::Float
        )
    }

    fn constant(&mut self, value: Const<S::Node>) -> ConstId {
        self.consts.push(value);
        (self.consts.len() - 1) as ConstId
    }

    fn take_slot(&mut self, scope: &mut Scope) -> u32 {
        let slot = scope.free;
        scope.free += 1;
        self.slots = self.slots.max(scope.free);
        slot
    }

    /// A mistake about a part of the source.
    fn wrong(&mut self, scope: Scope, code: Code, node: S::Node) -> Walk<S> {
        self.reject(scope, Fault::new(code, None, vec![Const::Node(node)]))
    }

    /// A field is missing. Where an operation should stand, that is a `nil` in an unchecked part.
    fn missing(&mut self, scope: Scope, op: OpCode, name: &'static str) -> Walk<S> {
        let fault = match scope.strict {
            true => Fault::new(Code::FieldMissing, Some(op), vec![]).about(name),
            false => Fault::new(Code::NodeNotAMap, None, vec![Const::Nil]),
        };
        self.reject(scope, fault)
    }

    /// Ends the walk with the fault, or leaves an instruction that fails with it.
    fn reject(&mut self, scope: Scope, fault: Rejection<S::Node>) -> Walk<S> {
        if scope.strict {
            return Err(Failure::Rejected(fault));
        }
        let instr = self.fail(fault);
        self.code.push(instr);
        Ok(())
    }

    fn fail(&mut self, fault: Rejection<S::Node>) -> Instr {
        let subject = match fault.terms.first() {
            Some(subject) => self.constant(*subject),
            None => crate::program::NO_CONST,
        };
        Instr::Fail {
            code: fault.code,
            op: fault.op,
            field: fault.field,
            subject,
        }
    }

    fn finish(mut self) -> Compiled<S::Node> {
        self.code.push(Instr::Done);
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
        let source = self.source;
        let has_parts = |id: &ConstId| match self.consts.get(*id as usize) {
            Some(Const::Node(node)) => source.has_parts(*node),
            _ => false,
        };
        let multiplies = multiplies(&self.code, has_parts);
        tally_in_loops(&mut self.code);
        Compiled {
            program: Program {
                code: self.code,
                slots: self.slots,
                reads_input: self.reads_input,
                multiplies,
                calls_tools,
            },
            consts: self.consts,
        }
    }
}

/// From here on what a program builds is weighed.
const MANY_PLACES: u32 = 64;

/// See [`Program::multiplies`]: a value from outside of a loop, in what the loop makes of each item;
/// or one term out of several, out of several, out of several.
///
/// Constants without parts are not looked at here: what they weigh in a result is known at its end.
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
            // A default stands there for each item that has nothing.
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

/// Lets a loop tally what it keeps, where the list it would make is tallied and nothing else.
fn tally_in_loops(code: &mut [Instr]) {
    for at in 0..code.len().saturating_sub(2) {
        let (Instr::Next(next), Instr::StoreOnce(slot), Instr::Apply(apply)) =
            (code[at], code[at + 1], code[at + 2])
        else {
            continue;
        };
        if apply.input == slot {
            let tally = Some((apply.op, apply.a));
            code[at] = Instr::Next(Loop { tally, ..next });
            // The loop's start stands right before its body.
            if let Some(Instr::Enter(enter)) = code.get_mut((next.to as usize).wrapping_sub(1)) {
                enter.tally = tally;
            }
        }
    }
}
