//! From source to program in one walk: checks, lexical scopes, jumps.
//!
//! The walk keeps its own stack of steps, so that nesting costs memory and not call depth. The
//! steps of an operation come from its plan, in the order in which it checks and evaluates. Between
//! two steps it can be left.

mod optimise;
mod plan;
mod scope;

pub use plan::Plan;
pub use scope::Scope;

use crate::fault::{Code, Fault};
use crate::ops::{OpCode, Tally};
use crate::program::{Const, ConstId, Instr, Loop, LoopKind, Program, INPUT};
use crate::source::{Shape, Source};
use crate::stop::Stop;
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
}

/// Why there is no program.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure<N> {
    /// The check found a mistake.
    Rejected(Rejection<N>),
    /// A limit. After [`Stop::SliceOver`] the walk can go on.
    Stopped(Stop),
}

/// A program and its constants.
pub struct Compiled<N> {
    /// The instructions.
    pub program: Program,
    /// What [`ConstId`]s stand for.
    pub consts: Vec<Const<N>>,
}

/// Compiles the program whose root is `root`, without limits of time and memory.
pub fn compile<S: Source>(
    source: &S,
    root: S::Node,
    options: Options,
) -> Result<Compiled<S::Node>, Failure<S::Node>> {
    let mut walk = Walk::new(root, options);
    walk.go_on(source, &mut |_, _| Ok(()))?;
    Ok(walk.finish(source))
}

/// What a walk asks before it goes on: counts so many units of fuel, while the walk itself takes so
/// many words; `None` where it cannot be left.
pub type Spend<'c> = dyn FnMut(usize, Option<usize>) -> Result<(), Stop> + 'c;

/// A place in the code that is not known yet.
#[derive(Debug, Clone, Copy)]
pub struct Label(u32);

/// Whether the walk goes on.
type Going<S> = Result<(), Failure<<S as Source>::Node>>;

/// One step of the walk.
#[derive(Debug, Clone, Copy)]
pub enum Step<N> {
    /// Check and compile a part as an operation. `given`: the operation around it set the current
    /// value, which then wins over the part's own `__input`.
    Visit {
        /// The part.
        node: N,
        /// Where it stands.
        scope: Scope,
        /// See above.
        given: bool,
    },
    /// The same for a field of an operation, which must be there.
    Field {
        /// The operation's part of the source.
        owner: N,
        /// Which operation it is.
        op: OpCode,
        /// The field.
        name: &'static str,
        /// Whether a bare number may stand there.
        number: bool,
        /// As for a visit.
        given: bool,
        /// Where it stands.
        scope: Scope,
    },
    /// Emit an instruction.
    Emit(Instr),
    /// A label stands here.
    Mark(Label),
    /// A `let` binding of this name begins …
    Bind(N, u32),
    /// … and ends.
    Unbind(N),
}

/// A walk over a program. Between two steps it can be left; but for its nodes it is plain data then.
#[derive(Debug)]
pub struct Walk<N> {
    consts: Vec<Const<N>>,
    code: Vec<Instr>,
    labels: Vec<u32>,
    bindings: Bindings,
    slots: u32,
    reads_input: bool,
    depth: u32,
    /// What is left to do, next step last.
    todo: Vec<Step<N>>,
    /// The steps of the plan that is being made, first step first.
    planned: Vec<Step<N>>,
}

/// A walk at its source.
pub struct Compiler<'s, S: Source> {
    source: &'s S,
    walk: &'s mut Walk<S::Node>,
    spend: &'s mut Spend<'s>,
    /// Parts that were looked at and not counted yet.
    uncounted: usize,
}

/// So many parts are looked at between two looks at the limits.
const PARTS_BETWEEN_LOOKS: usize = 256;
/// What a part costs, in units of fuel.
const FUEL_PER_PART: usize = 8;

impl<N: Copy> Walk<N> {
    /// A walk that has not begun, over the program whose root is `root`.
    pub fn new(root: N, options: Options) -> Self {
        let mut todo = Vec::with_capacity(16);
        todo.push(Step::Visit {
            node: root,
            scope: Scope::outermost(options.strict),
            given: false,
        });
        Walk {
            // Enough for what an LLM writes in one go, and small enough to be had quickly.
            consts: Vec::with_capacity(24),
            code: Vec::with_capacity(24),
            labels: Vec::new(),
            bindings: Bindings::default(),
            slots: 1,
            reads_input: false,
            depth: options.depth,
            todo,
            planned: Vec::with_capacity(16),
        }
    }

    /// Goes on to the end, or until `spend` stops it.
    pub fn go_on<'s, S: Source<Node = N>>(
        &'s mut self,
        source: &'s S,
        spend: &'s mut Spend<'s>,
    ) -> Result<(), Failure<N>> {
        let mut compiler = Compiler {
            source,
            walk: self,
            spend,
            uncounted: 0,
        };
        compiler.walk()
    }

    /// The words that the walk takes, without its bindings.
    fn words(&self) -> usize {
        let bytes = self.consts.len() * size_of::<Const<N>>()
            + self.code.len() * size_of::<Instr>()
            + self.labels.len() * size_of::<u32>()
            + self.todo.len() * size_of::<Step<N>>();
        bytes / 8
    }

    /// The same walk over other handles of the same nodes.
    pub fn map<M>(self, mut node: impl FnMut(N) -> M) -> Walk<M> {
        let mut step = |step| match step {
            Step::Visit {
                node: at,
                scope,
                given,
            } => Step::Visit {
                node: node(at),
                scope,
                given,
            },
            Step::Field {
                owner,
                op,
                name,
                number,
                given,
                scope,
            } => Step::Field {
                owner: node(owner),
                op,
                name,
                number,
                given,
                scope,
            },
            Step::Emit(instr) => Step::Emit(instr),
            Step::Mark(label) => Step::Mark(label),
            Step::Bind(name, slot) => Step::Bind(node(name), slot),
            Step::Unbind(name) => Step::Unbind(node(name)),
        };
        let todo = self.todo.into_iter().map(&mut step).collect();
        let constant = |value| match value {
            Const::Nil => Const::Nil,
            Const::Int(value) => Const::Int(value),
            Const::EmptyMap => Const::EmptyMap,
            Const::Node(at) => Const::Node(node(at)),
        };
        Walk {
            consts: self.consts.into_iter().map(constant).collect(),
            code: self.code,
            labels: self.labels,
            bindings: self.bindings,
            slots: self.slots,
            reads_input: self.reads_input,
            depth: self.depth,
            todo,
            planned: Vec::new(),
        }
    }

    /// The program, once the walk has come to its end.
    pub fn finish<S: Source<Node = N>>(mut self, source: &S) -> Compiled<N> {
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
        let has_parts = |id: &ConstId| match self.consts.get(*id as usize) {
            Some(Const::Node(node)) => source.has_parts(*node),
            _ => false,
        };
        let multiplies = multiplies(&self.code, has_parts);
        tally_in_loops(&mut self.code);
        optimise::optimise(&mut self.code);
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

impl<S: Source> Compiler<'_, S> {
    fn walk(&mut self) -> Going<S> {
        while let Some(step) = self.walk.todo.pop() {
            let (consts, code, labels) = self.lengths();
            let done = match self.look() {
                Ok(()) => self.step(step),
                stopped => stopped,
            };
            let done = match self.source.take_stop() {
                Some(stop) => Err(Failure::Stopped(stop)),
                None => done,
            };
            if done.is_err() {
                // The step is done again when the walk goes on.
                self.walk.consts.truncate(consts);
                self.walk.code.truncate(code);
                self.walk.labels.truncate(labels);
                self.walk.planned.clear();
                self.walk.todo.push(step);
                return done;
            }
            let steps = self.walk.planned.drain(..).rev();
            self.walk.todo.extend(steps);
        }
        Ok(())
    }

    fn lengths(&self) -> (usize, usize, usize) {
        let walk = &*self.walk;
        (walk.consts.len(), walk.code.len(), walk.labels.len())
    }

    /// Counts the step that comes next, and asks whether to go on if it is time to.
    #[inline]
    fn look(&mut self) -> Going<S> {
        self.uncounted += 1;
        match self.uncounted >= PARTS_BETWEEN_LOOKS {
            true => self.ask(true),
            false => Ok(()),
        }
    }

    #[cold]
    fn ask(&mut self, can_be_left: bool) -> Going<S> {
        let parts = std::mem::take(&mut self.uncounted) + self.source.take_uncounted();
        let words = can_be_left.then(|| self.walk.words());
        (self.spend)(parts * FUEL_PER_PART, words).map_err(Failure::Stopped)
    }

    /// Counts so many parts in the middle of a step.
    fn count(&mut self, parts: usize) -> Going<S> {
        self.uncounted += parts;
        match self.uncounted >= PARTS_BETWEEN_LOOKS {
            true => self.ask(false),
            false => Ok(()),
        }
    }

    fn step(&mut self, step: Step<S::Node>) -> Going<S> {
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
                    self.walk.code.push(Instr::Const(id));
                }
                Some(node) => self.visit(node, scope, given)?,
                None => self.missing(scope, op, name)?,
            },
            Step::Emit(instr) => self.walk.code.push(instr),
            Step::Mark(label) => self.walk.labels[label.0 as usize] = self.walk.code.len() as u32,
            Step::Bind(name, slot) => {
                let name = self.source.text(name).unwrap_or_default();
                self.walk.bindings.bind(name, slot)
            }
            Step::Unbind(name) => {
                let name = self.source.text(name).unwrap_or_default();
                self.walk.bindings.unbind(name)
            }
        }
        Ok(())
    }

    fn visit(&mut self, node: S::Node, mut scope: Scope, given: bool) -> Going<S> {
        if !self.source.is_map(node) {
            return self.wrong(scope, Code::NodeNotAMap, node);
        }
        scope.depth += 1;
        if scope.depth > self.walk.depth {
            let limit = Const::Int(i64::from(self.walk.depth));
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
                self.walk.code.push(Instr::Const(id));
                self.walk.code.push(Instr::Store(scope.input));
            }
        }
        op.plan(&mut Plan::new(self, node, op, scope, name.is_none()))
    }

    fn is_number(&self, node: S::Node) -> bool {
        matches!(
            self.source.shape(node),
            Shape::Integer { .. } | Shape::Float
        )
    }

    fn constant(&mut self, value: Const<S::Node>) -> ConstId {
        self.walk.consts.push(value);
        (self.walk.consts.len() - 1) as ConstId
    }

    fn take_slot(&mut self, scope: &mut Scope) -> u32 {
        let slot = scope.free;
        scope.free += 1;
        self.walk.slots = self.walk.slots.max(scope.free);
        slot
    }

    /// A mistake about a part of the source.
    fn wrong(&mut self, scope: Scope, code: Code, node: S::Node) -> Going<S> {
        self.reject(scope, Fault::new(code, None, vec![Const::Node(node)]))
    }

    /// A field is missing. Where an operation should stand, that is a `nil` in an unchecked part.
    fn missing(&mut self, scope: Scope, op: OpCode, name: &'static str) -> Going<S> {
        let fault = match scope.strict {
            true => Fault::new(Code::FieldMissing, Some(op), vec![]).about(name),
            false => Fault::new(Code::NodeNotAMap, None, vec![Const::Nil]),
        };
        self.reject(scope, fault)
    }

    /// Ends the walk with the fault, or leaves an instruction that fails with it.
    fn reject(&mut self, scope: Scope, fault: Rejection<S::Node>) -> Going<S> {
        if scope.strict {
            return Err(Failure::Rejected(fault));
        }
        let instr = self.fail(fault);
        self.walk.code.push(instr);
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
        if apply.input == slot && Tally::of(apply.op).is_some() {
            let tally = Some((apply.op, apply.a));
            code[at] = Instr::Next(Loop { tally, ..next });
            // The loop's start stands right before its body.
            if let Some(Instr::Enter(enter)) = code.get_mut((next.to as usize).wrapping_sub(1)) {
                enter.tally = tally;
            }
        }
    }
}
