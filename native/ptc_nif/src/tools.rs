//! `merge_tools/2`: the tools of a call.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::{charge_for, nif_pair, Pace, TOOLS};
use ptc_core::engine::merge_by_field;
use ptc_core::heap::Heap;
use rustler::{Encoder, Env, Term};

/// Tools that are merged in a microsecond.
const TOOLS_A_MICROSECOND: usize = 20;

nif_pair! {
    /// `{:ok, merged}`: `overrides` merged into `tools` by name, or just `tools` if either is no proper
    /// list; or `:busy`. In one go: as long as the two lists, which the caller holds.
    fn merge_tools, merge_tools_dirty<'a>(env, pace, tools: Term<'a>, overrides: Term<'a>) -> Term<'a> {
        let limit = match pace {
            Pace::Quantum => usize::MAX,
            Pace::Slice | Pace::Probe => TOOLS,
        };
        match merge(env, tools, overrides, limit) {
            List::Proper(merged) => {
                charge_for(env, pace, merged.len(), TOOLS_A_MICROSECOND);
                let merged = Terms { env }.make_list(&merged);
                (atoms::ok(), merged.term(env)).encode(env)
            }
            List::Improper => (atoms::ok(), tools).encode(env),
            List::TooLong => atoms::busy().encode(env),
        }
    }
}

fn merge<'a>(env: Env<'a>, tools: Term<'a>, overrides: Term<'a>, limit: usize) -> List<'a> {
    let heap = Beam::new(env, 0);
    let left = match elements(&heap, tools.into(), limit) {
        List::Proper(left) => left,
        other => return other,
    };
    let right = match elements(&heap, overrides.into(), limit - left.len()) {
        List::Proper(right) => right,
        other => return other,
    };
    let name = Raw::from(atoms::name().encode(env));
    List::Proper(merge_by_field(&heap, name, &left, &right))
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
