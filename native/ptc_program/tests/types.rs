//! Types through programs: the rule of each operation, findings, reads, suspension, limits.

use crate::common::generate;
use crate::common::rng::Rng;
use crate::common::types::{any_program, begin, check, quantum, Outcome, World, WORLD};
use crate::common::{EDITION_1, STRICT};
use ptc_term::job::Job;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::stop::Stop;

fn checked(program: &str) -> Outcome {
    let whole = check(program, WORLD, STRICT, None).unwrap_or_else(|| panic!("{program}"));
    let cut = check(program, WORLD, STRICT, Some(quantum(program))).expect("it is a program");
    assert_eq!(whole, cut, "{program}");
    whole
}

/// A pipe over the rows.
fn over(steps: &str) -> Outcome {
    checked(&format!(
        r#"{{"op":"pipe","steps":[{{"op":"load","name":"rows"}},{steps}]}}"#
    ))
}

fn findings(outcome: &Outcome) -> Vec<&str> {
    outcome.findings.iter().map(String::as_str).collect()
}

#[track_caller]
fn is(steps: &str, ty: &str) {
    let outcome = over(steps);
    assert_eq!(
        (outcome.ty.as_str(), findings(&outcome)),
        (ty, vec![]),
        "{steps}"
    );
}

#[track_caller]
fn finds(steps: &str, wanted: &[&str]) {
    let outcome = over(steps);
    assert_eq!(findings(&outcome), wanted, "{steps}");
}

const ROW: &str = r#"{amount number, id int, name text, note? null|text, status "open"|"paid", tags [text], to {city text}}"#;

#[test]
fn lists_keep_their_items() {
    let rows = format!("[{ROW}]");
    for step in [
        r#"{"op":"filter","where":{"op":"gt","field":"amount","value":1}}"#,
        r#"{"op":"reject","where":{"op":"eq","field":"status","value":"open"}}"#,
        r#"{"op":"sort_by","field":"name","order":"desc"}"#,
        r#"{"op":"sort_by","by":[{"field":"name"},{"expr":{"op":"get","field":"id"}}]}"#,
        r#"{"op":"filter_in","field":"id","value":[1,2]}"#,
        r#"{"op":"take","count":2}"#,
        r#"{"op":"drop","count":2}"#,
        r#"{"op":"reverse"}"#,
        r#"{"op":"distinct","field":"name"}"#,
    ] {
        is(step, &rows);
    }
    is(r#"{"op":"chunk","size":2}"#, &format!("[{rows}]"));
    is(r#"{"op":"chunk","size":2},{"op":"flatten"}"#, &rows);
}

#[test]
fn items_and_fields() {
    is(
        r#"{"op":"map","expr":{"op":"get","field":"name"}}"#,
        "[text]",
    );
    is(
        r#"{"op":"map","expr":{"op":"get","field":"note"}}"#,
        "[null|text]",
    );
    is(
        r#"{"op":"map","expr":{"op":"get","path":["to","city"]}}"#,
        "[text]",
    );
    is(
        r#"{"op":"map","expr":{"op":"get","field":"note","default":"-"}}"#,
        r#"["-"|text]"#.replace(r#""-"|"#, "").as_str(),
    );
    is(r#"{"op":"first"},{"op":"get","field":"id"}"#, "int|null");
    is(
        r#"{"op":"select","fields":["id","note"]}"#,
        "[{id int, note? null|text}]",
    );
    is(
        r#"{"op":"flat_map","expr":{"op":"get","field":"tags"}}"#,
        "[text]",
    );
    is(
        r#"{"op":"unset","fields":["amount","name","note","status","tags","to"]}"#,
        "[{id int}]",
    );
    is(
        r#"{"op":"select","fields":["id"]},{"op":"rename","fields":{"id":"key"}}"#,
        "[{key int}]",
    );
    is(
        r#"{"op":"select","fields":["id"]},{"op":"set","fields":{"n":{"op":"add","left":{"op":"get","field":"id"},"right":1}}}"#,
        "[{id int, n int}]",
    );
    is(
        r#"{"op":"first"},{"op":"coalesce","values":[{"op":"get","field":"note"},"none"]}"#,
        "text",
    );
}

#[test]
fn what_is_computed_of_lists() {
    is(r#"{"op":"count"}"#, "int");
    is(
        r#"{"op":"count","where":{"op":"contains","field":"name","value":"x"}}"#,
        "int",
    );
    is(r#"{"op":"sum","field":"amount"}"#, "number");
    is(r#"{"op":"sum","field":"id"}"#, "int");
    is(r#"{"op":"avg","field":"id"}"#, "null|number");
    is(r#"{"op":"median","field":"id"}"#, "null|number");
    is(r#"{"op":"max","field":"name"}"#, "null|text");
    is(
        r#"{"op":"some","where":{"op":"in","field":"id","value":[1]}}"#,
        "bool",
    );
    is(
        r#"{"op":"min_by","field":"id"},{"op":"get","field":"name"}"#,
        "null|text",
    );
    // An object with any fields may have a "result", which is then the result of the program.
    is(r#"{"op":"index_by","field":"id"}"#, "any");
    is(r#"{"op":"index_by","field":"id"},{"op":"keys"}"#, "[text]");
    is(
        r#"{"op":"group_by","field":"status","each":{"n":{"op":"count"},"sum":{"op":"sum","field":"amount"}}}"#,
        r#"[{n int, status "open"|"paid", sum number}]"#,
    );
    is(
        r#"{"op":"select","fields":["id"]},{"op":"join","with":{"op":"load","name":"items"},"on":"id"}"#,
        "[{id int, n int}]",
    );
    is(
        r#"{"op":"select","fields":["id"]},{"op":"join","with":{"op":"load","name":"items"},"on":"id","kind":"left","as":"item"}"#,
        "[{id int, item null|{id int, n int}}]",
    );
    is(
        r#"{"op":"fold","init":0,"expr":{"op":"add","left":{"op":"var","name":"acc"},"right":{"op":"get","field":"amount"}}}"#,
        "number",
    );
}

#[test]
fn values() {
    for (program, ty) in [
        (
            r#"{"op":"range","from":1,"to":{"op":"load","name":"n"}}"#,
            "[int]",
        ),
        (r#"{"op":"split","value":"a b","by":" "}"#, "[text]"),
        (r#"{"op":"to_number","value":"1"}"#, "null|number"),
        (
            r#"{"op":"text","parts":["a",1,{"op":"load","name":"n"}]}"#,
            "text",
        ),
        (r#"{"op":"length","value":[1]}"#, "int"),
        (
            r#"{"op":"date_diff","from":"2024-01-01","to":{"op":"load","name":"on"},"unit":"day"}"#,
            "int",
        ),
        (
            r#"{"op":"date_part","value":{"op":"load","name":"on"},"part":"year_month"}"#,
            "text",
        ),
        (r#"{"op":"matches","left":"a","pattern":"b"}"#, "bool"),
        (r#"{"op":"extract","value":"a","pattern":"b"}"#, "null|text"),
        (
            r#"{"op":"mod","left":{"op":"load","name":"n"},"right":2}"#,
            "int",
        ),
        (r#"{"op":"floor","value":2.5}"#, "int"),
        (r#"{"op":"round","value":2.5}"#, "number"),
        (r#"{"op":"div","left":1,"right":2}"#, "number"),
        (
            r#"{"op":"literal","value":{"a":[1,"x"]}}"#,
            r#"{a ["x"|1]}"#,
        ),
        (r#"{"op":"var","name":"seen"}"#, "[int]"),
        (
            r#"{"op":"let","name":"x","value":{"op":"load","name":"n"},"in":{"a":{"op":"var","name":"x"}}}"#,
            "{a int}",
        ),
        (
            r#"{"op":"if","condition":{"op":"eq","left":{"op":"load","name":"n"},"value":1},"then":"a","else":null}"#,
            "\"a\"|null",
        ),
        (
            r#"{"op":"switch","cases":[{"when":{"op":"eq","left":{"op":"load","name":"n"},"value":1},"then":1}]}"#,
            "1|null",
        ),
        (
            r#"{"op":"concat","lists":[[1],{"op":"var","name":"seen"}]}"#,
            "[int]",
        ),
        (r#"{"op":"zip","lists":[[1],["a"]]}"#, r#"[["a"|1]]"#),
        (
            r#"{"op":"merge","objects":[{"a":1},{"a":"x","b":2}]}"#,
            r#"{a "x", b 2}"#,
        ),
        (r#"{"op":"entries","x":1}"#, ""),
        (
            r#"{"op":"call","tool":"mail","args":{"to":"a","times":1}}"#,
            "{sent bool}",
        ),
        (
            r#"{"op":"call","tool":"mail","args":{"to":"a","times":1},"on_error":{"op":"var","name":"error"}}"#,
            "text|{sent bool}",
        ),
        (r#"{"op":"now"}"#, "text"),
        (r#"{"result":{"op":"load","name":"n"},"other":1}"#, "int"),
    ] {
        if ty.is_empty() {
            continue;
        }
        let outcome = checked(program);
        assert_eq!(
            (outcome.ty.as_str(), findings(&outcome)),
            (ty, vec![]),
            "{program}"
        );
    }
}

#[test]
fn certain_mistakes_are_errors() {
    finds(
        r#"{"op":"sum","field":"amuont"}"#,
        &["error unknown_field steps/1/field"],
    );
    finds(
        r#"{"op":"sum","field":"name"}"#,
        &["error wrong_kind steps/1/field"],
    );
    // What an operation reads before several parts is found once.
    finds(
        r#"{"op":"first"},{"op":"replace","field":"nme","find":"a","with":"b"}"#,
        &[
            "warning maybe_wrong_kind steps/2/field",
            "error unknown_field steps/2/field",
        ],
    );
    finds(
        r#"{"op":"get","field":"id"}"#,
        &["error wrong_kind steps/1/field"],
    );
    finds(
        r#"{"op":"count"},{"op":"count"}"#,
        &["error wrong_kind steps/2"],
    );
    finds(
        r#"{"op":"map","expr":{"op":"add","left":{"op":"get","field":"name"},"right":1}}"#,
        &["error wrong_kind steps/1/expr/left"],
    );
    finds(
        r#"{"op":"map","expr":{"op":"get","path":["name","x"]}}"#,
        &["error wrong_kind steps/1/expr/path/1"],
    );
    finds(
        r#"{"op":"filter","where":{"op":"eq","field":"nam","value":"x"}}"#,
        &[
            "warning always steps/1/where",
            "error unknown_field steps/1/where/field",
        ],
    );
    finds(
        r#"{"op":"select","fields":["id","x"]}"#,
        &["error unknown_field steps/1/fields/1"],
    );
    finds(
        r#"{"op":"sort_by","by":[{"field":"id"},{"field":"idd"}]}"#,
        &["error unknown_field steps/1/by/1/field"],
    );
    finds(
        r#"{"op":"join","with":{"op":"load","name":"items"},"left":"id","right":"idd"}"#,
        &["error unknown_field steps/1/right"],
    );
    for (program, wanted) in [
        (r#"{"op":"load","name":"row"}"#, "error unknown_name name"),
        (r#"{"op":"var","name":"sen"}"#, "error unknown_name name"),
        (r#"{"op":"count"}"#, "error no_input "),
        (r#"{"op":"call","tool":"male"}"#, "error unknown_tool tool"),
        (
            r#"{"op":"call","tool":"mail","args":{"to":"a"}}"#,
            "error missing_argument args",
        ),
        (
            r#"{"op":"call","tool":"mail","args":{"to":1,"times":1}}"#,
            "error wrong_argument args/to",
        ),
        (
            r#"{"op":"call","tool":"mail","args":{"to":"a","times":1,"x":1}}"#,
            "error unknown_argument args/x",
        ),
        (
            r#"{"op":"range","from":1.5,"to":2}"#,
            "error wrong_integer from",
        ),
        (r#"{"op":"upper","value":5}"#, "error wrong_kind value"),
    ] {
        assert_eq!(findings(&checked(program)), [wanted], "{program}");
    }
}

#[test]
fn what_is_likely_is_a_warning() {
    finds(
        r#"{"op":"filter","where":{"op":"gt","field":"amount","value":"5"}}"#,
        &["warning always steps/1/where"],
    );
    finds(
        r#"{"op":"filter","where":{"op":"eq","field":"status","value":"closed"}}"#,
        &["warning not_in_enumeration steps/1/where/value"],
    );
    finds(
        r#"{"op":"map","expr":{"op":"get","field":"x","default":1}}"#,
        &["warning unknown_field steps/1/expr/field"],
    );
    finds(
        r#"{"op":"map","expr":{"op":"coalesce","values":[{"op":"get","field":"x"},1]}}"#,
        &["warning unknown_field steps/1/expr/values/0/field"],
    );
    finds(
        r#"{"op":"map","expr":{"op":"call","tool":"mail","args":{"to":"a","times":1}}}"#,
        &["warning constant_call steps/1/expr"],
    );
    finds(
        r#"{"op":"map","expr":{"op":"if","condition":{"op":"literal","value":true},"then":1,"else":2}}"#,
        &["warning never_runs steps/1/expr/else"],
    );
    finds(
        r#"{"op":"first"},{"op":"let","name":"x","value":{"op":"get","field":"id"},"in":{"op":"add","left":{"op":"var","name":"x"},"right":1}}"#,
        &["warning maybe_wrong_kind steps/2/in/left"],
    );
}

#[test]
fn in_edition_1_null_is_greater_than_a_number() {
    let program = r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},
        {"op":"filter","where":{"op":"gt","field":"x","value":1}}]}"#;
    let world = World {
        types: r#"{"rows":[{"x":{"?":"int"}}]}"#,
        ..WORLD
    };
    let outcome = check(program, world, EDITION_1, None).expect("it is a program");
    assert_eq!(
        findings(&outcome),
        ["warning null_is_greater steps/1/where"]
    );
    let outcome = check(program, world, STRICT, None).expect("it is a program");
    assert_eq!(findings(&outcome), [""; 0]);
    assert_eq!(outcome.ty, "[{x int}]");
}

#[test]
fn conditions_narrow_the_current_value() {
    // No finding: where it is evaluated, the field is a number or a text.
    for condition in [
        r#"{"op":"neq","field":"x","value":null}"#,
        r#"{"op":"not","condition":{"op":"eq","field":"x","value":null}}"#,
        r#"{"op":"and","conditions":[{"op":"neq","field":"x","value":null},{"op":"gt","field":"x","value":2}]}"#,
        r#"{"op":"gt","field":"x","value":0}"#,
        r#"{"op":"get","field":"x"}"#,
    ] {
        let program = format!(
            r#"{{"op":"pipe","steps":[{{"op":"load","name":"rows"}},{{"op":"filter","where":{condition}}},
            {{"op":"map","expr":{{"op":"add","left":{{"op":"get","field":"x"}},"right":1}}}}]}}"#
        );
        let world = World {
            types: r#"{"rows":[{"x":{"?":"int"}}]}"#,
            ..WORLD
        };
        let outcome = check(&program, world, STRICT, None).expect("it is a program");
        assert_eq!(
            (outcome.ty.as_str(), findings(&outcome)),
            ("[int]", vec![]),
            "{condition}"
        );
    }
}

#[test]
fn a_branch_that_its_condition_excludes_is_no_mistake() {
    for condition in [
        r#"{"op":"eq","left":{"op":"typeof"},"value":"number"}"#,
        r#"{"op":"pipe","steps":[{"op":"eq","left":{"op":"typeof"},"value":"number"}]}"#,
        r#"{"op":"literal","value":false}"#,
    ] {
        let program = format!(
            r#"{{"op":"pipe","steps":[{{"op":"literal","value":"a"}},{{"op":"if","condition":{condition},
            "then":{{"op":"add","left":{{"op":"it"}},"right":1}},"else":0}}]}}"#
        );
        let outcome = checked(&program);
        let errors: Vec<_> = outcome
            .findings
            .iter()
            .filter(|it| it.starts_with("error"))
            .collect();
        assert!(errors.is_empty(), "{condition}: {errors:?}");
    }
}

#[test]
fn results_fit_their_signature() {
    let of = |returns: &str, program: &str| {
        let world = World { returns, ..WORLD };
        check(program, world, STRICT, None)
            .expect("it is a program")
            .findings
    };
    let rows = r#"{"op":"load","name":"rows"}"#;
    assert_eq!(of(r#"[{"id":"int","note":{"?":"string"}}]"#, rows), [""; 0]);
    assert_eq!(of(r#"[{"id":"string"}]"#, rows), ["error wrong_result "]);
    assert_eq!(of(r#"[{"zip":"int"}]"#, rows), ["error missing_result "]);
    assert_eq!(
        of(r#"[{"note":"string"}]"#, rows),
        ["warning missing_result ", "warning maybe_wrong_result "]
    );
    assert_eq!(of(r#""int""#, rows), ["error wrong_result "]);
    assert_eq!(
        of(r#"{"n":"int"}"#, r#"{"n":{"op":"load","name":"any"}}"#),
        [""; 0]
    );
    assert_eq!(of(r#""float""#, r#"{"op":"load","name":"n"}"#), [""; 0]);
}

#[test]
fn what_is_read() {
    let reads = |steps: &str| over(steps).reads;
    assert_eq!(reads(r#"{"op":"count"}"#), ["rows"]);
    assert_eq!(reads(r#"{"op":"sum","field":"amount"}"#), ["rows.amount"]);
    assert_eq!(
        reads(
            r#"{"op":"select","fields":["id","to"]},{"op":"map","expr":{"op":"get","path":["to","city"]}}"#
        ),
        ["rows.id", "rows.to.city"]
    );
}

#[test]
fn findings_have_an_end() {
    let one = r#"{"op":"add","left":{"op":"literal","value":"a"},"right":1}"#;
    let all = vec![one; 5_000].join(",");
    let outcome = check(
        &format!(r#"{{"op":"list","items":[{all}]}}"#),
        WORLD,
        STRICT,
        None,
    );
    assert_eq!(outcome.expect("it is a program").findings.len(), 1_000);
}

#[test]
fn hostile_programs_and_types_end_by_limits() {
    let deep =
        |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    // Nested, and wide.
    let nested = deep(r#"{"op":"let","name":"x","value":[],"in":"#, "}", 1_000);
    assert_eq!(
        check(&nested, WORLD, STRICT, None)
            .expect("it is a program")
            .ty,
        "1"
    );
    let lists = deep("[", "]", 1_000);
    check(
        &format!(r#"{{"op":"literal","value":{lists}}}"#),
        WORLD,
        STRICT,
        None,
    )
    .expect("it is one");
    let many = (0..100_000)
        .map(|n| format!("{{\"a\":{n},\"b{n}\":1}}"))
        .collect::<Vec<_>>()
        .join(",");
    let program = format!(r#"{{"op":"literal","value":[{many}]}}"#);
    check(&program, WORLD, STRICT, None).expect("it is a program");
    // A union that doubles with each step.
    let twice = r#"{"op":"set","fields":{"a":{"op":"if","condition":{"op":"eq","field":"x","value":1},
        "then":{"l":{"op":"it"}},"else":{"r":{"op":"it"}}}}}"#;
    let steps = vec![twice; 200].join(",");
    let program =
        format!(r#"{{"op":"pipe","steps":[{{"op":"literal","value":{{"x":1}}}},{steps}]}}"#);
    check(&program, WORLD, STRICT, None).expect("it is a program");
    // A signature of 100,000 fields: nothing is known of it.
    let fields = (0..100_000)
        .map(|n| format!("\"f{n}\":\"int\""))
        .collect::<Vec<_>>()
        .join(",");
    let types = format!(r#"{{"rows":[{{{fields}}}]}}"#);
    let world = World {
        types: &types,
        ..WORLD
    };
    let sum = r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"sum","field":"x"}]}"#;
    assert_eq!(
        check(sum, world, STRICT, None).expect("it is one").findings,
        [""; 0]
    );
}

/// Checks a program over a context, in both editions; it ends, and nothing is certain to be wrong.
fn has_no_error(program: &str, types: &str) {
    for options in [STRICT, EDITION_1] {
        let world = World { types, ..WORLD };
        let Some(outcome) = check(program, world, options, None) else {
            continue;
        };
        let errors: Vec<_> = outcome
            .findings
            .iter()
            .filter(|it| it.starts_with("error"))
            .take(3)
            .collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

fn piped(steps: &str) -> String {
    format!(r#"{{"op":"pipe","steps":[{{"op":"load","name":"rows"}},{steps}]}}"#)
}

fn repeated(text: impl Fn(usize) -> String, count: usize) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(",")
}

#[test]
fn many_operations_are_no_mistake() {
    let filter = r#"{"op":"filter","where":{"op":"gt","field":"n","value":1}}"#;
    let steps = repeated(|_| filter.to_string(), 5_000);
    has_no_error(&piped(&steps), r#"{"rows":[{"n":"int"}]}"#);
    let count = r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"count"}]}"#;
    let all = repeated(|_| count.to_string(), 5_000);
    has_no_error(
        &format!(r#"{{"op":"object","fields":{{"a":{count}}},"b":[{all}]}}"#),
        r#"{"rows":[{"n":"int"}]}"#,
    );
}

#[test]
fn growing_types_are_no_mistake() {
    // The object contains itself, deeper with each step.
    let deeper = r#"{"op":"set","fields":{"a":{"op":"it"},"b":[{"op":"it"},{"op":"it"}]}}"#;
    let steps = repeated(|_| deeper.to_string(), 1_000);
    has_no_error(&piped(&steps), r#"{"rows":[{"n":"int"}]}"#);
    // Another field with each step.
    let wider = |n| format!(r#"{{"op":"set","fields":{{"f{n}":{{"op":"it"}}}}}}"#);
    has_no_error(&piped(&repeated(wider, 1_000)), r#"{"rows":[{"n":"int"}]}"#);
    // What is accumulated grows.
    for body in [
        r#"{"op":"set","fields":{"next":{"op":"var","name":"acc"}}}"#,
        r#"{"op":"object","fields":{"next":{"op":"var","name":"acc"}}}"#,
        r#"{"op":"merge","objects":[{"op":"var","name":"acc"},{"deeper":{"op":"var","name":"acc"}}]}"#,
        r#"{"op":"concat","lists":[{"op":"var","name":"acc"},[{"op":"var","name":"acc"}]]}"#,
        r#"{"op":"if","condition":{"op":"eq","left":{"op":"typeof"},"value":"x"},"then":1,"else":[{"op":"var","name":"acc"}]}"#,
    ] {
        for init in ["{}", "[]", "null", "0"] {
            // A start of another kind is a mistake of the program, and so are the steps that need one.
            if body.contains("merge") != (init == "{}") && body.contains("merge")
                || body.contains("concat") && init != "[]"
            {
                continue;
            }
            let fold = format!(r#"{{"op":"fold","init":{init},"expr":{body}}}"#);
            let nested = format!(r#"{{"op":"fold","init":{init},"expr":{fold}}}"#);
            has_no_error(&piped(&fold), r#"{"rows":[{"n":"int"}]}"#);
            has_no_error(&piped(&nested), r#"{"rows":[[{"n":"int"}]]}"#);
        }
    }
}

#[test]
fn unions_of_any_size_are_no_mistake() {
    let case = |n| {
        format!(
            r#"{{"when":{{"op":"eq","left":{{"op":"count"}},"value":{n}}},"then":{{"f{n}":{{"g":[{n},"t{n}"]}}}}}}"#
        )
    };
    let switch = format!(
        r#"{{"op":"switch","cases":[{}],"else":{{"f":1}}}}"#,
        repeated(case, 2_000)
    );
    has_no_error(&piped(&switch), r#"{"rows":[{"n":"int"}]}"#);
    // A union of unions, as the items of a list, in each field.
    let members = repeated(
        |n| format!(r#"{{"m{n}":{{"|":[{{"=":{n}}},"string",["int"]]}}}}"#),
        500,
    );
    let types = format!(r#"{{"rows":[{{"u":{{"|":[{members}]}}}}]}}"#);
    for steps in [
        r#"{"op":"map","expr":{"op":"get","path":["u","m1"]}}"#,
        r#"{"op":"map","expr":{"op":"get","field":"u"}},{"op":"select","fields":["m1","m499"]}"#,
        r#"{"op":"group_by","field":"u","each":{"all":{"op":"map","expr":{"op":"get","field":"u"}}}}"#,
    ] {
        has_no_error(&piped(steps), &types);
    }
}

#[test]
fn deep_and_wide_types_are_no_mistake() {
    let lists = format!("{}\"int\"{}", "[".repeat(400), "]".repeat(400));
    let flat = repeated(|_| r#"{"op":"flatten"}"#.to_string(), 1_000);
    has_no_error(&piped(&flat), &format!(r#"{{"rows":{lists}}}"#));
    let objects = format!("{}\"int\"{}", r#"{"a":"#.repeat(400), "}".repeat(400));
    let path = repeated(|_| r#""a""#.to_string(), 400);
    has_no_error(
        &piped(&format!(r#"{{"op":"get","path":[{path}]}}"#)),
        &format!(r#"{{"rows":{objects}}}"#),
    );
    // 4,000 fields are known, 100,000 are not; then no field is certain to be missing.
    for count in [4_000, 100_000] {
        let fields = repeated(|n| format!("\"f{n}\":\"int\""), count);
        let types = format!(r#"{{"rows":[{{{fields}}}]}}"#);
        let last = format!(r#"{{"op":"sum","field":"f{}"}}"#, count - 1);
        has_no_error(&piped(&last), &types);
        let set = r#"{"op":"set","fields":{"x":{"op":"it"}}},{"op":"group_by","field":"x"}"#;
        has_no_error(&piped(set), &types);
    }
}

#[test]
fn a_constant_is_one_of_an_enumeration() {
    let world = World {
        tools: r#"{"mail": [{"to": {"|": [{"=": "a"}, {"=": "b"}]}, "n": {"?": {"|": [{"=": 1}, {"=": 2}]}}}, "bool"]}"#,
        ..WORLD
    };
    let of = |args: &str, options| {
        let program = format!(r#"{{"op":"call","tool":"mail","args":{args}}}"#);
        check(&program, world, options, None)
            .expect("it is a program")
            .findings
    };
    for options in [STRICT, EDITION_1] {
        assert_eq!(of(r#"{"to":"a","n":2}"#, options), [""; 0]);
        assert_eq!(
            of(r#"{"to":"c"}"#, options),
            ["error wrong_argument args/to"]
        );
        assert_eq!(
            of(r#"{"to":"a","n":3}"#, options),
            ["error wrong_argument args/n"]
        );
    }
}

#[test]
fn limits_hold() {
    let many = vec![r#"{"a":{"op":"load","name":"n"},"b":"x"}"#; 20_000].join(",");
    let (mut heap, mut check, text) = begin(
        &format!("[{many}]")
            .replacen('[', r#"{"op":"list","items":["#, 1)
            .replace("}]", "}]}"),
        WORLD,
        STRICT,
    );
    let limits = Limits {
        deadline: Deadline::Never,
        words: 1_000,
    };
    let mut meter = Meter::new(limits, Pace::Quantum);
    let stopped = check.step(text.as_bytes(), &mut heap, &mut meter);
    assert!(matches!(stopped, Err(Stop::MemoryExceeded)));
}

#[test]
fn random_programs_are_checked_in_pieces_like_at_once() {
    let mut rng = Rng::new(7);
    for _ in 0..300 {
        let program = generate::program(&mut rng, 3);
        any_program(program.as_bytes());
    }
}

/// A world of which nothing is known.
const UNKNOWN: World = World {
    types: "null",
    memory: "null",
    tools: "null",
    returns: "null",
};

#[test]
fn a_name_that_nothing_binds_is_a_warning_where_the_memory_is_not_known() {
    for (program, wanted) in [
        (
            r#"{"op":"var","name":"seen"}"#,
            &["warning unbound_name name"][..],
        ),
        (
            r#"{"op":"let","name":"x","value":1,"in":{"op":"pipe","steps":[{"op":"var","name":"x"},{"op":"var","name":"y"}]}}"#,
            &["warning unbound_name in/steps/1/name"],
        ),
        (
            r#"{"a":{"op":"let","name":"x","value":1,"in":1},"b":{"op":"var","name":"x"}}"#,
            &["warning unbound_name b/name"],
        ),
        (
            r#"{"op":"pipe","steps":[{"op":"load","name":"n"},{"op":"fold","init":0,"expr":{"op":"var","name":"acc"}}]}"#,
            &[],
        ),
        (
            r#"{"op":"pipe","steps":[{"op":"load","name":"n"},{"op":"map","as":"row","expr":{"op":"var","name":"row"}}]}"#,
            &[],
        ),
        (
            r#"{"op":"call","tool":"mail","on_error":{"op":"var","name":"error"}}"#,
            &[],
        ),
        (r#"{"op":"var","name":"__input"}"#, &[]),
        (
            r#"{"op":"coalesce","values":[{"op":"var","name":"seen"},1]}"#,
            &[],
        ),
    ] {
        let outcome = check(program, UNKNOWN, STRICT, None).expect(program);
        assert_eq!(findings(&outcome), wanted, "{program}");
    }
}

#[test]
fn nothing_is_known_of_what_has_a_name_that_is_too_long() {
    // The last ones are equal only in their first 4,096 bytes.
    let (long, other) = ("k".repeat(5_000), "k".repeat(4_999) + "x");
    let shorter = "k".repeat(4_096);
    let get = |name: &str| format!(r#"{{"op":"get","field":"{name}"}}"#);
    let pipe = |first: &str, name: &str| {
        let get = get(name);
        format!(r#"{{"op":"pipe","steps":[{first},{get},{{"op":"count"}}]}}"#)
    };
    let object = format!(r#"{{"op":"literal","value":{{"{long}":[1],"n":1}}}}"#);
    for name in [&long, &other, &shorter] {
        let outcome = check(&pipe(&object, name), WORLD, STRICT, None).expect("a program");
        assert_eq!(findings(&outcome), Vec::<&str>::new());
    }
    let outcome = check(&pipe(&object, "n"), WORLD, STRICT, None).expect("a program");
    assert_eq!(findings(&outcome), ["error wrong_kind steps/2"]);

    // A closed object has no such field, as before.
    let closed = r#"{"op":"literal","value":{"n":1}}"#;
    let outcome = check(&pipe(closed, &long), WORLD, STRICT, None).expect("a program");
    assert!(findings(&outcome).contains(&"error unknown_field steps/1/field"));

    // Names that `let` binds, of data and of tools.
    for inner in [&long, &other] {
        let program = format!(
            r#"{{"op":"let","name":"{long}","value":1,"in":{{"op":"pipe","steps":[{{"op":"var","name":"{inner}"}},{{"op":"count"}}]}}}}"#
        );
        let outcome = check(&program, WORLD, STRICT, None).expect("a program");
        assert_eq!(findings(&outcome), Vec::<&str>::new());
    }
    for program in [
        format!(r#"{{"op":"load","name":"{long}"}}"#),
        format!(r#"{{"op":"var","name":"{long}"}}"#),
        format!(r#"{{"op":"call","tool":"{long}","args":{{}}}}"#),
    ] {
        let outcome = check(&program, WORLD, STRICT, None).expect("a program");
        assert_eq!(findings(&outcome), Vec::<&str>::new());
        assert_eq!(outcome.reads, Vec::<String>::new());
    }
}

#[test]
fn what_is_evaluated_for_no_item_is_no_mistake() {
    let wrong =
        r#"{"op":"add","left":{"op":"literal","value":"x"},"right":{"op":"call","tool":"male"}}"#;
    for (step, ty) in [
        (r#"{"op":"map","expr":WRONG}"#, "[never]"),
        (r#"{"op":"flat_map","expr":WRONG}"#, "[never]"),
        (
            r#"{"op":"sort_by","by":[{"expr":WRONG},{"field":"x"}]}"#,
            "[never]",
        ),
        (r#"{"op":"set","fields":{"x":WRONG}}"#, "[never]"),
        (r#"{"op":"group_by","expr":WRONG}"#, "[never]"),
        (
            r#"{"op":"group_by","field":"x","each":{"y":WRONG}}"#,
            "[never]",
        ),
        (r#"{"op":"sum","expr":WRONG}"#, "int"),
        (r#"{"op":"fold","init":0,"expr":WRONG}"#, "int"),
        (r#"{"op":"filter","where":WRONG}"#, "[never]"),
    ] {
        let step = step.replace("WRONG", wrong);
        for empty in [
            r#"{"op":"literal","value":[]}"#,
            // Each row is rejected.
            r#"{"op":"load","name":"rows"},{"op":"reject","where":{"op":"or","conditions":[{"op":"literal","value":true}]}}"#,
        ] {
            let outcome = checked(&format!(r#"{{"op":"pipe","steps":[{empty},{step}]}}"#));
            let errors = outcome.findings.iter().filter(|it| it.starts_with("error"));
            assert_eq!(errors.collect::<Vec<_>>(), Vec::<&String>::new(), "{step}");
            if !step.contains("fold") && !step.contains("sum") {
                assert_eq!(outcome.ty, ty, "{step}");
            }
        }
    }
}

#[test]
fn what_a_constant_excludes_is_no_mistake() {
    const TRUE: &str = r#"{"op":"literal","value":true}"#;
    let wrong = r#"{"op":"pipe","steps":[{"op":"literal","value":1},{"op":"count"}]}"#;
    let choose = |condition: &str, then: &str, or: &str| {
        format!(r#"{{"op":"if","condition":{condition},"then":{then},"else":{or}}}"#)
    };
    let not = |condition: &str| format!(r#"{{"op":"not","condition":{condition}}}"#);
    let any =
        |op: &str, conditions: &str| format!(r#"{{"op":"{op}","conditions":[{conditions}]}}"#);
    let bound = format!(r#"{{"op":"let","name":"x","value":1,"in":{TRUE}}}"#);
    for yes in [
        TRUE.to_string(),
        not(&not(TRUE)),
        bound,
        choose(TRUE, TRUE, &not(TRUE)),
        any("or", &format!("{TRUE},{wrong}")),
        not(&any("and", &format!("{},{wrong}", not(TRUE)))),
    ] {
        for (program, ty) in [
            (choose(&yes, "\"a\"", wrong), r#""a""#),
            (choose(&not(&yes), wrong, "\"a\""), r#""a""#),
        ] {
            let outcome = checked(&program);
            assert_eq!(outcome.ty, ty, "{program}");
            let errors = outcome.findings.iter().filter(|it| it.starts_with("error"));
            assert_eq!(errors.count(), 0, "{program}: {:?}", outcome.findings);
        }
    }
    // The amount is not evaluated where there is no date.
    let add = |value: &str| {
        format!(r#"{{"op":"date_add","value":{value},"unit":"day","amount":{wrong}}}"#)
    };
    assert_eq!(
        findings(&checked(&add(r#"{"op":"literal","value":null}"#))),
        Vec::<&str>::new()
    );
    let found = checked(&add(r#""2024-01-01""#));
    assert_eq!(findings(&found), ["error wrong_kind amount/steps/1"]);
}
