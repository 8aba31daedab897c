//! Texts that are judged where they stand, compared with the check of what they are decoded to.

use super::model::{Choices, NAMES};
use super::{suspended, term, FREE};
use ptc_lazy::judging::Judging;
use ptc_term::heap::{Heap, Kind};
use ptc_term::meter::{Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;
use ptc_type::plain::heap_of_types;
use ptc_type::{read, Check, ReadOptions, Rules, State, Walk};
use std::mem::take;

/// A type.
#[derive(Debug, Clone)]
pub enum Ty {
    Scalar(&'static str),
    /// A type with rules, and values that keep them.
    Where(&'static str, &'static str, &'static [&'static str]),
    Optional(Box<Ty>),
    List(Box<Ty>, bool),
    Map(Vec<(&'static str, Ty)>, bool),
    MapOf(Box<Ty>),
    OneOf(Vec<Ty>, bool),
    /// An object with a list of such objects.
    Tree,
}

const SCALARS: [&str; 10] = [
    "string", "int", "float", "bool", "keyword", "map", "any", "datetime", "date", "decimal",
];

/// A type of numbers or texts, the rules, and values.
const RULED: [(&str, &str, &[&str]); 9] = [
    (
        "int",
        r#"[["()",":min",3],["()",":multiple_of",2]]"#,
        &["4", "36893488147419103232"],
    ),
    (
        "float",
        r#"[["()",":exclusive_max",2.5]]"#,
        &["-0", "2.4999", "1e-3", "-9e99"],
    ),
    (
        "string",
        r#"[["()",":min_length",2],["()",":max_length",3]]"#,
        &[r#""ab""#, r#""\u00e4\ud83d\ude00""#, r#""\\\"\n""#],
    ),
    (
        "string",
        r#"[["()",":pattern","^a+$"]]"#,
        &[r#""aa""#, r#""\u0061""#],
    ),
    (
        "string",
        r#"[["()",":enum",["open","b\n"]]]"#,
        &[r#""open""#, r#""b\u000a""#, r#""\u006fpen""#],
    ),
    (
        "string",
        r#"[["()",":format",":date"]]"#,
        &[r#""2024-02-29""#, r#""2024\u002d02-29""#],
    ),
    (
        "any",
        r#"[["()",":enum",[1,[2],{"a":[1.5]}]]]"#,
        &["1.0", "[2]", r#"{"\u0061":[1.5]}"#],
    ),
    ("decimal", r#"[["()",":min",1]]"#, &[r#""1.50""#]),
    ("keyword", r#"[["()",":enum",["ok",null]]]"#, &[r#""ok""#]),
];

/// Values of any kind, numbers in several spellings.
const VALUES: [&str; 24] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-0.0",
    "7",
    "1e2",
    "1.0",
    "123456789012345678901234567890",
    "-9223372036854775809",
    "1e400",
    "0.1e-400",
    r#""""#,
    r#""a""#,
    r#""not a keyword""#,
    r#""2024-02-29""#,
    r#""1.50""#,
    r#""\u00e4\n\\""#,
    "[]",
    "{}",
    r#"[1, "a", [null]]"#,
    r#"{"a": 1, "a": "x", "\u0061": []}"#,
    r#"{"a-b": {}, "a_b": 1}"#,
];

pub fn ty(choices: &mut Choices, depth: usize) -> Ty {
    match choices.below(if depth == 0 { 6 } else { 16 }) {
        0..=3 => Ty::Scalar(SCALARS[choices.below(SCALARS.len())]),
        4 | 5 => {
            let (of, rules, good) = RULED[choices.below(RULED.len())];
            Ty::Where(of, rules, good)
        }
        6 => Ty::Optional(Box::new(ty(choices, depth - 1))),
        7 | 8 => {
            let of = Box::new(ty(choices, depth - 1));
            Ty::List(of, choices.below(4) == 3)
        }
        9 => Ty::MapOf(Box::new(ty(choices, depth - 1))),
        10 => {
            let named = choices.below(2) == 1;
            let count = 1 + choices.below(3);
            Ty::OneOf((0..count).map(|_| ty(choices, depth - 1)).collect(), named)
        }
        11 => Ty::Tree,
        _ => {
            let closed = choices.below(3) == 2;
            let count = choices.below(5);
            let field = |choices: &mut Choices| {
                let name = NAMES[choices.below(NAMES.len())];
                (name, ty(choices, depth - 1))
            };
            Ty::Map((0..count).map(|_| field(choices)).collect(), closed)
        }
    }
}

impl Ty {
    /// The type as JSON: a text with a colon is an atom, a list that begins with `"()"` a tuple.
    pub fn text(&self) -> String {
        match self {
            Ty::Scalar(name) => format!(r#"":{name}""#),
            Ty::Where(of, rules, _) => format!(r#"["()",":where",":{of}",{rules}]"#),
            Ty::Optional(of) => format!(r#"["()",":optional",{}]"#, of.text()),
            Ty::List(of, false) => format!(r#"["()",":list",{}]"#, of.text()),
            Ty::List(of, true) => {
                let list = Ty::List(of.clone(), false).text();
                let rules = r#"[["()",":unique",true],["()",":max_items",12]]"#;
                format!(r#"["()",":where",{list},{rules}]"#)
            }
            Ty::Map(fields, closed) => {
                let tag = if *closed { "closed_map" } else { "map" };
                let field = |(name, of): &(&str, Ty)| format!(r#"["()","{name}",{}]"#, of.text());
                let fields: Vec<_> = fields.iter().map(field).collect();
                format!(r#"["()",":{tag}",[{}]]"#, fields.join(","))
            }
            Ty::MapOf(of) => format!(r#"["()",":map_of",{}]"#, of.text()),
            Ty::OneOf(all, named) => {
                let field = if *named { r#""a""# } else { "null" };
                let all: Vec<_> = all.iter().map(Ty::text).collect();
                format!(r#"["()",":one_of",[{}],{field}]"#, all.join(","))
            }
            Ty::Tree => {
                let list = r#"["()",":list",["()",":ref","n"]]"#;
                let node = format!(
                    r#"["()",":map",[["()","a",":int"],["()","more",["()",":optional",{list}]]]]"#
                );
                format!(r#"["()",":defs",{{"n":{node}}},["()",":ref","n"]]"#)
            }
        }
    }

    /// A value that is mostly of the type.
    pub fn value(&self, choices: &mut Choices, depth: usize) -> String {
        if choices.below(24) == 23 {
            return VALUES[choices.below(VALUES.len())].into();
        }
        let below = depth.saturating_sub(1);
        let pick = |choices: &mut Choices, all: &[&str]| all[choices.below(all.len())].to_owned();
        match self {
            Ty::Scalar("string") => pick(choices, &[r#""a""#, r#""\ud83d\ude00 b""#, r#""""#]),
            Ty::Scalar("int") => pick(choices, &["1", "-12", "123456789012345678901234567890"]),
            Ty::Scalar("float") => pick(choices, &["1.5", "2", "1E3", "-0.0"]),
            Ty::Scalar("bool") => pick(choices, &["true", "false"]),
            Ty::Scalar("keyword") => pick(choices, &[r#""ok""#, "null", r#""\u006fk""#]),
            Ty::Scalar("map") => pick(choices, &["{}", r#"{"b":[{}]}"#]),
            Ty::Scalar("decimal") => pick(choices, &[r#""1.5""#, r#""-0\u002e1""#]),
            Ty::Scalar(_) => VALUES[choices.below(VALUES.len())].into(),
            Ty::Where(_, _, good) => pick(choices, good),
            Ty::Optional(_) if choices.below(3) == 0 => "null".into(),
            Ty::Optional(of) => of.value(choices, depth),
            Ty::List(of, unique) => {
                let count = if *unique { 2 } else { choices.below(14) };
                let items: Vec<_> = (0..count).map(|_| of.value(choices, below)).collect();
                format!("[{}]", items.join(&blank(choices, ",")))
            }
            Ty::Map(fields, _) => {
                let mut members = Vec::new();
                for (name, of) in fields {
                    if choices.below(24) < 23 {
                        let name = match choices.below(8) {
                            0 => name.replace('_', "-"),
                            1 => name.replace('-', "_"),
                            _ => name.to_string(),
                        };
                        let value = of.value(choices, below);
                        let colon = blank(choices, ":");
                        members.push(format!("{}{colon}{value}", key(choices, &name)));
                    }
                }
                if choices.below(8) == 7 && !members.is_empty() {
                    members.push(members[choices.below(members.len())].clone());
                }
                let more = [0, 0, 0, 0, 0, 0, 1, 40][choices.below(8)];
                members.extend((0..more).map(|n| format!(r#""more {n:02}":[{{}},{n}]"#)));
                if choices.below(4) == 3 {
                    members.reverse();
                }
                object(choices, members)
            }
            Ty::MapOf(of) => {
                let count = choices.below(6);
                let member = |choices: &mut Choices| {
                    let name = NAMES[choices.below(NAMES.len())];
                    format!("{}:{}", key(choices, name), of.value(choices, below))
                };
                let members = (0..count).map(|_| member(choices)).collect();
                object(choices, members)
            }
            Ty::OneOf(all, _) => all[choices.below(all.len())].value(choices, below),
            Ty::Tree => {
                let count = if depth == 0 { 0 } else { choices.below(4) };
                let trees = (0..count).map(|_| Ty::Tree.value(choices, below));
                let trees: Vec<_> = trees.collect();
                let more = format!(r#""more":[{}]"#, trees.join(","));
                object(choices, vec![r#""a":1"#.into(), more])
            }
        }
    }
}

fn blank(choices: &mut Choices, sign: &str) -> String {
    ["", " ", "\n\t"][choices.below(3)].to_owned() + sign
}

fn object(choices: &mut Choices, members: Vec<String>) -> String {
    format!("{{{}}}", members.join(&blank(choices, ",")))
}

/// A key as JSON, now and then with escapes.
fn key(choices: &mut Choices, name: &str) -> String {
    let escaped = choices.below(6) == 5;
    let character = |character: char| match escaped {
        true => format!("\\u{:04x}", character as u32),
        false => character.to_string(),
    };
    format!("\"{}\"", name.chars().map(character).collect::<String>())
}

/// Reads a type as [`Ty::text`] writes it.
fn of_text(heap: &mut PlainHeap, json: Term) -> Term {
    match heap.kind(json) {
        Kind::String => {
            let text = String::from_utf8_lossy(heap.bytes(json).unwrap_or_default()).into_owned();
            match text.strip_prefix(':') {
                Some(name) => heap.atom(name),
                None => json,
            }
        }
        Kind::List => {
            let (mut all, mut rest) = (Vec::new(), json);
            while let Some((item, tail)) = heap.uncons(rest) {
                all.push(of_text(heap, item));
                rest = tail;
            }
            match all.split_first() {
                Some((first, parts)) if heap.bytes(*first) == Some(b"()") => heap.tuple(parts),
                _ => heap.make_list(&all),
            }
        }
        Kind::Map => {
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for (key, value) in heap.entries(json) {
                keys.push(key);
                values.push(of_text(heap, value));
            }
            heap.make_map(&keys, &values)
        }
        _ => json,
    }
}

/// Whether what a text is decoded to is of a type.
fn is_valid(heap: &mut PlainHeap, text: &str, of: Term) -> bool {
    let Ok(value) = term(heap, text) else {
        return false;
    };
    let mut meter = Meter::new(FREE, Pace::Quantum).with_quantum(super::LONG);
    let read = read(heap, of, ReadOptions::VALUES, &mut meter).expect("there is time");
    let (ptc_type::Read { types, rules, .. }, id) = read;
    let state = State::new((value, id), Check::by(Rules::default())).ruled(rules);
    let mut walk = Walk::new(heap, &types, state, (meter, Pace::Quantum));
    walk.run().is_ok() && walk.state.findings.count() == 0
}

/// Judges a text; `units`: the fuel of each execution, after which it is suspended.
pub fn judged(
    heap: &mut PlainHeap,
    text: &str,
    of: Term,
    units: Option<usize>,
    pace: Pace,
) -> bool {
    let nil = heap.nil();
    let mut judging = Judging::new((nil, of), Rules::default());
    let mut more = 0;
    loop {
        let pace = if judging.needs_quantum() {
            Pace::Quantum
        } else {
            pace
        };
        let mut meter = match units {
            // The type, and some lists, are read in one go.
            Some(units) => Meter::with_fuel_at(pace, FREE, units + more / 64),
            None => Meter::new(FREE, Pace::Quantum).with_quantum(super::LONG),
        };
        let (judged, below) = judging.step(text.as_bytes(), take(heap), &mut meter);
        *heap = below;
        match judged {
            Ok(judged) => return judged,
            Err(Stop::SliceOver) => judging = suspended(judging, heap),
            Err(stop) => panic!("{stop:?}"),
        }
        more += 1;
        assert!(more < 10_000_000, "it does not end");
    }
}

/// Any bytes are a type and a text, which is judged as what it is decoded to. Returns whether it has the type.
pub fn judge(bytes: &[u8]) -> bool {
    let mut choices = Choices(bytes);
    let of = ty(&mut choices, 4);
    let mut text = blank(&mut choices, "") + &of.value(&mut choices, 5) + " ";
    if choices.below(24) == 23 {
        text.truncate(text.floor_char_boundary(choices.below(text.len())));
    }
    let units = [1, 2 + choices.below(3), 5 + choices.below(200)];
    same(&of.text(), &text, &units)
}

/// A text is judged as what it is decoded to, in one go and suspended after these units of fuel.
pub fn same(of: &str, text: &str, units: &[usize]) -> bool {
    let mut heap = heap_of_types();
    let shown = || format!("{of}\n{text}");
    let of = term(&mut heap, of).expect("JSON");
    let of = of_text(&mut heap, of);
    let expected = is_valid(&mut heap, text, of);
    let one_go = judged(&mut heap, text, of, None, Pace::Quantum);
    assert_eq!(one_go, expected, "{}", shown());
    for units in units {
        for pace in [Pace::Quantum, Pace::Slice] {
            let parts = judged(&mut heap, text, of, Some(*units), pace);
            assert_eq!(parts, expected, "{units} units, {pace:?}\n{}", shown());
        }
    }
    expected
}
