//! Parts of the data as texts for people. `PtcRunner.Json.Plan.Paths` makes the same texts of terms. It makes those that are not made
//! here, too: those of names that could be taken for something else.

use super::sets::{Extent, Ref};
use super::sources::{PathStep, SourceRoot};
use super::walk::PlanWalk;
use crate::analysis::names::NameId;
use crate::typing::texts::Texts;
use ptc_term::heap::Heap;

/// Maximum number of parts whose texts are made here, because they are made in one step.
const MOST_PARTS: usize = 256;
/// Maximum length of a name that is written as it is.
const LONGEST_PLAIN: usize = 60;

/// Returns the texts of the parts of the context and of the memory that are read, and of those that flow into the result and decide
/// about it: four lists, or nil if not all of them can be made here.
pub(super) fn path_texts<H: Heap>(
    reads: &[Ref],
    [from, deciding]: [&[Ref]; 2],
    walk: &PlanWalk,
    heap: &mut H,
) -> H::Term {
    let of = |wanted: fn(SourceRoot) -> bool| {
        let root = |part: &&Ref| wanted(walk.values.tree.root_of(part.source));
        reads.iter().filter(root).copied().collect::<Vec<_>>()
    };
    let context = of(|root| matches!(root, SourceRoot::Context(_)));
    let memory = of(|root| matches!(root, SourceRoot::Memory(_)));
    let mut lists = Vec::with_capacity(4);
    for parts in [&context[..], &memory[..], from, deciding] {
        match list_of(parts, walk, heap) {
            Some(list) => lists.push(list),
            None => return heap.nil(),
        }
    }
    heap.make_tuple(&lists)
}

/// Returns the texts of parts, in order and each once.
fn list_of<H: Heap>(parts: &[Ref], walk: &PlanWalk, heap: &mut H) -> Option<H::Term> {
    if parts.len() > MOST_PARTS {
        return None;
    }
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let root = walk.values.tree.root_of(part.source);
        if !matches!(root, SourceRoot::Folded(_) | SourceRoot::Numbers) {
            all.push((part, root, steps(part, walk)));
        }
    }
    // What is no object is not told beside objects.
    let is_object = |steps: &[PathStep]| !steps.contains(&PathStep::Other);
    if all.iter().any(|(_, _, steps)| is_object(steps)) {
        all.retain(|(_, _, steps)| is_object(steps));
    }
    let (mut texts, mut are_plain) = (Texts::default(), true);
    for (part, root, steps) in all {
        let is_whole = part.extent == Extent::Whole;
        texts.add(|text| {
            are_plain &= write(root, &steps, is_whole, walk, text).is_some();
            are_plain
        });
    }
    if !are_plain {
        return None;
    }
    texts.sort(usize::MAX);
    let terms: Vec<H::Term> = texts.all().map(|text| heap.make_string(text)).collect();
    Some(heap.make_list(&terms))
}

/// Returns the steps from the root to a part.
fn steps(part: &Ref, walk: &PlanWalk) -> Vec<PathStep> {
    let (mut steps, mut next) = (Vec::with_capacity(4), part.source);
    while let Some((around, step)) = walk.values.tree.around(next) {
        steps.push(step);
        next = around;
    }
    steps.reverse();
    steps
}

/// Writes the text of a part; `None` if a name is not plain.
fn write(
    root: SourceRoot,
    steps: &[PathStep],
    is_whole: bool,
    walk: &PlanWalk,
    text: &mut Vec<u8>,
) -> Option<()> {
    let (start, name): (&[u8], NameId) = match root {
        SourceRoot::Context(name) => (b"", name),
        SourceRoot::Memory(name) => (b"memory.", name),
        SourceRoot::Answer(name) => (b"answer of ", name),
        SourceRoot::Error(name) => (b"error of ", name),
        SourceRoot::Now => {
            text.extend_from_slice(b"time of the run");
            return Some(());
        }
        SourceRoot::Unknown | SourceRoot::Folded(_) | SourceRoot::Numbers => {
            text.extend_from_slice(b"unknown");
            return Some(());
        }
    };
    let is_error = matches!(root, SourceRoot::Error(_));
    let is_keys = !is_error && steps.last() == Some(&PathStep::Keys);
    let is_count = !is_error && !is_keys && !is_whole;
    if is_keys {
        text.extend_from_slice(b"keys(");
    } else if is_count {
        text.extend_from_slice(b"count(");
    }
    text.extend_from_slice(start);
    add_name(name, walk, text)?;
    for step in steps {
        if let PathStep::Key(name) = step {
            text.push(b'.');
            add_name(*name, walk, text)?;
        }
    }
    if is_count {
        // The items of a list in a list are another number than those of the list.
        let others = steps.iter().rev().filter(|step| !is_silent(step));
        let around = others.take_while(|step| matches!(step, PathStep::Each | PathStep::Value));
        for _ in around {
            text.extend_from_slice(b"[]");
        }
    }
    if is_keys || is_count {
        text.push(b')');
    }
    Some(())
}

/// Returns whether a step says only which values a part has.
fn is_silent(step: &PathStep) -> bool {
    use PathStep::{Object, Other, Single, Without};
    matches!(step, Object | Other | Single | Without(_))
}

fn add_name(name: NameId, walk: &PlanWalk, text: &mut Vec<u8>) -> Option<()> {
    let name = walk.names.get(name);
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    if name.is_empty() || name.len() > LONGEST_PLAIN || !name.iter().all(is_plain) {
        return None;
    }
    text.extend_from_slice(name);
    Some(())
}
