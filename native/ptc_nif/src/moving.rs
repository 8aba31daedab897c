//! Packs a run that moves to the process of its tools.
//!
//! The run's terms are copied to that process. So terms that the rest of the program cannot read are
//! removed, and the others are weighed first.

use crate::clock::nif;
use crate::execution::{milliseconds, Held, Suspended};
use crate::heap::Beam;
use crate::map_view::KeyCache;
use crate::raw::Raw;
use crate::schedule::limits;
use crate::task::{Left, Suspension};
use crate::weigh::weighed;
use ptc_core::heap::{Heap, Lookup};
use ptc_core::live::live_at;
use ptc_core::meter::Pace;
use ptc_core::program::{ConstId, Slot};
use rustler::{Encoder, NifResult, ResourceArc, Term};
use std::time::Instant;

/// A map is copied whole if the program reads more keys than this.
const MOST_KEYS: usize = 64;

/// Maximum number of remaining rounds that are counted.
const MOST_ROUNDS: usize = 16_384;

/// The terms that the run takes along.
struct Packed<'a> {
    terms: Raw<'a>,
    /// The calls that are certain to come, including the current one.
    calls: usize,
}

nif! {
    /// Packs the terms that a run needs to resume with an answer, and weighs a copy of them and of `request`:
    /// `{terms, weight, limit}`. The weight is the result of [`weigh`] for the limit. The limit is `a_call`
    /// words for each of the `calls` so far, for this one and for those that are certain to come, but at
    /// most `most`.
    fn pack<'a>(env, state: ResourceArc<Suspension>, terms: Term<'a>, request: Term<'a>, calls: usize, limits: (usize, usize))
        -> NifResult<Term<'a>> {
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
        // The empty list is a proper list, as is the list of every loop in such a run.
        let nothing = heap.make_list(&[]);
        for (place, slot) in held.frozen.slots.iter_mut().enumerate() {
            if !live.slot(place as Slot) {
                *slot = nothing;
            }
        }
        held.context = only(heap, &held, held.context, &live.context);
        held.memory = only(heap, &held, held.memory, &live.memory);
        if let Some(around) = live.around {
            let rest = held.frozen.frames.first_mut()?;
            if around.calls_each_round {
                calls += length(heap, *rest, MOST_ROUNDS);
            }
            if !around.reads_items {
                // The loop only counts its items, so a list of the same length replaces them.
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

/// The length of a list, limited to `most`.
fn length<'a>(heap: &Beam<'a>, list: Raw<'a>, most: usize) -> usize {
    let (mut length, mut rest) = (0, list);
    while let (true, Some((_, tail))) = (length < most, heap.uncons(rest)) {
        length += 1;
        rest = tail;
    }
    length
}

nif! {
    /// The remaining time of a suspended run: milliseconds, rounded up, or `:infinity`.
    fn time_left<'a>(env, state: ResourceArc<Suspension>) -> NifResult<Term<'a>> {
        let left = state.look(|left| match left {
            Left::Run(suspended) => {
                let deadline = suspended.limits.deadline;
                Some(milliseconds(env, deadline, Instant::now()))
            }
            Left::Work { .. } | Left::Walk(_) => None,
        });
        left.ok_or(rustler::Error::BadArg)
    }
}

nif! {
    /// Sets the limits of a run at its first call that did not know them, `{timeout, max_heap}`. Returns the
    /// remaining time of the deadline, like [`time_left`].
    fn limited<'a>(env, state: ResourceArc<Suspension>, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        let limits = limits(given).ok_or(rustler::Error::BadArg)?;
        let left = state.look(|left| match left {
            Left::Run(suspended) => suspended.limit(env, limits),
            Left::Work { .. } | Left::Walk(_) => None,
        });
        left.ok_or(rustler::Error::BadArg)
    }
}

/// The map reduced to these keys; a key that occurs twice in `keys` makes one entry.
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
