//! Loads a program: from its text or its term to instructions, with the constants as terms.
//!
//! A text is read into a table and a term is copied into one; the compiler reads the table. The work can
//! be suspended at any time.

mod terms;

use crate::code::{ConstId, Program};
use crate::compile::copy::Copier;
use crate::compile::{Compiled, Options, PathPart, Walk};
use crate::counts::{count, Counted};
use crate::fault::Fault;
use crate::source::KeptSource;
use ptc_json::{Document, JsonError, JsonLimits, Node, ReadError, Table, TableReader};
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use ptc_vm::explain::Detail;
use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;
use terms::{Building, KeepingTerms};

pub(crate) use terms::LoadTerms;

/// Options for loading a program; for a text, the depth also limits the nesting of brackets.
#[derive(Debug, Clone, Copy)]
pub struct LoadOptions {
    /// The options of the compiler.
    pub options: Options,
    /// What is recorded, if the program is compiled for observation.
    pub observed: Option<Detail>,
}

/// What is made of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// Its instructions.
    Code,
    /// Its instructions, and what is kept of its source.
    Both,
    /// What is kept of its source: the program is only checked.
    Source,
}

/// The table of a program that is being compiled.
#[derive(Debug)]
pub(crate) enum Tabled {
    /// It was read for that.
    New(Table),
    /// It was kept when the program was compiled before.
    Kept(Arc<KeptSource>),
}

impl Tabled {
    pub(crate) fn table(&self) -> &Table {
        match self {
            Tabled::New(table) => table,
            Tabled::Kept(source) => &source.table,
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self, Tabled::Kept(_))
    }

    /// The stage after the instructions and the constants are made.
    fn keep(
        self,
        program: Option<Arc<Program>>,
        source: Option<Box<KeptSource>>,
        known: HashMap<Node, ConstId>,
    ) -> Stage {
        match (self, source) {
            (Tabled::Kept(source), _) => Stage::Ready(program, Some(source)),
            (Tabled::New(_), None) => Stage::Ready(program, None),
            (Tabled::New(table), Some(mut source)) => {
                source.table = table.into_kept();
                Stage::Keep(KeepingTerms {
                    program,
                    source: Some(source),
                    known,
                    at: 0,
                })
            }
        }
    }
}

/// A loaded program.
#[derive(Debug)]
pub struct Loaded<T> {
    /// Its instructions.
    pub program: Arc<Program>,
    /// Its constants, and what its table does not contain, if its source was to be kept.
    pub consts: Vec<T>,
    /// What is kept of its source.
    pub source: Option<Arc<KeptSource>>,
}

/// The stage of a program that is being loaded.
#[derive(Debug)]
enum Stage {
    /// The text becomes a table.
    Read(TableReader),
    /// The term becomes a table.
    Copy(Copier),
    /// The operations of the table are compiled.
    Compile(Box<Walk>, Tabled),
    /// The constants become terms.
    Build(Building),
    /// The terms that the table does not contain join the constants, for what is kept.
    Keep(KeepingTerms),
    /// All is done: what was to be made is there.
    Ready(Option<Arc<Program>>, Option<Arc<KeptSource>>),
}

/// A program that is being loaded.
pub struct Loader<T> {
    stage: Stage,
    options: LoadOptions,
    goal: Goal,
    terms: LoadTerms<T>,
}

rooted!(Loader { states: terms; plain: stage, options, goal });

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
    /// Compiles a program that was compiled from a text, from what was kept then. The text is not read again.
    pub fn of_source(source: Arc<KeptSource>, observed: Option<Detail>) -> Self {
        let options = LoadOptions {
            options: source.options,
            observed,
        };
        let walk = Walk::again(source.omitted, source.root, source.options);
        let stage = Stage::Compile(options.noting(walk), Tabled::Kept(source));
        Loader::new(stage, options).keeping()
    }

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
            goal: Goal::Code,
            terms: LoadTerms::default(),
        }
    }

    /// Lets what is needed of the source later be kept beside the instructions.
    pub fn keeping(mut self) -> Self {
        self.goal = Goal::Both;
        self
    }

    /// Makes no instructions: the program is only checked, and its source is kept.
    pub fn only_checked(mut self) -> Self {
        self.goal = Goal::Source;
        self
    }

    /// Checks a program again that was rejected, now for observation, from the table that was made before.
    pub fn again(&mut self, detail: Detail) {
        self.options.observed = Some(detail);
        if let Stage::Compile(walk, _) = &mut self.stage {
            let again = Walk::again(walk.omitted(), walk.root(), self.options.options);
            *walk = self.options.noting(again);
        }
    }

    /// Returns what is kept of the source of a program that was only checked, and the terms that its table does not contain.
    pub fn into_source(self) -> Option<(Arc<KeptSource>, Roots<T>)> {
        match self.stage {
            Stage::Ready(_, Some(source)) => Some((source, self.terms.consts)),
            _ => None,
        }
    }

    /// Returns the program and its constants once it is loaded, and what is kept of its source.
    pub fn finish<H: Heap<Term = T>>(self, heap: &H) -> Option<Loaded<T>> {
        match self.stage {
            Stage::Ready(Some(program), source) => Some(Loaded {
                program,
                consts: self.terms.consts.into_vec(heap),
                source,
            }),
            _ => None,
        }
    }

    /// Returns whether the program may call tools, once it is loaded.
    pub fn calls_tools(&self) -> bool {
        match &self.stage {
            Stage::Ready(Some(program), _) => program.calls_tools,
            _ => false,
        }
    }

    /// Returns whether the text is needed.
    pub fn needs_text(&self) -> bool {
        match &self.stage {
            Stage::Read(_) => true,
            Stage::Compile(..) | Stage::Build(_) => self.terms.entries.is_empty(),
            Stage::Copy(_) | Stage::Keep(_) | Stage::Ready(..) => false,
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
                        count(Counted::Text);
                        let document = Document::new(text, &table);
                        let root = document.field(0, "program");
                        let is_map = root.is_some_and(|root| document.is_map(root));
                        match root {
                            None => return Err(Refusal::NoProgram.into()),
                            Some(_) if !is_map => return Err(Refusal::NotAMap.into()),
                            Some(root) => self.options.walk(table, root),
                        }
                    }
                },
                Stage::Copy(copier) => {
                    let work = &mut Workspace::new(heap, meter);
                    let table = copier.run(&mut self.terms, work)?;
                    count(Counted::Term);
                    self.options.walk(table, 0)
                }
                Stage::Compile(walk, tabled) => {
                    let document = Document::new(text, tabled.table());
                    self.terms.compile(walk, &document, heap, meter)?;
                    count(Counted::Compiled);
                    let is_text = self.terms.entries.is_empty();
                    let length = is_text.then_some(text.len());
                    let source = (self.goal != Goal::Code && !tabled.is_kept())
                        .then(|| Box::new(walk.source(self.options.options, length)));
                    let compiled = (self.goal != Goal::Source).then(|| walk.finish(&document));
                    let table = std::mem::replace(tabled, Tabled::New(Table::default()));
                    match compiled {
                        Some(Compiled { program, consts }) => {
                            self.terms.consts.reserve(consts.len());
                            Stage::Build(Building {
                                program: Arc::new(program),
                                consts,
                                tabled: table,
                                source,
                                known: HashMap::new(),
                                begun: None,
                            })
                        }
                        None => table.keep(None, source, HashMap::new()),
                    }
                }
                Stage::Build(building) => {
                    self.terms.build(building, text, heap, meter)?;
                    let table =
                        std::mem::replace(&mut building.tabled, Tabled::New(Table::default()));
                    let program = Some(building.program.clone());
                    table.keep(program, building.source.take(), take(&mut building.known))
                }
                Stage::Keep(keeping) => {
                    self.terms.keep(keeping, heap, meter)?;
                    let source = keeping.source.take();
                    Stage::Ready(keeping.program.take(), source.map(Arc::from))
                }
                Stage::Ready(..) => return Ok(()),
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
    fn walk(&self, mut table: Table, root: Node) -> Stage {
        let walk = Walk::new(&mut table, root, self.options);
        Stage::Compile(self.noting(walk), Tabled::New(table))
    }

    /// The walk, for observation if that is wanted.
    fn noting(&self, walk: Box<Walk>) -> Box<Walk> {
        match self.observed {
            Some(detail) => walk.observed(detail),
            None => walk,
        }
    }
}
