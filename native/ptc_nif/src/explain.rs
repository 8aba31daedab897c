//! Observed runs: the NIFs that compile a program for observation, run it, and return the counts.

use crate::atoms;
use crate::clock::nif;
use crate::execution::{Consts, Execution};
use crate::heap::Beam;
use crate::plain_run::{Mode, Run};
use crate::program::Handle;
use crate::raw::Raw;
use crate::run::RunArgs;
use crate::schedule::Pace;
use ptc_machine::explain::{Mark, PathPart, Site};
use ptc_machine::{Counts, Watch};
use ptc_program::code::{Instr, Program};
use ptc_term::heap::Heap;
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
    /// The constants of the program, if their number is right.
    fn consts<'a>(&self, heap: &Beam<'a>, given: Term<'a>) -> NifResult<Consts<'a>> {
        let consts = Consts::of_tuple(heap, given).filter(|it| it.slice().len() == self.consts);
        consts.ok_or(rustler::Error::BadArg)
    }

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

/// A path as a list of names, numbers and keys.
pub fn path<'a>(heap: &mut Beam<'a>, parts: &[PathPart<Raw<'a>>]) -> Raw<'a> {
    let env = heap.terms.env;
    let part = |part: &PathPart<Raw<'a>>| match part {
        PathPart::Field(name) => name.encode(env).into(),
        PathPart::Index(index) => index.encode(env).into(),
        PathPart::Key(key) => *key,
    };
    let parts: Vec<Raw<'a>> = parts.iter().map(part).collect();
    heap.terms.make_list(&parts)
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
        let consts = observation.consts(&heap, consts)?;
        let limits = given.limits().ok_or(rustler::Error::BadArg)?;
        let mut run = Run::new(observation.program.clone(), Some(limits));
        run.observation = Some(observation);
        run.mode = if forks { Mode::Forks } else { Mode::Asks };
        run.asks_always = asks;
        Ok(Execution::new(heap, consts, given.data(), Pace::Slice).start(run, None))
    }
}

nif! {
    /// `{innermost, operations}`: the number of the operation in which the run ended early (or nil), and the
    /// counts of each operation; nil if the counts of the run were lost.
    dirty fn observed<'a>(env, observation: ResourceArc<Observation>, consts: Term<'a>) -> NifResult<Term<'a>> {
        let heap = Beam::new(env, 0);
        let consts = observation.consts(&heap, consts)?;
        let Some(mut watch) = observation.take() else {
            return Ok(atoms::nil().encode(env));
        };
        watch.end();
        let innermost = watch.innermost().encode(env);
        let sites = observation.program.sites.iter().zip(watch.counts());
        let rows = sites.map(|(site, counts)| row(&heap, consts.slice(), site, counts));
        let rows: Vec<Raw<'a>> = rows.collect();
        let reply = (innermost, heap.terms.make_list(&rows).term(env)).encode(env);
        observation.put(Some(watch));
        Ok(reply)
    }
}

/// One operation: `{parent, place, op, counts, keys}`.
fn row<'a>(heap: &Beam<'a>, consts: &[Raw<'a>], site: &Site, counts: &Counts) -> Raw<'a> {
    let (terms, env) = (heap.terms, heap.terms.env);
    let constant = |id: u32| consts.get(id as usize).copied().unwrap_or(heap.nil());
    let place = place(heap, consts, site);
    let numbers = [
        counts.runs,
        counts.ended,
        counts.lists_in,
        counts.items_in,
        counts.lists_out,
        counts.items_out,
        counts.held,
        counts.nanos,
        counts.words,
        counts.calls,
        counts.waited,
        counts.breaks,
    ];
    let numbers = numbers.map(|number| Raw::from(number.encode(env)));
    let keys = counts.keys.iter().zip(site.keys.first..);
    let keys = keys.map(|((looked, found), id)| {
        let key = match site.keys.path {
            true => {
                let steps = (site.keys.first..).take(site.keys.count as usize);
                terms.make_list(&steps.map(constant).collect::<Vec<_>>())
            }
            false => constant(id),
        };
        Raw::from((key.term(env), *looked, *found).encode(env))
    });
    let keys: Vec<Raw<'a>> = keys.collect();
    terms.make_tuple(&[
        Raw::from(site.parent.encode(env)),
        terms.make_list(&place),
        Raw::from(site.name.encode(env)),
        terms.make_tuple(&numbers),
        terms.make_list(&keys),
    ])
}

/// The path of an operation from the one around it.
fn place<'a>(heap: &Beam<'a>, consts: &[Raw<'a>], site: &Site) -> Vec<Raw<'a>> {
    let env = heap.terms.env;
    let part = |part: &PathPart| match part {
        PathPart::Field(name) => Raw::from(name.encode(env)),
        PathPart::Index(index) => Raw::from(index.encode(env)),
        PathPart::Key(key) => consts.get(*key as usize).copied().unwrap_or(heap.nil()),
    };
    site.path.iter().map(part).collect()
}

nif! {
    /// Which of the program's calls, in the order of its code, is the one at this address.
    fn call_number(handle: ResourceArc<Handle>, pc: u32) -> usize {
        let code = handle.program.code.iter().take(pc as usize);
        code.filter(|instr| matches!(instr, Instr::Call { .. })).count()
    }
}

nif! {
    /// The path of a call, by its number, in a program that was compiled for observation of everything; `nil` if there is none.
    fn call_path<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>, number: usize) -> NifResult<Term<'a>> {
        let heap = Beam::new(env, 0);
        let consts = handle_consts(&heap, &handle, consts)?;
        let (mut open, mut calls) = (Vec::new(), 0);
        for instr in &handle.program.code {
            match instr {
                Instr::Watch(Mark::Enter(site)) => open.push(*site),
                Instr::Watch(Mark::Leave(_)) => drop(open.pop()),
                Instr::Call { .. } => calls += 1,
                _ => {}
            }
            if calls == number {
                let sites = open.iter().filter_map(|site| handle.program.sites.get(*site as usize));
                let parts: Vec<Raw<'a>> = sites.flat_map(|site| place(&heap, consts.slice(), site)).collect();
                return Ok(heap.terms.make_list(&parts).term(env));
            }
        }
        Ok(atoms::nil().encode(env))
    }
}

nif! {
    /// The names that the program reads from the context, each as often as it reads it.
    fn context_names<'a>(env, handle: ResourceArc<Handle>, consts: Term<'a>) -> NifResult<Term<'a>> {
        let heap = Beam::new(env, 0);
        let consts = handle_consts(&heap, &handle, consts)?;
        let name = |instr: &Instr| match instr {
            Instr::LoadContext(key) => consts.slice().get(*key as usize).copied(),
            _ => None,
        };
        let names: Vec<Raw<'a>> = handle.program.code.iter().filter_map(name).collect();
        Ok(heap.terms.make_list(&names).term(env))
    }
}

/// The constants of a program, if their number is right.
fn handle_consts<'a>(heap: &Beam<'a>, handle: &Handle, given: Term<'a>) -> NifResult<Consts<'a>> {
    let consts = Consts::of_tuple(heap, given).filter(|it| it.slice().len() == handle.consts);
    consts.ok_or(rustler::Error::BadArg)
}
