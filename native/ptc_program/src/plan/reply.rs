//! What a program will do, as one term: `{tools, reads, result}`. It is made part by part and can be suspended.
//!
//! A tool is `{name, least, most, guard, counted, arguments}`, an argument `{name | nil, flows, decides, counted}`, the result
//! `{flows, decides, counted}`. What is counted are the parts of which there are as many items as a list has, or as there are calls. A
//! formula is a list of products `{number, factors}`, or nil if nothing is known; a factor is a part of the
//! data or `{number, formula}`. A part of the data is `{root, path, whole}`.

use super::formula::{Factor, FormulaId, Product};
use super::sets::{Extent, Ref, SetId};
use super::sources::{PathStep, SourceId, SourceRoot};
use super::value::{Value, ValueId};
use super::walk::PlanWalk;
use crate::typing::names::{ByNumber, NameId};
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::named::named;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use std::collections::{BTreeMap, HashSet};

named! {
    /// A word of a plan; on the BEAM an atom.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PlanWord {
        /// The data of the run.
        Context = "context",
        /// The memory.
        Memory = "memory",
        /// The answers of a tool.
        Answer = "answer",
        /// The errors of a tool.
        Error = "error",
        /// The time of the run.
        Now = "now",
        /// Nothing is known.
        Unknown = "unknown",
        /// The items of a list, in a path.
        Each = "each",
        /// The values of an object.
        EachValue = "value",
        /// The keys of an object.
        Keys = "keys",
        /// The value itself, if it is an object.
        Object = "object",
        /// The value itself, if it is no object.
        Other = "other",
        /// The value itself, if it is no list.
        Single = "single",
        /// The object without some fields.
        Without = "without",
    }
}

/// Fuel for a call, for a part of a set and for a tool.
const FUEL_PER_CALL: usize = 8;
const FUEL_PER_REF: usize = 4;
const FUEL_PER_TOOL: usize = 16;
/// Maximum nesting depth of a formula in formulas.
const DEEPEST: usize = 8;

/// The flows into one argument, and what decides about it.
type Flows = (SetId, SetId);

/// A reply that is being made.
#[derive(Debug)]
pub(super) struct PlanReply<T> {
    tools: Roots<T>,
    /// The list of the tools, and that of the parts that are read.
    parts: Roots<T>,
    state: PlanReplyState,
}

rooted!(PlanReply { states: tools, parts; plain: state });

#[derive(Debug, Default)]
struct PlanReplyState {
    stage: PlanReplyStage,
    /// What decides about the calls of each tool, and its arguments.
    guards: BTreeMap<NameId, (SetId, SetId)>,
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
    Whole,
}

impl<T> Default for PlanReply<T> {
    fn default() -> Self {
        PlanReply {
            tools: Roots::default(),
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
                    self.go_on(PlanReplyStage::Whole, words / 2)
                }
                PlanReplyStage::Whole => {
                    let flows = (walk.values.data(result), walk.values.decides(result));
                    let flows = flows_terms(flows, walk, heap);
                    let result = heap.make_tuple(&flows);
                    let (tools, reads) = (self.parts.get(heap, 0), self.parts.get(heap, 1));
                    return Ok(heap.make_tuple(&[tools, reads, result]));
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
        let least = formula_term(called.least, walk, heap, DEEPEST);
        let most = formula_term(called.most, walk, heap, DEEPEST);
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

/// Replaces what a `fold` has accumulated by what flows into that. What decides about it is added to `decides`.
fn unfolded(set: SetId, walk: &PlanWalk, decides: &mut Vec<SetId>) -> Vec<Ref> {
    if walk.folded.is_empty() {
        return walk.values.sets.get(set).to_vec();
    }
    let (mut todo, mut all) = (vec![set], Vec::new());
    let mut seen: HashSet<SetId, ByNumber> = HashSet::default();
    while let Some(next) = todo.pop() {
        if !seen.insert(next) {
            continue;
        }
        for part in walk.values.sets.get(next) {
            match walk.values.tree.root_of(part.source) {
                SourceRoot::Folded(number) => {
                    let (data, others) = walk.folded[number as usize];
                    todo.push(data);
                    decides.push(others);
                }
                _ => all.push(*part),
            }
        }
    }
    all
}

/// Returns the terms of the parts that flow, of those that decide and do not flow, and of those that are counted.
fn flows_terms<H: Heap>((data, decides): Flows, walk: &PlanWalk, heap: &mut H) -> [H::Term; 3] {
    let (mut others, mut at) = (vec![decides], 0);
    let data = unfolded(data, walk, &mut others);
    let (counted, data): (Vec<_>, Vec<_>) = data.into_iter().partition(is_counted);
    let (mut deciding, mut seen) = (Vec::new(), HashSet::<SetId, ByNumber>::default());
    while let Some(set) = others.get(at).copied() {
        if seen.insert(set) {
            let more = unfolded(set, walk, &mut others);
            deciding.extend(more);
        }
        at += 1;
    }
    let deciding = tidy(deciding, &data, walk);
    let counted = tidy(counted, &data, walk);
    let data = tidy(data, &[], walk);
    [data, deciding, counted].map(|refs| refs_term(refs, walk, heap))
}

fn is_counted(part: &Ref) -> bool {
    part.extent == Extent::Items
}

/// Leaves out what others imply: parts of a part of which all counts, and the numbers of items on the way to a part. Also what
/// is `known`.
fn tidy(mut refs: Vec<Ref>, known: &[Ref], walk: &PlanWalk) -> Vec<Ref> {
    if refs.is_empty() || refs.len() == 1 && known.is_empty() {
        return refs;
    }
    for part in refs.iter_mut().filter(|part| is_counted(part)) {
        part.extent = Extent::Count;
    }
    refs.sort_unstable();
    refs.dedup();
    let tree = &walk.values.tree;
    let (mut whole, mut passed) = (Vec::new(), Vec::new());
    for part in refs.iter().chain(known) {
        whole.extend((part.extent == Extent::Whole).then_some(part.source));
        let mut next = part.source;
        while let Some((around, _)) = tree.around(next) {
            passed.push(around);
            next = around;
        }
    }
    whole.sort_unstable();
    passed.sort_unstable();
    let has = |all: &[SourceId], id: SourceId| all.binary_search(&id).is_ok();
    let is_inside = |mut id: SourceId| {
        while let Some((around, _)) = tree.around(id) {
            if has(&whole, around) {
                return true;
            }
            id = around;
        }
        false
    };
    refs.retain(|part| {
        let own = has(&passed, part.source) || has(&whole, part.source);
        !(known.contains(part) || part.extent != Extent::Whole && own || is_inside(part.source))
    });
    refs
}

fn refs_term<H: Heap>(refs: Vec<Ref>, walk: &PlanWalk, heap: &mut H) -> H::Term {
    let mut all = Vec::with_capacity(refs.len());
    for part in refs {
        if let Some(term) = source_term(part.source, part.extent == Extent::Whole, walk, heap) {
            all.push(term);
        }
    }
    heap.make_list(&all)
}

/// `{root, path, whole}`
fn source_term<H: Heap>(
    source: SourceId,
    whole: bool,
    walk: &PlanWalk,
    heap: &mut H,
) -> Option<H::Term> {
    let (word, name) = match walk.values.tree.root_of(source) {
        SourceRoot::Context(name) => (PlanWord::Context, Some(name)),
        SourceRoot::Memory(name) => (PlanWord::Memory, Some(name)),
        SourceRoot::Answer(name) => (PlanWord::Answer, Some(name)),
        SourceRoot::Error(name) => (PlanWord::Error, Some(name)),
        SourceRoot::Now => (PlanWord::Now, None),
        SourceRoot::Unknown => (PlanWord::Unknown, None),
        SourceRoot::Folded(_) => return None,
    };
    let mut path = Vec::new();
    path.extend(name.map(|name| heap.make_string(walk.names.get(name))));
    for step in walk.values.tree.steps(source) {
        path.push(match step {
            PathStep::Key(name) => heap.make_string(walk.names.get(name)),
            PathStep::Each => heap.word(PlanWord::Each),
            PathStep::Value => heap.word(PlanWord::EachValue),
            PathStep::Keys => heap.word(PlanWord::Keys),
            PathStep::Object => heap.word(PlanWord::Object),
            PathStep::Other => heap.word(PlanWord::Other),
            PathStep::Single => heap.word(PlanWord::Single),
            PathStep::Without(at) => {
                let names = walk.values.tree.names_without(at).iter();
                let names: Vec<_> = names
                    .map(|name| heap.make_string(walk.names.get(*name)))
                    .collect();
                let (word, names) = (heap.word(PlanWord::Without), heap.make_list(&names));
                heap.make_tuple(&[word, names])
            }
        });
    }
    let (word, path) = (heap.word(word), heap.make_list(&path));
    let whole = heap.boolean(whole);
    Some(heap.make_tuple(&[word, path, whole]))
}

// It calls itself at most to this depth.
fn formula_term<H: Heap>(
    formula: FormulaId,
    walk: &PlanWalk,
    heap: &mut H,
    depth: usize,
) -> H::Term {
    if formula == FormulaId::UNKNOWN || depth == 0 {
        return heap.nil();
    }
    let mut products = Vec::new();
    for Product { times, factors } in walk.values.formulas.get(formula) {
        let mut all = Vec::with_capacity(factors.len());
        for factor in factors {
            let term = match factor {
                Factor::Count(source, _) => source_term(*source, false, walk, heap),
                Factor::AtMost(number, of) => {
                    let of = formula_term(*of, walk, heap, depth - 1);
                    let number = number_term(*number, heap);
                    Some(heap.make_tuple(&[number, of]))
                }
            };
            match term {
                Some(term) => all.push(term),
                None => return heap.nil(),
            }
        }
        let (number, all) = (number_term(*times, heap), heap.make_list(&all));
        products.push(heap.make_tuple(&[number, all]));
    }
    heap.make_list(&products)
}

fn number_term<H: Heap>(number: u64, heap: &mut H) -> H::Term {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let term = heap.make_number(Number::Int(number));
    term.unwrap_or_else(|| heap.nil())
}
