//! Observed runs: the NIFs that compile a program for observation, run it, and return the counts.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{Consts, Execution};
use crate::heap::Beam;
use crate::plain_run::{Mode, Run};
use crate::program::Handle;
use crate::run::RunArgs;
use crate::schedule::{nif_pair, Pace};
use ptc_program::code::Program;
use ptc_program::observed;
use ptc_vm::{explain::Site, Watch};
use rustler::{Encoder, NifResult, Resource, ResourceArc, Term};
use std::sync::{Arc, Mutex};

/// The counts of one run; `watch` is empty while the run executes.
pub struct Observation {
    program: Arc<Program>,
    /// Number of the program's constants.
    consts: usize,
    watch: Mutex<Option<Box<Watch>>>,
}

#[rustler::resource_impl]
impl Resource for Observation {}

impl Observation {
    /// Takes the counts so far; `None` if they were already taken.
    pub fn take(&self) -> Option<Box<Watch>> {
        self.watch.try_lock().ok()?.take()
    }

    /// Puts the counts back.
    pub fn put(&self, watch: Option<Box<Watch>>) {
        if let Ok(mut place) = self.watch.try_lock() {
            *place = watch;
        }
    }
}

nif! {
    /// Makes an observation for one run of a program that was compiled for observation.
    fn observation(handle: ResourceArc<Handle>) -> ResourceArc<Observation> {
        ResourceArc::new(Observation {
            program: handle.program.clone(),
            consts: handle.consts,
            watch: Mutex::new(Some(Box::new(Watch::new(
                &handle.program.sites,
                handle.program.detail,
            )))),
        })
    }
}

nif! {
    /// Runs the program; `consts` must be those it was compiled with. `forks`: as for `run_forking`; `asks`: as
    /// `run_asking` does.
    fn run_observed<'a>(env, observation: ResourceArc<Observation>, consts: Term<'a>, given: RunArgs<'a>, forks: bool, asks: bool)
        -> NifResult<Term<'a>> {
        let heap = Beam::new(env, 0);
        let consts = right_consts(&heap, consts, observation.consts)?;
        let limits = given.limits().ok_or(rustler::Error::BadArg)?;
        let mut run = Run::new(observation.program.clone(), Some(limits));
        run.observation = Some(observation);
        run.mode = if forks { Mode::Forks } else { Mode::Asks };
        run.asks_always = asks;
        Ok(Execution::new(heap, consts, given.data, Pace::Slice).start(run, None))
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
    fn observed, observed_dirty<'a>(env, pace, observation: ResourceArc<Observation>, consts: Term<'a>) -> NifResult<Term<'a>> {
        if pace == Pace::Slice && has_many(&observation.program.sites) {
            return Ok(atoms::busy().encode(env));
        }
        let mut heap = Beam::new(env, 0);
        let consts = right_consts(&heap, consts, observation.consts)?;
        let Some(mut watch) = observation.take() else {
            return Ok(atoms::nil().encode(env));
        };
        watch.end();
        let reply = observed::operations(&mut heap, &observation.program, &watch, consts.slice());
        observation.put(Some(watch));
        Ok(reply.term(env))
    }
}

nif! {
    /// The names that the program reads from the context, each as often as it reads it.
    fn context_names<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>) -> NifResult<Term<'a>> {
        let mut heap = Beam::new(env, 0);
        let consts = right_consts(&heap, consts, handle.consts)?;
        Ok(observed::context_names(&mut heap, &handle.program, consts.slice()).term(env))
    }
}

/// The constants of a program, if this is their number.
#[inline]
pub fn right_consts<'a>(heap: &Beam<'a>, given: Term<'a>, count: usize) -> NifResult<Consts<'a>> {
    let consts = Consts::of_tuple(heap, given).filter(|it| it.slice().len() == count);
    consts.ok_or(rustler::Error::BadArg)
}
