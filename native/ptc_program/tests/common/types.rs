//! Checks of types on plain values, with text as input and output.

use super::cost::{self, Cost};
use super::{load_options, suspended, term};
use ptc_json::Table;
use ptc_program::compile::Options;
use ptc_program::load::Loader;
use ptc_program::source::KeptSource;
use ptc_program::typing::given::GivenTypes;
use ptc_program::typing::job::Check;
use ptc_term::heap::{Heap, Kind};
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_vm::explain::Detail;
use std::sync::Arc;

/// Makes a type term of its JSON form: `"int"`, `["T"]` a list, `{"a": T}` a map, `{"?": T}` optional, `{"|": [T, …]}` a union,
/// `{"=": value}` a literal, null nothing.
pub fn type_term(heap: &mut PlainHeap, json: Term) -> Term {
    match heap.kind(json) {
        Kind::String => {
            let name = String::from_utf8_lossy(heap.bytes(json).unwrap_or_default()).into_owned();
            heap.atom(&name)
        }
        Kind::List => {
            let inner = match heap.uncons(json) {
                Some((item, _)) => type_term(heap, item),
                None => heap.atom("never"),
            };
            tagged(heap, "list", inner)
        }
        Kind::Map => {
            let entries = heap.entries(json);
            let name = |heap: &PlainHeap, key| heap.bytes(key).unwrap_or_default().to_vec();
            if let [(key, value)] = entries.as_slice() {
                match name(heap, *key).as_slice() {
                    b"?" => {
                        let inner = type_term(heap, *value);
                        return tagged(heap, "optional", inner);
                    }
                    b"=" => return tagged(heap, "literal", *value),
                    b"|" => {
                        let members = all(heap, *value);
                        let list = heap.make_list(&members);
                        return tagged(heap, "union", list);
                    }
                    _ => {}
                }
            }
            let fields = fields(heap, json);
            tagged(heap, "map", fields)
        }
        _ => json,
    }
}

fn all(heap: &mut PlainHeap, list: Term) -> Vec<Term> {
    let (mut all, mut rest) = (Vec::new(), list);
    while let Some((item, next)) = heap.uncons(rest) {
        all.push(type_term(heap, item));
        rest = next;
    }
    all
}

fn fields(heap: &mut PlainHeap, map: Term) -> Term {
    let mut fields = Vec::new();
    for (key, value) in heap.entries(map) {
        let holds = type_term(heap, value);
        fields.push(heap.tuple(&[key, holds]));
    }
    heap.make_list(&fields)
}

fn tagged(heap: &mut PlainHeap, tag: &str, inner: Term) -> Term {
    let tag = heap.atom(tag);
    heap.tuple(&[tag, inner])
}

/// Makes a map of names to types, or nil.
fn scope(heap: &mut PlainHeap, json: &str, tools: bool) -> Term {
    let map = term(heap, json).expect("JSON");
    if heap.kind(map) != Kind::Map {
        return map;
    }
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for (key, value) in heap.entries(map) {
        keys.push(key);
        values.push(match tools {
            true => signature(heap, value),
            false => type_term(heap, value),
        });
    }
    heap.make_map(&keys, &values)
}

/// `[{"a": T}, T]`, the parameters and the answer of a tool.
fn signature(heap: &mut PlainHeap, json: Term) -> Term {
    let Some((params, rest)) = heap.uncons(json) else {
        return json;
    };
    let output = heap.uncons(rest).map_or(heap.nil(), |(output, _)| output);
    let (params, output) = (fields(heap, params), type_term(heap, output));
    let tag = heap.atom("signature");
    heap.tuple(&[tag, params, output])
}

/// What a check is given, as JSON.
#[derive(Clone, Copy)]
pub struct World<'w> {
    pub types: &'w str,
    pub memory: &'w str,
    pub tools: &'w str,
    pub returns: &'w str,
}

/// The outcome: the type, the findings as `error code path`, and the parts that are read.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub ty: String,
    pub findings: Vec<String>,
    pub reads: Vec<String>,
}

fn given(heap: &mut PlainHeap, world: World) -> GivenTypes<Term> {
    GivenTypes {
        types: scope(heap, world.types, false),
        memory: scope(heap, world.memory, false),
        tools: scope(heap, world.tools, true),
        returns: {
            let json = term(heap, world.returns).expect("JSON");
            type_term(heap, json)
        },
    }
}

/// Nothing is given.
fn nothing(heap: &PlainHeap) -> GivenTypes<Term> {
    let nil = heap.nil();
    GivenTypes {
        types: nil,
        memory: nil,
        tools: nil,
        returns: nil,
    }
}

/// Begins a check of a program, without the `{"program": …}` around it.
pub fn begin(program: &str, world: World, options: Options) -> (PlainHeap, Check<Term>, String) {
    let mut heap = PlainHeap::new();
    let given = given(&mut heap, world);
    let text = framed(program);
    let check = Check::of_text(text.len(), load_options(options), given);
    (heap, check, text)
}

fn framed(program: &str) -> String {
    format!(r#"{{"program":{program}}}"#)
}

/// Compiles a program and keeps its source; a term, or a text.
fn kept(
    heap: &mut PlainHeap,
    program: &str,
    options: Options,
    is_term: bool,
    units: Option<usize>,
) -> Option<(Arc<KeptSource>, Vec<Term>)> {
    let text = framed(program);
    let (mut loader, text) = match is_term {
        true => {
            let program = term(heap, program).expect("JSON");
            (Loader::of_term(program, load_options(options)), "")
        }
        false => (
            Loader::of_text(text.len(), load_options(options)),
            text.as_str(),
        ),
    };
    loader = loader.keeping();
    // A constant is made in steps of many units; a real quantum has at least so many.
    let units = units.map(|units| units.max(4_096));
    loop {
        match loader.step(text.as_bytes(), heap, &mut meter(units)) {
            Ok(Ok(())) => {
                let loaded = loader.finish(heap).expect("it is loaded");
                return Some((loaded.source.expect("it is kept"), loaded.consts));
            }
            Ok(Err(_)) => return None,
            Err(Stop::SliceOver) if units.is_some() => loader = suspended(loader, heap),
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

fn meter(units: Option<usize>) -> Meter {
    match units {
        Some(units) => Meter::with_fuel(Limits::UNLIMITED, units),
        None => Meter::whole(Limits::UNLIMITED, Pace::Quantum),
    }
}

/// Runs a check to its end; `units`: the fuel of each quantum, after which it is suspended.
fn end(
    mut check: Check<Term>,
    text: &str,
    heap: &mut PlainHeap,
    units: Option<usize>,
) -> Option<Term> {
    loop {
        match check.step(text.as_bytes(), heap, &mut meter(units)) {
            Ok(reply) => return reply.ok(),
            Err(Stop::SliceOver) if units.is_some() => check = suspended(check, heap),
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

/// Checks a program; `units`: the fuel of each quantum, after which it is suspended.
pub fn check(
    program: &str,
    world: World,
    options: Options,
    units: Option<usize>,
) -> Option<Outcome> {
    let (mut heap, check, text) = begin(program, world, options);
    let reply = end(check, &text, &mut heap, units)?;
    Some(outcome(&heap, reply))
}

/// Checks a program that was compiled, by what is kept of its source.
fn check_compiled(
    program: &str,
    options: Options,
    is_term: bool,
    units: Option<usize>,
) -> Option<Outcome> {
    let mut heap = PlainHeap::new();
    let (source, consts) = kept(&mut heap, program, options, is_term, units)?;
    let text = framed(program);
    let text = if is_term { "" } else { &text };
    assert!(source.is_text((!is_term).then_some(text.as_bytes())));
    let given = given(&mut heap, WORLD);
    let constant = |at: usize| consts.get(at).copied();
    let check = Check::of_source(source, constant, Detail::Findings, given);
    let reply = end(check, text, &mut heap, units)?;
    Some(outcome(&heap, reply))
}

/// The plan of a program that was compiled, as text.
fn planned_compiled(
    program: &str,
    options: Options,
    is_term: bool,
    units: Option<usize>,
) -> Option<String> {
    let mut heap = PlainHeap::new();
    let (source, _) = kept(&mut heap, program, options, is_term, units)?;
    let text = framed(program);
    let text = if is_term { "" } else { &text };
    let check = Check::of_source(source, |_| None, Detail::Plan, nothing(&heap));
    let reply = end(check, text, &mut heap, units)?;
    Some(heap.show(reply))
}

/// The plan of a program as text.
pub fn planned(program: &str, options: Options, units: Option<usize>) -> Option<String> {
    planned_with(program, Detail::Plan, options, units)
}

/// The plan of a program, or its plan and its recipes, as text.
pub fn planned_with(
    program: &str,
    detail: Detail,
    options: Options,
    units: Option<usize>,
) -> Option<String> {
    let mut heap = PlainHeap::new();
    let reply = planned_in(&mut heap, program, detail, options, units)?;
    Some(heap.show(reply))
}

fn planned_in(
    heap: &mut PlainHeap,
    program: &str,
    detail: Detail,
    options: Options,
    units: Option<usize>,
) -> Option<Term> {
    let text = framed(program);
    let mut options = load_options(options);
    options.observed = Some(detail);
    let check = Check::of_text(text.len(), options, nothing(heap));
    end(check, &text, heap, units)
}

/// A plan for people.
#[derive(Debug, PartialEq)]
pub struct ForPeople {
    /// Its tools, what is read, and the result, as text.
    pub plan: [String; 3],
    /// The recipes and calls, as text.
    pub recipes: String,
    /// What the digest of the program is made of.
    pub bytes: Vec<u8>,
}

/// The plan of a program for people. It does not say what the entries of the result are made of.
pub fn for_people(program: &str, options: Options, units: Option<usize>) -> Option<ForPeople> {
    let mut heap = PlainHeap::new();
    let reply = planned_in(&mut heap, program, Detail::Recipes, options, units)?;
    let Some(&[plan, recipes, bytes]) = heap.elements(reply) else {
        panic!("{}", heap.show(reply));
    };
    let plan = three_of(&heap, plan, true);
    let (recipes, bytes) = (heap.show(recipes), heap.bytes(bytes));
    let bytes = bytes.unwrap_or_else(|| panic!("{program}")).to_vec();
    Some(ForPeople {
        plan,
        recipes,
        bytes,
    })
}

/// The tools of a plan, what is read, and the result, as text.
pub fn plan_alone(program: &str, options: Options) -> Option<[String; 3]> {
    let mut heap = PlainHeap::new();
    let plan = planned_in(&mut heap, program, Detail::Plan, options, None)?;
    Some(three_of(&heap, plan, false))
}

fn three_of(heap: &PlainHeap, plan: Term, is_for_people: bool) -> [String; 3] {
    let Some(&[tools, reads, result, kept]) = heap.elements(plan) else {
        panic!("{}", heap.show(plan));
    };
    assert!(!is_for_people || heap.show(kept) == "[]");
    [tools, reads, result].map(|it| heap.show(it))
}

fn items(heap: &PlainHeap, list: Term) -> Vec<Term> {
    let (mut all, mut rest) = (Vec::new(), list);
    while let Some((item, next)) = heap.uncons(rest) {
        all.push(item);
        rest = next;
    }
    all
}

/// A name as text: of an atom, or a binary.
fn text_of(heap: &PlainHeap, term: Term) -> String {
    match heap.bytes(term) {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => heap.show(term).trim_start_matches(':').to_string(),
    }
}

fn outcome(heap: &PlainHeap, reply: Term) -> Outcome {
    let Some(&[ty, reads, _tools, findings]) = heap.elements(reply) else {
        panic!("{}", heap.show(reply));
    };
    let finding = |finding: &Term| {
        let Some(&[severity, code, path, _op, _details, _place]) = heap.elements(*finding) else {
            panic!("{}", heap.show(*finding));
        };
        let path: Vec<_> = items(heap, path)
            .iter()
            .map(|step| text_of(heap, *step))
            .collect();
        let (severity, code) = (text_of(heap, severity), text_of(heap, code));
        format!("{severity} {code} {}", path.join("/"))
    };
    Outcome {
        ty: shown(heap, ty),
        findings: items(heap, findings).iter().map(finding).collect(),
        reads: items(heap, reads)
            .iter()
            .map(|it| text_of(heap, *it))
            .collect(),
    }
}

/// A type's term as text.
pub fn shown(heap: &PlainHeap, ty: Term) -> String {
    let Some(&[tag, inner]) = heap.elements(ty) else {
        return match text_of(heap, ty).as_str() {
            "float" => "number".into(),
            "string" => "text".into(),
            "map" => "{…}".into(),
            word => word.into(),
        };
    };
    let all = |list| items(heap, list).into_iter();
    match text_of(heap, tag).as_str() {
        "list" => format!("[{}]", shown(heap, inner)),
        "optional" => {
            let inner = shown(heap, inner);
            let mut members: Vec<_> = inner.split('|').collect();
            if !inner.contains(['[', '{']) && inner != "any" {
                members.push("null");
                members.sort_unstable();
                members.dedup();
                return members.join("|");
            }
            match inner.as_str() {
                "any" => inner,
                _ if inner.starts_with('"') => format!("{inner}|null"),
                _ => format!("null|{inner}"),
            }
        }
        "literal" => match heap.kind(inner) {
            Kind::Nil => "null".into(),
            Kind::String => format!("\"{}\"", text_of(heap, inner)),
            _ => heap.show(inner),
        },
        "union" => {
            let mut members: Vec<_> = all(inner).map(|it| shown(heap, it)).collect();
            members.sort();
            members.join("|")
        }
        tag => {
            let field = |field| match heap.elements(field) {
                Some(&[name, ty]) => {
                    let optional = heap
                        .elements(ty)
                        .is_some_and(|all| all.len() == 2 && text_of(heap, all[0]) == "optional");
                    let mark = if optional { "?" } else { "" };
                    format!("{}{mark} {}", text_of(heap, name), shown(heap, ty))
                }
                _ => panic!("{}", heap.show(field)),
            };
            let mut fields: Vec<_> = all(inner).map(field).collect();
            fields.sort();
            fields.extend((tag == "open_map").then(|| "…".to_string()));
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// Checks any text as a program; what was counted.
pub fn check_cost(text: &[u8]) -> Cost {
    let parsed = Table::parse(text, ptc_json::JsonLimits::depth(200));
    let (Ok(text), Ok(_)) = (std::str::from_utf8(text), parsed) else {
        return Cost::default();
    };
    let (mut heap, mut check, text) = begin(text, WORLD, super::STRICT);
    let mut meter = cost::meter();
    // It ends, whatever the outcome.
    let _outcome = check.step(text.as_bytes(), &mut heap, &mut meter);
    Cost {
        fuel: meter.fuel_consumed(),
        words: heap.words_built(),
    }
}

/// Any text as a program, over types: it ends, and the same way when it is suspended after each unit.
pub fn any_program(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let parsed = Table::parse(text.as_bytes(), ptc_json::JsonLimits::depth(200));
    if parsed.is_err() {
        return;
    }
    for options in [super::STRICT, super::EDITION_1] {
        let whole = check(text, WORLD, options, None);
        let cut = check(text, WORLD, options, Some(quantum(text)));
        assert_eq!(whole, cut, "{text}");
        let plan = planned(text, options, None);
        let cut = planned(text, options, Some(quantum(text)));
        assert_eq!(plan, cut, "{text}");
        // What is kept of a compiled text says what the text says; of a compiled term, in whole and in pieces.
        for units in [None, Some(quantum(text))] {
            assert_eq!(check_compiled(text, options, false, units), whole, "{text}");
            assert_eq!(
                planned_compiled(text, options, false, units),
                plan,
                "{text}"
            );
        }
        let of_term = |units| {
            let checked = check_compiled(text, options, true, units);
            (checked, planned_compiled(text, options, true, units))
        };
        assert_eq!(of_term(Some(quantum(text))), of_term(None), "{text}");
    }
}

/// The fuel of a quantum in which each step of the check of this program can be done: a pattern is compiled in one.
pub fn quantum(program: &str) -> usize {
    match program.contains("pattern") {
        true => 1_000_000,
        false => 1,
    }
}

/// The data of the tests.
pub const WORLD: World<'static> = World {
    types: r#"{"rows": [{"id": "int", "name": "string", "amount": "float", "note": {"?": "string"},
        "tags": ["string"], "status": {"|": [{"=": "open"}, {"=": "paid"}]}, "to": {"city": "string"}}],
        "items": [{"id": "int", "n": "int"}], "n": "int", "any": "any", "map": "map", "on": "datetime"}"#,
    memory: r#"{"seen": ["int"]}"#,
    tools: r#"{"mail": [{"to": "string", "times": "int", "cc": {"?": "string"}}, {"sent": "bool"}]}"#,
    returns: "null",
};
