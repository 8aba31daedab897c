//! The walk of a plan: every part of the program is visited once, with what is known of its current value.
//!
//! It keeps its own stack, so nesting costs memory and not call depth.

use super::calls::{and_then, maybe, or_else, times, CallSite, Effects};
use super::formula::FormulaId;
use super::loops::{Looped, Loops};
use super::sets::SetId;
use super::sources::SourceRoot;
use super::value::{ItemsOf, ValueId, Values};
use super::visit::{PartKind, ReadAs, ToVisit, When};
use crate::compile::{INPUT_NAME, MOST_FIELDS};
use crate::edition::Edition;
use crate::opcode::OpCode;
use crate::typing::names::{ByNumber, NameId, Names};
use crate::typing::parts::{fields_of, operation_of, OpAt};
use crate::typing::walk::ABSENT;
use ptc_json::{Document, Entry, Node, Shape};
use std::collections::{HashMap, HashSet};

/// A part that was visited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visited {
    pub field: &'static str,
    pub key: Node,
    pub value: ValueId,
}

/// A part whose own parts are being visited.
#[derive(Debug)]
pub(super) struct PlanFrame {
    pub node: Node,
    pub what: PartKind,
    pub fields: [Node; MOST_FIELDS],
    pub input: ValueId,
    /// The number of fields that have been visited, and the next part of a list or an object.
    pub stage: u8,
    pub at: Node,
    pub left: u32,
    /// The value of the case whose condition was visited.
    pub then: Node,
    /// The number of parts before its own.
    pub parts: u32,
    /// The loop of its body.
    pub looped: Option<Looped>,
    /// What the conditions so far depend on.
    pub decides: SetId,
    effects: Effects,
    branches: Option<Effects>,
    /// What holds in the part that is being visited: what to undo after it.
    now: ToVisit,
    bound: Option<ValueId>,
    guard: SetId,
    counted: SetId,
    calls: u32,
}

/// A plan that is being made.
#[derive(Debug)]
pub struct PlanWalk {
    /// What is known of all values.
    pub values: Values,
    /// The names of fields, tools and data.
    pub names: Names,
    /// The calls of the program.
    pub calls: Vec<CallSite>,
    /// How often tools are called.
    pub effects: Effects,
    /// What each `fold` accumulates.
    pub folded: Vec<(SetId, SetId)>,
    /// The parts that the program uses, whole or not.
    pub used: Vec<SetId>,
    pub(super) loops: Loops,
    pub(super) edition: Edition,
    pub(super) frames: Vec<PlanFrame>,
    pub(super) visited: Vec<Visited>,
    pub(super) bound: Vec<Option<ValueId>>,
    pub(super) guard: SetId,
    counted: SetId,
    /// The entries of objects, by the numbers of their values, with the object.
    pub(super) entries: HashMap<u32, ValueId, ByNumber>,
    /// The keys of objects that have been visited.
    seen: HashSet<(Node, NameId), ByNumber>,
    last: ValueId,
    root: Node,
    /// What the last steps did beside making values.
    work: usize,
}

/// The result of a step.
pub enum PlanStep {
    /// The walk goes on.
    On,
    /// The program has this value.
    Done(ValueId),
}

impl PlanWalk {
    /// Creates the walk over the program whose root is `root`.
    pub fn new(root: Node, edition: Edition) -> Self {
        PlanWalk {
            values: Values::default(),
            names: Names::whole(),
            calls: Vec::new(),
            effects: Effects::new(),
            folded: Vec::new(),
            used: Vec::new(),
            loops: Loops::default(),
            edition,
            frames: Vec::with_capacity(16),
            visited: Vec::with_capacity(16),
            bound: Vec::new(),
            guard: SetId::EMPTY,
            counted: SetId::EMPTY,
            entries: HashMap::default(),
            seen: HashSet::default(),
            last: ValueId::CONSTANT,
            root,
            work: 0,
        }
    }

    /// Returns the words that the walk takes.
    pub fn words(&self) -> usize {
        let frames = self.frames.len() * size_of::<PlanFrame>() / 8;
        let own = self.visited.len() * 4 + self.bound.len() + self.calls.len() * 2;
        let own = own + 2 * self.entries.len();
        self.values.words() + self.names.words() + frames + own + self.used.len() / 2
    }

    /// Returns what the last steps did beside making values.
    pub fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    /// Visits the root.
    pub fn begin(&mut self, source: &Document) {
        let name = self.names.id(INPUT_NAME.as_bytes());
        let input = self.values.root(SourceRoot::Memory(name));
        let part = self.part(self.root, ReadAs::Expr, "", input);
        self.enter(source, part);
    }

    /// A part that is evaluated once.
    pub(super) fn part(
        &self,
        node: Node,
        how: ReadAs,
        field: &'static str,
        input: ValueId,
    ) -> ToVisit {
        ToVisit {
            node,
            how,
            field,
            key: ABSENT,
            input,
            given: false,
            bind: None,
            when: When::Always,
            guard: SetId::EMPTY,
        }
    }

    /// Makes one step.
    pub fn step(&mut self, source: &Document) -> PlanStep {
        if self.frames.is_empty() {
            return PlanStep::Done(self.last);
        }
        match self.next_part(source) {
            Some(part) => self.begin_part(source, part),
            None => {
                let value = self.value(source);
                if let Some(frame) = self.frames.pop() {
                    self.visited.truncate(frame.parts as usize);
                    self.take(value, frame.effects);
                }
            }
        }
        PlanStep::On
    }

    fn begin_part(&mut self, source: &Document, mut part: ToVisit) {
        let (before, calls) = ((self.guard, self.counted), self.calls.len() as u32);
        let mut guard = part.guard;
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if let (When::Each | When::Until, Some(looped)) = (part.when, frame.looped) {
            if part.given {
                part.input = looped.item;
            }
            let of_list = self.values.both(looped.spine, looped.by);
            guard = self.values.both(guard, of_list);
            self.counted = self.values.both(self.counted, looped.spine);
        }
        let mut bound = None;
        if let Some((name, value)) = part.bind {
            let at = name.0 as usize;
            if self.bound.len() <= at {
                self.bound.resize(at + 1, None);
            }
            bound = self.bound[at].replace(value);
        }
        (frame.now, frame.bound, frame.calls) = (part, bound, calls);
        (frame.guard, frame.counted) = before;
        if guard != SetId::EMPTY {
            self.used.push(guard);
            self.guard = self.values.both(self.guard, guard);
            // Whether a call is made in each round over the numbers of a `range` tells a number exactly.
            if self.values.has_numbers(self.counted) {
                self.counted = self.values.both(self.counted, guard);
            }
        }
        self.enter(source, part);
    }

    fn enter(&mut self, source: &Document, part: ToVisit) {
        let what = match self.what(source, part.node, part.how) {
            Ok(what) => what,
            Err(value) => return self.take(value, Effects::new()),
        };
        let mut frame = PlanFrame {
            node: part.node,
            what,
            fields: [ABSENT; MOST_FIELDS],
            input: part.input,
            stage: 0,
            at: ABSENT,
            left: 0,
            then: ABSENT,
            parts: self.visited.len() as u32,
            looped: None,
            decides: SetId::EMPTY,
            effects: Effects::new(),
            branches: None,
            now: part,
            bound: None,
            guard: SetId::EMPTY,
            counted: SetId::EMPTY,
            calls: 0,
        };
        if let PartKind::Op(op, implicit) = what {
            let found = &mut frame.fields;
            let own = fields_of(self.edition, source, part.node, op, implicit, found);
            if let (Some(own), false, true) = (own, part.given, op.shape().sees_input()) {
                frame.input = self.constant(source, own);
            }
        }
        self.frames.push(frame);
    }

    /// Hands the value of a part to the one around it.
    fn take(&mut self, value: ValueId, mut effects: Effects) {
        self.last = value;
        let Some(frame) = self.frames.last_mut() else {
            self.effects = effects;
            return;
        };
        let (part, bound, calls) = (frame.now, frame.bound, frame.calls as usize);
        let looped = frame.looped;
        (self.guard, self.counted) = (frame.guard, frame.counted);
        if let Some((name, _)) = part.bind {
            self.bound[name.0 as usize] = bound;
        }
        self.visited.push(Visited {
            field: part.field,
            key: part.key,
            value,
        });
        if let When::Until = part.when {
            // What an item gives decides whether the body is evaluated for those after it.
            let flows = self.values.flows(value);
            for call in &mut self.calls[calls..] {
                call.guard = self.values.both(call.guard, flows);
                if self.values.has_numbers(call.counted) {
                    call.counted = self.values.both(call.counted, flows);
                }
            }
            self.work += (self.calls.len() - calls) / 4;
        }
        if effects.is_empty() {
            if let (When::Branch, None) = (part.when, &frame.branches) {
                frame.branches = Some(effects);
            } else if let (When::Branch, Some(all)) = (part.when, &mut frame.branches) {
                maybe(all);
            }
            return;
        }
        self.work += effects.len() / 2;
        match (part.when, looped) {
            (When::Each | When::Until, Some(looped)) => {
                times(&mut effects, &looped, &mut self.loops, &mut self.values);
            }
            (When::Maybe, _) => maybe(&mut effects),
            (When::Branch, _) => {
                frame.branches = Some(match frame.branches.take() {
                    None => effects,
                    Some(all) => or_else(all, effects, &mut self.values),
                });
                return;
            }
            _ => {}
        }
        let all = std::mem::take(&mut frame.effects);
        frame.effects = and_then(all, effects, &mut self.values);
    }

    /// Adds calls of the operation that is being visited, and those of its branches; one more if none of them may be
    /// evaluated.
    pub(super) fn end_branches(&mut self, complete: bool) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let Some(mut branches) = frame.branches.take() else {
            return;
        };
        if !complete {
            maybe(&mut branches);
        }
        let all = std::mem::take(&mut frame.effects);
        frame.effects = and_then(all, branches, &mut self.values);
    }

    /// Adds a call.
    pub(super) fn add_call(&mut self, tool: NameId, args: ValueId) {
        let once = FormulaId::ONE;
        self.calls.push(CallSite {
            tool,
            args,
            guard: self.guard,
            counted: self.counted,
        });
        if let Some(frame) = self.frames.last_mut() {
            let called = super::calls::Called {
                tool,
                least: once,
                most: once,
            };
            let all = std::mem::take(&mut frame.effects);
            frame.effects = and_then(all, vec![called], &mut self.values);
        }
    }

    /// Returns what stands at a part, or its value if it has no parts that are visited.
    fn what(&mut self, source: &Document, node: Node, how: ReadAs) -> Result<PartKind, ValueId> {
        let shape = source.shape(node);
        let is_op = match (how, shape) {
            (ReadAs::Expr, Shape::Map) => true,
            (ReadAs::Value | ReadAs::Template, Shape::Map) => source
                .field(node, "op")
                .is_some_and(|it| how == ReadAs::Value || source.shape(it) == Shape::String),
            _ => false,
        };
        if is_op {
            return match operation_of(source, node, self.edition) {
                OpAt::Is(op) => Ok(PartKind::Op(op, false)),
                OpAt::Implicit => Ok(PartKind::Op(OpCode::IMPLICIT_OBJECT, true)),
                OpAt::None => Err(self.values.unknown()),
            };
        }
        let has_parts = matches!(source.entry(node), Entry::Object(..) | Entry::List(..));
        match how {
            ReadAs::Template | ReadAs::Templates if has_parts => {
                Ok(PartKind::Data(ReadAs::Template))
            }
            ReadAs::Values if has_parts => Ok(PartKind::Data(ReadAs::Value)),
            ReadAs::Constants if has_parts => Ok(PartKind::Data(ReadAs::Constant)),
            _ => Err(self.constant(source, node)),
        }
    }

    /// Returns the value of a constant.
    pub(super) fn constant(&mut self, source: &Document, node: Node) -> ValueId {
        match (source.entry(node), source.shape(node)) {
            (Entry::List(_, count), _) => self.values.list_of(ValueId::FIXED, count as usize),
            // A term that is not in the table; it may be a list.
            (Entry::Term(_), Shape::List | Shape::Other) => self.values.list(ItemsOf {
                item: ValueId::FIXED,
                of: None,
                least: FormulaId::ZERO,
                most: FormulaId::UNKNOWN,
                spine: SetId::EMPTY,
            }),
            (_, Shape::Map | Shape::Struct) => ValueId::FIXED,
            _ => ValueId::CONSTANT,
        }
    }

    /// Whether a key of an object is the first one of its name.
    pub(super) fn is_first(&mut self, object: Node, name: NameId) -> bool {
        self.seen.insert((object, name))
    }
}
