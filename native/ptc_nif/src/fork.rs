//! Concurrent rounds of a loop that calls tools. Each round is a run of its own, which is suspended
//! and resumed like any other. All rounds run in the caller, one native call at a time.

use crate::clock::nif;
use crate::execution::Execution;
use crate::schedule::Pace;
use crate::task::{Left, Suspension};
use rustler::{Error, NifResult, ResourceArc, Term};

nif! {
    /// Starts one round of the loop at whose start a run was suspended; its value is that of the body.
    fn round<'a>(env, state: ResourceArc<Suspension>, terms: Term<'a>, item: Term<'a>) -> NifResult<Term<'a>> {
        let reply = state.look(|left| match left {
            Left::Run(run) => Execution::round(env, &**run, terms, item.into(), Pace::Slice),
            Left::Work(_) => None,
        });
        reply.ok_or(Error::BadArg)
    }
}
