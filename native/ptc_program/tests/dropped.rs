//! Dropped items are not built, and the results do not change: a list that goes directly to an
//! operation that drops items is built in part; with a name in between, the same list is built in full.

use crate::common::generate;
use crate::common::rng::Rng;
use crate::common::{End, Lab, STRICT};
use ptc_program::compile::Options;
use ptc_term::heap::Heap;
use ptc_term::plain::PlainHeap;

/// Operations that make a list, item by item; some fail for some items.
const MAKE: &[&str] = &[
    r#"{"op":"select","fields":["a","n"]}"#,
    r#"{"op":"select","fields":[]}"#,
    r#"{"op":"sort_by","field":"n"}"#,
    r#"{"op":"sort_by","field":"a","order":"desc"}"#,
    r#"{"op":"filter","where":{"op":"gt","field":"n","value":1}}"#,
    r#"{"op":"reject","where":{"op":"eq","field":"a","value":1}}"#,
    r#"{"op":"filter","where":{"op":"and","conditions":[{"op":"gt","field":"n","value":0},{"op":"neq","field":"a","value":null}]}}"#,
    r#"{"op":"filter","where":{"op":"or","conditions":[{"op":"lt","field":"n","value":0},{"op":"eq","field":"a","value":"a"}]}}"#,
    r#"{"op":"map","expr":{"op":"get","field":"n"}}"#,
    r#"{"op":"map","expr":{"op":"get","path":["b","a"]}}"#,
    r#"{"op":"map","expr":{"x":{"op":"get","field":"a"},"y":{"op":"get","path":["b","a"]}}}"#,
    r#"{"op":"map","expr":{"x":{"op":"get","field":"a"},"y":{"op":"literal","value":[1]}}}"#,
    r#"{"op":"map","expr":{"x":{"op":"add","left":{"op":"get","field":"n"},"right":1},"y":{"op":"get","path":["b","a"]}}}"#,
    r#"{"op":"map","expr":{"x":{"op":"add","left":1,"right":{"op":"literal","value":"a"}}}}"#,
    r#"{"op":"map","expr":{"op":"not","condition":{"op":"gt","field":"n","value":1}}}"#,
    r#"{"op":"map","expr":{"op":"if","condition":{"op":"get","field":"a"},"then":{"op":"get","path":["b","a"]},"else":{"op":"keys"}}}"#,
    r#"{"op":"map","expr":{"op":"var","name":"__input"}}"#,
    r#"{"op":"map","expr":{"op":"load","name":"a"}}"#,
];

/// Operations that read a part of their list.
const KEEP: &[&str] = &[
    r#"{"op":"count"}"#,
    r#"{"op":"first"}"#,
    r#"{"op":"last"}"#,
    r#"{"op":"nth","index":0}"#,
    r#"{"op":"nth","index":2}"#,
    r#"{"op":"take","count":0}"#,
    r#"{"op":"take","count":1}"#,
    r#"{"op":"take","count":3}"#,
    r#"{"op":"take","count":40}"#,
    r#"{"op":"take","count":100000000000000000000}"#,
];

/// The steps as one pipe, and with a name for each value.
fn programs(steps: &[&str]) -> (String, String) {
    let load = r#"{"op":"load","name":"items"}"#;
    let pipe = format!(r#"{{"op":"pipe","steps":[{load},{}]}}"#, steps.join(","));
    let named = steps.iter().fold(load.to_string(), |value, step| {
        let body = format!(r#"{{"op":"pipe","steps":[{{"op":"var","name":"v"}},{step}]}}"#);
        format!(r#"{{"op":"let","name":"v","value":{value},"in":{body}}}"#)
    });
    (pipe, named)
}

fn lab(program: &str, context: &str) -> Lab {
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT);
    let lab = lab.unwrap_or_else(|end| panic!("{program}: {end:?}"));
    lab.given(context, "{}")
}

fn same(steps: &[&str], context: &str, units: impl FnMut() -> usize) -> End {
    let (pipe, named) = programs(steps);
    let end = lab(&named, context).in_one_go();
    assert_eq!(end, lab(&pipe, context).in_one_go(), "{pipe}\n{context}");
    let cut = lab(&pipe, context).in_executions(units);
    assert_eq!(end, cut, "cut up: {pipe}\n{context}");
    end
}

#[test]
fn the_same_value_and_the_same_fault() {
    let mut rng = Rng::new(31);
    let (mut values, mut faults) = (0, 0);
    for _ in 0..4_000 {
        let mut steps: Vec<&str> = (0..1 + rng.below(3)).map(|_| rng.pick(MAKE)).collect();
        steps.push(rng.pick(KEEP));
        if rng.once_in(4) {
            steps.push(rng.pick(MAKE));
        }
        let context = match rng.below(3) {
            0 => generate::context(&mut rng),
            _ => context(&mut rng),
        };
        let longest = 1 + rng.below(40);
        let mut cuts = Rng::new(rng.below(1_000_000) as u64);
        match same(&steps, &context, || 1 + cuts.below(longest)) {
            End::Value(_) => values += 1,
            _ => faults += 1,
        }
    }
    assert!(
        values > 500 && faults > 500,
        "{values} values, {faults} faults"
    );
}

/// Many items with equal keys; one in thirty makes a path fail.
fn context(rng: &mut Rng) -> String {
    let items: Vec<String> = (0..rng.below(100))
        .map(|index| {
            let (a, n) = (rng.below(5), rng.below(20));
            let n = if rng.once_in(30) {
                "null".to_string()
            } else {
                n.to_string()
            };
            let b = match rng.below(30) {
                0 => "7".to_string(),
                1 => r#""b""#.to_string(),
                _ => format!(r#"{{"a":{index}}}"#),
            };
            format!(r#"{{"a":{a},"b":{b},"n":{n}}}"#)
        })
        .collect();
    format!(r#"{{"items":[{}],"a":1}}"#, items.join(","))
}

#[test]
fn leaving_after_every_unit() {
    let items: Vec<String> = (0..200)
        .map(|n| {
            format!(
                r#"{{"a":{},"b":{{"a":{n}}},"n":{}}}"#,
                n % 7,
                n * 7_919 % 1_009
            )
        })
        .collect();
    let context = format!(r#"{{"items":[{}],"a":1}}"#, items.join(","));
    for make in MAKE {
        for keep in KEEP {
            same(&[make, keep], &context, || 1);
        }
    }
}

/// This lab with a heap limit of a few maps.
fn small(mut lab: Lab) -> Lab {
    lab.limits.words = lab.heap.words_built() + 200;
    lab
}

#[test]
fn a_list_that_is_not_built_takes_no_words() {
    let items: Vec<String> = (0..1_000)
        .map(|n| format!(r#"{{"a":{n},"n":{n}}}"#))
        .collect();
    let context = format!(r#"{{"items":[{}]}}"#, items.join(","));
    for make in [MAKE[0], MAKE[11]] {
        for keep in [KEEP[0], KEEP[1], KEEP[2], KEEP[7]] {
            let (pipe, named) = programs(&[make, keep]);
            let mut lean = small(lab(&pipe, &context));
            assert!(matches!(lean.in_one_go(), End::Value(_)), "{pipe}");
            let mut whole = small(lab(&named, &context));
            assert_eq!(whole.in_one_go(), End::MemoryExceeded, "{named}");
        }
    }
}

/// An error that occurs for every item is found with the first one, so at least one item is made.
#[test]
fn what_fails_for_all_items_fails_where_none_is_kept() {
    let fails = [
        (STRICT, MAKE[13]),
        (
            Options {
                strict: true,
                ..STRICT
            },
            r#"{"op":"map","expr":{"op":"load","name":"none"}}"#,
        ),
    ];
    let context = r#"{"items":[{"a":1,"n":2},{"a":3,"n":4}]}"#;
    for (options, fail) in fails {
        for make in [MAKE[0], MAKE[8], MAKE[17]] {
            for keep in KEEP {
                for program in <[String; 2]>::from(programs(&[make, fail, keep])) {
                    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), options);
                    let lab = lab.unwrap_or_else(|end| panic!("{program}: {end:?}"));
                    let end = lab.given(context, "{}").in_one_go();
                    assert!(matches!(end, End::Fault(_)), "{program}: {end:?}");
                }
            }
        }
    }
}
