//! Loads a program from its text or terms: the work of one call.

use super::{CompileOptions, LoadTerms};
use crate::heap::Beam;
use crate::raw::Raw;
use crate::schedule::{Pace, ELEMENTS};
use crate::source::{Kept, TermSource};
use crate::{atoms, explain, wire};
use ptc_core::compile::{Compiled, Failure, PathPart, Rejection, Walk};
use ptc_core::fault::Halt;
use ptc_core::heap::Heap;
use ptc_core::json::{Document, Parts, ReadError, Replay, Table, TableReader, TermBuilder};
use ptc_core::meter::Meter;
use ptc_core::number::Number;
use ptc_core::program::{Const, Program};
use ptc_core::source::{Shape, Source};
use ptc_core::stop::Stop;
use ptc_core::workspace::Workspace;
use rustler::{Encoder, Term};
use std::sync::Arc;

/// Fuel for a constant that is only a name or a number.
const SMALL_CONSTANT: usize = 4;

/// The stage of a program that is being loaded.
pub enum Stage {
    /// Parses the text to a table.
    Read(TableReader),
    /// Compiles the operations of the table.
    Compile(Walk<u32>, Table),
    /// Builds the constants as terms.
    Build(Building),
    /// Compiles a program given as terms; while it is suspended, its nodes are indices.
    Walk(Walk<usize>),
    /// The program is compiled, and its constants are built.
    Ready(Arc<Program>),
}

pub struct Building {
    program: Arc<Program>,
    consts: Vec<Const<u32>>,
    table: Table,
    /// The next constant, and the state of a constant that is partly built.
    next: usize,
    begun: Option<(Replay, Parts)>,
}

/// The result of a step.
// One exists per call, and a box would cost each call an allocation.
#[allow(clippy::large_enum_variant)]
pub enum Next<'a> {
    Loaded(Arc<Program>, Vec<Raw<'a>>),
    /// The program is invalid.
    Reply(Term<'a>),
    /// The work was stopped at this stage.
    Stopped(Stop, Stage),
}

/// Loads a program in one call.
pub struct Loader<'a> {
    pub heap: Beam<'a>,
    pub meter: Meter,
    pub terms: LoadTerms<'a>,
    pub reading: CompileOptions,
    pub pace: Pace,
}

impl<'a> Loader<'a> {
    /// Continues from a stage until the program is loaded or the work is stopped.
    pub fn step(&mut self, stage: Stage) -> Next<'a> {
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

    pub fn text(&self) -> &'a [u8] {
        self.heap.terms.bytes(self.terms.source).unwrap_or_default()
    }

    fn read(&mut self, mut reader: TableReader) -> Next<'a> {
        let env = self.heap.terms.env;
        let text = self.text();
        let work = Workspace::new(&mut self.heap, &mut self.meter);
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
            Some(root) => self.compile(self.reading.walk(root), document.into_table()),
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
                Ok(reply) => {
                    let key = |heap: &mut Beam<'a>, node| {
                        heap.make_string(document.text(node).unwrap_or_default())
                    };
                    Next::Reply(self.at_path(reply, walk.mistake(), key))
                }
                // The resumed walk stops at the same fault.
                Err(stop) => Next::Stopped(stop, Stage::Compile(walk, document.into_table())),
            },
        }
    }

    fn rejected(&mut self, document: &Document, fault: Rejection<u32>) -> Result<Term<'a>, Stop> {
        let mut terms = Vec::with_capacity(fault.terms.len());
        for value in &fault.terms {
            terms.push(match value {
                Const::Node(node) => {
                    let work = Workspace::in_one_go(&mut self.heap, &mut self.meter);
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
        let work = Workspace::new(&mut self.heap, &mut self.meter);
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
        let kept = Kept::of(terms, self.terms.nodes);
        let (nil, end) = (self.heap.nil(), kept.end());
        let mut walk = walk.map(|at| kept.node(at).unwrap_or(nil));
        let (longest, too_long) = match self.pace {
            Pace::Quantum => (self.meter.limits.words, Stop::MemoryExceeded),
            Pace::Slice | Pace::Probe => (ELEMENTS, Stop::SliceOver),
        };
        let source = TermSource::new(terms, longest, too_long, kept);
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
                let mut nodes = Vec::new();
                walk.keep(|node| {
                    nodes.push(node);
                    end + nodes.len() - 1
                });
                let (before, first) = match walk.has_kept() {
                    true => (self.terms.nodes, end),
                    false => (terms.make_list(&[]), 0),
                };
                let walk = walk.map(|node| {
                    nodes.push(node);
                    first + nodes.len() - 1
                });
                self.terms.nodes = Kept::add(terms, &nodes, before);
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
                let reply = wire::fault(&self.heap, atoms::validation(), fault);
                Next::Reply(self.at_path(reply, walk.mistake(), |_, node| node))
            }
        }
    }

    /// The reply to a fault, with its path if the program is compiled for observation.
    fn at_path<N: Copy>(
        &mut self,
        reply: Term<'a>,
        path: &[PathPart<N>],
        mut key: impl FnMut(&mut Beam<'a>, N) -> Raw<'a>,
    ) -> Term<'a> {
        if self.reading.observed.is_none() {
            return reply;
        }
        let heap = &mut self.heap;
        let parts: Vec<_> = path
            .iter()
            .map(|part| match part {
                PathPart::Field(name) => PathPart::Field(name),
                PathPart::Index(index) => PathPart::Index(*index),
                PathPart::Key(node) => PathPart::Key(key(heap, *node)),
            })
            .collect();
        let (env, path) = (heap.terms.env, explain::path(heap, &parts));
        (atoms::rejected(), reply, path.term(env)).encode(env)
    }

    /// Puts the constants on the list on the heap.
    pub fn freeze_consts(&mut self, consts: Vec<Raw<'a>>) {
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

/// Consumes fuel and checks the heap limit, for a walk; without `words` the walk cannot be suspended.
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
