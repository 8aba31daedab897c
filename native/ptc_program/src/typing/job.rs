//! A check as a job: the program is loaded and checked, the types it needs are read, then it is walked.

use super::finding::{Code, Detail, Finding, Severity};
use super::fit::Why;
use super::infer::{infer, Budget};
use super::known::{KnownScope, Tool};
use super::names::NameId;
use super::paths::{paths, PartStep};
use super::read::{name_of, Target, TypeReader};
use super::ty::{Ty, TyId};
use super::walk::{Stepped, TypeWalk};
use crate::compile::INPUT_NAME;
use crate::load::{LoadOptions, Loader, Refusal, Uses};
use ptc_json::{Document, Entry, Node, Table};
use ptc_term::heap::{Heap, Lookup};
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use std::mem::take;

/// What a check is given, as terms; nil where nothing is known.
#[derive(Debug, Clone, Copy)]
pub struct GivenTypes<T> {
    /// A map of the context's names to types.
    pub types: T,
    /// The same of the memory.
    pub memory: T,
    /// A map of the tools' names to signatures, or nil.
    pub tools: T,
    /// The type of the result.
    pub returns: T,
}

rooted!(GivenTypes { terms: types, memory, tools, returns; });

/// A type that is read before the walk.
#[derive(Debug, Clone, Copy)]
enum Want {
    Context(Node),
    Memory(Node),
    /// A tool's parameters.
    Params(Node),
    /// A tool's answer, whose parameters have been read.
    Output(Node, TyId),
    Input,
    Returns,
}

#[derive(Debug)]
enum CheckStage {
    Load,
    Read,
    Walk,
    Done,
}

/// The plain data of a check.
#[derive(Debug)]
struct CheckState {
    stage: CheckStage,
    options: LoadOptions,
    table: Table,
    wants: Vec<Want>,
    walk: Option<Box<TypeWalk>>,
    result: TyId,
}

/// A check of a program.
pub struct Check<T> {
    loader: Option<Loader<T>>,
    given: GivenTypes<T>,
    reader: TypeReader<T>,
    entries: Roots<T>,
    state: CheckState,
}

rooted!(Check { states: loader, given, reader, entries; plain: state });

/// The result of a check.
pub struct CheckedProgram {
    /// The walk, with all types and names.
    pub walk: Box<TypeWalk>,
    /// The type of the result.
    pub result: TyId,
    /// The findings, in the order of the program, with the path of each: names and indices.
    pub findings: Vec<(Finding, Vec<PathStep>)>,
    /// The parts of the context that are read.
    pub reads: Vec<Vec<u8>>,
}

/// One step of the path of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// The value at this key.
    Key(Vec<u8>),
    /// The element at this index.
    Index(u32),
}

/// How much is read of a constant that the program's table does not contain.
const CONSTANT: Budget = Budget {
    rows: 100,
    values: 500,
};
/// Maximum number of such constants.
const MOST_CONSTANTS: usize = 100;
/// Fuel for a step of the walk.
const FUEL_PER_STEP: usize = 6;
/// Maximum number of names that are looked at for a suggestion.
const MOST_NAMES: usize = 500;

impl<T: Copy> Check<T> {
    /// Checks a text of this many bytes: `{"program": …}`.
    pub fn of_text(length: usize, options: LoadOptions, given: GivenTypes<T>) -> Self {
        Check::new(Loader::of_text(length, options), options, given)
    }

    /// Checks a term: the program itself.
    pub fn of_term(program: T, options: LoadOptions, given: GivenTypes<T>) -> Self {
        Check::new(Loader::of_term(program, options), options, given)
    }

    fn new(loader: Loader<T>, options: LoadOptions, given: GivenTypes<T>) -> Self {
        Check {
            loader: Some(loader.only_checked()),
            given,
            reader: TypeReader::default(),
            entries: Roots::default(),
            state: CheckState {
                stage: CheckStage::Load,
                options,
                table: Table::default(),
                wants: Vec::new(),
                walk: None,
                result: TyId::UNKNOWN,
            },
        }
    }

    /// Returns whether the text is needed.
    pub fn needs_text(&self) -> bool {
        match &self.loader {
            Some(loader) => loader.needs_text(),
            None => self.entries.is_empty(),
        }
    }

    /// Returns the result of a check that is done.
    pub fn finish(self, text: &[u8]) -> Option<CheckedProgram> {
        let mut walk = self.state.walk?;
        let document = Document::new(text, self.state.table);
        let mut findings = take(&mut walk.findings);
        findings.sort_by_key(|finding| finding.node);
        let nodes: Vec<Node> = findings.iter().map(|finding| finding.node).collect();
        let step = |step: &PartStep| match step {
            PartStep::Key(key) => PathStep::Key(document.text(*key).unwrap_or_default().to_vec()),
            PartStep::Index(index) => PathStep::Index(*index),
        };
        let paths = paths(&document, walk.root(), &nodes);
        let paths = paths.iter().map(|path| path.iter().map(step).collect());
        let findings = findings.into_iter().zip(paths).collect();
        for name in take(&mut walk.loaded) {
            let from = walk.sources_of(name);
            walk.sources.read(from);
        }
        let reads = walk.sources.paths(&walk.types.names);
        Some(CheckedProgram {
            result: self.state.result,
            findings,
            reads,
            walk,
        })
    }

    fn begin<H: Heap<Term = T>>(
        &mut self,
        (table, root, uses): (Table, Node, Uses),
        text: &[u8],
        heap: &H,
    ) {
        let document = Document::new(text, table);
        let mut walk = Box::new(TypeWalk::new(root, self.state.options.options.edition));
        let is_given = |term| heap.kind(term) != ptc_term::heap::Kind::Nil;
        let mut wants = Vec::new();
        if is_given(self.given.returns) {
            wants.push(Want::Returns);
        }
        let add = |wants: &mut Vec<Want>, nodes: &[Node], want: fn(Node) -> Want| {
            wants.extend(nodes.iter().rev().map(|node| want(*node)));
        };
        if is_given(self.given.tools) {
            walk.known.tools = Some(KnownScope::default());
            add(&mut wants, &uses.tools, Want::Params);
        }
        if is_given(self.given.memory) {
            walk.known.memory = Some(KnownScope::default());
            add(&mut wants, &uses.memory, Want::Memory);
            wants.push(Want::Input);
        }
        if is_given(self.given.types) {
            walk.known.context = Some(KnownScope::default());
            add(&mut wants, &uses.context, Want::Context);
        }
        // What the table does not contain.
        for node in (0..self.entries.len() as u32).take_while(|_| !self.entries.is_empty()) {
            if matches!(document.entry(node), Entry::Term(_)) {
                if walk.known.outside.len() >= MOST_CONSTANTS {
                    break;
                }
                let term = self.entries.get(heap, node as usize);
                let ty = infer(term, &mut walk.types, heap, &mut CONSTANT.clone());
                walk.known.outside.insert(node, ty);
            }
        }
        self.state.table = document.into_table();
        (self.state.walk, self.state.wants) = (Some(walk), wants);
        self.state.stage = CheckStage::Read;
    }

    /// Reads the types that the program needs.
    fn read<H: Heap<Term = T>>(
        &mut self,
        text: &[u8],
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let document = Document::new(text, take(&mut self.state.table));
        let done = self.read_from(&document, heap, meter);
        self.state.table = document.into_table();
        done
    }

    fn read_from<H: Heap<Term = T>>(
        &mut self,
        document: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let Some(walk) = self.state.walk.as_deref_mut() else {
            return Ok(());
        };
        let values = self.state.options.options.values;
        while let Some(want) = self.state.wants.last().copied() {
            let (map, node) = match want {
                Want::Context(node) => (self.given.types, Some(node)),
                Want::Memory(node) => (self.given.memory, Some(node)),
                Want::Params(node) | Want::Output(node, _) => (self.given.tools, Some(node)),
                Want::Input => (self.given.memory, None),
                Want::Returns => (self.given.returns, None),
            };
            let name = match (node, want) {
                (Some(node), _) => document.text(node).unwrap_or_default(),
                _ => INPUT_NAME.as_bytes(),
            };
            let name_id = walk.types.names.id(name);
            if is_known(walk, want, name_id) {
                self.state.wants.pop();
                continue;
            }
            let term = match want {
                Want::Returns => Some(map),
                _ => {
                    let key = heap.make_string(name);
                    match heap.lookup(map, key, &mut H::KeyCache::default()) {
                        Lookup::Found(term) => Some(term),
                        _ => None,
                    }
                }
            };
            let Some(term) = term else {
                if !matches!(want, Want::Input) {
                    missing(walk, want, map, heap);
                }
                self.state.wants.pop();
                continue;
            };
            let from = match want {
                Want::Context(_) => walk.sources_of(name_id),
                _ => 0,
            };
            let mut into = Target {
                types: &mut walk.types,
                sources: matches!(want, Want::Context(_)).then_some(&mut walk.sources),
                values,
            };
            let reader = &mut self.reader;
            let ty = match want {
                Want::Params(_) => match heap.arity(term) {
                    Some(3) => {
                        let list = heap.element(term, 1).unwrap_or(heap.nil());
                        Some(reader.read_fields(list, &mut into, heap, meter)?)
                    }
                    _ => None,
                },
                Want::Output(..) => {
                    let output = heap.element(term, 2).unwrap_or(heap.nil());
                    Some(reader.read(output, 0, &mut into, heap, meter)?)
                }
                _ => Some(reader.read(term, from, &mut into, heap, meter)?),
            };
            self.state.wants.pop();
            match want {
                Want::Params(node) => match ty {
                    Some(params) => self.state.wants.push(Want::Output(node, params)),
                    None => {
                        let tool = Tool {
                            params: None,
                            output: TyId::UNKNOWN,
                        };
                        walk.know_tool(name_id, tool);
                    }
                },
                Want::Output(_, params) => {
                    let tool = Tool {
                        params: Some(params),
                        output: ty.unwrap_or(TyId::UNKNOWN),
                    };
                    walk.know_tool(name_id, tool);
                }
                Want::Context(_) => know(&mut walk.known.context, name_id, ty),
                Want::Memory(_) => know(&mut walk.known.memory, name_id, ty),
                Want::Input => walk.known.input = ty.unwrap_or(TyId::NO_INPUT),
                Want::Returns => walk.known.returns = ty,
            }
        }
        walk.begin(document);
        self.state.stage = CheckStage::Walk;
        Ok(())
    }

    fn walk<H: Heap<Term = T>>(
        &mut self,
        text: &[u8],
        heap: &H,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        let document = Document::new(text, take(&mut self.state.table));
        let done = match self.state.walk.as_deref_mut() {
            Some(walk) => walked(walk, &document, heap, meter),
            None => Ok(TyId::UNKNOWN),
        };
        self.state.table = document.into_table();
        self.state.result = done?;
        self.state.stage = CheckStage::Done;
        Ok(())
    }
}

fn is_known(walk: &TypeWalk, want: Want, name: NameId) -> bool {
    let known = &walk.known;
    let in_scope = |scope: &Option<KnownScope<TyId>>| {
        scope.as_ref().is_some_and(|it| it.used.contains_key(&name))
    };
    match want {
        Want::Context(_) => in_scope(&known.context),
        Want::Memory(_) => in_scope(&known.memory),
        Want::Params(_) | Want::Output(..) => known
            .tools
            .as_ref()
            .is_some_and(|it| it.used.contains_key(&name)),
        Want::Input | Want::Returns => false,
    }
}

fn know(scope: &mut Option<KnownScope<TyId>>, name: NameId, ty: Option<TyId>) {
    if let (Some(scope), Some(ty)) = (scope, ty) {
        scope.used.insert(name, ty);
    }
}

/// Notes all names, for the finding about one that is not there.
fn missing<H: Heap>(walk: &mut TypeWalk, want: Want, map: H::Term, heap: &H) {
    let size = heap.map_size(map).unwrap_or(0);
    let mut all = Vec::new();
    if size <= MOST_NAMES {
        for (key, _) in heap.entries(map) {
            all.extend(name_of(key, &mut walk.types, heap));
        }
    }
    let known = &mut walk.known;
    let place = match want {
        Want::Context(_) => known.context.as_mut().map(|it| &mut it.all),
        Want::Memory(_) => known.memory.as_mut().map(|it| &mut it.all),
        _ => known.tools.as_mut().map(|it| &mut it.all),
    };
    if let Some(place) = place.filter(|place| place.is_empty()) {
        *place = all;
    }
}

fn walked<H: Heap>(
    walk: &mut TypeWalk,
    document: &Document,
    heap: &H,
    meter: &mut Meter,
) -> Result<TyId, Stop> {
    let mut before = walk.words();
    loop {
        if let Stepped::Done(ty) = walk.step(document) {
            return Ok(walk.returned(ty));
        }
        // The work of a step is what it makes: it is counted afterwards, when the walk can be suspended.
        let words = walk.words();
        let made = words.saturating_sub(before) / 8;
        before = words;
        meter.check_heap_limit(words, heap)?;
        meter.consume_fuel(FUEL_PER_STEP + made, heap)?;
    }
}

impl TypeWalk {
    /// Returns where a value of the context comes from.
    fn sources_of(&mut self, name: NameId) -> u32 {
        let at = self.roots.iter().find(|(it, _)| *it == name);
        if let Some((_, from)) = at {
            return *from;
        }
        let from = self.sources.add(0, name);
        self.roots.push((name, from));
        from
    }

    fn know_tool(&mut self, name: NameId, tool: Tool) {
        if let Some(tools) = &mut self.known.tools {
            tools.used.insert(name, tool);
        }
    }

    /// Checks the type of the program's value against the one of the result; returns the result's type.
    fn returned(&mut self, value: TyId) -> TyId {
        let ty = self.result_of(value);
        self.types.read_all(ty, &mut self.sources);
        let Some(wanted) = self.known.returns else {
            return ty;
        };
        let root = self.root();
        for misfit in self.types.misfits(ty, wanted, false) {
            let (severity, path) = match misfit.certain {
                true => (Severity::Error, Detail::Path(misfit.path)),
                false => (Severity::Warning, Detail::Path(misfit.path)),
            };
            let (code, details) = match misfit.why {
                Why::Type(wanted, got) => {
                    let code = match misfit.certain {
                        true => Code::WrongResult,
                        false => Code::MaybeWrongResult,
                    };
                    (code, vec![path, Detail::Type(wanted), Detail::Type(got)])
                }
                Why::Missing(wanted) => (Code::MissingResult, vec![path, Detail::Type(wanted)]),
                Why::Undeclared => continue,
            };
            self.report(severity, code, root, None, details);
        }
        ty
    }

    /// Returns the type of the result: of an object with the key `result` its value.
    fn result_of(&mut self, value: TyId) -> TyId {
        let name = self.types.names.id(b"result");
        let mut all = TyId::NEVER;
        for member in self.types.members(&value).to_vec() {
            let is_open = matches!(self.types.get(member), Ty::Object(_, true));
            let read = self.types.at(member, name);
            let ty = match self.types.get(member) {
                Ty::Object(span, _) => match self.types.field_in(span, name) {
                    Some(field) if field.optional => {
                        let ty = self.types.union(field.ty, member);
                        self.types.or_null(ty)
                    }
                    Some(_) => read.ty,
                    None if is_open => TyId::UNKNOWN,
                    None => member,
                },
                _ => member,
            };
            all = self.types.union(all, ty);
        }
        all
    }
}

impl<H: Heap> Job<H> for Check<H::Term> {
    type Out = Result<(), Refusal<H::Term>>;

    fn step(&mut self, text: &[u8], heap: &mut H, meter: &mut Meter) -> Result<Self::Out, Stop> {
        loop {
            match self.state.stage {
                CheckStage::Load => {
                    let Some(loader) = &mut self.loader else {
                        return Err(Stop::Abandoned);
                    };
                    if let Err(refusal) = loader.step(text, heap, meter)? {
                        return Ok(Err(refusal));
                    }
                    let loaded = self.loader.take().and_then(Loader::into_table);
                    let Some((table, root, uses, entries)) = loaded else {
                        return Err(Stop::Abandoned);
                    };
                    self.entries = entries;
                    self.begin((table, root, uses), text, heap);
                }
                CheckStage::Read => self.read(text, heap, meter)?,
                CheckStage::Walk => self.walk(text, heap, meter)?,
                CheckStage::Done => return Ok(Ok(())),
            }
        }
    }
}
