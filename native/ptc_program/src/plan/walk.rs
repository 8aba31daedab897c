//! The domain of a plan: a value is known by the parts of the data that it is made of.

use super::calls::{and_then, each_times, maybe, or_else, times, CallSite, Effects, MOST_COUNTED};
use super::formula::FormulaId;
use super::loops::{Looped, Loops};
use super::sets::SetId;
use super::sources::SourceRoot;
use super::value::{ItemsOf, ValueId, Values};
use super::visit::{PlanHeld, PlanOwn, When};
use crate::analysis::domain::{PartOf, StackOf};
use crate::analysis::names::{ByNumber, NameId, Names};
use crate::analysis::{walk, Domain, How, Stack, Visiting};
use crate::compile::INPUT_NAME;
use crate::edition::Edition;
use crate::shape::OpShape;
use ptc_json::{Document, Entry, Node, Shape};
use std::collections::{HashMap, HashSet};

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
    pub(super) stack: StackOf<Self>,
    pub(super) guard: SetId,
    pub(super) counted: SetId,
    /// The entries of objects, by the numbers of their values, with the object.
    pub(super) entries: HashMap<u32, ValueId, ByNumber>,
    /// The keys of objects that have been visited.
    pub(super) seen: HashSet<(Node, NameId), ByNumber>,
    /// What the last steps did beside making values.
    pub(super) work: usize,
    /// Whether the plan is one for people: without what only the firewall asks for.
    pub(super) is_for_people: bool,
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
            stack: Stack::new(root, edition, ValueId::CONSTANT),
            guard: SetId::EMPTY,
            counted: SetId::EMPTY,
            entries: HashMap::default(),
            seen: HashSet::default(),
            work: 0,
            is_for_people: false,
        }
    }

    /// Returns the words that the walk takes.
    pub fn words(&self) -> usize {
        let own = self.calls.len() * 2 + 2 * self.entries.len();
        self.values.words() + self.names.words() + self.stack.words() + own + self.used.len() / 2
    }

    /// Returns what the last steps did beside making values.
    pub fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    /// Visits the root.
    pub fn begin(&mut self, source: &Document) {
        let name = self.names.id(INPUT_NAME.as_bytes());
        let input = self.values.root(SourceRoot::Memory(name));
        walk::begin(self, source, input);
    }

    /// Makes one step. Returns the value of the program when it has been visited.
    pub fn step(&mut self, source: &Document) -> Option<ValueId> {
        walk::step(self, source)
    }

    /// Returns what is kept of the operation whose parts are being visited.
    pub(super) fn own(&self) -> Option<&PlanOwn> {
        Some(&self.stack.frames.last()?.own)
    }

    /// Returns what is kept of the operation whose parts are being visited, to be changed.
    pub(super) fn own_mut(&mut self) -> Option<&mut PlanOwn> {
        Some(&mut self.stack.frames.last_mut()?.own)
    }

    /// Returns the loop of the operation whose parts are being visited.
    pub(super) fn looped(&self) -> Option<Looped> {
        self.own()?.looped
    }

    /// Adds calls of the operation that is being visited, and those of its branches; one more if none of them may be
    /// evaluated.
    pub(super) fn end_branches(&mut self, complete: bool) {
        let Some(own) = self.stack.frames.last_mut().map(|frame| &mut frame.own) else {
            return;
        };
        let Some(mut branches) = own.branches.take() else {
            return;
        };
        if !complete {
            maybe(&mut branches);
        }
        let all = std::mem::take(&mut own.effects);
        own.effects = and_then(all, branches, &mut self.values);
    }

    /// Adds a call.
    pub(super) fn add_call(&mut self, tool: NameId, args: ValueId) {
        let once = FormulaId::ONE;
        self.calls.push(CallSite {
            tool,
            args,
            guard: self.guard,
            counted: self.counted,
            least: once,
            most: once,
        });
        if let Some(frame) = self.stack.frames.last_mut() {
            let called = super::calls::Called {
                tool,
                least: once,
                most: once,
            };
            let all = std::mem::take(&mut frame.own.effects);
            frame.own.effects = and_then(all, vec![called], &mut self.values);
        }
    }
}

impl Domain for PlanWalk {
    type Value = ValueId;
    type Own = PlanOwn;
    type Held = PlanHeld;

    const NULL: ValueId = ValueId::CONSTANT;
    const OPENS_CONSTANTS: bool = false;

    fn stack(&self) -> &StackOf<Self> {
        &self.stack
    }

    fn stack_mut(&mut self) -> &mut StackOf<Self> {
        &mut self.stack
    }

    fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    fn constant(&mut self, source: &Document, node: Node, _how: How) -> ValueId {
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

    fn nothing(&mut self) -> ValueId {
        self.values.unknown()
    }

    fn own_input(&mut self, source: &Document, node: Node) -> ValueId {
        self.constant(source, node, How::Constant)
    }

    /// Of equal keys only the first one counts.
    fn visits_key(&mut self, object: Node, key: Option<&[u8]>) -> bool {
        match key {
            Some(text) => {
                let name = self.names.id(text);
                self.seen.insert((object, name))
            }
            None => true,
        }
    }

    fn before(&mut self, source: &Document, shape: OpShape, part: &mut PartOf<Self>) -> Visiting {
        self.context(source, shape, part);
        Visiting::Visit
    }

    fn enter(&mut self, part: &PartOf<Self>) {
        let (guard, counted, calls) = (self.guard, self.counted, self.calls.len() as u32);
        let Some(own) = self.own_mut() else {
            return;
        };
        (own.guard, own.counted, own.calls) = (guard, counted, calls);
        let mut guard = part.held.guard;
        if let (When::Each | When::Until, Some(looped)) = (part.held.when, own.looped) {
            let of_list = self.values.both(looped.spine, looped.by);
            guard = self.values.both(guard, of_list);
            self.counted = self.values.both(self.counted, looped.spine);
        }
        if guard != SetId::EMPTY {
            self.used.push(guard);
            self.guard = self.values.both(self.guard, guard);
            // Whether a call is made in each round over the numbers of a `range` tells a number exactly.
            if self.values.has_numbers(self.counted) {
                self.counted = self.values.both(self.counted, guard);
            }
        }
    }

    fn after(
        &mut self,
        _source: &Document,
        part: &PartOf<Self>,
        value: ValueId,
        given: PlanOwn,
    ) -> bool {
        let Some(own) = self.stack.frames.last_mut().map(|frame| &mut frame.own) else {
            return false;
        };
        let (mut effects, when) = (given.effects, part.held.when);
        let (looped, calls) = (own.looped, own.calls as usize);
        (self.guard, self.counted) = (own.guard, own.counted);
        if let When::Until = when {
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
        let counted = calls.min(MOST_COUNTED)..self.calls.len().min(MOST_COUNTED);
        if !counted.is_empty() && !matches!(when, When::Always) {
            let in_loop = matches!(when, When::Each | When::Until);
            let looped = looped.as_ref().filter(|_| in_loop);
            self.work += counted.len() / 2;
            let calls = &mut self.calls[counted];
            each_times(calls, looped, !in_loop, &mut self.loops, &mut self.values);
        }
        if effects.is_empty() {
            if let (When::Branch, None) = (when, &own.branches) {
                own.branches = Some(effects);
            } else if let (When::Branch, Some(all)) = (when, &mut own.branches) {
                maybe(all);
            }
            return true;
        }
        self.work += effects.len() / 2;
        match (when, looped) {
            (When::Each | When::Until, Some(looped)) => {
                times(&mut effects, &looped, &mut self.loops, &mut self.values);
            }
            (When::Maybe, _) => maybe(&mut effects),
            (When::Branch, _) => {
                own.branches = Some(match own.branches.take() {
                    None => effects,
                    Some(all) => or_else(all, effects, &mut self.values),
                });
                return true;
            }
            _ => {}
        }
        let all = std::mem::take(&mut own.effects);
        own.effects = and_then(all, effects, &mut self.values);
        true
    }

    fn ended(&mut self, own: PlanOwn) {
        self.effects = own.effects;
    }

    fn value(&mut self, source: &Document) -> ValueId {
        self.value_of(source)
    }
}
