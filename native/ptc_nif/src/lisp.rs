//! Compiles programs of PTC-Lisp. Compiled ones run like those of every language.

use crate::asked::LastAnswers;
use crate::atoms;
use crate::clock::nif;
use crate::handle::Handle;
use crate::heap::Beam;
use crate::raw::Raw;
use crate::task::{run, Call, Task};
use ptc_lisp::analyze::{analyze_until, recycle, Added};
use ptc_lisp::ast::{Literal, Part, Problem, Span};
use ptc_lisp::compile::{compile_until, place, Compiled, Texts, ToolSite};
use ptc_lisp::consts::{make_literal, materialize, Word};
use ptc_lisp::patience::Patience;
use ptc_term::heap::Heap;
use ptc_term::meter::Meter;
use ptc_term::named::Named;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_vm::program::Pc;
use rustler::{Atom, Encoder, Env, Error, NifResult, ResourceArc, Term};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Fuel for a byte of text that is read, analyzed and compiled.
const UNITS_A_BYTE: usize = 16;

/// A program that is being compiled: its text, the functions of the memory with what they have captured, the built-ins that names of
/// the memory shadow, and an empty set.
struct Compiling<T> {
    source: T,
    added: T,
    shadowed: T,
    empty_set: T,
    observed: bool,
    wanted: Wanted,
}

rooted!(Compiling { terms: source, added, shadowed, empty_set; plain: observed, wanted });

/// What a program is compiled for.
enum Wanted {
    /// The program, if it has no more unique symbols and keywords.
    Program { most_symbols: usize },
    /// The part of the text that these addresses belong to.
    Place(Vec<Pc>),
}

/// What was wanted.
enum Made {
    Program(Box<Compiled>),
    Place(Option<Span>),
}

/// A program as the Elixir side sends it: its text, functions of the memory, names that shadow built-ins, and whether it is observed.
type Source<'a> = (Term<'a>, Term<'a>, Term<'a>, bool);

nif! {
    /// Compiles a program for what is wanted:
    ///
    /// * `{:program, empty_set, most_symbols}`: `{:ok, handle, constants, {unbound, tools, globals, builtins, symbols, data, calls}}`
    /// * `{:place, addresses}`: `{:ok, {start, end}}`, the part of the program's text that a run of it was at, at the first of these addresses that has
    ///   one; `{:ok, nil}` if none has
    ///
    /// For each: `{:error, {:problem, reason, code, parts, start, end}}`.
    fn lisp_compile<'a>(env, program: Source<'a>, wanted: Term<'a>, given: (Term<'a>, Term<'a>)) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let (wanted, empty_set) = wanted_of(wanted)?;
        let (source, added, shadowed, observed) = program;
        let compiling = Compiling {
            source: source.into(),
            added: added.into(),
            shadowed: shadowed.into(),
            empty_set: empty_set.into(),
            observed,
            wanted,
        };
        Ok(run::<Compiling<()>>(call, compiling))
    }
}

/// What is wanted, and the empty set of a program.
fn wanted_of(term: Term) -> NifResult<(Wanted, Term)> {
    if let Ok((tag, empty_set, most_symbols)) = term.decode::<(Atom, Term, usize)>() {
        return match tag == atoms::program() {
            true => Ok((Wanted::Program { most_symbols }, empty_set)),
            false => Err(Error::BadArg),
        };
    }
    let (tag, addresses): (Atom, Vec<Pc>) = term.decode()?;
    match tag == atoms::place() {
        true => Ok((
            Wanted::Place(addresses),
            atoms::nil().encode(term.get_env()),
        )),
        false => Err(Error::BadArg),
    }
}

/// A function of the memory: its text, and the names of what it has captured.
type Function = (String, Vec<String>);

impl<'a> Compiling<Raw<'a>> {
    fn functions(&self, env: Env<'a>) -> Vec<Function> {
        self.added.term(env).decode().unwrap_or_default()
    }

    /// Compiles it as a whole, as long as that may take.
    fn compiled(&self, heap: &Beam<'a>, patience: &mut Patience) -> Result<Made, Problem> {
        let env = heap.terms.env;
        let text = heap.terms.bytes(self.source).unwrap_or_default();
        let text = std::str::from_utf8(text).map_err(|error| {
            let at = error.valid_up_to() as u32;
            Problem {
                reason: "parse_error",
                code: "not_text",
                parts: vec![Part::Number(i64::from(at))],
                at: Span { start: at, end: at },
            }
        })?;
        let functions = self.functions(env);
        let added: Vec<Added> = functions
            .iter()
            .map(|(source, captured)| Added { source, captured })
            .collect();
        let shadowed: Vec<String> = self.shadowed.term(env).decode().unwrap_or_default();
        let most_symbols = match self.wanted {
            Wanted::Program { most_symbols } => most_symbols,
            Wanted::Place(_) => usize::MAX,
        };
        let analyzed = analyze_until(text, &added, most_symbols, patience)?;
        let texts = Texts {
            program: text,
            added: &added,
        };
        let observed = self.observed;
        let made = match &self.wanted {
            Wanted::Program { .. } => {
                compile_until(&analyzed, &texts, &shadowed, (observed, patience))
                    .map(|compiled| Made::Program(Box::new(compiled)))
            }
            Wanted::Place(at) => {
                place(&analyzed, &texts, &shadowed, observed, at, patience).map(Made::Place)
            }
        };
        recycle(analyzed);
        made
    }
}

impl<'a> Task<'a> for Compiling<Raw<'a>> {
    type Out = Result<Made, Problem>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let length = |term| heap.terms.bytes(term).map_or(0, <[u8]>::len);
        let added = self.functions(heap.terms.env);
        let added: usize = added.iter().map(|(source, _)| source.len()).sum();
        meter.consume_fuel(UNITS_A_BYTE * (length(self.source) + added), heap)?;
        let (mut deadline, heap) = (meter.limits.deadline, &*heap);
        let mut is_over = || {
            deadline = deadline.started(Instant::now());
            deadline.has_passed() || heap.abandoned()
        };
        match self.compiled(heap, &mut Patience::new(&mut is_over)) {
            Err(problem) if problem.is_out_of_time() => Err(Stop::DeadlinePassed),
            compiled => Ok(compiled),
        }
    }

    fn reply(self, call: Call<'a>, mut heap: Beam<'a>, out: Self::Out) -> Term<'a> {
        let env = call.env;
        let compiled = match out {
            Ok(Made::Program(compiled)) => *compiled,
            Ok(Made::Place(place)) => {
                return (atoms::ok(), place.map(|it| (it.start, it.end))).encode(env);
            }
            Err(problem) => return refused(env, &problem),
        };
        let consts = materialize(
            &mut heap,
            words(env),
            &compiled.functions,
            &compiled.constants,
            self.empty_set,
        );
        let handle = ResourceArc::new(Handle {
            program: Arc::new(compiled.program),
            consts: consts.len(),
            source: None,
            asked: LastAnswers::default(),
        });
        let consts = heap.make_tuple(&consts).term(env);
        let names = compiled.names;
        let calls: Vec<_> = names.calls.iter().map(|it| site(&mut heap, it)).collect();
        let names = (
            names.unbound,
            names.tools,
            names.globals,
            names.builtins,
            names.symbols,
            names.data,
            calls,
        );
        (atoms::ok(), handle, consts, names).encode(env)
    }
}

/// A place that calls a tool: `{tool, once?, [{name, {constant} or nil}]}`, with nil for arguments whose names are not known.
fn site<'a>(heap: &mut Beam<'a>, site: &ToolSite) -> Term<'a> {
    let env = heap.terms.env;
    let mut argument = |(name, value): &(String, Option<Literal>)| {
        let value = value.as_ref().map(|it| (literal(heap, it),));
        (name.as_str(), value).encode(env)
    };
    let arguments = site.arguments.as_ref();
    let arguments: Option<Vec<Term>> = arguments.map(|all| all.iter().map(&mut argument).collect());
    (site.tool.as_str(), site.once, arguments).encode(env)
}

fn literal<'a>(heap: &mut Beam<'a>, literal: &Literal) -> Term<'a> {
    let env = heap.terms.env;
    make_literal(heap, literal).term(env)
}

/// The terms of the words that each program has. Their atoms are looked up once, because that takes longer than compiling a
/// small program.
fn words<'a>(env: Env<'a>) -> impl Iterator<Item = Raw<'a>> {
    static ATOMS: OnceLock<Vec<Atom>> = OnceLock::new();
    let named = || Word::ALL.iter().map(|word| atoms::named(env, *word));
    let atoms = ATOMS.get_or_init(|| named().collect());
    atoms.iter().map(move |atom| atom.encode(env).into())
}

fn refused<'a>(env: Env<'a>, problem: &Problem) -> Term<'a> {
    let part = |part: &Part| match part {
        Part::Text(text) => text.encode(env),
        Part::Number(number) => number.encode(env),
    };
    let parts: Vec<Term> = problem.parts.iter().map(part).collect();
    let (start, end) = (problem.at.start, problem.at.end);
    let problem = (
        atoms::problem(),
        problem.reason,
        problem.code,
        parts,
        start,
        end,
    );
    (atoms::error(), problem).encode(env)
}
