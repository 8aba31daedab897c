//! What the code of a program, and the counts of an observed run, say about its operations, as terms.

use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_vm::explain::{Detail, PathPart, Site};
use ptc_vm::program::{Instr, Program};
use ptc_vm::{Counts, Language, Watch};

fn integer<H: Heap>(heap: &mut H, value: u64) -> H::Term {
    let number = i64::try_from(value).unwrap_or(i64::MAX);
    heap.make_number(Number::Int(number))
        .unwrap_or_else(|| heap.nil())
}

fn optional<H: Heap>(heap: &mut H, value: Option<u32>) -> H::Term {
    match value {
        Some(value) => integer(heap, value.into()),
        None => heap.nil(),
    }
}

/// Returns a path as a list of names, numbers and keys.
pub fn path<H: Heap>(heap: &mut H, parts: &[PathPart<H::Term>]) -> H::Term {
    let parts: Vec<_> = parts.iter().map(|part| step(heap, *part)).collect();
    heap.make_list(&parts)
}

fn step<H: Heap>(heap: &mut H, part: PathPart<H::Term>) -> H::Term {
    match part {
        PathPart::Field(name) => heap.make_string(name.as_bytes()),
        PathPart::Index(index) => integer(heap, index.into()),
        PathPart::Key(key) => key,
    }
}

/// Returns the path of an operation from the one around it.
fn place<H: Heap>(heap: &mut H, consts: &[H::Term], site: &Site) -> Vec<H::Term> {
    let nil = heap.nil();
    let term = |part: &PathPart| match *part {
        PathPart::Field(name) => PathPart::Field(name),
        PathPart::Index(index) => PathPart::Index(index),
        PathPart::Key(key) => PathPart::Key(consts.get(key as usize).copied().unwrap_or(nil)),
    };
    let parts: Vec<_> = site.path.iter().map(term).collect();
    parts.into_iter().map(|part| step(heap, part)).collect()
}

/// Returns `{innermost, operations}`: the number of the operation in which the run ended early (or nil), and each operation as
/// `{parent, place, op, counts, keys}`. The counts of forms have three more numbers: their nanoseconds and words with all that they have called,
/// and the kinds of their values.
pub fn operations<H: Heap, L: Language>(
    heap: &mut H,
    program: &Program<L>,
    watch: &Watch,
    consts: &[H::Term],
) -> H::Term {
    let innermost = optional(heap, watch.innermost());
    let mut rows = Vec::new();
    for (site, counts) in program.sites.iter().zip(watch.counts()) {
        rows.push(row(heap, consts, site, (counts, watch.detail())));
    }
    let rows = heap.make_list(&rows);
    heap.make_tuple(&[innermost, rows])
}

fn row<H: Heap>(
    heap: &mut H,
    consts: &[H::Term],
    site: &Site,
    (counts, detail): (&Counts, Detail),
) -> H::Term {
    let nil = heap.nil();
    let constant = |id: u32| consts.get(id as usize).copied().unwrap_or(nil);
    let parent = optional(heap, site.parent);
    let place = place(heap, consts, site);
    let place = heap.make_list(&place);
    let name = heap.make_string(site.name.as_bytes());
    let numbers = [
        counts.runs,
        counts.ended,
        counts.lists_in,
        counts.items_in,
        counts.lists_out,
        counts.items_out,
        counts.held,
        counts.nanos,
        counts.words,
        counts.calls,
        counts.waited,
        counts.breaks,
        counts.values.0,
        counts.values.1,
        counts.made,
    ];
    let mut numbers = numbers.to_vec();
    if detail == Detail::Forms {
        numbers.extend([counts.total_nanos, counts.total_words, counts.kinds]);
    }
    let numbers: Vec<_> = numbers.iter().map(|it| integer(heap, *it)).collect();
    let numbers = heap.make_tuple(&numbers);
    let mut keys = Vec::new();
    for ((looked, found), id) in counts.keys.iter().zip(site.keys.first..) {
        let key = match site.keys.path {
            true => {
                let steps = (site.keys.first..).take(site.keys.count as usize);
                let steps: Vec<_> = steps.map(constant).collect();
                heap.make_list(&steps)
            }
            false => constant(id),
        };
        let (looked, found) = (integer(heap, *looked), integer(heap, *found));
        keys.push(heap.make_tuple(&[key, looked, found]));
    }
    let keys = heap.make_list(&keys);
    heap.make_tuple(&[parent, place, name, numbers, keys])
}

/// Returns which of the program's calls, in the order of its code, is the one at this address.
pub fn call_number<L: Language>(program: &Program<L>, pc: u32) -> usize {
    let code = program.code.iter().take(pc as usize);
    code.filter(|instr| matches!(instr, Instr::Call { .. }))
        .count()
}

/// Returns the names that the program reads from the context, each as often as it reads it.
pub fn context_names<H: Heap, L: Language>(
    heap: &mut H,
    program: &Program<L>,
    consts: &[H::Term],
) -> H::Term {
    let name = |instr: &Instr<L>| match instr {
        Instr::LoadContext(key) => consts.get(*key as usize).copied(),
        _ => None,
    };
    let names: Vec<_> = program.code.iter().filter_map(name).collect();
    heap.make_list(&names)
}
