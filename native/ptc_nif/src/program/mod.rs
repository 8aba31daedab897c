//! Loads programs: from text or terms to compiled programs, with their constants as terms.
//!
//! * this file: the NIFs, and a program that is being loaded
//! * [`loader`]: the work of one call

mod loader;

use crate::atoms;
use crate::clock::nif;
use crate::decode::{frozen, thawed};
use crate::execution::{Consts, Execution};
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{Pace, MOST_OF_SLICE};
use crate::source::Kept;
use crate::task::{Call, Print, Work};
use loader::{Loader, Next, Stage};
use ptc_core::compile::{Options, Walk};
use ptc_core::explain::Detail;
use ptc_core::heap::Heap;
use ptc_core::json::{FrozenTerms, JsonLimits, TableReader};
use ptc_core::meter::Limits;
use ptc_core::program::Program;
use ptc_core::stop::Stop;
use rustler::{Atom, Decoder, Encoder, Error, NifResult, Resource, ResourceArc, Term};
use std::sync::Arc;

/// Options for loading a program; for a text, the depth also limits the nesting of brackets.
#[derive(Clone, Copy)]
pub struct CompileOptions {
    pub options: Options,
    /// What is recorded, if the program is compiled for observation.
    pub observed: Option<Detail>,
}

impl CompileOptions {
    /// The compiler's walk over a program, with these options.
    fn walk<N: Copy>(&self, root: N) -> Walk<N> {
        let walk = Walk::new(root, self.options);
        match self.observed {
            Some(detail) => walk.observed(detail),
            None => walk,
        }
    }
}

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
    pub fn reading(&self, checked: bool) -> CompileOptions {
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
        CompileOptions {
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
    stage: Stage,
    then: Then,
    reading: CompileOptions,
    /// The text's fingerprint; set when the work is suspended.
    print: Option<Print>,
}

/// The terms of a program that is being loaded.
#[derive(Clone, Copy)]
pub struct LoadTerms<'a> {
    /// The text, or the term under `"program"`.
    pub source: Raw<'a>,
    pub context: Raw<'a>,
    pub memory: Raw<'a>,
    /// The nodes to which the indices in a suspended walk refer, see [`Kept`].
    nodes: Raw<'a>,
    /// The finished constants in reverse order.
    consts: Raw<'a>,
    /// The terms of the constant that is being built.
    frozen: FrozenTerms<Raw<'a>>,
}

impl<'a> LoadTerms<'a> {
    fn new(heap: &Beam<'a>, source: Raw<'a>, context: Raw<'a>, memory: Raw<'a>) -> Self {
        let nothing = heap.nil();
        LoadTerms {
            source,
            context,
            memory,
            nodes: nothing,
            consts: nothing,
            frozen: FrozenTerms {
                values: nothing,
                tail: None,
            },
        }
    }

    fn of(call: &Call<'a>, terms: &[Raw<'a>]) -> Option<Self> {
        let [source, context, memory, nodes, consts, values, tail] = *terms else {
            return None;
        };
        Some(LoadTerms {
            source,
            context,
            memory,
            nodes,
            consts,
            frozen: thawed(call, values, tail),
        })
    }
}

/// Starts loading from a text: `{"program": …}`. It is always checked.
pub fn from_text<'a>(
    call: Call<'a>,
    text: Raw<'a>,
    reading: CompileOptions,
    then: Then,
    [context, memory]: [Raw<'a>; 2],
) -> Option<Term<'a>> {
    let bytes = call.terms().bytes(text)?;
    let heap = Beam::new(call.env, 0);
    let terms = LoadTerms::new(&heap, text, context, memory);
    let limits = JsonLimits::depth(reading.options.depth as usize);
    let loading = Loading {
        stage: Stage::Read(TableReader::new(bytes.len(), limits)),
        then,
        reading,
        print: None,
    };
    Some(load(call, heap, loading, terms))
}

/// Starts loading from terms: the value under `"program"`.
pub fn from_node<'a>(
    call: Call<'a>,
    node: Raw<'a>,
    reading: CompileOptions,
    then: Then,
    [context, memory]: [Raw<'a>; 2],
) -> Term<'a> {
    let heap = Beam::new(call.env, 0);
    let mut terms = LoadTerms::new(&heap, node, context, memory);
    let none = heap.terms.make_list(&[]);
    terms.nodes = Kept::add(heap.terms, &[node], none);
    let loading = Loading {
        stage: Stage::Walk(reading.walk(0)),
        then,
        reading,
        print: None,
    };
    load(call, heap, loading, terms)
}

/// Resumes the loading; `None` if the terms belong to other work. `limits` are those that were not known
/// before.
pub fn go_on<'a>(
    mut call: Call<'a>,
    mut loading: Loading,
    terms: &[Raw<'a>],
    limits: Option<Limits>,
) -> Option<Term<'a>> {
    if let Some(limits) = limits {
        call.limits = limits;
        if loading.then == Then::RunWithoutLimits {
            loading.then = Then::Run;
        }
    }
    let terms = LoadTerms::of(&call, terms)?;
    if let Some(print) = loading.print {
        if Print::of(call.terms().bytes(terms.source)?) != print {
            return None;
        }
    }
    let heap = Beam::new(call.env, call.words);
    Some(load(call, heap, loading, terms))
}

fn load<'a>(
    mut call: Call<'a>,
    heap: Beam<'a>,
    loading: Loading,
    terms: LoadTerms<'a>,
) -> Term<'a> {
    let mut loader = Loader {
        heap,
        meter: call.meter(),
        terms,
        reading: loading.reading,
        pace: call.pace,
    };
    let (stop, stage) = match loader.step(loading.stage) {
        Next::Reply(reply) => {
            call.settle(&loader.meter);
            return reply;
        }
        Next::Stopped(stop, stage) => (stop, stage),
        Next::Loaded(program, consts) => {
            call.settle(&loader.meter);
            let slice = loader.meter.percent_of_slice() > MOST_OF_SLICE;
            if loading.then == Then::Keep || call.pace != Pace::Slice || !slice {
                return finish(call, loader, loading.then, program, consts);
            }
            loader.freeze_consts(consts);
            (Stop::SliceOver, Stage::Ready(program))
        }
    };
    call.settle(&loader.meter);
    if stop != Stop::SliceOver {
        return call.stopped(stop);
    }
    call.words = loader.heap.words_built();
    let (text, terms) = (loader.text(), loader.terms);
    let [values, tail] = frozen(&call, terms.frozen);
    let (source, context, memory) = (terms.source, terms.context, terms.memory);
    let terms = [
        source,
        context,
        memory,
        terms.nodes,
        terms.consts,
        values,
        tail,
    ];
    let without_limits = loading.then == Then::RunWithoutLimits;
    let print = match stage {
        Stage::Read(_) | Stage::Compile(..) | Stage::Build(_) => Some(Print::of(text)),
        Stage::Walk(_) | Stage::Ready(_) => None,
    };
    let work = Work::Load(Loading {
        stage,
        print,
        ..loading
    });
    match without_limits {
        true => call.leave(work, &terms, atoms::limits()),
        false => call.more(work, &terms),
    }
}

/// Runs the program, or returns `{:ok, handle, constants}`.
fn finish<'a>(
    call: Call<'a>,
    loader: Loader<'a>,
    then: Then,
    program: Arc<Program>,
    consts: Vec<Raw<'a>>,
) -> Term<'a> {
    let heap = loader.heap;
    if then == Then::Keep {
        let handle = ResourceArc::new(Handle {
            program,
            consts: consts.len(),
        });
        let consts = heap.terms.make_tuple(&consts).term(call.env);
        return (atoms::ok(), handle, consts).encode(call.env);
    }
    let (consts, data) = (
        Consts::Vector(consts),
        [loader.terms.context, loader.terms.memory],
    );
    let limits = (then == Then::Run).then_some(call.limits);
    let mut execution = Execution::new(heap, program, consts, data, limits);
    execution.run.quarters = call.quarters;
    if then == Then::Run {
        execution.pace = call.pace;
    }
    execution.start(call.state)
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
