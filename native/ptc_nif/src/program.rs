//! Programs before they run: out of text or terms, with their constants as terms.

use crate::decode::{frozen, thawed};
use crate::execution::{Consts, Entry, Execution, Mode};
use crate::heap::Beam;
use crate::raw::Raw;
use crate::run::limits;
use crate::source::TermSource;
use crate::task::{Call, Print, Work as Task};
use crate::{atoms, wire};
use ptc_core::compile::{Compiled, Failure, Options, Rejection, Walk};
use ptc_core::fault::Halt;
use ptc_core::heap::Heap;
use ptc_core::json::{
    Document, FrozenTerms, Limits as JsonLimits, Parts, ReadError, Replay, Table, TableReader,
    TermBuilder,
};
use ptc_core::meter::{Limits, Meter, Pace};
use ptc_core::number::Number;
use ptc_core::program::{Const, Program};
use ptc_core::source::{Shape, Source};
use ptc_core::stop::{Stop, Work};
use rustler::{Encoder, Env, NifResult, Resource, ResourceArc, Term};
use std::sync::Arc;

/// How a program is to be read.
#[derive(Clone, Copy)]
pub struct Reading {
    /// Whether mistakes are reported before the run.
    pub strict: bool,
    /// How deep operations may nest; in a text, how deep brackets may.
    pub depth: u32,
}

/// What a program is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// To be run.
    Run,
    /// The same where the limits are not known yet: reading a small program needs none.
    RunWithoutLimits,
    /// To be kept.
    Keep,
}

/// A program that is being read.
pub struct Loading {
    stage: Stage,
    then: Then,
    reading: Reading,
    /// Of the text, if it is one and was left.
    print: Option<Print>,
}

/// How far it is.
enum Stage {
    /// The text becomes a table …
    Read(TableReader),
    /// … whose operations are compiled …
    Compile(Walk<u32>, Table),
    /// … and whose constants become terms.
    Build(Building),
    /// The same for a program that is terms already; its nodes are numbers while it is left.
    Walk(Walk<usize>),
    /// Only the constants were missing.
    Ready(Arc<Program>),
}

struct Building {
    program: Arc<Program>,
    consts: Vec<Const<u32>>,
    table: Table,
    /// The constant that comes next, and what was done of it.
    next: usize,
    begun: Option<(Replay, Parts)>,
}

/// The terms that go with it.
#[derive(Clone, Copy)]
pub struct LoadTerms<'a> {
    /// The text, or the part of it under `"program"`.
    pub source: Raw<'a>,
    pub context: Raw<'a>,
    pub memory: Raw<'a>,
    /// A list of what the numbers in a walk stand for.
    nodes: Raw<'a>,
    /// The constants that are done, last one first.
    consts: Raw<'a>,
    /// Those of the constant that is being built.
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

/// How many elements of a list are looked at on a scheduler's own thread.
const ELEMENTS_IN_A_SLICE: usize = 5_000;
/// What a constant that is no more than a name or a number costs.
const SMALL_CONSTANT: usize = 4;
/// In this part of a slice the run itself begins in the same call, in per cent.
const MOST_OF_SLICE: i32 = 50;

/// Charges the calling process for a text that was read: some 100 bytes a microsecond.
pub fn charge_for_text(env: Env, text: &[u8]) {
    let percent = (text.len() / 1000).min(100) as i32;
    if percent > 0 {
        rustler::schedule::consume_timeslice(env, percent);
    }
}

/// Begins with a program's text: `{"program": …}`. It is always checked.
pub fn from_text<'a>(
    call: Call<'a>,
    text: Raw<'a>,
    depth: u32,
    then: Then,
    [context, memory]: [Raw<'a>; 2],
) -> Option<Term<'a>> {
    let bytes = call.terms().bytes(text)?;
    let heap = Beam::new(call.env, 0);
    let terms = LoadTerms::new(&heap, text, context, memory);
    let limits = JsonLimits::depth(depth as usize);
    let loading = Loading {
        stage: Stage::Read(TableReader::new(bytes.len(), limits)),
        then,
        reading: Reading {
            strict: true,
            depth,
        },
        print: None,
    };
    Some(load(call, heap, loading, terms))
}

/// Begins with a program as terms: what stands under `"program"`.
pub fn from_node<'a>(
    call: Call<'a>,
    node: Raw<'a>,
    reading: Reading,
    then: Then,
    [context, memory]: [Raw<'a>; 2],
) -> Term<'a> {
    let heap = Beam::new(call.env, 0);
    let mut terms = LoadTerms::new(&heap, node, context, memory);
    terms.nodes = heap.terms.make_list(&[node]);
    let options = Options {
        strict: reading.strict,
        depth: reading.depth,
    };
    let loading = Loading {
        stage: Stage::Walk(Walk::new(0, options)),
        then,
        reading,
        print: None,
    };
    load(call, heap, loading, terms)
}

/// Goes on; `None` if these are not the terms it was left with. `limits` are those that it did not
/// know before.
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

/// What the loader comes to.
// There is one a call, and a box would cost each an allocation.
#[allow(clippy::large_enum_variant)]
enum Next<'a> {
    Loaded(Arc<Program>, Vec<Raw<'a>>),
    /// There is no program.
    Reply(Term<'a>),
    /// It was stopped at this stage.
    Stopped(Stop, Stage),
}

struct Loader<'a> {
    heap: Beam<'a>,
    meter: Meter,
    terms: LoadTerms<'a>,
    reading: Reading,
    pace: Pace,
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
    let work = Task::Load(Loading {
        stage,
        print,
        ..loading
    });
    match without_limits {
        true => call.leave(work, &terms, atoms::limits()),
        false => call.more(work, &terms),
    }
}

/// Runs the program, or gives `{:ok, handle, constants}`.
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
    let (limits, pace) = match then {
        Then::RunWithoutLimits => (Limits::PROBE, Pace::Probe),
        Then::Run | Then::Keep => (call.limits, call.pace),
    };
    let execution = Execution {
        heap,
        program,
        consts: Consts::Vector(consts),
        context: loader.terms.context,
        memory: loader.terms.memory,
        limits,
        pace,
        slices: call.slices,
        mode: Mode::Asks,
        together: None,
    };
    let reply = execution.run(Entry::Start, call.state);
    reply.unwrap_or_else(|| (atoms::error(), atoms::timeout()).encode(call.env))
}

impl<'a> Loader<'a> {
    fn step(&mut self, stage: Stage) -> Next<'a> {
        match stage {
            Stage::Read(reader) => self.read(reader),
            Stage::Compile(walk, table) => self.compile(walk, table),
            Stage::Build(building) => self.build(building),
            Stage::Walk(walk) => self.walk(walk),
            Stage::Ready(program) => {
                let consts = self.thaw_consts();
                Next::Loaded(program, consts)
            }
        }
    }

    fn text(&self) -> &'a [u8] {
        self.heap.terms.bytes(self.terms.source).unwrap_or_default()
    }

    fn read(&mut self, mut reader: TableReader) -> Next<'a> {
        let env = self.heap.terms.env;
        let text = self.text();
        let work = Work::new(&mut self.heap, &mut self.meter);
        let table = match reader.read(text, work) {
            Ok(table) => table,
            Err(ReadError::Json(error)) => return Next::Reply(wire::json_error(env, error)),
            Err(ReadError::Stop(stop)) => return Next::Stopped(stop, Stage::Read(reader)),
        };
        let refuse = |reason: rustler::Atom| {
            Next::Reply((atoms::error(), (atoms::parse(), reason)).encode(env))
        };
        let document = Document::new(text, table);
        match document.field(0, b"program") {
            None => refuse(atoms::program_missing()),
            Some(root) if document.shape(root) != Shape::Map => refuse(atoms::program_not_map()),
            Some(root) => {
                let options = Options {
                    strict: self.reading.strict,
                    depth: self.reading.depth,
                };
                self.compile(Walk::new(root, options), document.into_table())
            }
        }
    }

    fn compile(&mut self, mut walk: Walk<u32>, table: Table) -> Next<'a> {
        let document = Document::new(self.text(), table);
        let (heap, meter) = (&self.heap, &mut self.meter);
        match walk.go_on(&document, &mut |fuel, words| {
            spend(heap, meter, fuel, words)
        }) {
            Ok(()) => {
                let Compiled { program, consts } = walk.finish(&document);
                self.build(Building {
                    program: Arc::new(program),
                    consts,
                    table: document.into_table(),
                    next: 0,
                    begun: None,
                })
            }
            Err(Failure::Stopped(stop)) => {
                Next::Stopped(stop, Stage::Compile(walk, document.into_table()))
            }
            Err(Failure::Rejected(fault)) => match self.rejected(&document, fault) {
                Ok(reply) => Next::Reply(reply),
                // The walk ends there again.
                Err(stop) => Next::Stopped(stop, Stage::Compile(walk, document.into_table())),
            },
        }
    }

    fn rejected(&mut self, document: &Document, fault: Rejection<u32>) -> Result<Term<'a>, Stop> {
        let mut terms = Vec::with_capacity(fault.terms.len());
        for value in &fault.terms {
            terms.push(match value {
                Const::Node(node) => {
                    let work = Work::in_one_go(&mut self.heap, &mut self.meter);
                    let mut builder = TermBuilder::new(work);
                    Replay::new(document, *node).run(document, &mut builder)?;
                    builder.check_heap_limit()?;
                    builder.finish()
                }
                Const::Nil => self.heap.nil(),
                Const::Int(value) => number(&mut self.heap, *value),
                Const::EmptyMap => self.heap.make_map(&[], &[]),
            });
        }
        let mut terms = terms.into_iter();
        let fault = fault.map(|_| terms.next().unwrap_or(self.heap.nil()));
        Ok(wire::fault(&self.heap, atoms::validation(), fault))
    }

    fn build(&mut self, mut building: Building) -> Next<'a> {
        let document = Document::new(self.text(), std::mem::take(&mut building.table));
        let mut done = Vec::with_capacity(building.consts.len() - building.next);
        let built = self.build_consts(&document, &mut building, &mut done);
        building.table = document.into_table();
        match built {
            Err(stop) => {
                self.freeze_consts(done);
                Next::Stopped(stop, Stage::Build(building))
            }
            Ok(()) => {
                if self.heap.uncons(self.terms.consts).is_some() {
                    self.freeze_consts(done);
                    done = self.thaw_consts();
                }
                Next::Loaded(building.program, done)
            }
        }
    }

    fn build_consts(
        &mut self,
        document: &Document,
        building: &mut Building,
        done: &mut Vec<Raw<'a>>,
    ) -> Result<(), Stop> {
        while let Some(value) = building.consts.get(building.next) {
            let heap = &mut self.heap;
            self.meter.consume_fuel(SMALL_CONSTANT, heap)?;
            let term = match value {
                Const::Nil => heap.nil(),
                Const::Int(value) => number(heap, *value),
                Const::EmptyMap => heap.make_map(&[], &[]),
                Const::Node(node) => match document.build_small(*node, heap) {
                    Some(term) => term,
                    None => self.build_const(document, *node, &mut building.begun)?,
                },
            };
            done.push(term);
            building.next += 1;
        }
        Ok(())
    }

    fn build_const(
        &mut self,
        document: &Document,
        node: u32,
        begun: &mut Option<(Replay, Parts)>,
    ) -> Result<Raw<'a>, Stop> {
        let work = Work::new(&mut self.heap, &mut self.meter);
        let (mut replay, mut builder) = match begun.take() {
            Some((replay, parts)) => {
                let builder = TermBuilder::thaw(work, parts, self.terms.frozen);
                (replay, builder)
            }
            None => (Replay::new(document, node), TermBuilder::new(work)),
        };
        match replay.run(document, &mut builder) {
            Ok(()) => Ok(builder.finish()),
            Err(stop) => {
                let (parts, frozen) = builder.freeze();
                self.terms.frozen = frozen;
                *begun = Some((replay, parts));
                Err(stop)
            }
        }
    }

    fn walk(&mut self, walk: Walk<usize>) -> Next<'a> {
        let terms = self.heap.terms;
        let mut nodes = Vec::new();
        let mut rest = self.terms.nodes;
        while let Some((node, tail)) = terms.uncons(rest) {
            nodes.push(node);
            rest = tail;
        }
        let nil = self.heap.nil();
        let mut walk = walk.map(|at| nodes.get(at).copied().unwrap_or(nil));
        let (longest, too_long) = match self.pace {
            Pace::Quantum => (self.meter.limits.words, Stop::MemoryExceeded),
            Pace::Slice | Pace::Probe => (ELEMENTS_IN_A_SLICE, Stop::SliceOver),
        };
        let source = TermSource::new(terms, longest, too_long);
        let (heap, meter) = (&self.heap, &mut self.meter);
        match walk.go_on(&source, &mut |fuel, words| spend(heap, meter, fuel, words)) {
            Ok(()) => {
                let Compiled { program, consts } = walk.finish(&source);
                let heap = &mut self.heap;
                let term = |value: Const<Raw<'a>>| match value {
                    Const::Nil => heap.nil(),
                    Const::Int(value) => number(heap, value),
                    Const::EmptyMap => heap.make_map(&[], &[]),
                    Const::Node(node) => node,
                };
                Next::Loaded(Arc::new(program), consts.into_iter().map(term).collect())
            }
            Err(Failure::Stopped(stop)) => {
                nodes.clear();
                let walk = walk.map(|node| {
                    nodes.push(node);
                    nodes.len() - 1
                });
                self.terms.nodes = terms.make_list(&nodes);
                Next::Stopped(stop, Stage::Walk(walk))
            }
            Err(Failure::Rejected(fault)) => {
                let heap = &mut self.heap;
                let fault = fault.map(|value| match value {
                    Const::Nil => heap.nil(),
                    Const::Int(value) => number(heap, value),
                    Const::EmptyMap => heap.make_map(&[], &[]),
                    Const::Node(node) => node,
                });
                Next::Reply(wire::fault(&self.heap, atoms::validation(), fault))
            }
        }
    }

    /// Moves the constants to the heap, onto those that are there already.
    fn freeze_consts(&mut self, consts: Vec<Raw<'a>>) {
        for value in consts {
            self.terms.consts = self.heap.cons(value, self.terms.consts);
        }
    }

    fn thaw_consts(&mut self) -> Vec<Raw<'a>> {
        let mut consts = Vec::new();
        let mut rest = self.terms.consts;
        while let Some((value, tail)) = self.heap.uncons(rest) {
            consts.push(value);
            rest = tail;
        }
        consts.reverse();
        consts
    }
}

/// What a walk is given to ask.
fn spend(heap: &Beam, meter: &mut Meter, fuel: usize, words: Option<usize>) -> Result<(), Stop> {
    let can_be_left = words.is_some();
    match meter.consume_fuel(fuel, heap) {
        Err(Halt::SliceOver) if !can_be_left && meter.pace() == Pace::Quantum => {}
        counted => counted?,
    }
    if let Some(words) = words {
        meter.check_heap_limit(words, heap)?;
    }
    Ok(())
}

fn number<'a>(heap: &mut Beam<'a>, value: i64) -> Raw<'a> {
    heap.make_number(Number::Int(value)).unwrap_or(heap.nil())
}

/// A compiled program between calls; its constants are kept beside it, as a tuple of terms.
pub struct Handle {
    pub program: Arc<Program>,
    /// How many constants there must be.
    pub consts: usize,
}

#[rustler::resource_impl]
impl Resource for Handle {}

/// Compiles a program's text; `given` is {timeout, max_heap}.
#[rustler::nif]
fn compile_text<'a>(
    env: Env<'a>,
    text: Term<'a>,
    depth: u32,
    given: (Term<'a>, Term<'a>),
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("compile_text");
    let limits = limits(given.0, given.1).ok_or(rustler::Error::BadArg)?;
    let call = Call::first(env, limits, Pace::Slice);
    let none = Raw::from(atoms::nil().encode(env));
    from_text(call, text.into(), depth, Then::Keep, [none; 2]).ok_or(rustler::Error::BadArg)
}

/// Compiles a program that is already parsed.
#[rustler::nif]
fn compile_node<'a>(
    env: Env<'a>,
    node: Term<'a>,
    depth: u32,
    given: (Term<'a>, Term<'a>),
) -> NifResult<Term<'a>> {
    let _clock = crate::clock::start("compile_node");
    let limits = limits(given.0, given.1).ok_or(rustler::Error::BadArg)?;
    let call = Call::first(env, limits, Pace::Slice);
    let none = Raw::from(atoms::nil().encode(env));
    let reading = Reading {
        strict: true,
        depth,
    };
    Ok(from_node(call, node.into(), reading, Then::Keep, [none; 2]))
}
