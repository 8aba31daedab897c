//! Loads a program: from its text or its term to instructions, with the constants as terms.
//!
//! A text is read into a table and a term is copied into one; the compiler reads the table. The work can
//! be suspended at any time.

use crate::code::Program;
use crate::compile::copy::Copier;
use crate::compile::{Compiled, Failure, Options, PathPart, Walk};
use crate::fault::Fault;
use ptc_json::{
    Document, JsonError, JsonLimits, Node, PartialValue, ReadError, Replay, Table, TableReader,
    TermBuilder,
};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::{Meter, Pace};
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use ptc_vm::explain::Detail;
use std::mem::take;
use std::sync::Arc;

/// Fuel for a constant that is only a name or a number.
const SMALL_CONSTANT: usize = 4;

/// Options for loading a program; for a text, the depth also limits the nesting of brackets.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions {
    /// Those of the compiler.
    pub options: Options,
    /// What is recorded, if the program is compiled for observation.
    pub observed: Option<Detail>,
}

/// The stage of a program that is being loaded.
#[derive(Debug)]
enum Stage {
    /// The text becomes a table.
    Read(TableReader),
    /// The term becomes a table.
    Copy(Copier),
    /// The operations of the table are compiled.
    Compile(Box<Walk>, Table),
    /// The constants become terms.
    Build(Building),
    /// The program was checked, and is only read.
    Checked(Table, Node, Uses),
    /// All is done.
    Ready(Arc<Program>),
}

/// The names that a program uses.
#[derive(Debug, Default)]
pub struct Uses {
    /// Those that it reads of the context.
    pub context: Vec<Node>,
    /// Those that it reads of the memory.
    pub memory: Vec<Node>,
    /// Those of the tools that it calls.
    pub tools: Vec<Node>,
}

#[derive(Debug)]
struct Building {
    program: Arc<Program>,
    consts: Vec<Node>,
    table: Table,
    /// The replay of the constant that is partly built.
    begun: Option<Replay>,
}

/// A program that is being loaded.
pub struct Loader<T> {
    stage: Stage,
    options: LoadOptions,
    only_checked: bool,
    terms: LoadTerms<T>,
}

rooted!(Loader { states: terms; plain: stage, options, only_checked });

/// Why a program cannot be loaded.
#[derive(Debug)]
pub enum Refusal<T> {
    /// The text is not JSON.
    Json(JsonError),
    /// The text's object has no program.
    NoProgram,
    /// The program is not an object.
    NotAMap,
    /// The compiler's checks found a mistake; for an observed program, with its path.
    Rejected(Fault<T>, Option<Vec<PathPart<T>>>),
}

/// Why a program is not loaded yet, or never will be.
enum Unloaded<T> {
    Stopped(Stop),
    Refused(Refusal<T>),
}

impl<T> From<Refusal<T>> for Unloaded<T> {
    fn from(refusal: Refusal<T>) -> Self {
        Unloaded::Refused(refusal)
    }
}

impl<T> From<Stop> for Unloaded<T> {
    fn from(stop: Stop) -> Self {
        Unloaded::Stopped(stop)
    }
}

impl<T: Copy> Loader<T> {
    /// Loads a text of this many bytes: `{"program": …}`.
    pub fn of_text(length: usize, options: LoadOptions) -> Self {
        let limits = JsonLimits::depth(options.options.depth as usize);
        Loader::new(Stage::Read(TableReader::new(length, limits)), options)
    }

    /// Loads a term: the program itself.
    pub fn of_term(program: T, options: LoadOptions) -> Self {
        let stage = Stage::Copy(Copier::new(options.options.depth, options.options.edition));
        let mut loader = Loader::new(stage, options);
        loader.terms.entries.reserve(64);
        loader.terms.next.reserve(32);
        loader.terms.next.push(program);
        loader
    }

    fn new(stage: Stage, options: LoadOptions) -> Self {
        Loader {
            stage,
            options,
            only_checked: false,
            terms: LoadTerms::default(),
        }
    }

    /// The same without the instructions: the program is only checked.
    pub fn only_checked(mut self) -> Self {
        self.only_checked = true;
        self
    }

    /// Returns the table of a program that is only checked, its root, the names that it uses, and the terms of the
    /// entries if it was given as a term.
    pub fn into_table(self) -> Option<(Table, Node, Uses, Roots<T>)> {
        match self.stage {
            Stage::Checked(table, root, uses) => Some((table, root, uses, self.terms.entries)),
            _ => None,
        }
    }

    /// Returns the program and its constants once it is loaded.
    pub fn finish<H: Heap<Term = T>>(self, heap: &H) -> Option<(Arc<Program>, Vec<T>)> {
        match self.stage {
            Stage::Ready(program) => Some((program, self.terms.consts.into_vec(heap))),
            _ => None,
        }
    }

    /// Returns whether the text is needed.
    pub fn needs_text(&self) -> bool {
        match &self.stage {
            Stage::Read(_) => true,
            Stage::Compile(..) | Stage::Build(_) => self.terms.entries.is_empty(),
            Stage::Copy(_) | Stage::Ready(_) | Stage::Checked(..) => false,
        }
    }

    fn run<H: Heap<Term = T>>(
        &mut self,
        text: &[u8],
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Unloaded<T>> {
        loop {
            self.stage = match &mut self.stage {
                Stage::Read(reader) => match reader.read(text, Workspace::new(heap, meter)) {
                    Err(ReadError::Stop(stop)) => return Err(stop.into()),
                    Err(ReadError::Json(error)) => return Err(Refusal::Json(error).into()),
                    Ok(table) => {
                        let document = Document::new(text, table);
                        match document.field(0, "program") {
                            None => return Err(Refusal::NoProgram.into()),
                            Some(root) if !document.is_map(root) => {
                                return Err(Refusal::NotAMap.into())
                            }
                            Some(root) => self.options.walk(document, root),
                        }
                    }
                },
                Stage::Copy(copier) => {
                    let work = &mut Workspace::new(heap, meter);
                    let table = copier.run(&mut self.terms, work)?;
                    self.options.walk(Document::new(text, table), 0)
                }
                Stage::Compile(walk, table) => {
                    let document = Document::new(text, take(table));
                    let done = self.terms.compile(walk, &document, heap, meter);
                    let Compiled { program, consts } = match done {
                        Ok(()) if self.only_checked => {
                            let (root, uses) = (walk.root(), walk.uses());
                            self.stage = Stage::Checked(document.into_table(), root, uses);
                            return Ok(());
                        }
                        Ok(()) => walk.finish(&document),
                        Err(stop) => {
                            *table = document.into_table();
                            return Err(stop);
                        }
                    };
                    self.terms.consts.reserve(consts.len());
                    Stage::Build(Building {
                        program: Arc::new(program),
                        consts,
                        table: document.into_table(),
                        begun: None,
                    })
                }
                Stage::Build(building) => {
                    let document = Document::new(text, take(&mut building.table));
                    let built = self.terms.build(building, &document, heap, meter);
                    building.table = document.into_table();
                    built?;
                    Stage::Ready(building.program.clone())
                }
                Stage::Ready(_) | Stage::Checked(..) => return Ok(()),
            }
        }
    }
}

impl<H: Heap> Job<H> for Loader<H::Term> {
    type Out = Result<(), Refusal<H::Term>>;

    /// The text is empty for a program that is given as a term.
    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        match self.run(text, heap, meter) {
            Ok(()) => Ok(Ok(())),
            Err(Unloaded::Refused(refusal)) => Ok(Err(refusal)),
            Err(Unloaded::Stopped(stop)) => Err(stop),
        }
    }
}

impl LoadOptions {
    /// The stage that compiles a program.
    fn walk(&self, mut document: Document, root: Node) -> Stage {
        let walk = Walk::new(&mut document, root, self.options);
        let walk = match self.observed {
            Some(detail) => walk.observed(detail),
            None => walk,
        };
        Stage::Compile(walk, document.into_table())
    }
}

/// The terms of a program that is being loaded.
#[derive(Debug)]
pub(crate) struct LoadTerms<T> {
    /// Those of the table's entries, if the program is a term.
    pub entries: Roots<T>,
    /// Those that follow in the copy.
    pub next: Roots<T>,
    /// The constants.
    pub consts: Roots<T>,
    /// The constant that is partly built.
    pub begun: PartialValue<T>,
}

rooted!(LoadTerms { states: entries, next, consts, begun; });

impl<T> Default for LoadTerms<T> {
    fn default() -> Self {
        LoadTerms {
            entries: Roots::default(),
            next: Roots::default(),
            consts: Roots::default(),
            begun: PartialValue::default(),
        }
    }
}

impl<T: Copy> LoadTerms<T> {
    fn compile<H: Heap<Term = T>>(
        &mut self,
        walk: &mut Walk,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Unloaded<T>> {
        let walked = walk.resume(document, &mut |fuel, words| {
            consume_fuel(heap, meter, fuel, words)
        });
        match walked {
            Ok(()) => Ok(()),
            Err(Failure::Stopped(stop)) => Err(stop.into()),
            // If this is stopped, the resumed walk ends at the same fault.
            Err(Failure::Rejected(fault)) => {
                let mut terms = Vec::with_capacity(fault.terms.len());
                for node in &fault.terms {
                    terms.push(self.whole(*node, document, heap, meter)?);
                }
                let mut part = |part: &PathPart| {
                    Ok(match part {
                        PathPart::Field(name) => PathPart::Field(name),
                        PathPart::Index(index) => PathPart::Index(*index),
                        PathPart::Key(node) => {
                            PathPart::Key(self.whole(*node, document, heap, meter)?)
                        }
                    })
                };
                let path = walk
                    .mistake()
                    .map(|path| path.iter().map(&mut part).collect());
                let path: Option<Result<Vec<_>, Stop>> = path;
                Err(Refusal::Rejected(fault.with_terms(terms), path.transpose()?).into())
            }
        }
    }

    /// Returns the term of an entry that was copied.
    fn copied<H: Heap<Term = T>>(&self, node: Node, heap: &H) -> Option<T> {
        let entries = &self.entries;
        ((node as usize) < entries.len()).then(|| entries.get(heap, node as usize))
    }

    /// Returns the term of an entry, built in one step.
    fn whole<H: Heap<Term = T>>(
        &self,
        node: Node,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        if let Some(term) = self.copied(node, heap) {
            return Ok(term);
        }
        let mut builder = TermBuilder::new(Workspace::in_one_go(heap, meter));
        Replay::new(document, node).run(document, &mut builder)?;
        builder.check_heap_limit()?;
        Ok(builder.finish())
    }

    fn build<H: Heap<Term = T>>(
        &mut self,
        building: &mut Building,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        while let Some(node) = building.consts.get(self.consts.len()).copied() {
            if let Some(term) = self.copied(node, heap) {
                self.consts.push(term);
                continue;
            }
            meter.consume_fuel(SMALL_CONSTANT, heap)?;
            if let Some(term) = document.build_small(node, heap) {
                self.consts.push(term);
                continue;
            }
            let work = Workspace::new(heap, meter);
            let mut builder = TermBuilder::resume(work, take(&mut self.begun));
            let replay = building.begun.take();
            let mut replay = replay.unwrap_or_else(|| Replay::new(document, node));
            if let Err(stop) = replay.run(document, &mut builder) {
                self.begun = builder.into_partial();
                building.begun = Some(replay);
                return Err(stop);
            }
            self.consts.push(builder.finish());
        }
        Ok(())
    }
}

/// Consumes fuel and checks the heap limit, for a walk; without `words` the walk cannot be suspended.
fn consume_fuel<H: Heap>(
    heap: &H,
    meter: &mut Meter,
    fuel: usize,
    words: Option<usize>,
) -> Result<(), Stop> {
    match meter.consume_fuel(fuel, heap) {
        Err(Stop::SliceOver) if words.is_none() && meter.pace() == Pace::Quantum => {}
        counted => counted?,
    }
    meter.check_heap_limit(words.unwrap_or(0), heap)
}
