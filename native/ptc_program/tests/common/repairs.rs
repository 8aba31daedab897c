//! Properties of every text that is repaired.

use super::cost::{self, Cost};
use super::oracle::shown;
use super::rng::Rng;
use ptc_answer::repair::{repair, AtEnd, Refusal, Wanted};
use ptc_json::TermBuilder;
use ptc_term::heap::{Heap, Kind};
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::names::{candidates, Matching};
use ptc_term::number::Number;
use ptc_term::plain::PlainHeap;
use ptc_term::workspace::{unlimited, Workspace};
use ptc_type::{parse, AnswerType, Scalar, Signature, Type, TypeId, Types};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Types with every kind of part.
pub const SIGNATURES: &[&str] = &[
    "{a :int, b [:float]?}",
    "{items [{a :string?, b-c :keyword, n {a :bool}}]}",
    "[{a :int}]",
    "{user_id [[:int]], o {n :string?}?, m :map?}",
    "{a :any}",
    ":any",
];

const LIMITS: Limits = Limits {
    deadline: Deadline::Never,
    words: 50_000_000,
};

/// Fuel per byte of the text.
const FUEL_PER_BYTE: usize = 200;
/// Fuel of any repair.
const FIXED_FUEL: usize = 2_000_000;

/// Repairs a text and reads its value, to measure the cost. The fuel is linear in the text.
pub fn repair_cost(text: &[u8]) -> Cost {
    let signature = signature(text);
    let wanted = Wanted::new(AnswerType::new(signature.types, signature.returns, false));
    let (watch, mut heap) = (PlainHeap::new(), PlainHeap::new());
    let mut meter = cost::meter();
    if let Ok(found) = repair(text, &wanted, &mut meter, &watch) {
        let mut builder = TermBuilder::new(Workspace::in_one_go(&mut heap, &mut meter));
        if found.replay(&mut builder).is_ok() {
            builder.finish();
        }
        found.repairs();
    }
    let fuel = meter.fuel_consumed();
    cost::linear(text, text.len(), fuel, (FIXED_FUEL, FUEL_PER_BYTE));
    Cost {
        fuel,
        words: heap.words_built(),
    }
}

fn signature(text: &[u8]) -> Signature {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let mut rng = Rng::new(hasher.finish());
    parse(rng.pick(SIGNATURES).as_bytes()).expect("it is one")
}

/// Every repair terminates. Its value is of the type, and its repairs are ranges of the text, in order.
pub fn repaired(text: &[u8]) {
    let signature = signature(text);
    let (types, root) = (&signature.types, signature.returns);
    let mut wanted = Wanted::new(AnswerType::new(types.clone(), root, false));
    let ends = [AtEnd::CloseAll, AtEnd::CloseObjects, AtEnd::CloseNothing];
    wanted.at_end = ends[text.len() % ends.len()];
    let (watch, mut heap) = (PlainHeap::new(), PlainHeap::new());
    let mut meter = Meter::new(LIMITS, Pace::Quantum);
    let found = match repair(text, &wanted, &mut meter, &watch) {
        Ok(found) => found,
        Err(Refusal::NoReading) => return,
        Err(Refusal::Truncated(cut)) => {
            assert!(wanted.refuses_cut(), "{}", shown(text));
            assert!(cut.items.is_none() || !cut.after, "{}", shown(text));
            return;
        }
        Err(Refusal::Ambiguous(places)) => {
            assert!(!places.is_empty(), "{}", shown(text));
            assert!(places.iter().all(|at| *at <= text.len()), "{}", shown(text));
            return;
        }
        Err(Refusal::Stopped(stop)) => panic!("{stop:?}: {}", shown(text)),
    };
    let mut free = unlimited();
    let mut builder = TermBuilder::new(Workspace::in_one_go(&mut heap, &mut free));
    found.replay(&mut builder).expect("it has no limits");
    let value = builder.finish();
    assert!(
        is_of(&heap, types, value, root),
        "{}: {}",
        shown(text),
        heap.show(value)
    );
    let mut last = 0;
    for repair in found.repairs() {
        assert!(
            last <= repair.start && repair.start <= repair.end,
            "{}",
            shown(text)
        );
        assert!(
            repair.end <= text.len() && repair.line > 0 && repair.column > 0,
            "{}",
            shown(text)
        );
        last = repair.start;
    }
}

/// The rules of validation, for JSON values.
fn is_of(heap: &PlainHeap, types: &Types, value: <PlainHeap as Heap>::Term, id: TypeId) -> bool {
    let kind = heap.kind(value);
    match types.get(id) {
        Type::Where(of, _) => is_of(heap, types, value, of),
        Type::Optional(inner) => kind == Kind::Nil || is_of(heap, types, value, inner),
        Type::Scalar(scalar) => match scalar {
            Scalar::Any => true,
            Scalar::Bool => kind == Kind::Bool,
            Scalar::String | Scalar::DateTime | Scalar::Date => kind == Kind::String,
            Scalar::Int => matches!(heap.number(value), Some(Number::Int(_) | Number::Big(_))),
            Scalar::Float | Scalar::Number => kind == Kind::Number,
            Scalar::Decimal => matches!(kind, Kind::Number | Kind::String),
            Scalar::Map => kind == Kind::Map,
            Scalar::Keyword => matches!(kind, Kind::String | Kind::Nil | Kind::Bool),
        },
        Type::List(holds) => {
            let mut rest = value;
            while let Some((first, tail)) = heap.uncons(rest) {
                if !is_of(heap, types, first, holds) {
                    return false;
                }
                rest = tail;
            }
            heap.is_empty_list(rest)
        }
        Type::Map { fields, .. } => {
            if kind != Kind::Map {
                return false;
            }
            let entries = heap.entries(value);
            types.fields(fields).all(|field| {
                let named = |name: &Vec<u8>| {
                    let mut entries = entries.iter();
                    entries.find(|(key, _)| heap.bytes(*key) == Some(name))
                };
                let found = candidates(field.name, Matching::Lenient)
                    .iter()
                    .find_map(named);
                match found {
                    Some((_, value)) => is_of(heap, types, *value, field.holds),
                    None => {
                        matches!(types.get(field.holds), Type::Optional(_))
                            || matches!(
                                types.get(field.holds),
                                Type::Scalar(Scalar::Any | Scalar::Keyword)
                            )
                    }
                }
            })
        }
        Type::OneOf(_) | Type::Ref(_) | Type::Defs(..) => true,
        Type::MapOf(_) | Type::Unknown(_) => true,
    }
}

/// A text like an answer that is almost correct.
pub fn almost(rng: &mut Rng) -> Vec<u8> {
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"a\": ",
        "\"b\": ",
        "\"items\": [",
        "\"user_id\"",
        "'a'",
        "a",
        "userId",
        "1",
        "-2.5",
        "1,234",
        "+1",
        "null",
        "None",
        "True",
        "\"",
        "'",
        "“",
        "”",
        "\\",
        "\\'",
        "\n",
        "\t",
        " ",
        "// c\n",
        "/* c */",
        "#",
        "...",
        "```",
        "```json\n",
        "\"x \"y\" z\"",
        "\"[1]\"",
        "\"{\\\"n\\\": null}\"",
        "x\"",
        ";",
        "=",
        "=>",
        "é",
        "Here: ",
        "{\"a\": 1",
        "{\"a\": 1}",
        "\"b-c\": \"k\"",
        "\"n\": {\"a\": true}",
        "\"\"\"",
    ];
    let mut text = Vec::new();
    for _ in 0..1 + rng.below(24) {
        text.extend_from_slice(rng.pick(PIECES).as_bytes());
    }
    text
}
