//! `check_program/7`: the types of a program's values, before it runs; `locate/2`: where findings stand in its text;
//! `type_of/2`: the type of a sample.

use crate::atoms;
use crate::check_terms::CheckTerms;
use crate::clock::nif;
use crate::heap::Beam;
use crate::program::{refused, CompileOptionsArg};
use crate::raw::{self, Raw};
use crate::schedule::{charge_for, is_too_long, nif_pair, Pace};
use crate::task::{run, Call, Task};
use ptc_json::{Document, JsonLimits, TableReader};
use ptc_program::load::Refusal;
use ptc_program::typing::infer::{infer, Budget};
use ptc_program::typing::job::{Check, GivenTypes, PathStep};
use ptc_program::typing::locate::{node_at, places};
use ptc_program::typing::ty::Types;
use ptc_term::job::Job;
use ptc_term::meter::Meter;
use ptc_term::rooted;
use ptc_term::stop::Stop;
use ptc_term::workspace::{unlimited, Workspace};
use rustler::{Encoder, Env, NifResult, Term};

/// A check, with its text or its program.
struct Checking<T> {
    source: T,
    check: Check<T>,
}

rooted!(Checking { terms: source; states: check; });

nif! {
    /// `{:ok, {type, reads, tools, findings}}`, or the errors of `compile_text` and `compile_node`. `source`: the text
    /// `{"program": …}`, or the program itself. `types`, `memory`: maps of names to types, `tools`: of names to signatures or nil,
    /// `returns`: a type; nil where nothing is known.
    fn check_program<'a>(
        env, source: Term<'a>, reading: CompileOptionsArg, types: Term<'a>, tools: Term<'a>, memory: Term<'a>,
        returns: Term<'a>, given: (Term<'a>, Term<'a>)
    ) -> NifResult<Term<'a>> {
        let call = Call::begin(env, given)?;
        let options = reading.reading(true);
        let given = GivenTypes {
            types: types.into(),
            memory: memory.into(),
            tools: tools.into(),
            returns: returns.into(),
        };
        let source = Raw::from(source);
        let check = match call.terms().bytes(source) {
            Some(text) => Check::of_text(text.len(), options, given),
            None => Check::of_term(source, options, given),
        };
        Ok(run::<Checking<()>>(call, Checking { source, check }))
    }
}

impl<'a> Task<'a> for Checking<Raw<'a>> {
    type Out = Result<(), Refusal<Raw<'a>>>;

    fn step(&mut self, heap: &mut Beam<'a>, meter: &mut Meter) -> Result<Self::Out, Stop> {
        let text = heap.terms.bytes(self.source).unwrap_or_default();
        self.check.step(text, heap, meter)
    }

    fn reply(self, call: Call<'a>, mut heap: Beam<'a>, out: Self::Out) -> Term<'a> {
        if let Err(refusal) = out {
            return refused(&mut heap, refusal);
        }
        let env = call.env;
        let text = heap.terms.bytes(self.source).unwrap_or_default();
        let Some(checked) = self.check.finish(text) else {
            return call.stopped(Stop::Abandoned);
        };
        let mut walk = checked.walk;
        let called = std::mem::take(&mut walk.called);
        let terms = heap.terms;
        let mut out = CheckTerms::new(terms, &walk.types);
        let result = out.of_type(checked.result).term(env);
        let texts = |texts: &[Vec<u8>]| -> Vec<Raw<'a>> {
            texts.iter().map(|text| terms.make_binary(text)).collect()
        };
        let reads = terms.make_list(&texts(&checked.reads)).term(env);
        let mut names: Vec<Vec<u8>> = Vec::new();
        for name in called {
            names.push(walk.types.names.get(name).to_vec());
        }
        names.sort();
        names.dedup();
        let tools = terms.make_list(&texts(&names)).term(env);
        let findings = checked.findings.iter();
        let findings: Vec<Raw<'a>> = findings.map(|(it, path)| out.finding(it, path)).collect();
        let findings = terms.make_list(&findings).term(env);
        (atoms::ok(), (result, reads, tools, findings)).encode(env)
    }

    fn reads_text(&self) -> bool {
        self.check.needs_text()
    }
}

/// Maximum bytes of a text, and number of paths, that a slice looks at.
const LOCATED_BYTES: usize = 65_536;
const LOCATED_PATHS: usize = 200;
/// Bytes of a text that are passed in a microsecond.
const BYTES_A_MICROSECOND: usize = 200;

/// `{:ok, [{line, column} | nil]}`, or `:busy`.
fn located<'a>(env: Env<'a>, text: Term<'a>, paths: Term<'a>, pace: Pace) -> NifResult<Term<'a>> {
    let terms = raw::Terms { env };
    let text = terms.bytes(text.into()).ok_or(rustler::Error::BadArg)?;
    let paths = paths_of(terms, paths.into());
    if is_too_long(pace, text.len(), LOCATED_BYTES) || is_too_long(pace, paths.len(), LOCATED_PATHS)
    {
        return Ok(atoms::busy().encode(env));
    }
    charge_for(env, pace, text.len(), BYTES_A_MICROSECOND);
    let (mut heap, mut meter) = (Beam::new(env, 0), unlimited());
    let mut reader = TableReader::new(text.len(), JsonLimits::depth(usize::MAX));
    let work = Workspace::in_one_go(&mut heap, &mut meter);
    let Ok(table) = reader.read(text, work) else {
        let none = vec![(); paths.len()].into_iter().map(|()| atoms::nil());
        return Ok((atoms::ok(), none.collect::<Vec<_>>()).encode(env));
    };
    let document = Document::new(text, table);
    let root = document.field(0, "program").unwrap_or(0);
    let found = paths.iter().map(|path| node_at(&document, root, path));
    let mut nodes: Vec<_> = found
        .enumerate()
        .filter_map(|(at, node)| Some((node?, at)))
        .collect();
    nodes.sort_unstable();
    let ascending: Vec<_> = nodes.iter().map(|(node, _)| *node).collect();
    let mut all = vec![atoms::nil().encode(env); paths.len()];
    for ((_, at), place) in nodes.iter().zip(places(text, &ascending)) {
        all[*at] = place.encode(env);
    }
    Ok((atoms::ok(), all).encode(env))
}

fn paths_of<'a>(terms: raw::Terms<'a>, paths: Raw<'a>) -> Vec<Vec<PathStep>> {
    let items = |list: Raw<'a>| {
        std::iter::successors(terms.uncons(list), move |(_, rest)| terms.uncons(*rest))
            .map(|(item, _)| item)
    };
    let step = |step: Raw<'a>| match terms.bytes(step) {
        Some(key) => PathStep::Key(key.to_vec()),
        None => PathStep::Index(terms.integer(step).map_or(u32::MAX, |index| index as u32)),
    };
    items(paths)
        .map(|path| items(path).map(step).collect())
        .collect()
}

nif_pair! {
    /// The lines and columns of the ends of paths in a program's text, from 1; columns in characters.
    fn locate, locate_dirty<'a>(env, pace, text: Term<'a>, paths: Term<'a>) -> NifResult<Term<'a>> {
        located(env, text, paths, pace)
    }
}

/// Maximum number of values of a sample that are read, in a slice and in a quantum.
const VALUES: usize = 2_000;
const MOST_VALUES: usize = 200_000;

/// `{:ok, type}`, or `:busy`.
fn sampled<'a>(env: Env<'a>, value: Term<'a>, rows: usize, pace: Pace) -> Term<'a> {
    let heap = Beam::new(env, 0);
    let values = match pace {
        Pace::Quantum => MOST_VALUES,
        Pace::Slice | Pace::Probe => VALUES,
    };
    let mut types = Types::default();
    let mut budget = Budget { rows, values };
    let ty = infer(value.into(), &mut types, &heap, &mut budget);
    charge_for(env, pace, values - budget.values, 10);
    if budget.values == 0 && pace != Pace::Quantum {
        return atoms::busy().encode(env);
    }
    let ty = CheckTerms::new(heap.terms, &types).of_type(ty).term(env);
    (atoms::ok(), ty).encode(env)
}

nif_pair! {
    /// The type of a sample, of which at most `rows` items of each list are read.
    fn type_of, type_of_dirty<'a>(env, pace, value: Term<'a>, rows: usize) -> Term<'a> {
        sampled(env, value, rows, pace)
    }
}
