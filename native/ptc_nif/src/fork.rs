//! Concurrent rounds of a loop that calls tools. Each round is a run of its own, which is suspended
//! and resumed like any other. All rounds run in the caller, one native call at a time.

use crate::clock::nif;
use crate::execution::{Entry, Execution};
use crate::heap::Beam;
use crate::task::{Left, Suspension};
use rustler::{NifResult, ResourceArc, Term};
use std::sync::atomic::Ordering;

nif! {
    /// Starts one round of the loop at whose start a run was suspended; its value is that of the body.
    fn round<'a>(env, state: ResourceArc<Suspension>, terms: Term<'a>, item: Term<'a>) -> NifResult<Term<'a>> {
        let reply = state.look(|left| {
            let Left::Run(suspended) = left else {
                return None;
            };
            let together = suspended.together.clone()?;
            let heap = Beam::new(env, together.load(Ordering::Relaxed));
            let held = suspended.held(&heap, terms)?;
            let (program, data) = (suspended.program.clone(), [held.context, held.memory]);
            let limits = Some(suspended.limits);
            let execution = Execution::new(heap, program, held.consts, data, limits);
            let observation = suspended.observation.clone();
            let execution = Execution { together: Some(together), observation, ..execution };
            let entry = Entry::Round(suspended.checkpoint.clone(), held.frozen.slots, item.into());
            execution.run(entry, None)
        });
        reply.ok_or(rustler::Error::BadArg)
    }
}
