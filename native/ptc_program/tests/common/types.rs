//! Checks of types on plain values, with text as input and output.

use super::{load_options, suspended, term};
use ptc_json::Document;
use ptc_program::compile::Options;
use ptc_program::typing::finding::Severity;
use ptc_program::typing::job::{Check, CheckedProgram, GivenTypes, PathStep};
use ptc_program::typing::ty::{Ty, TyId, Types};
use ptc_term::heap::{Heap, Kind};
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;

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

/// Begins a check of a program, without the `{"program": …}` around it.
pub fn begin(program: &str, world: World, options: Options) -> (PlainHeap, Check<Term>, String) {
    let mut heap = PlainHeap::new();
    let given = GivenTypes {
        types: scope(&mut heap, world.types, false),
        memory: scope(&mut heap, world.memory, false),
        tools: scope(&mut heap, world.tools, true),
        returns: {
            let json = term(&mut heap, world.returns).expect("JSON");
            type_term(&mut heap, json)
        },
    };
    let text = format!(r#"{{"program":{program}}}"#);
    let check = Check::of_text(text.len(), load_options(options), given);
    (heap, check, text)
}

/// Checks a program; `units`: the fuel of each quantum, after which it is suspended.
pub fn check(
    program: &str,
    world: World,
    options: Options,
    units: Option<usize>,
) -> Option<Outcome> {
    let (mut heap, mut check, text) = begin(program, world, options);
    loop {
        let mut meter = match units {
            Some(units) => Meter::with_fuel(Limits::UNLIMITED, units),
            None => Meter::whole(Limits::UNLIMITED, Pace::Quantum),
        };
        match check.step(text.as_bytes(), &mut heap, &mut meter) {
            Ok(Ok(())) => {
                return check
                    .finish(text.as_bytes())
                    .map(|checked| outcome(&checked))
            }
            Ok(Err(_)) => return None,
            Err(Stop::SliceOver) if units.is_some() => check = suspended(check, &mut heap),
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

fn outcome(checked: &CheckedProgram) -> Outcome {
    let types = &checked.walk.types;
    let step = |step: &PathStep| match step {
        PathStep::Key(key) => String::from_utf8_lossy(key).into_owned(),
        PathStep::Index(index) => index.to_string(),
    };
    let finding = |(finding, path): &(ptc_program::typing::finding::Finding, Vec<PathStep>)| {
        let severity = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let path: Vec<_> = path.iter().map(step).collect();
        use ptc_term::named::Named;
        format!("{severity} {} {}", finding.code.name(), path.join("/"))
    };
    Outcome {
        ty: shown(types, checked.result, 0),
        findings: checked.findings.iter().map(finding).collect(),
        reads: checked
            .reads
            .iter()
            .map(|it| String::from_utf8_lossy(it).into_owned())
            .collect(),
    }
}

/// A type as text.
pub fn shown(types: &Types, id: TyId, depth: usize) -> String {
    let name = |id| String::from_utf8_lossy(types.names.get(id)).into_owned();
    if depth > 8 {
        return "…".into();
    }
    match types.get(id) {
        Ty::Unknown => "any".into(),
        Ty::NoInput => "no input".into(),
        Ty::Never => "never".into(),
        Ty::Null => "null".into(),
        Ty::Bool => "bool".into(),
        Ty::Int => "int".into(),
        Ty::Number => "number".into(),
        Ty::Text => "text".into(),
        Ty::Moment => "datetime".into(),
        Ty::Keyword => "keyword".into(),
        Ty::BoolOf(value) => value.to_string(),
        Ty::IntOf(value) => value.to_string(),
        Ty::FloatOf(bits) => f64::from_bits(bits).to_string(),
        Ty::TextOf(text) => format!("\"{}\"", name(text)),
        Ty::List(item) => format!("[{}]", shown(types, item, depth + 1)),
        Ty::Object(span, open) => {
            let mut fields: Vec<_> = types
                .fields(span)
                .iter()
                .map(|field| {
                    let mark = if field.optional { "?" } else { "" };
                    format!(
                        "{}{mark} {}",
                        name(field.name),
                        shown(types, field.ty, depth + 1)
                    )
                })
                .collect();
            fields.sort();
            fields.extend(open.then(|| "…".to_string()));
            format!("{{{}}}", fields.join(", "))
        }
        Ty::Union(_) => {
            let members = types.members(&id).iter();
            let mut members: Vec<_> = members.map(|it| shown(types, *it, depth + 1)).collect();
            members.sort();
            members.join("|")
        }
    }
}

/// Any text as a program, over types: it ends, and the same way when it is suspended after each unit.
pub fn any_program(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let parsed = Document::parse(text.as_bytes(), ptc_json::JsonLimits::depth(200));
    if parsed.is_err() {
        return;
    }
    for options in [super::STRICT, super::EDITION_1] {
        let whole = check(text, WORLD, options, None);
        let cut = check(text, WORLD, options, Some(quantum(text)));
        assert_eq!(whole, cut, "{text}");
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
