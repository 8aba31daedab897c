//! Concurrent rounds of a loop that calls tools. Each round is a run of its own, which is suspended
//! and resumed like any other. All rounds run in the caller, one native call at a time.

use crate::clock::nif;
use crate::execution::{Entry, Execution, Mode};
use crate::heap::Beam;
use crate::task::{Left, Suspension};
use rustler::{NifResult, ResourceArc, Term};

nif! {
    /// Starts one round of the loop at whose start a run was suspended; its value is that of the body.
    fn round<'a>(env, state: ResourceArc<Suspension>, terms: Term<'a>, item: Term<'a>) -> NifResult<Term<'a>> {
        let reply = state.look(|left| {
            let Left::Run(suspended) = left else {
                return None;
            };
            let run = &suspended.run;
            run.together.as_ref()?;
            let heap = Beam::new(env, suspended.words());
            let held = suspended.held(&heap, terms)?;
            let (program, data) = (run.program.clone(), [held.context, held.memory]);
            let mut round = Execution::new(heap, program, held.consts, data, Some(run.limits));
            round.run.mode = Mode::Round;
            round.run.together = run.together.clone();
            round.run.observation = run.observation.clone();
            let entry = Entry::Round(suspended.checkpoint.clone(), held.frozen.slots, item.into());
            round.go(entry, None)
        });
        reply.ok_or(rustler::Error::BadArg)
    }
}
