//! What a program will do, as one term: `{tools, reads, result, kept}`. It is made part by part and can be suspended.
//!
//! A tool is `{name, least, most, guard, counted, arguments}`, an argument `{name | nil, flows, decides, counted}`, the result
//! `{flows, decides, counted}`, what the entries of the result are made of a list of `{name | nil, made, parts}`. What is counted are the
//! parts of which there are as many items as a list has, or as there are calls. `terms` says how parts and formulas are terms.

use super::kept::Kept;
use super::sets::{Ref, SetId};
use super::terms::{flows_terms, formula_term, kept_term, refs_term, tidy, Flows};
use super::value::{Value, ValueId};
use super::walk::PlanWalk;
use crate::analysis::names::{ByNumber, NameId};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use std::collections::{BTreeMap, HashSet};

/// Fuel for a call, for a part of a set and for a tool.
const FUEL_PER_CALL: usize = 8;
const FUEL_PER_REF: usize = 4;
const FUEL_PER_TOOL: usize = 16;
/// A reply that is being made.
#[derive(Debug)]
pub(super) struct PlanReply<T> {
    tools: Roots<T>,
    /// The terms of what the entries of the result are made of.
    kept: Roots<T>,
    /// The list of the tools, that of the parts that are read, and that of these terms.
    parts: Roots<T>,
    state: PlanReplyState,
}

rooted!(PlanReply { states: tools, kept, parts; plain: state });

#[derive(Debug, Default)]
struct PlanReplyState {
    stage: PlanReplyStage,
    /// What decides about the calls of each tool, and its arguments.
    guards: BTreeMap<NameId, (SetId, SetId)>,
    /// What the entries of the result are made of.
    kept: Vec<Kept>,
    arguments: BTreeMap<(NameId, Option<NameId>), Flows>,
    used: HashSet<Ref, ByNumber>,
    seen: HashSet<SetId, ByNumber>,
}

#[derive(Debug, Default, Clone, Copy)]
enum PlanReplyStage {
    /// The calls before this one.
    #[default]
    Begin,
    Calls(usize),
    Tools(usize),
    Used(usize),
    Reads,
    Kept(usize),
    Whole,
}

impl<T> Default for PlanReply<T> {
    fn default() -> Self {
        PlanReply {
            tools: Roots::default(),
            kept: Roots::default(),
            parts: Roots::default(),
            state: PlanReplyState::default(),
        }
    }
}

impl<T: Copy> PlanReply<T> {
    /// Continues until all is made.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        result: ValueId,
        walk: &mut PlanWalk,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        loop {
            let cost = match self.state.stage {
                PlanReplyStage::Begin => {
                    let flows = walk.values.flows(result);
                    walk.used.push(flows);
                    let own: Vec<_> = walk.folded.iter().flat_map(|it| [it.0, it.1]).collect();
                    walk.used.extend(own);
                    self.go_on(PlanReplyStage::Calls(0), walk.folded.len() / 4)
                }
                PlanReplyStage::Calls(at) => match walk.calls.get(at) {
                    None => self.go_on(PlanReplyStage::Tools(0), 1),
                    Some(_) => {
                        let cost = self.call(at, walk);
                        self.go_on(PlanReplyStage::Calls(at + 1), cost)
                    }
                },
                PlanReplyStage::Tools(at) if at == walk.effects.len() => {
                    let tools = self.tools.list(heap);
                    self.parts.push(tools);
                    self.go_on(PlanReplyStage::Used(0), 1)
                }
                PlanReplyStage::Tools(at) => {
                    let before = heap.words_built();
                    let tool = self.tool(at, walk, heap);
                    self.tools.push(tool);
                    let cost = FUEL_PER_TOOL + (heap.words_built() - before) / 2;
                    self.go_on(PlanReplyStage::Tools(at + 1), cost)
                }
                PlanReplyStage::Used(at) => match walk.used.get(at).copied() {
                    None => self.go_on(PlanReplyStage::Reads, 1),
                    Some(set) => {
                        let cost = self.mark(set, walk);
                        self.go_on(PlanReplyStage::Used(at + 1), cost)
                    }
                },
                PlanReplyStage::Reads => {
                    let before = heap.words_built();
                    let all: Vec<Ref> = std::mem::take(&mut self.state.used).into_iter().collect();
                    let reads = refs_term(tidy(all, &[], walk), walk, heap);
                    self.parts.push(reads);
                    let words = heap.words_built() - before;
                    if !walk.is_for_people {
                        self.state.kept = walk.kept(result);
                    }
                    self.go_on(PlanReplyStage::Kept(0), words / 2 + self.state.kept.len())
                }
                PlanReplyStage::Kept(at) => match self.state.kept.get(at).copied() {
                    None => {
                        let kept = self.kept.list(heap);
                        self.parts.push(kept);
                        self.go_on(PlanReplyStage::Whole, 1)
                    }
                    Some(kept) => {
                        let before = heap.words_built();
                        let kept = kept_term(kept, walk, heap);
                        self.kept.push(kept);
                        let cost = FUEL_PER_TOOL + (heap.words_built() - before) / 2;
                        self.go_on(PlanReplyStage::Kept(at + 1), cost)
                    }
                },
                PlanReplyStage::Whole => {
                    let flows = (walk.values.data(result), walk.values.decides(result));
                    let flows = flows_terms(flows, walk, heap);
                    let result = heap.make_tuple(&flows);
                    let [tools, reads, kept] = [0, 1, 2].map(|at| self.parts.get(heap, at));
                    return Ok(heap.make_tuple(&[tools, reads, result, kept]));
                }
            };
            meter.check_heap_limit(walk.words(), heap)?;
            meter.consume_fuel(cost, heap)?;
        }
    }

    fn go_on(&mut self, stage: PlanReplyStage, cost: usize) -> usize {
        self.state.stage = stage;
        cost
    }

    /// Adds a call to what is known of its tool; returns the fuel.
    fn call(&mut self, at: usize, walk: &mut PlanWalk) -> usize {
        let call = walk.calls[at];
        walk.used.push(call.guard);
        let none = (SetId::EMPTY, SetId::EMPTY);
        let guard = self.state.guards.entry(call.tool).or_insert(none);
        guard.0 = walk.values.both(guard.0, call.guard);
        guard.1 = walk.values.both(guard.1, call.counted);
        // Which value an argument has in each round over the numbers of a `range` tells a number exactly.
        let by = walk.values.decides(call.args);
        if by != SetId::EMPTY && walk.values.has_numbers(call.counted) {
            let by = walk.values.made(by);
            self.argument(call.tool, None, by, SetId::EMPTY, walk);
        }
        let (inner, by) = walk.values.undecided(call.args);
        let (fields, decides) = match walk.values.get(inner) {
            Value::Object(span, ValueId::CONSTANT) => (walk.values.fields(span).to_vec(), by),
            _ => {
                self.argument(call.tool, None, call.args, by, walk);
                return FUEL_PER_CALL;
            }
        };
        let cost = FUEL_PER_CALL + FUEL_PER_REF * fields.len();
        for (name, value) in fields {
            self.argument(call.tool, Some(name), value, decides, walk);
        }
        cost
    }

    fn argument(
        &mut self,
        tool: NameId,
        name: Option<NameId>,
        value: ValueId,
        by: SetId,
        walk: &mut PlanWalk,
    ) {
        let values = &mut walk.values;
        let (data, decides) = (values.data(value), values.decides(value));
        let none = (SetId::EMPTY, SetId::EMPTY);
        let flows = self.state.arguments.entry((tool, name)).or_insert(none);
        flows.0 = values.both(flows.0, data);
        flows.1 = values.both(flows.1, decides);
        flows.1 = values.both(flows.1, by);
    }

    /// `{name, least, most, guard, counted, arguments}`
    fn tool<H: Heap<Term = T>>(&mut self, at: usize, walk: &PlanWalk, heap: &mut H) -> T {
        let called = walk.effects[at];
        let guard = self.state.guards.get(&called.tool).copied();
        let range = (called.tool, None)..=(called.tool, Some(NameId(u32::MAX)));
        let mut arguments = Vec::new();
        for ((_, name), flows) in self.state.arguments.range(range) {
            let [data, decides, counted] = flows_terms(*flows, walk, heap);
            let name = match name {
                Some(name) => heap.make_string(walk.names.get(*name)),
                None => heap.nil(),
            };
            arguments.push(heap.make_tuple(&[name, data, decides, counted]));
        }
        let arguments = heap.make_list(&arguments);
        let (guard, counted) = guard.unwrap_or((SetId::EMPTY, SetId::EMPTY));
        let [_, guard, _] = flows_terms((SetId::EMPTY, guard), walk, heap);
        let [_, counted, _] = flows_terms((SetId::EMPTY, counted), walk, heap);
        let least = formula_term(called.least, walk, heap);
        let most = formula_term(called.most, walk, heap);
        let name = heap.make_string(walk.names.get(called.tool));
        heap.make_tuple(&[name, least, most, guard, counted, arguments])
    }

    /// Notes that the parts of a set are used; returns the fuel.
    fn mark(&mut self, set: SetId, walk: &PlanWalk) -> usize {
        if set == SetId::EMPTY || !self.state.seen.insert(set) {
            return 1;
        }
        let refs = walk.values.sets.get(set);
        self.state.used.extend(refs.iter().copied());
        FUEL_PER_REF * refs.len()
    }
}
