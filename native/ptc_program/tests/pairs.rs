//! Rows of a join that are only read by field are not put together, and the results do not change: a join that goes directly
//! to a loop gives it pairs; with a name in between, the rows are built.

use crate::common::rng::Rng;
use crate::common::{End, Lab, STRICT};
use ptc_term::heap::Heap;
use ptc_term::plain::PlainHeap;

const JOIN: &[&str] = &[
    r#"{"op":"join","with":{"op":"load","name":"with"},"on":"k"}"#,
    r#"{"op":"join","with":{"op":"load","name":"with"},"on":"k","kind":"left"}"#,
    r#"{"op":"join","with":{"op":"load","name":"with"},"left":"k","right":"n"}"#,
];

/// Joins whose rows are built.
const BUILT: &[&str] = &[
    r#"{"op":"join","with":{"op":"load","name":"with"},"on":"k","as":"m"}"#,
    r#"{"op":"join","with":{"op":"load","name":"with"},"on":"k","kind":"group","as":"m"}"#,
];

/// Steps that read their rows by field.
const BY_FIELD: &[&str] = &[
    r#"{"op":"set","fields":{"x":{"op":"mul","left":{"op":"get","field":"n"},"right":{"op":"get","field":"d"}}}}"#,
    r#"{"op":"set","fields":{"n":{"op":"get","field":"d"},"d":{"op":"get","field":"n"},"k":1}}"#,
    r#"{"op":"set","fields":{"x":{"op":"get","field":"none"},"y":{"op":"get","field":"d","default":"?"}}}"#,
    r#"{"op":"set","fields":{"x":{"op":"if","condition":{"op":"gt","left":{"op":"get","field":"d"},"value":3},"then":{"op":"get","field":"n"},"else":"small"}}}"#,
    r#"{"op":"map","expr":{"op":"get","field":"d"}}"#,
    r#"{"op":"map","expr":{"k":{"op":"get","field":"k"},"d":{"op":"get","field":"d"},"l":[{"op":"get","field":"n"},1]}}"#,
    r#"{"op":"map","expr":{"op":"div","left":{"op":"get","field":"n"},"right":{"op":"get","field":"d"}}}"#,
    r#"{"op":"map","expr":{"op":"round","value":{"op":"get","field":"d"}}}"#,
];

/// Steps that need whole rows.
const WHOLE: &[&str] = &[
    r#"{"op":"set","fields":{}}"#,
    r#"{"op":"set","fields":{"x":{"op":"get","path":["k","d"]}}}"#,
    r#"{"op":"set","fields":{"x":{"op":"var","name":"__input"}}}"#,
    r#"{"op":"set","fields":{"x":{"op":"gt","field":"d","value":3}}}"#,
    r#"{"op":"set","fields":{"x":{"op":"pipe","steps":[{"op":"keys"},{"op":"count"}]}}}"#,
    r#"{"op":"map","expr":{"op":"keys"}}"#,
    r#"{"op":"map","as":"row","expr":{"op":"get","from":{"op":"var","name":"row"},"field":"d"}}"#,
    r#"{"op":"map","expr":{"op":"set","fields":{"x":1}}}"#,
    r#"{"op":"filter","where":{"op":"gt","field":"d","value":3}}"#,
    r#"{"op":"select","fields":["k","d"]}"#,
    r#"{"op":"sort_by","field":"d"}"#,
];

/// What is done with the new rows.
const THEN: &[&str] = &[
    r#"{"op":"count"}"#,
    r#"{"op":"first"}"#,
    r#"{"op":"take","count":2}"#,
    r#"{"op":"sum","field":"x"}"#,
    r#"{"op":"set","fields":{"z":{"op":"get","field":"x"}}}"#,
    r#"{"op":"join","with":{"op":"load","name":"with"},"on":"k"},{"op":"set","fields":{"w":{"op":"get","field":"d"}}}"#,
];

fn lab(program: &str, context: &str) -> Lab {
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT);
    let lab = lab.unwrap_or_else(|end| panic!("{program}: {end:?}"));
    lab.given(context, "{}")
}

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

fn same(steps: &[&str], context: &str, units: impl FnMut() -> usize) -> End {
    let (pipe, named) = programs(steps);
    let end = lab(&named, context).in_one_go();
    assert_eq!(end, lab(&pipe, context).in_one_go(), "{pipe}\n{context}");
    let cut = lab(&pipe, context).in_executions(units);
    assert_eq!(end, cut, "cut up: {pipe}\n{context}");
    end
}

/// Rows of several shapes; one in thirty has no number.
fn rows(rng: &mut Rng, field: &str) -> String {
    let rows: Vec<String> = (0..rng.below(40))
        .map(|index| {
            let number = match rng.below(30) {
                0 => "null".to_string(),
                1 => r#""text""#.to_string(),
                _ => (1 + rng.below(9)).to_string(),
            };
            match rng.below(12) {
                0 => format!(
                    r#"{{"k":{},"{field}":{number},"own":[{index}]}}"#,
                    rng.below(20)
                ),
                1 => format!(r#"{{"{field}":{number}}}"#),
                2 => format!(r#"{{"k":null,"n":{number},"d":{number}}}"#),
                3 => format!(r#"{{"k":{},"d":null,"n":{number}}}"#, rng.below(20)),
                _ => format!(r#"{{"k":{},"{field}":{number}}}"#, rng.below(20)),
            }
        })
        .collect();
    format!("[{}]", rows.join(","))
}

fn context(rng: &mut Rng) -> String {
    let (items, with) = (rows(rng, "n"), rows(rng, "d"));
    format!(r#"{{"items":{items},"with":{with}}}"#)
}

#[test]
fn the_same_value_and_the_same_fault() {
    let mut rng = Rng::new(57);
    let (mut values, mut faults) = (0, 0);
    for _ in 0..3_000 {
        let join = match rng.once_in(5) {
            true => rng.pick(BUILT),
            false => rng.pick(JOIN),
        };
        let used = match rng.once_in(4) {
            true => rng.pick(WHOLE),
            false => rng.pick(BY_FIELD),
        };
        let mut steps = vec![join, used];
        if rng.once_in(2) {
            steps.push(rng.pick(THEN));
        }
        let context = context(&mut rng);
        let longest = 1 + rng.below(40);
        let mut cuts = Rng::new(rng.below(1_000_000) as u64);
        match same(&steps, &context, || 1 + cuts.below(longest)) {
            End::Value(_) => values += 1,
            _ => faults += 1,
        }
    }
    assert!(
        values > 500 && faults > 100,
        "{values} values, {faults} faults"
    );
}

#[test]
fn leaving_after_every_unit() {
    let mut rng = Rng::new(3);
    let context = context(&mut rng);
    for join in JOIN {
        for used in BY_FIELD {
            same(&[join, used], &context, || 1);
        }
    }
}

#[test]
fn rows_that_are_read_by_field_are_not_built() {
    let rows = |field: &str| {
        let rows: Vec<String> = (0..100)
            .map(|n| format!(r#"{{"k":{n},"{field}":2}}"#))
            .collect();
        rows.join(",")
    };
    let context = format!(r#"{{"items":[{}],"with":[{}]}}"#, rows("n"), rows("d"));
    let words = |program: &str| {
        let mut lab = lab(program, &context);
        lab.heap.give();
        let is_value = matches!(lab.in_one_go(), End::Value(_));
        is_value.then(|| lab.heap.words_built())
    };
    for join in &JOIN[..2] {
        for (used, is_by_field) in [(BY_FIELD, true), (WHOLE, false)] {
            for step in used {
                let (pipe, named) = programs(&[join, step]);
                let (Some(built), Some(fewer)) = (words(&named), words(&pipe)) else {
                    assert!(!is_by_field, "{step}");
                    continue;
                };
                // A row of three fields takes ten words, a pair two.
                assert_eq!(built - fewer >= 100 * 8, is_by_field, "{step}");
            }
        }
    }
}

#[test]
fn rows_of_another_branch_and_rows_that_are_read_again_are_built() {
    let context = r#"{"items":[{"k":1,"n":2}],"with":[{"k":1,"d":3}],"b":true}"#;
    let (join, set) = (JOIN[0], BY_FIELD[0]);
    let joined = r#"[%{"d" => 3, "k" => 1, "n" => 2, "x" => 6}]"#;
    let items = r#"{"op":"load","name":"items"}"#;
    let rows = format!(r#"{{"op":"pipe","steps":[{items},{join}]}}"#);
    for (program, expected) in [
        (
            format!(
                r#"{{"op":"pipe","steps":[{{"op":"if","condition":{{"op":"load","name":"b"}},"then":[{{"n":2,"d":4}}],"else":{rows}}},{set}]}}"#
            ),
            r#"[%{"d" => 4, "n" => 2, "x" => 8}]"#.to_string(),
        ),
        (
            format!(
                r#"{{"op":"pipe","steps":[{{"op":"if","condition":{{"op":"load","name":"none"}},"then":[{{"n":2,"d":4}}],"else":{rows}}},{set}]}}"#
            ),
            joined.to_string(),
        ),
        (
            format!(
                r#"{{"op":"pipe","steps":[{{"op":"if","condition":{{"op":"load","name":"none"}},"else":[{{"n":2,"d":4}}],"then":{rows}}},{set}]}}"#
            ),
            r#"[%{"d" => 4, "n" => 2, "x" => 8}]"#.to_string(),
        ),
        (
            format!(
                r#"{{"op":"let","name":"__input","value":{rows},"in":[{set},{{"op":"first"}}]}}"#
            ),
            format!(r#"[{joined}, %{{"d" => 3, "k" => 1, "n" => 2}}]"#),
        ),
        (
            format!(
                r#"{{"op":"pipe","steps":[{{"op":"literal","value":[1,2]}},{{"op":"map","expr":{{"op":"pipe","steps":[{items},{join},{set}]}}}}]}}"#
            ),
            format!("[{joined}, {joined}]"),
        ),
    ] {
        assert_eq!(
            lab(&program, context).in_one_go(),
            End::Value(expected),
            "{program}"
        );
    }
}
