//! What a run takes along when it moves to the process of its tools.
//!
//! Its terms are copied there. So what the rest of the program cannot read is left behind, and
//! what goes along is weighed first.

use crate::atoms;
use crate::execution::{Held, Suspended, Suspension};
use crate::heap::Beam;
use crate::map_view::KeyCache;
use crate::raw::Raw;
use crate::task::Left;
use crate::weigh::weigh;
use ptc_core::heap::{Heap, Lookup};
use ptc_core::live::live_at;
use ptc_core::meter::Pace;
use ptc_core::program::{ConstId, Slot};
use rustler::{Encoder, Env, NifResult, ResourceArc, Term};

/// With more keys than that a map goes along whole.
const MOST_KEYS: usize = 64;

/// The terms that a run needs to go on with an answer, and what a copy of them and of `request`
/// takes: `{terms, weight}`, where the weight is what [`weigh`] says. `{:last, words}` with
/// the words built so far if the answer is the program's value, so that nothing is left to do.
#[rustler::nif]
fn pack<'a>(
    env: Env<'a>,
    state: ResourceArc<Suspension>,
    terms: Term<'a>,
    request: Term<'a>,
    limit: usize,
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("pack");
    let mut heap = Beam::new(env, 0);
    let packed = state.look(|left| match left {
        Left::Run(suspended) if suspended.is_at_end() => Some(Err(suspended.words)),
        Left::Run(suspended) => packed(&mut heap, suspended, terms).map(Ok),
        Left::Work { .. } => None,
    });
    let packed = match packed.ok_or(rustler::Error::BadArg)? {
        Ok(packed) => packed,
        Err(words) => return Ok((atoms::last(), words).encode(env)),
    };
    let pending = heap.terms.make_list(&[packed, Raw::from(request)]).term(env);
    let weight = weigh(env, pending, 0, limit, Pace::Slice);
    Ok((packed.term(env), weight).encode(env))
}

fn packed<'a>(heap: &mut Beam<'a>, suspended: &Suspended, terms: Term<'a>) -> Option<Raw<'a>> {
    let mut held = suspended.held(heap, terms)?;
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
    }
    Some(held.tuple(heap, suspended.token))
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
