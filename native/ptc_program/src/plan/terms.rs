//! What is known of a program, as terms. A formula is a list of products `{number, factors}`, or nil if nothing is known; a factor is a
//! part of the data or `{number, formula}`. A part of the data is `{root, path, whole}`.

use super::formula::{Factor, FormulaId, Product};
use super::kept::Kept;
use super::keyed_entries::KeyLeftOut;
use super::sets::{Extent, Ref, SetId};
use super::sources::{PathStep, SourceId, SourceRoot};
use super::walk::PlanWalk;
use crate::analysis::names::ByNumber;
use ptc_term::heap::Heap;
use ptc_term::named::named;
use ptc_term::number::Number;
use std::collections::HashSet;

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
        /// A key that is a text.
        Text = "text",
        /// All keys that begin with a text.
        Starting = "starting",
    }
}

/// Maximum nesting depth of a formula in formulas.
const DEEPEST: usize = 8;

/// The flows into one argument, and what decides about it.
pub(super) type Flows = (SetId, SetId);

/// Replaces what a `fold` has accumulated by what flows into that. What decides about it is added to `decides`.
fn unfolded(set: SetId, walk: &PlanWalk, decides: &mut Vec<SetId>) -> Vec<Ref> {
    if walk.folded.is_empty() && !walk.values.has_numbers(set) {
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
                SourceRoot::Numbers => {}
                _ => all.push(*part),
            }
        }
    }
    all
}

/// Returns the terms of the parts that flow, of those that decide and do not flow, and of those that are counted.
pub(super) fn flows_terms<H: Heap>(
    (data, decides): Flows,
    walk: &PlanWalk,
    heap: &mut H,
) -> [H::Term; 3] {
    let (mut others, mut at) = (vec![decides], 0);
    let data = unfolded(data, walk, &mut others);
    let (counted, data): (Vec<_>, Vec<_>) = data.into_iter().partition(is_counted);
    let (mut deciding, mut seen) = (Vec::new(), HashSet::<SetId, ByNumber>::default());
    while let Some(set) = others.get(at).copied() {
        if set != SetId::EMPTY && seen.insert(set) {
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

/// `{name, made, parts}`
pub(super) fn kept_term<H: Heap>(kept: Kept, walk: &PlanWalk, heap: &mut H) -> H::Term {
    let name = match kept.name {
        Some(name) => heap.make_string(walk.names.get(name)),
        None => heap.nil(),
    };
    let [made, parts] = [kept.made, kept.parts].map(|set| unfolded(set, walk, &mut Vec::new()));
    let [made, parts] = [tidy(made, &[], walk), parts].map(|refs| refs_term(refs, walk, heap));
    heap.make_tuple(&[name, made, parts])
}

fn is_counted(part: &Ref) -> bool {
    part.extent == Extent::Items
}

/// Leaves out what others imply: parts of a part of which all counts, and the numbers of items on the way to a part. Also what
/// is `known`.
pub(super) fn tidy(mut refs: Vec<Ref>, known: &[Ref], walk: &PlanWalk) -> Vec<Ref> {
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
        let own = || has(&passed, part.source) || has(&whole, part.source);
        !(known.contains(part) || part.extent != Extent::Whole && own() || is_inside(part.source))
    });
    refs
}

pub(super) fn refs_term<H: Heap>(refs: Vec<Ref>, walk: &PlanWalk, heap: &mut H) -> H::Term {
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
        SourceRoot::Folded(_) | SourceRoot::Numbers => return None,
    };
    let (mut path, mut next) = (heap.make_list(&[]), source);
    while let Some((around, step)) = walk.values.tree.around(next) {
        let step = match step {
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
                    .filter_map(|name| name_term(walk.names.get(*name), walk, heap))
                    .collect();
                let (word, names) = (heap.word(PlanWord::Without), heap.make_list(&names));
                heap.make_tuple(&[word, names])
            }
        };
        (path, next) = (heap.cons(step, path), around);
    }
    if let Some(name) = name {
        let name = heap.make_string(walk.names.get(name));
        path = heap.cons(name, path);
    }
    let word = heap.word(word);
    let whole = heap.boolean(whole);
    Some(heap.make_tuple(&[word, path, whole]))
}

/// A name, `{:text, name}` for a key that is a text and no atom, or `{:starting, text}` for all keys that begin with a text. People
/// are told which keys are left out by their names.
fn name_term<H: Heap>(name: &[u8], walk: &PlanWalk, heap: &mut H) -> Option<H::Term> {
    let (word, name) = match KeyLeftOut::read(name) {
        None => return Some(heap.make_string(name)),
        Some((KeyLeftOut::Text, name)) if walk.is_for_people => {
            return Some(heap.make_string(name))
        }
        Some((KeyLeftOut::Starting, _)) if walk.is_for_people => return None,
        Some((KeyLeftOut::Text, name)) => (PlanWord::Text, name),
        Some((KeyLeftOut::Starting, name)) => (PlanWord::Starting, name),
    };
    let (word, name) = (heap.word(word), heap.make_string(name));
    Some(heap.make_tuple(&[word, name]))
}

/// Returns the term of a formula.
pub(super) fn formula_term<H: Heap>(formula: FormulaId, walk: &PlanWalk, heap: &mut H) -> H::Term {
    formula_in(formula, walk, heap, DEEPEST)
}

// It calls itself at most to this depth.
fn formula_in<H: Heap>(formula: FormulaId, walk: &PlanWalk, heap: &mut H, depth: usize) -> H::Term {
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
                    let of = formula_in(*of, walk, heap, depth - 1);
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

/// Returns the term of a number.
pub(super) fn number_term<H: Heap>(number: u64, heap: &mut H) -> H::Term {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let term = heap.make_number(Number::Int(number));
    term.unwrap_or_else(|| heap.nil())
}
