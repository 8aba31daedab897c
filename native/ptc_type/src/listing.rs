//! Findings as terms, `%{path: [...], message: "..."}`, and as one line of text.

use super::constraint::name_of;
use super::error_line::ErrorLine;
use super::findings::{Finding, Findings, PathStep, Wrong};
use super::mismatch::{Got, Mismatch, Target};
use super::types::Types;
use super::values::Values;
use ptc_term::meter::Meter;
use ptc_term::number::Number;
use ptc_term::stop::Stop;
use ptc_term::suspend::{Exchange, Rooted};

/// Fuel for an error, and for each segment of its path.
const ERROR: usize = 8;
/// Words of an error and its place in the list. A segment of its path takes two.
const WORDS: usize = 7;
/// Bytes of the line that are copied for one unit of fuel.
const BYTES_A_UNIT: usize = 64;
/// Maximum number of errors that are listed beside a line: more than any feedback shows.
const LISTED: usize = 21;

/// The atoms in errors.
#[derive(Debug, Clone, Copy)]
pub struct ErrorAtoms<T> {
    /// `:path`
    pub path: T,
    /// `:message`
    pub message: T,
    /// `:inspect`
    pub inspect: T,
    /// `:kind`
    pub kind: T,
    /// `:unexpected`
    pub unexpected: T,
}

/// A list of errors that is being made from findings, last one first. It can be suspended between two
/// errors.
///
/// Elixir completes `{:inspect, path, text, value}`, `{:kind, path, text, value}` (only the kind may be
/// shown), both with `{key, value}` of a rule in the place of the text, and `{:unexpected, path, keys, hidden?}`, which occur only if the findings
/// [need values](Findings::need_values).
#[derive(Debug)]
pub struct Listing<T> {
    findings: Findings<T>,
    /// The errors so far.
    pub list: T,
    /// The line, if one is wanted; it is written first.
    line: Option<Line>,
}

/// A line that is being written from findings, first one first.
#[derive(Debug, Default)]
pub struct Line {
    text: ErrorLine,
    /// Number of errors in the text.
    written: usize,
    /// Number of errors that do not fit.
    more: usize,
    is_complete: bool,
}

impl Line {
    fn write<H: Values>(
        &mut self,
        findings: &Findings<H::Term>,
        types: &Types,
        meter: &mut Meter,
        heap: &H,
    ) -> Result<(), Stop> {
        let mut messages = Vec::new();
        while self.more == 0 {
            let Some(finding) = findings.all().get(self.written) else {
                break;
            };
            let path = findings.path(self.written);
            meter.consume_fuel(ERROR + path.len(), heap)?;
            self.text.begin();
            if path.is_empty() {
                self.text.push(b"root");
            }
            for (number, step) in path.iter().enumerate() {
                if number > 0 {
                    self.text.push(b".");
                }
                match step {
                    PathStep::Field(field) => self.text.push(types.field(*field as usize).name),
                    PathStep::Index(index) => self.text.index((*index).into()),
                    PathStep::Key(place) => {
                        let key = findings.key(*place);
                        name_of(heap, key, |name| self.text.push(name));
                    }
                }
            }
            self.text.message();
            if let Wrong::Mismatch(mismatch) = finding.wrong {
                self.text.push(known(&mut messages, mismatch));
            }
            match self.text.end() {
                true => self.written += 1,
                false => self.more = findings.all().len() - self.written,
            }
        }
        meter.consume_fuel(self.text.len() / BYTES_A_UNIT, heap)?;
        self.more += findings.omitted();
        self.is_complete = true;
        Ok(())
    }
}

/// Returns the message of a mismatch; each is made once.
fn known(messages: &mut Vec<(Mismatch, String)>, mismatch: Mismatch) -> &[u8] {
    let known = messages.iter().position(|(other, _)| *other == mismatch);
    let place = known.unwrap_or_else(|| {
        messages.push((mismatch, mismatch.to_string()));
        messages.len() - 1
    });
    messages[place].1.as_bytes()
}

impl<T> Rooted for Listing<T> {
    type Term = T;
    type With<U> = Listing<U>;

    fn exchange<X: Exchange<T>>(self, by: &mut X) -> Result<Listing<X::Into>, X::Lost> {
        Ok(Listing {
            findings: self.findings.exchange(by)?,
            list: by.term(self.list)?,
            line: self.line,
        })
    }
}

impl<T: Copy> Listing<T> {
    /// Lists all findings.
    pub fn new<H: Values<Term = T>>(findings: Findings<T>, heap: &mut H) -> Self {
        Listing {
            findings,
            list: heap.make_list(&[]),
            line: None,
        }
    }

    /// Writes the line of all findings, and lists the first ones.
    pub fn with_line(self) -> Self {
        Listing {
            line: Some(Line::default()),
            ..self
        }
    }

    /// Whether the errors need not be completed by Elixir.
    pub fn is_complete(&self) -> bool {
        !self.findings.need_values()
    }

    /// Continues until the list is complete or the slice or quantum is over.
    pub fn run<H: Values<Term = T>>(
        &mut self,
        heap: &mut H,
        types: &Types,
        meter: &mut Meter,
    ) -> Result<(), Stop> {
        if let Some(line) = self.line.as_mut().filter(|line| !line.is_complete) {
            line.write(&self.findings, types, meter, heap)?;
            self.findings.truncate(LISTED, heap);
        }
        let mut terms = ErrorTerms::new(heap);
        let mut steps = Vec::with_capacity(16);
        loop {
            meter.consume_fuel(ERROR + steps.len(), heap)?;
            let Some((finding, value)) = self.findings.pop(heap, &mut steps) else {
                return Ok(());
            };
            meter.check_heap_limit(WORDS + 2 * steps.len(), heap)?;
            let path = terms.path(heap, types, &steps, &self.findings);
            let error = terms.error(heap, finding, path, value);
            self.list = heap.make_list_onto(&[error], self.list);
        }
    }

    /// Returns the line of a complete list, and the number of errors that are not listed beside it.
    pub fn into_line<H: Values<Term = T>>(self, heap: &mut H) -> Option<(T, usize)> {
        let line = self.line?;
        let not_listed = (line.written + line.more).saturating_sub(LISTED);
        Some((heap.make_string(&line.text.finish(line.more)), not_listed))
    }
}

/// The terms that errors share: each name and message is made once, and all paths that end with the same
/// field share their last cell.
struct ErrorTerms<T> {
    atoms: ErrorAtoms<T>,
    nothing: T,
    /// Errors without their path.
    templates: [[Option<T>; Got::COUNT]; Target::COUNT],
    /// By field: its name, and the last cell of paths that end with it.
    names: Vec<Option<(T, T)>>,
}

impl<T: Copy> ErrorTerms<T> {
    fn new<H: Values<Term = T>>(heap: &mut H) -> Self {
        ErrorTerms {
            atoms: heap.error_atoms(),
            nothing: heap.make_list(&[]),
            templates: [[None; Got::COUNT]; Target::COUNT],
            names: Vec::with_capacity(16),
        }
    }

    #[inline]
    fn name<H: Values<Term = T>>(&mut self, heap: &mut H, types: &Types, field: u32) -> (T, T) {
        let field = field as usize;
        if self.names.len() <= field {
            self.names.resize(field + 1, None);
        }
        *self.names[field].get_or_insert_with(|| {
            let name = heap.make_string(types.field(field).name);
            (name, heap.make_list(&[name]))
        })
    }

    fn path<H: Values<Term = T>>(
        &mut self,
        heap: &mut H,
        types: &Types,
        steps: &[PathStep],
        findings: &Findings<T>,
    ) -> T {
        let (mut path, steps) = match steps {
            [steps @ .., PathStep::Field(field)] => (self.name(heap, types, *field).1, steps),
            steps => (self.nothing, steps),
        };
        for step in steps.iter().rev() {
            let segment = match step {
                PathStep::Field(field) => self.name(heap, types, *field).0,
                PathStep::Key(place) => {
                    let key = findings.key(*place);
                    match heap.is_name(key) {
                        true => {
                            let mut name = Vec::new();
                            heap.put_atom_name(key, &mut name);
                            heap.make_string(&name)
                        }
                        false => key,
                    }
                }
                PathStep::Index(index) => {
                    let number = heap.make_number(Number::Int((*index).into()));
                    number.unwrap_or(self.nothing)
                }
            };
            path = heap.make_list_onto(&[segment], path);
        }
        path
    }

    fn error<H: Values<Term = T>>(
        &mut self,
        heap: &mut H,
        finding: Finding,
        path: T,
        value: Option<T>,
    ) -> T {
        let atoms = self.atoms;
        match (finding.wrong, value) {
            (Wrong::Mismatch(mismatch), Some(value)) if mismatch.got == Got::Other => {
                let tag = match finding.hidden {
                    true => atoms.kind,
                    false => atoms.inspect,
                };
                let text = heap.make_string(mismatch.to_string().as_bytes());
                heap.make_tuple(&[tag, path, text, value])
            }
            (Wrong::Mismatch(mismatch), _) => {
                let nothing = self.nothing;
                let place = &mut self.templates[mismatch.expected.number()][mismatch.got as usize];
                let template = *place.get_or_insert_with(|| {
                    let message = heap.make_string(mismatch.to_string().as_bytes());
                    heap.make_map(&[atoms.message, atoms.path], &[message, nothing])
                });
                heap.with_value(template, atoms.path, path)
            }
            (Wrong::Rule, Some(kept)) => {
                let [pair, value] = *heap.tuple(kept).unwrap_or_default() else {
                    return kept;
                };
                let tag = match finding.hidden {
                    true => atoms.kind,
                    false => atoms.inspect,
                };
                heap.make_tuple(&[tag, path, pair, value])
            }
            (_, value) => {
                let hidden = heap.boolean(finding.hidden);
                let keys = value.unwrap_or(self.nothing);
                heap.make_tuple(&[atoms.unexpected, path, keys, hidden])
            }
        }
    }
}
