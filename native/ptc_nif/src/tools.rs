//! `merge_tools/2`: merges the tools of a call.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use crate::schedule::{charge_for, nif_pair, Pace, TOOLS};
use ptc_machine::merge::merge_by_field;
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter};
use ptc_term::workspace::Workspace;
use rustler::{Encoder, Env, Term};

/// Number of tools merged in a microsecond.
const TOOLS_A_MICROSECOND: usize = 20;

nif_pair! {
    /// `{:ok, merged}`: `overrides` merged into `tools` by name, or just `tools` if either is not a proper
    /// list; or `:busy`. Not suspended: the result is as long as the two lists, which the caller holds.
    fn merge_tools, merge_tools_dirty<'a>(env, pace, tools: Term<'a>, overrides: Term<'a>) -> Term<'a> {
        let limit = match pace {
            Pace::Quantum => usize::MAX,
            Pace::Slice | Pace::Probe => TOOLS,
        };
        match merge(env, pace, tools, overrides, limit) {
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

fn merge<'a>(
    env: Env<'a>,
    pace: Pace,
    tools: Term<'a>,
    overrides: Term<'a>,
    limit: usize,
) -> List<'a> {
    let mut heap = Beam::new(env, 0);
    let left = match elements(&heap, tools.into(), limit) {
        List::Proper(left) => left,
        other => return other,
    };
    let right = match elements(&heap, overrides.into(), limit - left.len()) {
        List::Proper(right) => right,
        other => return other,
    };
    let name = Raw::from(atoms::name().encode(env));
    let mut meter = Meter::whole(Limits::UNLIMITED, pace);
    let mut work = Workspace::in_one_go(&mut heap, &mut meter);
    // On a dirty scheduler, only work whose caller has ended is stopped.
    match merge_by_field(&mut work, name, &left, &right) {
        Ok(merged) => List::Proper(merged),
        Err(_) => List::TooLong,
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
