//! The steps of the walk: each part becomes an operation, and each operation a plan.

use super::given::Given;
use super::walk::{Step, Walk};
use super::{Failure, Plan, Rejection, Scope};
use crate::code::{ConstId, Instr, LateError, Slot};
use crate::edition::Edition;
use crate::fault::{Code, Fault};
use crate::opcode::OpCode;
use crate::shape::{OpShape, Order};
use ptc_json::{Document, Node, Shape};
use ptc_term::stop::Stop;

/// The walk calls this before it continues: it counts this many units of fuel and receives the
/// number of words that the walk takes; `None` where the walk cannot be suspended.
pub type ConsumeFuel<'c> = dyn FnMut(usize, Option<usize>) -> Result<(), Stop> + 'c;

/// Whether the walk continues.
pub(super) type Going = Result<(), Failure>;

/// A walk and its source.
pub struct Compiler<'s> {
    pub(super) source: &'s Document<'s>,
    pub(super) walk: &'s mut Walk,
    pub(super) consume_fuel: &'s mut ConsumeFuel<'s>,
    /// Parts that were visited and not counted yet.
    pub(super) uncounted: usize,
}

/// Number of parts between two checks of the limits.
const PARTS_BETWEEN_LOOKS: usize = 256;
/// Number of constants that a new one is compared with.
const LAST_CONSTANTS: usize = 4;
/// Fuel per part.
const FUEL_PER_PART: usize = 8;

impl Walk {
    /// Runs to the end, or until `consume_fuel` stops the walk.
    pub fn resume<'s>(
        &'s mut self,
        source: &'s Document,
        consume_fuel: &'s mut ConsumeFuel<'s>,
    ) -> Result<(), Failure> {
        let mut compiler = Compiler {
            source,
            walk: self,
            consume_fuel,
            uncounted: 0,
        };
        compiler.walk()
    }
}

impl Compiler<'_> {
    pub(super) fn walk(&mut self) -> Going {
        let observed = self.walk.observer.is_some();
        while let Some(step) = self.walk.todo.pop() {
            let left = self.walk.todo.len();
            let (consts, code, labels) = self.lengths();
            let (guards, starts) = (self.walk.guards.len(), self.walk.starts.len());
            let seen = if observed { self.walk.seen() } else { None };
            let done = match self.look() {
                Ok(()) => self.step(step),
                stopped => stopped,
            };
            let done = match done {
                Err(Failure::Rejected(fault)) => {
                    self.walk.keep_mistake();
                    match self.mistaken(fault) {
                        Ok(()) => continue,
                        ended => ended,
                    }
                }
                done => done,
            };
            if done.is_err() {
                self.walk.guards.truncate(guards);
                // The step is done again when the walk resumes.
                self.walk.consts.truncate(consts);
                self.walk.truncate_code(code);
                self.walk.starts.truncate(starts);
                self.walk.labels.truncate(labels);
                self.walk.todo.truncate(left);
                self.walk.go_back(seen);
                self.walk.todo.push(step);
                return done;
            }
            // A plan adds its first step first.
            self.walk.todo[left..].reverse();
        }
        // The program was walked again, and nothing was found then.
        match &self.walk.mistake {
            Some(fault) => Err(Failure::Rejected((**fault).clone())),
            None => Ok(()),
        }
    }

    fn lengths(&self) -> (usize, usize, usize) {
        let walk = &*self.walk;
        (walk.consts.len(), walk.code.len(), walk.labels.len())
    }

    /// Counts the next step and checks the limits if they are due.
    #[inline]
    fn look(&mut self) -> Going {
        self.uncounted += 1;
        match self.uncounted >= PARTS_BETWEEN_LOOKS {
            true => self.ask(true),
            false => Ok(()),
        }
    }

    #[cold]
    fn ask(&mut self, can_be_left: bool) -> Going {
        let parts = std::mem::take(&mut self.uncounted);
        let words = can_be_left.then(|| self.walk.words());
        (self.consume_fuel)(parts * FUEL_PER_PART, words).map_err(Failure::Stopped)
    }

    /// Counts this many units before a part of a step, which is done again if a limit ends it here.
    pub(super) fn consume_at_once(&mut self, units: usize) -> Going {
        let words = Some(self.walk.words());
        (self.consume_fuel)(units, words).map_err(Failure::Stopped)
    }

    /// Counts this many parts in the middle of a step.
    pub(super) fn count(&mut self, parts: usize) -> Going {
        self.uncounted += parts;
        match self.uncounted >= PARTS_BETWEEN_LOOKS {
            true => self.ask(false),
            false => Ok(()),
        }
    }

    /// Returns the entries of a map in ascending order of the keys.
    pub(super) fn sorted_entries(&mut self, map: Node) -> Result<Vec<(Node, Node)>, Failure> {
        self.count(self.source.size(map))?;
        Ok(self.source.entries(map))
    }

    fn step(&mut self, step: Step) -> Going {
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
                    let id = self.constant(node);
                    self.walk.code.push(Instr::Const(id));
                }
                Some(node) => self.visit(node, scope, given)?,
                None => self.missing(scope, op, name)?,
            },
            Step::Unknown {
                node,
                op,
                list,
                scope,
            } => self.unknown_fields(node, op, list, scope)?,
            Step::Emit(instr) => self.walk.code.push(instr),
            Step::Call { node, call } => self.walk.push_call(node, call),
            Step::Mark(label) => {
                self.walk.marked = self.walk.code.len() as u32;
                self.walk.labels[label.0 as usize] = self.walk.marked;
            }
            Step::Bind(bound, slot) => {
                if let Some(name) = bound.text(self.source) {
                    self.walk.bindings.bind(bound, name, slot)
                }
            }
            Step::Unbind(name) => {
                if let Some(name) = name.text(self.source) {
                    self.walk.bindings.unbind(name)
                }
            }
            Step::Template(node, scope) => self.template(node, scope)?,
            Step::TemplatePart(node, scope) => {
                self.walk.starts.push(self.walk.code.len() as u32);
                self.template(node, scope)?
            }
            Step::TemplateMap(map, scope) => self.data(map, scope)?,
            Step::Branches(count) => self.end_branches(count as usize),
            Step::Build(parts) => self.build(parts),
            Step::Compare(apply) => self.compare(apply),
            Step::InOrder {
                owner,
                op,
                field,
                scope,
            } => self.field_in_order(owner, op, field, scope)?,
            Step::PartInOrder(op, kind, part, scope) => {
                self.part_in_order(op, kind, part, scope)?
            }
            Step::Unguard => self.unguard()?,
            Step::Close => self.close(),
        }
        Ok(())
    }

    pub(super) fn visit(&mut self, node: Node, mut scope: Scope, given: bool) -> Going {
        let observed = self.walk.observer.is_some();
        if observed {
            self.locate(node);
        }
        if !self.source.is_map(node) {
            return self.wrong(scope, Code::NodeNotAMap, node);
        }
        scope.depth += 1;
        if scope.depth > self.walk.depth {
            let limit = self.walk.omitted + 3;
            return self.reject(scope, Fault::new(Code::TooDeep, None, vec![limit]));
        }
        let name = self.source.field(node, "op");
        let op = match name {
            None => OpCode::IMPLICIT_OBJECT,
            Some(name) if self.source.shape(name) == Shape::Null => {
                return self.reject(scope, Fault::new(Code::MissingOp, None, vec![]));
            }
            Some(name) => match self.operation(name) {
                Some(op) => op,
                None => {
                    let terms = self.named(name);
                    return self.reject(scope, Fault::new(Code::UnknownOp, None, terms));
                }
            },
        };
        if given {
            self.keep_stored(node, name.map(|_| op), scope.input);
        }
        let guards = self.walk.guards.len();
        if !scope.checked && self.walk.edition == Edition::Two {
            scope = self.guarded(node, op, scope, given);
        }
        let own = Given::of(self.source, node, op, self.walk.edition);
        if !given && op.shape().sees_input() {
            if let Some(value) = own.input {
                let id = self.constant(value);
                scope.input = self.take_slot(&mut scope);
                self.walk.code.push(Instr::Const(id));
                self.walk.code.push(Instr::Store(scope.input));
            }
        }
        let implicit = name.is_none();
        if observed {
            self.open(node, op, scope, implicit);
        }
        self.plan(node, own, scope, implicit)?;
        if observed {
            self.walk.todo.push(Step::Close);
        }
        if self.walk.guards.len() > guards {
            self.walk.todo.push(Step::Unguard);
        }
        Ok(())
    }

    /// A pipe has stored the current value of a step for one instruction. Keeps it for several, unless the step is an
    /// operation that reads it in one only, see [`Operation::READS_INPUT_ONCE`](crate::ops).
    #[inline]
    fn keep_stored(&mut self, node: Node, op: Option<OpCode>, input: Slot) {
        if let Some(last @ Instr::StoreOnce(_)) = self.walk.code.last_mut() {
            let given = |name| self.source.field(node, name).is_some();
            // With keys that are evaluated, a sort reads it twice.
            let twice = |op: OpCode| {
                op.shape() == OpShape::Permuted(Order::Keys)
                    && self.walk.edition == Edition::Two
                    && (given("expr") || given("by"))
            };
            if !op.is_some_and(|op| op.reads_input_once() && !twice(op)) {
                *last = Instr::Store(input);
            }
        }
    }

    /// Returns the operation of the name that a part holds.
    pub(super) fn operation(&self, name: Node) -> Option<OpCode> {
        let name = self.source.text(name)?;
        OpCode::from_name(name, self.walk.edition)
    }

    /// Makes the plan of an operation: its checks and its steps.
    fn plan(&mut self, node: Node, given: Given, scope: Scope, implicit: bool) -> Going {
        let op = given.op;
        if op.checked_in_order() && self.walks_again() {
            return self.in_order(node, op, scope);
        }
        let mut plan = Plan::new(self, node, given, scope, implicit);
        if implicit {
            return op.plan(&mut plan);
        }
        op.check(&plan)?;
        let present = plan.check_fields()?;
        if let Some(fault) = plan.condition_without_op()? {
            return self.reject(scope, fault);
        }
        op.plan(&mut plan)?;
        plan.unknown_fields(node, op, present);
        Ok(())
    }

    fn is_number(&self, node: Node) -> bool {
        matches!(
            self.source.shape(node),
            Shape::Integer { .. } | Shape::Float
        )
    }

    /// Adds a constant. One of the last constants that is the same short string stands for it too, so that a key which a
    /// program reads several times has one term and one cache.
    pub(super) fn constant(&mut self, value: Node) -> ConstId {
        let count = self.walk.consts.len();
        let first = count.saturating_sub(LAST_CONSTANTS);
        let last = &self.walk.consts[first..];
        let same = last.iter().position(|it| self.source.is_same(*it, value));
        if let Some(place) = same {
            return (first + place) as ConstId;
        }
        self.walk.consts.push(value);
        count as ConstId
    }

    pub(super) fn take_slot(&mut self, scope: &mut Scope) -> u32 {
        let slot = scope.free;
        scope.free += 1;
        self.walk.slots = self.walk.slots.max(scope.free);
        slot
    }

    /// Returns the terms of an error about an unknown name: the name, and the edition unless it is the first, because it
    /// decides which names there are.
    pub(super) fn named(&self, name: Node) -> Vec<Node> {
        match self.walk.edition {
            Edition::One => vec![name],
            Edition::Two => vec![name, self.walk.omitted + 4],
        }
    }

    /// Rejects a part of the source.
    fn wrong(&mut self, scope: Scope, code: Code, node: Node) -> Going {
        self.reject(scope, Fault::new(code, None, vec![node]))
    }

    /// Handles a missing field. In an unchecked part, a missing operation evaluates to `nil`.
    fn missing(&mut self, scope: Scope, op: OpCode, name: &'static str) -> Going {
        let fault = match scope.checked {
            true => Fault::new(Code::FieldMissing, Some(op.name()), vec![]).about(name),
            false => Fault::new(Code::NodeNotAMap, None, vec![self.walk.omitted]),
        };
        self.reject(scope, fault)
    }

    /// Ends the walk with the fault, or emits an instruction that fails with it.
    pub(super) fn reject(&mut self, scope: Scope, fault: Rejection) -> Going {
        if scope.checked {
            return Err(Failure::Rejected(fault));
        }
        self.forget_place();
        let instr = self.fail(fault);
        self.walk.code.push(instr);
        Ok(())
    }

    pub(super) fn fail(&mut self, fault: Rejection) -> Instr {
        let subject = match fault.terms.first() {
            Some(subject) => self.constant(*subject),
            None => crate::code::NO_CONST,
        };
        Instr::Fail(LateError {
            code: fault.code,
            name: fault.name,
            field: fault.field,
            subject,
        })
    }
}
