//! Loads programs: from text or terms to compiled programs, with their constants as terms.

use crate::asked::LastAnswers;
use crate::clock::nif;
use crate::execution::Execution;
use crate::handle::Handle;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{Pace, MOST_OF_SLICE};
use crate::task::{keep, run, Call, Task};
use crate::{atoms, wire};
use ptc_program::code::PtcJson;
use ptc_program::compile::Options;
use ptc_program::edition::Edition;
use ptc_program::load::{LoadOptions, Loaded, Loader, Refusal};
use ptc_run::{observed, Consts, Data, Plain};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_vm::explain::Detail;
use ptc_vm::Language;
use rustler::{Atom, Decoder, Encoder, Error, NifResult, ResourceArc, Term};

/// The options as the Elixir side sends them: only a depth, or a tuple with the rarely used options.
pub enum CompileOptionsArg {
    /// The depth, of edition 1.
    Depth(u32),
    /// The depth, whether atoms count as keys too, whether the program is strict, whether structs are
    /// read as values, the edition.
    Full((u32, bool, bool, bool, u32)),
    /// `:observed`, `:findings` or `:plan` (see [`Detail`]), and the same options.
    Observed((Atom, u32, bool, bool, bool, u32)),
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
        let (observed, (depth, any_keys, strict, values, edition)) = match *self {
            CompileOptionsArg::Depth(depth) => (None, (depth, false, false, false, 2)),
            CompileOptionsArg::Full(given) => (None, given),
            CompileOptionsArg::Observed((what, a, b, c, d, e)) => (Some(what), (a, b, c, d, e)),
        };
        LoadOptions {
            options: Options {
                checked,
                depth,
                edition: Edition::of_number(edition).unwrap_or(Edition::Two),
                strict,
                any_keys,
                values,
            },
            observed: observed.map(detail_of),
        }
    }
}

/// Returns what is recorded, by its name.
pub fn detail_of(name: Atom) -> Detail {
    if name == atoms::findings() {
        Detail::Findings
    } else if name == atoms::plan() {
        Detail::Plan
    } else if name == atoms::recipes() {
        Detail::Recipes
    } else {
        Detail::All
    }
}

/// What happens to a loaded program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It runs.
    Run,
    /// It is returned as a handle.
    Keep,
}

impl Then {
    fn loader<T: Copy>(self, loader: Loader<T>) -> Loader<T> {
        match self {
            Then::Run => loader,
            Then::Keep => loader.keeping(),
        }
    }
}

/// A program that is being loaded, and the terms that it is loaded from and runs over.
struct Loading<T> {
    /// The text, or the term under `"program"`.
    source: T,
    data: Data<T>,
    loader: Loader<T>,
    then: Then,
}

rooted!(Loading { terms: source; states: data, loader; plain: then });

/// Starts loading from a text: `{"program": …}`. It is always checked.
pub fn from_text<'a>(
    call: Call<'a>,
    source: Raw<'a>,
    options: LoadOptions,
    then: Then,
    data: Data<Raw<'a>>,
) -> Option<Term<'a>> {
    let length = call.terms().bytes(source)?.len();
    let loader = then.loader(Loader::of_text(length, options));
    Some(load(call, loader, then, source, data))
}

/// Starts loading from terms: the value under `"program"`.
pub fn from_node<'a>(
    call: Call<'a>,
    source: Raw<'a>,
    options: LoadOptions,
    then: Then,
    data: Data<Raw<'a>>,
) -> Term<'a> {
    let loader = then.loader(Loader::of_term(source, options));
    load(call, loader, then, source, data)
}

fn load<'a>(
    call: Call<'a>,
    loader: Loader<Raw<'a>>,
    then: Then,
    source: Raw<'a>,
    data: Data<Raw<'a>>,
) -> Term<'a> {
    let loading = Loading {
        source,
        data,
        loader,
        then,
    };
    run::<Loading<()>>(call, loading)
}

impl<'a> Task<'a> for Loading<Raw<'a>> {
    /// The result, and whether most of a slice is used up.
    type Out = (Result<(), Refusal<Raw<'a>>>, bool);

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.source).unwrap_or_default();
        let loaded = self.loader.step(text, heap, meter)?;
        Ok((loaded, meter.percent_of_slice() > MOST_OF_SLICE))
    }

    fn reply(self, call: Call<'a>, mut heap: Beam<'a>, (loaded, is_late): Self::Out) -> Term<'a> {
        match loaded {
            Err(refusal) => refused(&mut heap, refusal),
            Ok(()) if self.then != Then::Keep && call.pace == Pace::Slice && is_late => {
                keep::<Loading<()>>(call, heap, self)
            }
            // A call needs limits.
            Ok(()) if !call.knows_limits && self.loader.calls_tools() => {
                keep::<Loading<()>>(call, heap, self)
            }
            Ok(()) => finish(call, heap, self),
        }
    }

    fn reads_text(&self) -> bool {
        self.loader.needs_text()
    }
}

/// The reply to an invalid program.
pub fn refused<'a>(heap: &mut Beam<'a>, refusal: Refusal<Raw<'a>>) -> Term<'a> {
    let env = heap.terms.env;
    let unreadable = |reason: Atom| (atoms::error(), (atoms::parse(), reason)).encode(env);
    match refusal {
        Refusal::Json(error) => wire::json_error(env, error),
        Refusal::NoProgram => unreadable(atoms::program_missing()),
        Refusal::NotAMap => unreadable(atoms::program_not_map()),
        Refusal::Rejected(fault, path) => {
            let reply = wire::fault(heap, atoms::validation(), PtcJson::report(fault));
            match path {
                None => reply,
                Some(path) => {
                    let path = observed::path(heap, &path).term(env);
                    (atoms::rejected(), reply, path).encode(env)
                }
            }
        }
    }
}

/// Runs the program, or returns `{:ok, handle, constants}`.
fn finish<'a>(call: Call<'a>, heap: Beam<'a>, loading: Loading<Raw<'a>>) -> Term<'a> {
    let data = loading.data;
    let Some(loaded) = loading.loader.finish(&heap) else {
        return wire::stopped(call.env, Stop::Abandoned);
    };
    let Loaded {
        program, consts, ..
    } = loaded;
    if let Some(source) = loaded.source {
        let handle = ResourceArc::new(Handle {
            program,
            consts: consts.len(),
            source: Some(source),
            asked: LastAnswers::default(),
        });
        let consts = heap.terms.make_tuple(&consts).term(call.env);
        return (atoms::ok(), handle, consts).encode(call.env);
    }
    let consts = Consts::Vector(consts);
    let (limits, pace) = match call.knows_limits {
        true => (Some(call.limits), call.pace),
        false => (None, Pace::Probe),
    };
    let mut plain = Plain::new(limits);
    plain.quarters = call.quarters;
    Execution::new(heap, consts, data, pace).start(program, plain, call.state)
}

nif! {
    /// Compiles a program's text, optionally for observation; `given` is `{timeout, max_heap}`.
    fn compile_text<'a>(env, text: Term<'a>, reading: CompileOptionsArg, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let reading = reading.reading(true);
        from_text(call, text.into(), reading, Then::Keep, Data::of(Raw::from(atoms::nil().encode(env)))).ok_or(Error::BadArg)
    }
}

nif! {
    /// Compiles a program that is already decoded.
    fn compile_node<'a>(env, node: Term<'a>, reading: CompileOptionsArg, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let reading = reading.reading(true);
        Ok(from_node(call, node.into(), reading, Then::Keep, Data::of(Raw::from(atoms::nil().encode(env)))))
    }
}

nif! {
    /// Compiles a program again that was compiled from this text, with other observation (`:observed`, `:findings`, or nil for
    /// none). The text is not read.
    fn compile_again<'a>(env, handle: ResourceArc<Handle>, text: Term<'a>, detail: Atom, given: (Term<'a>, Term<'a>))
        -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let text = Raw::from(text);
        let source = handle.source_of(call.terms(), text).filter(|source| source.has_text()).ok_or(Error::BadArg)?;
        let detail = (detail != atoms::nil()).then(|| detail_of(detail));
        let data = Data::of(Raw::from(atoms::nil().encode(env)));
        Ok(load(call, Loader::of_source(source, detail), Then::Keep, text, data))
    }
}
