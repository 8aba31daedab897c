//! Loads programs: from text or terms to compiled programs, with their constants as terms.

use crate::clock::nif;
use crate::execution::{Consts, Execution, Run};
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{Pace, MOST_OF_SLICE};
use crate::task::{Call, Work};
use crate::{atoms, explain, wire};
use ptc_core::code::Program;
use ptc_core::compile::Options;
use ptc_core::explain::Detail;
use ptc_core::heap::Heap;
use ptc_core::load::{FrozenLoader, LoadOptions, Loader, Refusal, Unloaded};
use ptc_core::stop::Stop;
use rustler::{Atom, Decoder, Encoder, Error, NifResult, Resource, ResourceArc, Term};
use std::sync::Arc;

/// The options as the Elixir side sends them: only a depth, or a tuple with the rarely used options.
pub enum CompileOptionsArg {
    Depth(u32),
    /// The depth, whether atoms count as keys too, whether the program is strict, whether structs are
    /// read as values.
    Full((u32, bool, bool, bool)),
    /// `:observed` or `:findings` (see [`Detail`]), and the same options.
    Observed((Atom, u32, bool, bool, bool)),
}

// Implemented by hand: rustler's derived decoder raises `:invalid_variant` instead of an `ArgumentError`.
impl<'a> Decoder<'a> for CompileOptionsArg {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        let depth = term.decode().map(CompileOptionsArg::Depth);
        depth
            .or_else(|_| term.decode().map(CompileOptionsArg::Full))
            .or_else(|_| term.decode().map(CompileOptionsArg::Observed))
            .map_err(|_| Error::BadArg)
    }
}

impl CompileOptionsArg {
    /// `checked`: whether errors are reported before the run.
    pub fn reading(&self, checked: bool) -> LoadOptions {
        let (depth, any_keys, strict, values) = match *self {
            CompileOptionsArg::Depth(depth) => (depth, false, false, false),
            CompileOptionsArg::Full(given) => given,
            CompileOptionsArg::Observed((_, depth, any_keys, strict, values)) => {
                (depth, any_keys, strict, values)
            }
        };
        let observed = match *self {
            CompileOptionsArg::Observed((what, ..)) if what == atoms::findings() => {
                Some(Detail::Findings)
            }
            CompileOptionsArg::Observed(_) => Some(Detail::All),
            _ => None,
        };
        LoadOptions {
            options: Options {
                checked,
                depth,
                strict,
                any_keys,
                values,
            },
            observed,
        }
    }
}

/// What happens to a loaded program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It runs.
    Run,
    /// It runs; the limits are not known yet: loading a small program needs none.
    RunWithoutLimits,
    /// It is returned as a handle.
    Keep,
}

/// A program that is being loaded.
pub struct Loading {
    loader: FrozenLoader,
    then: Then,
}

/// The terms that a program is loaded from and runs over.
#[derive(Clone, Copy)]
struct Given<'a> {
    /// The text, or the term under `"program"`.
    source: Raw<'a>,
    /// Context and memory.
    data: [Raw<'a>; 2],
}

/// Starts loading from a text: `{"program": …}`. It is always checked.
pub fn from_text<'a>(
    call: Call<'a>,
    source: Raw<'a>,
    options: LoadOptions,
    then: Then,
    data: [Raw<'a>; 2],
) -> Option<Term<'a>> {
    let length = call.terms().bytes(source)?.len();
    let heap = Beam::new(call.env, 0);
    let loader = Loader::of_text(&heap, length, options);
    Some(load(call, heap, loader, then, Given { source, data }))
}

/// Starts loading from terms: the value under `"program"`.
pub fn from_node<'a>(
    call: Call<'a>,
    source: Raw<'a>,
    options: LoadOptions,
    then: Then,
    data: [Raw<'a>; 2],
) -> Term<'a> {
    let heap = Beam::new(call.env, 0);
    let loader = Loader::of_term(&heap, source, options);
    load(call, heap, loader, then, Given { source, data })
}

impl Work for Loading {
    fn go_on<'a>(self: Box<Self>, call: Call<'a>, terms: &[Raw<'a>]) -> Option<Term<'a>> {
        let (&[source, context, memory], frozen) = terms.split_first_chunk()?;
        let heap = Beam::new(call.env, call.words);
        let loader = self.loader.thaw(&heap, frozen)?;
        let then = match self.then {
            // It was suspended until the limits were known.
            Then::RunWithoutLimits => Then::Run,
            then => then,
        };
        let data = [context, memory];
        Some(load(call, heap, loader, then, Given { source, data }))
    }

    fn reads_text(&self) -> bool {
        self.loader.needs_text()
    }
}

fn load<'a>(
    mut call: Call<'a>,
    mut heap: Beam<'a>,
    mut loader: Loader<Raw<'a>>,
    then: Then,
    given: Given<'a>,
) -> Term<'a> {
    let mut meter = call.meter();
    let text = call.terms().bytes(given.source).unwrap_or_default();
    let loaded = loader.run(text, &mut heap, &mut meter);
    call.settle(&meter);
    match loaded {
        Ok(()) => {
            let slice = meter.percent_of_slice() > MOST_OF_SLICE;
            if then == Then::Keep || call.pace != Pace::Slice || !slice {
                return finish(call, heap, loader, then, given.data);
            }
        }
        Err(Unloaded::Refused(refusal)) => return refused(&mut heap, refusal),
        Err(Unloaded::Stopped(Stop::SliceOver)) => {}
        Err(Unloaded::Stopped(stop)) => return call.stopped(stop),
    }
    call.words = heap.words_built();
    let (loader, frozen) = loader.freeze(&mut heap);
    let [context, memory] = given.data;
    let mut terms = vec![given.source, context, memory];
    terms.extend(frozen);
    let work = Loading { loader, then };
    match then {
        Then::RunWithoutLimits => call.leave(work, &terms, atoms::limits()),
        Then::Run | Then::Keep => call.more(work, &terms),
    }
}

/// The reply to an invalid program.
fn refused<'a>(heap: &mut Beam<'a>, refusal: Refusal<Raw<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    let unreadable = |reason: Atom| (atoms::error(), (atoms::parse(), reason)).encode(env);
    match refusal {
        Refusal::Json(error) => wire::json_error(env, error),
        Refusal::NoProgram => unreadable(atoms::program_missing()),
        Refusal::NotAMap => unreadable(atoms::program_not_map()),
        Refusal::Rejected(fault, path) => {
            let reply = wire::fault(heap, atoms::validation(), fault);
            match path {
                None => reply,
                Some(path) => {
                    let path = explain::path(heap, &path).term(env);
                    (atoms::rejected(), reply, path).encode(env)
                }
            }
        }
    }
}

/// Runs the program, or returns `{:ok, handle, constants}`.
fn finish<'a>(
    call: Call<'a>,
    heap: Beam<'a>,
    loader: Loader<Raw<'a>>,
    then: Then,
    data: [Raw<'a>; 2],
) -> Term<'a> {
    let Some((program, consts)) = loader.finish(&heap) else {
        return call.stopped(Stop::Abandoned);
    };
    if then == Then::Keep {
        let handle = ResourceArc::new(Handle {
            program,
            consts: consts.len(),
        });
        let consts = heap.terms.make_tuple(&consts).term(call.env);
        return (atoms::ok(), handle, consts).encode(call.env);
    }
    let consts = Consts::Vector(consts);
    let (limits, pace) = match then {
        Then::Run => (Some(call.limits), call.pace),
        Then::RunWithoutLimits | Then::Keep => (None, Pace::Probe),
    };
    let mut run = Run::new(program, limits);
    run.quarters = call.quarters;
    Execution::new(heap, consts, data, pace).start(run, call.state)
}

/// Resource of a compiled program; the caller holds its constants, as a tuple of terms.
pub struct Handle {
    pub program: Arc<Program>,
    /// Number of the program's constants.
    pub consts: usize,
}

#[rustler::resource_impl]
impl Resource for Handle {}

nif! {
    /// Compiles a program's text, optionally for observation; `given` is `{timeout, max_heap}`.
    fn compile_text<'a>(env, text: Term<'a>, reading: CompileOptionsArg, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let none = Raw::from(atoms::nil().encode(env));
        let reading = reading.reading(true);
        from_text(call, text.into(), reading, Then::Keep, [none; 2]).ok_or(Error::BadArg)
    }
}

nif! {
    /// Compiles a program that is already decoded.
    fn compile_node<'a>(env, node: Term<'a>, reading: CompileOptionsArg, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let none = Raw::from(atoms::nil().encode(env));
        let reading = reading.reading(true);
        Ok(from_node(call, node.into(), reading, Then::Keep, [none; 2]))
    }
}
