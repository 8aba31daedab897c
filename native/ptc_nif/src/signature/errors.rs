//! Findings as terms: `%{path: [...], message: "..."}`.

use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use ptc_core::fault::Halt;
use ptc_core::meter::Meter;
use ptc_core::signature::{
    Finding, Findings, FrozenFindings, Got, Mismatch, PathStep, Target, Types, Wrong,
};
use rustler::types::atom::Atom;
use rustler::Encoder;

/// Fuel for an error, and for each segment of its path.
const ERROR: usize = 8;
/// Words of an error and its place in the list. A segment of its path takes two.
const WORDS: usize = 7;

/// A list of errors that is being made from findings, last one first. It can be suspended between two
/// errors.
///
/// Elixir completes `{:inspect, path, text, value}`, `{:kind, path, text, value}` (only the kind may be
/// shown), and `{:unexpected, path, keys, hidden?}`, which occur only if the findings
/// [need values](Findings::need_values).
pub struct Listing<'a> {
    findings: Findings<Raw<'a>>,
    /// The errors so far.
    pub list: Raw<'a>,
}

impl<'a> Listing<'a> {
    pub fn new(findings: Findings<Raw<'a>>, terms: Terms<'a>) -> Self {
        let list = terms.make_list(&[]);
        Listing { findings, list }
    }

    /// Whether the errors need not be completed by Elixir.
    pub fn is_complete(&self) -> bool {
        !self.findings.need_values()
    }

    /// Number of errors that are not listed.
    pub fn omitted(&self) -> usize {
        self.findings.omitted()
    }

    /// Continues until the list is complete or the slice or quantum is over.
    pub fn run(
        &mut self,
        heap: &mut Beam<'a>,
        types: &Types,
        meter: &mut Meter,
    ) -> Result<(), Halt<Raw<'a>>> {
        let terms = heap.terms;
        let mut templates = Templates::new(terms);
        let mut paths = Paths::new(terms, types);
        let mut steps = Vec::with_capacity(16);
        loop {
            meter.consume_fuel(ERROR + steps.len(), heap)?;
            let Some((finding, value)) = self.findings.pop(heap, &mut steps) else {
                return Ok(());
            };
            let words = WORDS + 2 * steps.len();
            meter.check_heap_limit(words, heap)?;
            heap.built(words);
            let path = paths.list(&steps);
            let error = error(&mut templates, finding, path, value);
            self.list = terms.cons(error, self.list);
        }
    }

    /// Moves the list to the heap: the plain data, and the terms.
    pub fn freeze(self, heap: &mut Beam<'a>) -> (FrozenFindings, Vec<Raw<'a>>) {
        let (findings, values) = self.findings.freeze(heap);
        (findings, vec![values, self.list])
    }

    /// A [frozen](Listing::freeze) list; `None` if these are not its terms.
    pub fn thaw(findings: FrozenFindings, terms: &[Raw<'a>]) -> Option<Self> {
        let [values, list] = *terms else {
            return None;
        };
        let findings = Findings::thaw(findings, values);
        Some(Listing { findings, list })
    }
}

fn error<'a>(
    templates: &mut Templates<'a>,
    finding: Finding,
    path: Raw<'a>,
    value: Option<Raw<'a>>,
) -> Raw<'a> {
    let terms = templates.terms;
    match (finding.wrong, value) {
        (Wrong::Mismatch(mismatch), Some(value)) if mismatch.got == Got::Other => {
            let tag = match finding.hidden {
                true => atoms::kind(),
                false => atoms::inspect(),
            };
            let text = terms.make_binary(mismatch.to_string().as_bytes());
            terms.make_tuple(&[word(terms, tag), path, text, value])
        }
        (Wrong::Mismatch(mismatch), _) => templates.error(mismatch, path),
        (_, value) => {
            let keys = value.unwrap_or_else(|| terms.make_list(&[]));
            let hidden = finding.hidden.encode(terms.env).into();
            terms.make_tuple(&[word(terms, atoms::unexpected()), path, keys, hidden])
        }
    }
}

/// Makes paths as lists. Each name is made once, and all paths that end with the same field share their
/// last cell.
struct Paths<'a, 't> {
    terms: Terms<'a>,
    types: &'t Types,
    /// By field: its name, and the last cell of paths that end with it.
    names: Vec<Option<(Raw<'a>, Raw<'a>)>>,
}

impl<'a, 't> Paths<'a, 't> {
    fn new(terms: Terms<'a>, types: &'t Types) -> Self {
        Paths {
            terms,
            types,
            names: Vec::with_capacity(16),
        }
    }

    #[inline]
    fn name(&mut self, field: u32) -> (Raw<'a>, Raw<'a>) {
        let (terms, types, field) = (self.terms, self.types, field as usize);
        if self.names.len() <= field {
            self.names.resize(field + 1, None);
        }
        *self.names[field].get_or_insert_with(|| {
            let name = terms.make_binary(types.field(field).name);
            (name, terms.cons(name, terms.make_list(&[])))
        })
    }

    fn list(&mut self, steps: &[PathStep]) -> Raw<'a> {
        let terms = self.terms;
        let (path, steps) = match steps {
            [steps @ .., PathStep::Field(field)] => (self.name(*field).1, steps),
            steps => (terms.make_list(&[]), steps),
        };
        steps.iter().rev().fold(path, |path, step| {
            let segment = match step {
                PathStep::Field(field) => self.name(*field).0,
                PathStep::Index(index) => terms.make_integer((*index).into()),
            };
            terms.cons(segment, path)
        })
    }
}

fn word(terms: Terms, atom: Atom) -> Raw {
    atom.encode(terms.env).into()
}

/// Errors without their path; each is made once.
struct Templates<'a> {
    terms: Terms<'a>,
    made: [[Option<Raw<'a>>; Got::COUNT]; Target::COUNT],
    path: Raw<'a>,
}

impl<'a> Templates<'a> {
    fn new(terms: Terms<'a>) -> Self {
        Templates {
            terms,
            made: [[None; Got::COUNT]; Target::COUNT],
            path: word(terms, atoms::path()),
        }
    }

    fn error(&mut self, mismatch: Mismatch, path: Raw<'a>) -> Raw<'a> {
        let place = &mut self.made[mismatch.expected.number()][mismatch.got as usize];
        let template = *place.get_or_insert_with(|| template(self.terms, mismatch));
        let error = self.terms.map_update(template, self.path, path);
        error.unwrap_or(template)
    }
}

fn template<'a>(terms: Terms<'a>, mismatch: Mismatch) -> Raw<'a> {
    let nothing = terms.make_list(&[]);
    let message = terms.make_binary(mismatch.to_string().as_bytes());
    let keys = [word(terms, atoms::message()), word(terms, atoms::path())];
    let template = terms.make_map(&keys, &[message, nothing]);
    template.unwrap_or(nothing)
}
