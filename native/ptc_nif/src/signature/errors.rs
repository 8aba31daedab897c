//! Findings as terms: `%{path: [...], message: "..."}`.

use super::read::Read;
use crate::atoms;
use crate::heap::Beam;
use crate::raw::{Raw, Terms};
use ptc_core::signature::{Findings, Got, Mismatch, PathStep, Target, Wrong};
use rustler::types::atom::Atom;
use rustler::Encoder;

/// The findings as a list, and whether all of them are complete. Elixir completes
/// `{:inspect, path, text, value}`, `{:kind, path, text, value}` (only the kind may be shown), and
/// `{:unexpected, path, keys, hidden?}`.
pub fn errors<'a>(
    heap: &Beam<'a>,
    read: &Read<'a>,
    findings: &mut Findings<Raw<'a>>,
) -> (Raw<'a>, bool) {
    let terms = heap.terms;
    let complete = !findings.need_values();
    let values: Vec<Raw<'a>> = findings.values(heap).to_vec();
    let mut templates = Templates::new(terms);
    let mut paths = Paths::new(terms, read);
    let list: Vec<Raw<'a>> = (0..findings.count())
        .map(|number| {
            let path = paths.list(findings.path(number));
            let finding = findings.all()[number];
            let value = findings.value_at(number).map(|at| values[at]);
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
        })
        .collect();
    (terms.make_list(&list), complete)
}

/// Makes paths as lists. All paths that end with the same field share their last cell.
struct Paths<'a, 'r> {
    terms: Terms<'a>,
    names: &'r [Raw<'a>],
    /// Last cells by field.
    ends: Vec<Option<Raw<'a>>>,
}

impl<'a, 'r> Paths<'a, 'r> {
    fn new(terms: Terms<'a>, read: &'r Read<'a>) -> Self {
        Paths {
            terms,
            names: &read.names,
            ends: vec![None; read.names.len()],
        }
    }

    fn list(&mut self, steps: &[PathStep]) -> Raw<'a> {
        let (terms, names) = (self.terms, self.names);
        let empty = || terms.make_list(&[]);
        let (path, steps) = match steps {
            [steps @ .., PathStep::Field(field)] => {
                let field = *field as usize;
                let cell = || terms.cons(names[field], empty());
                (*self.ends[field].get_or_insert_with(cell), steps)
            }
            steps => (empty(), steps),
        };
        steps.iter().rev().fold(path, |path, step| {
            let segment = match step {
                PathStep::Field(field) => names[*field as usize],
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
