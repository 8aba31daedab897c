//! What a check says, as one term: `{type, reads, tools, findings}`. It is made part by part and can be suspended.

use super::finding::{Detail, Finding, Severity, Subject};
use super::locate::{place_term, LineColumn, Lines};
use super::paths::{PartStep, Paths};
use super::terms::{named, TypeTerms, BYTES_A_UNIT};
use super::texts::Texts;
use super::ty::{Kinds, TyId, Types};
use super::walk::TypeWalk;
use super::words::{Word, KINDS};
use ptc_json::Document;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::rooted;
use ptc_term::roots::Roots;
use ptc_term::stop::Stop;
use std::mem::take;

/// Maximum number of paths that are listed as read, and of tools.
const MOST_PATHS: usize = 1_000;
const MOST_TOOLS: usize = 1_000;
/// Number of parts of the data, of calls, and of the program, that are passed in one step.
const STRIDE: usize = 512;
/// Number of bytes of the text that are passed in one step, and how many cost one unit of fuel.
const BYTES: usize = 4_096;
const BYTES_PASSED_A_UNIT: usize = 4;
/// Number of parts at the beginning and at the end of a path that is not whole.
const PATH_PARTS: usize = 32;
/// Fuel for a path of the data.
const FUEL_PER_PATH: usize = 12;

/// A reply that is being made.
#[derive(Debug)]
pub(super) struct Reply<T> {
    /// The terms of types.
    pub types: TypeTerms<T>,
    /// The type, and the lists of the paths and of the tools.
    parts: Roots<T>,
    findings: Roots<T>,
    state: ReplyState,
}

rooted!(Reply { states: types, parts, findings; plain: state });

#[derive(Debug, Default)]
struct ReplyState {
    stage: ReplyStage,
    texts: Texts,
    /// The finding that is being made, and the next one of its details.
    paths: Option<Paths>,
    finding: usize,
    detail: usize,
    /// Lines and columns, and those of the finding that is being made.
    lines: Lines,
    place: Option<LineColumn>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum ReplyStage {
    #[default]
    Type,
    /// The fields of the data from this one on were looked at.
    Longer(usize),
    /// The fields of the data before this one were looked at.
    Reads(usize),
    /// The calls before this one were looked at.
    Tools(usize),
    Findings,
}

impl<T> Default for Reply<T> {
    fn default() -> Self {
        Reply {
            types: TypeTerms::default(),
            parts: Roots::default(),
            findings: Roots::default(),
            state: ReplyState::default(),
        }
    }
}

impl<T: Copy> Reply<T> {
    /// Continues until all is made.
    pub fn step<H: Heap<Term = T>>(
        &mut self,
        result: TyId,
        walk: &mut TypeWalk,
        (source, text): (&Document, &[u8]),
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        loop {
            let cost = match self.state.stage {
                ReplyStage::Type => {
                    let term = self.types.make(result, &walk.types, heap, meter)?;
                    self.parts.push(term);
                    walk.read_loaded();
                    let noted = take(&mut walk.noted).unwrap_or_default();
                    walk.findings.extend(noted);
                    walk.findings.sort_by_key(|finding| finding.node);
                    self.state.stage = ReplyStage::Longer(walk.sources.count());
                    walk.findings.len() + walk.loaded.len() / 8
                }
                ReplyStage::Longer(0) => self.go_on(ReplyStage::Reads(0)),
                ReplyStage::Longer(end) => {
                    let start = end.saturating_sub(STRIDE);
                    walk.sources.note_longer(start..end);
                    self.state.stage = ReplyStage::Longer(start);
                    (end - start) / 4
                }
                ReplyStage::Reads(at) => self.reads(at, walk, heap),
                ReplyStage::Tools(at) => self.tools(at, walk, heap),
                ReplyStage::Findings => match walk.findings.get(self.state.finding) {
                    None => return Ok(self.whole(heap)),
                    Some(finding) => self.finding(finding, walk, (source, text), heap, meter)?,
                },
            };
            meter.check_heap_limit(0, heap)?;
            meter.consume_fuel(cost, heap)?;
        }
    }

    fn whole<H: Heap<Term = T>>(&self, heap: &mut H) -> T {
        let findings = self.findings.list(heap);
        let mut parts: Vec<T> = (0..self.parts.len())
            .map(|at| self.parts.get(heap, at))
            .collect();
        parts.push(findings);
        heap.make_tuple(&parts)
    }

    fn go_on(&mut self, stage: ReplyStage) -> usize {
        self.state.stage = stage;
        1
    }

    /// Finds the paths that are read; returns the fuel.
    fn reads<H: Heap<Term = T>>(&mut self, at: usize, walk: &TypeWalk, heap: &mut H) -> usize {
        let (sources, texts) = (&walk.sources, &mut self.state.texts);
        let (end, before) = (sources.count().min(at + STRIDE), texts.count());
        for place in at..end {
            texts.add(|text| sources.path_at(place, &walk.types.names, text));
        }
        let found = texts.count();
        if end == sources.count() || found >= MOST_PATHS {
            self.list(MOST_PATHS, heap);
            self.state.stage = ReplyStage::Tools(0);
        } else {
            self.state.stage = ReplyStage::Reads(end);
        }
        (end - at) / 4 + FUEL_PER_PATH * (found - before)
    }

    /// Finds the names of the tools that may be called; returns the fuel.
    fn tools<H: Heap<Term = T>>(&mut self, at: usize, walk: &TypeWalk, heap: &mut H) -> usize {
        let end = walk.called.len().min(at + STRIDE);
        let mut names = walk.called[at..end].to_vec();
        names.sort_unstable();
        names.dedup();
        let texts = &mut self.state.texts;
        for name in names {
            texts.add(|text| {
                text.extend_from_slice(walk.types.names.get(name));
                true
            });
        }
        texts.sort(MOST_TOOLS);
        if end == walk.called.len() {
            self.list(MOST_TOOLS, heap);
            self.state.paths = Some(Paths::new(walk.root()));
            self.state.stage = ReplyStage::Findings;
        } else {
            self.state.stage = ReplyStage::Tools(end);
        }
        FUEL_PER_PATH * (end - at)
    }

    /// Makes a list of the texts.
    fn list<H: Heap<Term = T>>(&mut self, most: usize, heap: &mut H) {
        let mut texts = take(&mut self.state.texts);
        texts.sort(most);
        let terms: Vec<T> = texts.all().map(|text| heap.make_string(text)).collect();
        let list = heap.make_list(&terms);
        self.parts.push(list);
    }

    /// Makes a part of a finding, or all of it; returns the fuel.
    fn finding<H: Heap<Term = T>>(
        &mut self,
        finding: &Finding,
        walk: &TypeWalk,
        (source, text): (&Document, &[u8]),
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<usize, Stop> {
        let state = &mut self.state;
        let root = walk.root();
        let paths = state.paths.get_or_insert_with(|| Paths::new(root));
        if !paths.go_to(source, finding.node, STRIDE) {
            return Ok(STRIDE);
        }
        // Only a text has lines.
        if state.place.is_none() {
            state.place = state.lines.go_to(text, finding.node, BYTES);
            return Ok(BYTES / BYTES_PASSED_A_UNIT);
        }
        while let Some(detail) = finding.details.get(self.state.detail) {
            if let Detail::Type(ty) = detail {
                self.types.make(*ty, &walk.types, heap, meter)?;
            }
            self.state.detail += 1;
        }
        let before = heap.words_built();
        let term = self.made(finding, &walk.types, source, heap, meter)?;
        self.findings.push(term);
        self.state.finding += 1;
        (self.state.detail, self.state.place) = (0, None);
        let words = heap.words_built() - before;
        Ok(20 + words / (BYTES_A_UNIT / 8))
    }

    /// `{severity, code, path, op, details, {line, column} | nil}`, whose types are made.
    fn made<H: Heap<Term = T>>(
        &mut self,
        finding: &Finding,
        types: &Types,
        source: &Document,
        heap: &mut H,
        meter: &mut Meter,
    ) -> Result<T, Stop> {
        let severity = match finding.severity {
            Severity::Error => Word::Error,
            Severity::Warning => Word::Warning,
            Severity::Note => Word::Note,
        };
        let path = match &self.state.paths {
            Some(paths) => path_term(paths.path(source, finding.node), source, heap),
            None => heap.make_list(&[]),
        };
        let op = match finding.op {
            Some(op) => heap.make_string(op.name().as_bytes()),
            None => heap.nil(),
        };
        let mut details = Vec::with_capacity(finding.details.len());
        for detail in &finding.details {
            details.push(match detail {
                // It is made already, so this does not take long.
                Detail::Type(ty) => self.types.make(*ty, types, heap, meter)?,
                detail => term_of(detail, types, heap),
            });
        }
        let details = heap.make_list(&details);
        let place = place_term(self.state.place.flatten(), heap);
        let (severity, code) = (heap.word(severity), heap.word(finding.code));
        Ok(heap.make_tuple(&[severity, code, path, op, details, place]))
    }
}

/// Returns a path; of a long one the beginning and the end, because whole paths would grow with the square of a program's depth.
fn path_term<H: Heap>(path: &[PartStep], source: &Document, heap: &mut H) -> H::Term {
    let mut term = |step: &PartStep| match step {
        PartStep::Key(key) => heap.make_string(source.text(*key).unwrap_or_default()),
        PartStep::Index(index) => index_term(*index, heap),
    };
    // The name of the root comes before it.
    let short = 2 * PATH_PARTS;
    let parts: Vec<H::Term> = if path.len() <= short {
        path.iter().map(term).collect()
    } else {
        let (first, last) = (&path[..PATH_PARTS - 1], &path[path.len() - PATH_PARTS..]);
        let mut parts: Vec<H::Term> = first.iter().map(&mut term).collect();
        let last: Vec<H::Term> = last.iter().map(term).collect();
        parts.push(heap.make_string("…".as_bytes()));
        parts.extend(last);
        parts
    };
    heap.make_list(&parts)
}

fn index_term<H: Heap>(index: u32, heap: &mut H) -> H::Term {
    let number = heap.make_number(Number::Int(i64::from(index)));
    number.unwrap_or_else(|| heap.nil())
}

/// Returns the term of a detail that is no type.
fn term_of<H: Heap>(detail: &Detail, types: &Types, heap: &mut H) -> H::Term {
    let names = &types.names;
    match detail {
        Detail::None | Detail::Type(_) => heap.nil(),
        Detail::Bool(value) => heap.boolean(*value),
        Detail::Word(word) => heap.make_string(word.as_bytes()),
        Detail::Name(name) => heap.make_string(names.get(*name)),
        Detail::Names(all) => {
            let all = all.iter().map(|name| heap.make_string(names.get(*name)));
            let all: Vec<_> = all.collect();
            heap.make_list(&all)
        }
        Detail::Context(true) => heap.word(Word::Context),
        Detail::Context(false) => heap.word(Word::Memory),
        Detail::Kinds(kinds) => words_of(*kinds, heap),
        Detail::KindsOf(ty) => words_of_type(*ty, types, heap),
        Detail::Subject(subject) => subject_term(*subject, types, heap),
        Detail::Path(path) => {
            let mut steps = Vec::with_capacity(path.len());
            for step in path {
                steps.push(match step {
                    Some(name) => heap.make_string(names.get(*name)),
                    None => heap.word(Word::Each),
                });
            }
            heap.make_list(&steps)
        }
    }
}

/// Returns the words of a type's kinds. A date or a time, which can be a text or a struct, has one word.
fn words_of_type<H: Heap>(ty: TyId, types: &Types, heap: &mut H) -> H::Term {
    let kinds = types.kinds_beside_moments(ty);
    let mut words: Vec<_> = words_in(kinds, heap);
    if types.members(&ty).contains(&TyId::MOMENT) {
        words.push(heap.word(Word::Datetime));
    }
    heap.make_list(&words)
}

fn words_of<H: Heap>(kinds: Kinds, heap: &mut H) -> H::Term {
    let words = words_in(kinds, heap);
    heap.make_list(&words)
}

fn words_in<H: Heap>(kinds: Kinds, heap: &mut H) -> Vec<H::Term> {
    let found = KINDS.iter().filter(|(kind, _)| kinds.meets(*kind));
    found.map(|(_, word)| heap.word(*word)).collect()
}

fn subject_term<H: Heap>(subject: Subject, types: &Types, heap: &mut H) -> H::Term {
    match subject {
        Subject::Input => heap.word(Word::Input),
        Subject::Items => heap.word(Word::Items),
        Subject::Field(name) => named(Word::Field, name, types, heap),
        Subject::ItemsField(name) => named(Word::ItemsField, name, types, heap),
        Subject::Operand(name) => {
            let parts = [heap.word(Word::Operand), heap.make_string(name.as_bytes())];
            heap.make_tuple(&parts)
        }
        Subject::Part(name, index) => {
            let name = heap.make_string(name.as_bytes());
            let parts = [heap.word(Word::Part), name, index_term(index, heap)];
            heap.make_tuple(&parts)
        }
    }
}
