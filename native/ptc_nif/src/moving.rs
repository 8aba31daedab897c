//! Decides when a run moves to the process of its tools: `ptc_run` says up to which weight, and the terms are weighed here.

use crate::atoms;
use crate::clock::nif;
use crate::raw::{Raw, Terms};
use crate::schedule::{milliseconds, Pace};
use crate::task::{Left, Suspension};
use crate::weigh::weighed;
use rustler::{Atom, Encoder, Env, NifResult, ResourceArc, Term};
use std::time::Instant;

/// The words of a copy of these terms if they are at most `limit`; `{:at_most, limit}` if only Elixir can tell.
pub fn weight<'a>(env: Env<'a>, terms: [Term<'a>; 2], limit: usize) -> Option<Term<'a>> {
    let pending = Terms { env }.make_list(&terms.map(Raw::from));
    let weight = weighed(env, pending.term(env), 0, limit, Pace::Slice);
    if atoms::too_much() == weight {
        return None;
    }
    let known: NifResult<(Atom, Term)> = weight.decode();
    Some(known.map_or_else(
        |_| (atoms::at_most(), limit).encode(env),
        |(_ok, words)| words,
    ))
}

nif! {
    /// The remaining time of a suspended run: milliseconds, rounded up, or `:infinity`.
    fn time_left<'a>(env, state: ResourceArc<Suspension>) -> NifResult<Term<'a>> {
        let left = state.look(|left| match left {
            Left::Run(run) => Some(run.plain().limits.deadline),
            Left::Work(work) => Some(work.limits.deadline),
        });
        let left = left.map(|deadline| milliseconds(env, deadline, Instant::now()));
        left.ok_or(rustler::Error::BadArg)
    }
}
