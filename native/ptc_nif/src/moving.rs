//! What a run takes along when it moves to the process of its tools.
//!
//! Its terms are copied there. So what the rest of the program cannot read is left behind, and
//! what goes along is weighed first.

use crate::execution::{milliseconds, Held, Suspended, Suspension};
use crate::heap::Beam;
use crate::map_view::KeyCache;
use crate::raw::Raw;
use crate::schedule::limits;
use crate::task::Left;
use crate::weigh::weighed;
use ptc_core::heap::{Heap, Lookup};
use ptc_core::live::live_at;
use ptc_core::meter::Pace;
use ptc_core::program::{ConstId, Slot};
use rustler::{Encoder, Env, NifResult, ResourceArc, Term};
use std::time::Instant;

/// With more keys than that a map goes along whole.
const MOST_KEYS: usize = 64;

/// So many rounds to come are counted.
const MOST_ROUNDS: usize = 16_384;

/// What goes along.
struct Packed<'a> {
    terms: Raw<'a>,
    /// The calls that are certain to come, with the one that the run is at.
    calls: usize,
}

/// The terms that a run needs to go on with an answer, and what a copy of them and of `request`
/// takes: `{terms, weight, limit}`. The weight is what [`weigh`] says for the limit, which is
/// `a_call` words for each of the `calls` so far, for this one and for those that are certain to come,
/// but at most `most`.
#[rustler::nif]
fn pack<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    terms: Term<'a>,
    request: Term<'a>,
    calls: usize,
    limits: (usize, usize),
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("pack");
    let (a_call, most) = limits;
    let mut heap = Beam::new(env, 0);
    let packed = state.look(|left| match left {
        Left::Run(suspended) => packed(&mut heap, suspended, terms, most),
        Left::Work { .. } | Left::Walk(_) => None,
    });
    let packed = packed.ok_or(rustler::Error::BadArg)?;
    let calls = calls.saturating_add(packed.calls);
    let limit = a_call.saturating_mul(calls).min(most);
    let parts = [packed.terms, Raw::from(request)];
    let pending = heap.terms.make_list(&parts).term(env);
    let weight = weighed(env, pending, 0, limit, Pace::Slice);
    Ok((packed.terms.term(env), weight, limit).encode(env))
}

fn packed<'a>(
    heap: &mut Beam<'a>,
    suspended: &Suspended,
    terms: Term<'a>,
    most: usize,
) -> Option<Packed<'a>> {
    let mut held = suspended.held(heap, terms)?;
    let mut calls = 1;
    if let Some(live) = live_at(&suspended.program, suspended.checkpoint.pc()) {
        // The empty list is a proper one, as the list of every loop in such a run is.
        let nothing = heap.make_list(&[]);
        for (place, slot) in held.frozen.slots.iter_mut().enumerate() {
            if !live.slot(place as Slot) {
                *slot = nothing;
            }
        }
        held.context = only(heap, &held, held.context, &live.context);
        held.memory = only(heap, &held, held.memory, &live.memory);
        if let Some(around) = live.around {
            let rest = held.frozen.slots.get_mut(around.rest as usize)?;
            if around.calls_each_round {
                calls += length(heap, *rest, MOST_ROUNDS);
            }
            if !around.reads_items {
                // Of items that are only counted, the count goes along.
                let rounds = length(heap, *rest, most.min(MOST_ROUNDS) + 1);
                if rounds <= most.min(MOST_ROUNDS) {
                    *rest = heap.make_list(&vec![nothing; rounds]);
                }
            }
        }
    }
    let terms = held.tuple(heap, suspended.token);
    Some(Packed { terms, calls })
}

/// The length of a list, but at most `most`.
fn length<'a>(heap: &Beam<'a>, list: Raw<'a>, most: usize) -> usize {
    let (mut length, mut rest) = (0, list);
    while let (true, Some((_, tail))) = (length < most, heap.uncons(rest)) {
        length += 1;
        rest = tail;
    }
    length
}

/// The deadline of a run that was left: milliseconds, rounded up, or `:infinity`.
#[rustler::nif]
fn time_left<'a>(env: Env<'a>, state: ResourceArc<Suspension>) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("time_left");
    let left = state.look(|left| match left {
        Left::Run(suspended) => {
            let deadline = suspended.limits.deadline;
            Some(milliseconds(env, deadline, Instant::now()))
        }
        Left::Work { .. } | Left::Walk(_) => None,
    });
    left.ok_or(rustler::Error::BadArg)
}

/// Gives a run at its first call the limits that it did not know, {timeout, max_heap}; what is left of
/// the deadline, as [`time_left`] says it.
#[rustler::nif]
fn limited<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    given: (Term<'a>, Term<'a>),
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("limited");
    let limits = limits(given).ok_or(rustler::Error::BadArg)?;
    let left = state.look(|left| match left {
        Left::Run(suspended) => suspended.limit(env, limits),
        Left::Work { .. } | Left::Walk(_) => None,
    });
    left.ok_or(rustler::Error::BadArg)
}

/// The map with no other keys than these; of a key that is named twice, one entry is made.
fn only<'a>(heap: &mut Beam<'a>, held: &Held<'a>, map: Raw<'a>, keys: &[ConstId]) -> Raw<'a> {
    if keys.len() > MOST_KEYS {
        return map;
    }
    let (mut found, mut values) = (Vec::new(), Vec::new());
    for key in keys {
        let Some(key) = held.consts.slice().get(*key as usize) else {
            return map;
        };
        if let Lookup::Found(value) = heap.lookup(map, *key, &mut KeyCache::default()) {
            found.push(*key);
            values.push(value);
        }
    }
    heap.make_map(&found, &values)
}
