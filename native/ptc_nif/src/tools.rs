//! `merge_tools/2`: the tools of a call.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::Raw;
use ptc_core::heap::Heap;
use ptc_core::merge::merge_by_field;
use ptc_core::meter::{Deadline, Limits, Meter, Pace};
use ptc_core::stop::Work;
use rustler::{Encoder, Env, Term};

/// So many tools are merged on a scheduler's own thread: a fraction of a millisecond.
const TOOLS_IN_A_SLICE: usize = 4_000;

/// `overrides` merged into `tools` by name, or `:busy`; just `tools` if either is no proper list.
#[rustler::nif]
fn merge_tools<'a>(env: Env<'a>, tools: Term<'a>, overrides: Term<'a>) -> Term<'a> {
    let _clock = crate::clock::start("merge_tools");
    merge(env, tools, overrides, TOOLS_IN_A_SLICE, Pace::Slice)
}

/// The same for lists too long for a scheduler's thread; never `:busy`.
#[rustler::nif(schedule = "DirtyCpu")]
fn merge_tools_dirty<'a>(env: Env<'a>, tools: Term<'a>, overrides: Term<'a>) -> Term<'a> {
    let _clock = crate::clock::start("merge_tools_dirty");
    merge(env, tools, overrides, usize::MAX, Pace::Quantum)
}

fn merge<'a>(
    env: Env<'a>,
    tools: Term<'a>,
    overrides: Term<'a>,
    limit: usize,
    pace: Pace,
) -> Term<'a> {
    let mut heap = Beam::new(env, 0);
    let read = |list: Term<'a>, limit: usize| elements(&heap, list.into(), limit);
    let left = match read(tools, limit) {
        List::Proper(left) => left,
        List::Improper => return tools,
        List::TooLong => return atoms::busy().encode(env),
    };
    let right = match read(overrides, limit - left.len()) {
        List::Proper(right) => right,
        List::Improper => return tools,
        List::TooLong => return atoms::busy().encode(env),
    };
    let name = Raw::from(atoms::name().encode(env));
    let limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    let mut meter = Meter::new(limits, pace);
    let merged = merge_by_field(
        &mut Work::in_one_go(&mut heap, &mut meter),
        name,
        &left,
        &right,
    );
    charge(env, left.len() + right.len());
    // On a dirty scheduler only work that nobody waits for is stopped.
    let Ok(merged) = merged else {
        return atoms::busy().encode(env);
    };
    heap.terms.make_list(&merged).term(env)
}

/// Charges the calling process: some 20 tools a microsecond.
fn charge(env: Env, tools: usize) {
    let percent = (tools / 200).min(100) as i32;
    if percent > 0 {
        rustler::schedule::consume_timeslice(env, percent);
    }
}

enum List<'a> {
    Proper(Vec<Raw<'a>>),
    Improper,
    TooLong,
}

fn elements<'a>(heap: &Beam<'a>, list: Raw<'a>, limit: usize) -> List<'a> {
    let (mut elements, mut rest) = (Vec::new(), list);
    while let Some((element, tail)) = heap.uncons(rest) {
        if elements.len() == limit {
            return List::TooLong;
        }
        elements.push(element);
        rest = tail;
    }
    match heap.is_empty_list(rest) {
        true => List::Proper(elements),
        false => List::Improper,
    }
}
