//! Observed runs: the NIFs that make an observation, which is run as its program would be, and return its counts.

use crate::atoms;
use crate::clock::nif;
use crate::handle::{right_consts, AnyProgram, Handle};
use crate::heap::Beam;
use crate::schedule::{nif_pair, Pace};
use ptc_run::Observation;
use ptc_vm::{explain::Site, Watch};
use rustler::{Encoder, NifResult, Resource, ResourceArc, Term};
use std::sync::Arc;

/// The resource of one observed run.
pub struct Observed {
    pub program: Arc<AnyProgram>,
    /// Number of the program's constants.
    pub consts: usize,
    pub counts: Arc<Observation>,
}

#[rustler::resource_impl]
impl Resource for Observed {}

nif! {
    /// Makes an observation for one run of a program that was compiled for observation.
    fn observation(handle: ResourceArc<Handle>) -> ResourceArc<Observed> {
        let program = handle.program.clone();
        let watch = Watch::new(program.sites(), program.detail());
        ResourceArc::new(Observed {
            program,
            consts: handle.consts,
            counts: Arc::new(Observation::new(watch)),
        })
    }
}

/// Number of operations, keys and steps of paths that become terms in a slice.
const FEW: usize = 500;

fn has_many(sites: &[Site]) -> bool {
    let parts = |site: &Site| 1 + site.keys.count as usize + site.path.len();
    sites.len() > FEW || sites.iter().map(parts).sum::<usize>() > FEW
}

nif_pair! {
    /// `{innermost, operations}`: the number of the operation in which the run ended early (or nil), and the
    /// counts of each operation; nil if the counts of the run were lost; `:busy` in a slice if there are many.
    fn observed, observed_dirty<'a>(env, pace, observation: ResourceArc<Observed>, consts: Term<'a>) -> NifResult<Term<'a>> {
        if pace == Pace::Slice && has_many(observation.program.sites()) {
            return Ok(atoms::busy().encode(env));
        }
        let mut heap = Beam::new(env, 0);
        let consts = right_consts(&heap, consts, observation.consts)?;
        let Some(mut watch) = observation.counts.take() else {
            return Ok(atoms::nil().encode(env));
        };
        watch.end();
        let reply = observation.program.operations(&mut heap, &watch, consts.slice());
        observation.counts.put(Some(watch));
        Ok(reply.term(env))
    }
}

nif! {
    /// The names that the program reads from the context, each as often as it reads it.
    fn context_names<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>) -> NifResult<Term<'a>> {
        let mut heap = Beam::new(env, 0);
        let consts = right_consts(&heap, consts, handle.consts)?;
        Ok(handle.program.context_names(&mut heap, consts.slice()).term(env))
    }
}
