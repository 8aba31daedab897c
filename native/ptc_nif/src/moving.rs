//! Decides when a run moves to the process of its tools.
//!
//! After the move, a call is a function call, but the terms that the rest of the run needs must be copied.
//! So terms that the rest of the program cannot read are removed, and the others are weighed first. Messages
//! copy only arguments and answers.
//!
//! A run moves as soon as the messages that it has sent, and those that it is certain to send, cost as much
//! as the copy. So it never costs more than twice as much as the better choice, whatever calls follow. It is
//! weighed at the first, second, fourth, … call: all these together cost as much as the last two.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{milliseconds, Execution};
use crate::heap::Beam;
use crate::plain_run::Run;
use crate::raw::{Raw, Terms};
use crate::task::{Left, Suspension};
use crate::weigh::weighed;
use ptc_program::code::State;
use ptc_term::meter::Pace;
use ptc_vm::reduced::{self, RunTerms};
use rustler::{Atom, Encoder, Env, NifResult, ResourceArc, Term};
use std::time::Instant;

/// Removes the terms that the rest of the program cannot read. Returns the maximum words of a copy for which the run
/// moves.
pub fn reduce<'a>(execution: &mut Execution<'a>, run: &Run, state: &mut State<Raw<'a>>) -> usize {
    // Not the heap of the run: what is made here does not count as built.
    let heap = &mut Beam::new(execution.heap.terms.env, 0);
    let terms = RunTerms {
        state,
        consts: execution.consts.slice(),
        context: &mut execution.data.context,
        memory: &mut execution.data.memory,
    };
    reduced::most_words(heap, &run.program, terms, (run.calls, run.limits.words))
}

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
            Left::Run(run) => Some(run.limits.deadline),
            Left::Work(work) => Some(work.limits.deadline),
        });
        let left = left.map(|deadline| milliseconds(env, deadline, Instant::now()));
        left.ok_or(rustler::Error::BadArg)
    }
}
