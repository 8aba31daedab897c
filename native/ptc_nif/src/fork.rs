//! Concurrent rounds of a loop that calls tools. Each round is a run of its own, which is suspended
//! and resumed like any other. All rounds run in the caller, one native call at a time.

use crate::clock::nif;
use crate::execution::{Entry, Execution, Home};
use crate::plain_run::{Mode, Run};
use crate::schedule::Pace;
use crate::task::{Left, Suspension};
use rustler::{NifResult, ResourceArc, Term};

nif! {
    /// Starts one round of the loop at whose start a run was suspended; its value is that of the body.
    fn round<'a>(env, state: ResourceArc<Suspension>, terms: Term<'a>, item: Term<'a>) -> NifResult<Term<'a>> {
        let reply = state.look(|left| {
            let Left::Run(run) = left else {
                return None;
            };
            run.together.as_ref()?;
            let words = run.words();
            let state = run.state.clone()?;
            let (mut execution, state) = Execution::resumed(env, terms, run, state, words, Pace::Slice)?;
            let mut round = Run::new(run.program.clone(), Some(run.limits));
            round.mode = Mode::Round;
            round.asks_always = run.asks_always;
            round.together = run.together.clone();
            round.observation = run.observation.clone();
            let state = state.round(&run.program, &mut execution.heap, item.into())?;
            execution.go(&mut round, Entry::Start(Some(state)), Home::New)
        });
        reply.ok_or(rustler::Error::BadArg)
    }
}
