//! Groups, joins and maps with other entries, on plain values.

use crate::common::{over, run_in, End, Lab, STRICT};
use ptc_program::fault::Code;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::plain::PlainHeap;

const ROWS: &str = r#"{"items":[{"d":"x","c":1,"n":10},{"d":"y","c":1,"n":5.5},{"d":"x","c":2,"n":20},{"d":null,"n":null},{"c":1,"n":7}]}"#;

fn value(steps: &str, context: &str) -> String {
    match run_in(STRICT, &over(steps), context, "{}") {
        End::Value(value) => value,
        end => panic!("{steps}: {end:?}"),
    }
}

fn error(steps: &str, context: &str) -> (Code, Option<&'static str>, Vec<String>) {
    match run_in(STRICT, &over(steps), context, "{}") {
        End::Rejected(mistake) | End::Fault(mistake) => {
            (mistake.code, mistake.field, mistake.terms)
        }
        end => panic!("{steps}: {end:?}"),
    }
}

#[test]
fn totals_and_items_give_the_same_groups() {
    let totals = r#""n":{"op":"count"},"s":{"op":"sum","field":"n"},"a":{"op":"avg","field":"n"},
        "l":{"op":"min","field":"n"},"m":{"op":"max","field":"n"},"k":"text""#;
    for keys in [
        r#""field":"d""#,
        r#""fields":["d","c"]"#,
        r#""fields":["c","d"]"#,
        r#""expr":{"op":"get","field":"c"},"as":"by""#,
        r#""expr":{"op":"typeof"}"#,
        r#""field":"none""#,
    ] {
        let quick = value(
            &format!(r#"{{"op":"group_by",{keys},"each":{{{totals}}}}}"#),
            ROWS,
        );
        // A list of a constant keeps the items.
        let slow = value(
            &format!(
                r#"{{"op":"group_by",{keys},"each":{{{totals},"z":[{{"op":"count"}}]}}}},{{"op":"unset","fields":["z"]}}"#
            ),
            ROWS,
        );
        assert_eq!(quick, slow, "{keys}");
    }
}

#[test]
fn groups_keep_the_order_of_the_items() {
    let group = r#"{"op":"group_by","fields":["d","c"],"each":{"n":{"op":"count"}}}"#;
    let expected = r#"[%{"c" => 1, "d" => "x", "n" => 1}, %{"c" => 1, "d" => "y", "n" => 1}, %{"c" => 2, "d" => "x", "n" => 1}, %{"c" => nil, "d" => nil, "n" => 1}, %{"c" => 1, "d" => nil, "n" => 1}]"#;
    assert_eq!(value(group, ROWS), expected);
    let group = r#"{"op":"group_by","field":"c","as":"by"},{"op":"map","expr":{"op":"pipe","steps":[
        {"op":"get","field":"items"},{"op":"map","expr":{"op":"get","field":"n"}}]}}"#;
    assert_eq!(value(group, ROWS), "[[10, 5.5, 7], [20], [nil]]");
    assert_eq!(
        value(
            r#"{"op":"group_by","fields":[],"each":{"n":{"op":"count"}}}"#,
            ROWS
        ),
        r#"[%{"n" => 5}]"#
    );
    assert_eq!(
        value(r#"{"op":"group_by","fields":[]}"#, r#"{"items":[]}"#),
        "[]"
    );
    let strict = r#"{"items":[{"k":1},{"k":1.0},{"k":[1]},{"k":[1]}]}"#;
    let group = r#"{"op":"group_by","field":"k","each":{"n":{"op":"count"}}},{"op":"map","expr":{"op":"get","field":"n"}}"#;
    assert_eq!(value(group, strict), "[1, 1, 2]");
}

#[test]
fn a_name_that_stands_twice_is_that_of_each() {
    let items = r#"{"items":[{"a":1,"b":2}]}"#;
    for (group, expected) in [
        (
            r#""field":"a","each":{"a":{"op":"count"}}"#,
            r#"[%{"a" => 1}]"#,
        ),
        (r#""field":"a","each":{"a":"x"}"#, r#"[%{"a" => "x"}]"#),
        (
            r#""fields":["a","a","b"],"each":{"b":"x"}"#,
            r#"[%{"a" => 1, "b" => "x"}]"#,
        ),
        (
            r#""field":"a","as":"items""#,
            r#"[%{"items" => [%{"a" => 1, "b" => 2}]}]"#,
        ),
    ] {
        assert_eq!(
            value(&format!(r#"{{"op":"group_by",{group}}}"#), items),
            expected
        );
    }
}

#[test]
fn the_first_error_of_a_group_is_found() {
    let items = r#"{"items":[{"a":1,"n":1},{"a":2,"n":"x"},{"a":1,"n":[]}]}"#;
    let sum = r#"{"op":"group_by","field":"a","each":{"s":{"op":"sum","field":"n"}}}"#;
    // The first group is evaluated first.
    assert_eq!(
        error(sum, items),
        (Code::NeedsNumbers, None, vec!["[]".into()])
    );
    let huge = r#"{"items":[{"n":1e308},{"n":1e308}]}"#;
    let sum = r#"{"op":"group_by","field":"a","each":{"s":{"op":"sum","field":"n"}}}"#;
    assert_eq!(error(sum, huge).0, Code::BadArith);
    assert_eq!(
        error(sum, r#"{"items":[7]}"#),
        (Code::NeedsListOfMaps, None, vec!["7".into()])
    );
}

#[test]
fn more_groups_than_extremes_are_kept() {
    let items: Vec<String> = (0..20_000)
        .map(|n| format!(r#"{{"k":{},"n":{n}}}"#, n % 18_000))
        .collect();
    let context = format!(r#"{{"items":[{}]}}"#, items.join(","));
    let group = r#"{"op":"group_by","field":"k","each":{"l":{"op":"min","field":"n"},"m":{"op":"max","field":"n"}}}"#;
    assert_eq!(
        value(&format!(r#"{group},{{"op":"count"}}"#), &context),
        "18000"
    );
    let nth = format!(r#"{group},{{"op":"nth","index":1999}}"#);
    assert_eq!(
        value(&nth, &context),
        r#"%{"k" => 1999, "l" => 1999, "m" => 19999}"#
    );
    let nth = format!(r#"{group},{{"op":"nth","index":2000}}"#);
    assert_eq!(
        value(&nth, &context),
        r#"%{"k" => 2000, "l" => 2000, "m" => 2000}"#
    );
}

#[test]
fn joins() {
    let context = r#"{"items":[{"k":1,"a":1},{"k":1.0},{"k":null},{},{"k":2,"b":"own"}],
        "with":[{"k":2,"b":"other"},{"k":1,"b":2},{"k":1,"b":3},{"k":null},{}]}"#;
    for (join, expected) in [
        (
            r#""on":"k""#,
            r#"[%{"a" => 1, "b" => 2, "k" => 1}, %{"a" => 1, "b" => 3, "k" => 1}, %{"b" => "own", "k" => 2}]"#,
        ),
        (
            r#""on":"k","kind":"left""#,
            r#"[%{"a" => 1, "b" => 2, "k" => 1}, %{"a" => 1, "b" => 3, "k" => 1}, %{"k" => 1.0}, %{"k" => nil}, %{}, %{"b" => "own", "k" => 2}]"#,
        ),
        (
            r#""left":"k","right":"b","as":"k""#,
            r#"[%{"b" => "own", "k" => %{"b" => 2, "k" => 1}}]"#,
        ),
        (
            r#""on":"k","kind":"group","as":"m""#,
            r#"[%{"a" => 1, "k" => 1, "m" => [%{"b" => 2, "k" => 1}, %{"b" => 3, "k" => 1}]}, %{"k" => 1.0, "m" => []}, %{"k" => nil, "m" => []}, %{"m" => []}, %{"b" => "own", "k" => 2, "m" => [%{"b" => "other", "k" => 2}]}]"#,
        ),
    ] {
        let step = format!(r#"{{"op":"join","with":{{"op":"load","name":"with"}},{join}}}"#);
        assert_eq!(value(&step, context), expected, "{join}");
    }
}

#[test]
fn what_a_join_requires() {
    let of = |with: &str, items: &str| {
        let step = format!(r#"{{"op":"join","with":{with},"on":"k"}}"#);
        error(&step, &format!(r#"{{"items":{items}}}"#))
    };
    let maps = Some("lists of maps");
    assert_eq!(of("[]", "7").0, Code::NeedsList);
    assert_eq!(
        of("7", "[7]"),
        (Code::Requires, Some("a list in 'with'"), vec!["7".into()])
    );
    assert_eq!(of("[8]", "[7]"), (Code::Requires, maps, vec!["7".into()]));
    assert_eq!(of("[8]", "[{}]"), (Code::Requires, maps, vec!["8".into()]));
    let both = r#"{"op":"join","with":[],"on":"k","left":"k"}"#;
    assert_eq!(error(both, "{}").0, Code::Accepts);
    for (fields, missing) in [
        (r#""with":[]"#, "on"),
        (r#""with":[],"left":"k""#, "right"),
        (r#""with":[],"right":"k""#, "left"),
        (r#""on":"k""#, "with"),
        (r#""with":[],"on":"k","kind":"group""#, "as"),
    ] {
        let step = format!(r#"{{"op":"join",{fields}}}"#);
        assert_eq!(
            error(&step, "{}"),
            (Code::FieldMissing, Some(missing), vec![])
        );
    }
}

#[test]
fn maps_with_other_entries() {
    let large: Vec<String> = (0..40).map(|n| format!(r#""k{n}":{n}"#)).collect();
    let large = format!(r#"{{"items":[{{{0}}},{{{0}}},{{}}]}}"#, large.join(","));
    let sizes = r#"{"op":"map","expr":{"op":"pipe","steps":[{"op":"keys"},{"op":"count"}]}}"#;
    for (step, expected) in [
        (r#"{"op":"set","fields":{"k1":7,"new":8}}"#, "[41, 41, 2]"),
        (
            r#"{"op":"unset","fields":["k1","k2","none"]}"#,
            "[38, 38, 0]",
        ),
        (
            r#"{"op":"rename","fields":{"k1":"k2","k3":"k4","none":"k5"}}"#,
            "[38, 38, 0]",
        ),
        (r#"{"op":"set","fields":{}}"#, "[40, 40, 0]"),
        (r#"{"op":"unset","fields":[]}"#, "[40, 40, 0]"),
        (r#"{"op":"rename","fields":{}}"#, "[40, 40, 0]"),
    ] {
        assert_eq!(
            value(&format!("{step},{sizes}"), &large),
            expected,
            "{step}"
        );
    }
    // Rows of several shapes, more than are remembered.
    let items: Vec<String> = (0..12)
        .map(|n| format!(r#"{{"a":{n},"b{}":{n}}}"#, n % 6))
        .collect();
    let items = format!(r#"{{"items":[{}]}}"#, items.join(","));
    let set = r#"{"op":"set","fields":{"a":{"op":"add","left":{"op":"get","field":"a"},"right":1},"b1":0}},{"op":"nth","index":7}"#;
    assert_eq!(value(set, &items), r#"%{"a" => 8, "b1" => 0}"#);
    let set = set.replace(r#""index":7"#, r#""index":11"#);
    assert_eq!(
        value(&set, &items),
        r#"%{"a" => 12, "b1" => 0, "b5" => 11}"#
    );
    let rename = r#"{"op":"rename","fields":{"a":"b1"}},{"op":"nth","index":7}"#;
    assert_eq!(value(rename, &items), r#"%{"b1" => 7}"#);
    let one = r#"{"op":"first"},{"op":"rename","fields":{"a":"x","b0":"x"}}"#;
    assert_eq!(value(one, &items), r#"%{"x" => 0}"#);
}

#[test]
fn atoms_that_are_keys_are_replaced() {
    for (step, expected) in [
        (
            r#"{"op":"set","fields":{"a":2,"b":3}}"#,
            r#"[%{:a => 2, "b" => 3}]"#,
        ),
        (r#"{"op":"unset","fields":["a"]}"#, "[%{}]"),
        (r#"{"op":"rename","fields":{"a":"c"}}"#, r#"[%{"c" => 1}]"#),
    ] {
        let options = ptc_program::compile::Options {
            any_keys: true,
            ..STRICT
        };
        let mut lab = Lab::of_text(PlainHeap::new(), over(step).as_bytes(), options)
            .unwrap_or_else(|end| panic!("{end:?}"));
        let one = lab.heap.make_number(Number::Int(1)).expect("an integer");
        let (atom, name) = (lab.heap.atom("a"), lab.heap.make_string(b"items"));
        let item = lab.heap.make_map(&[atom], &[one]);
        let items = lab.heap.make_list(&[item]);
        lab.context = lab.heap.make_map(&[name], &[items]);
        match lab.in_one_go() {
            End::Value(value) => assert_eq!(value, expected, "{step}"),
            end => panic!("{step}: {end:?}"),
        }
    }
}

#[test]
fn a_join_of_too_many_rows_ends_at_its_limit() {
    let rows = vec![r#"{"k":1}"#; 3_000].join(",");
    let context = format!(r#"{{"items":[{rows}]}}"#);
    let program = over(r#"{"op":"join","with":{"op":"load","name":"items"},"on":"k"}"#);
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT);
    let mut lab = lab
        .unwrap_or_else(|end| panic!("{end:?}"))
        .given(&context, "{}");
    lab.limits.words = 200_000;
    assert_eq!(lab.in_one_go(), End::MemoryExceeded);
}

#[test]
fn a_copy_of_a_join_is_weighed_if_rows_are_used_again() {
    // Each of 200 items has the same large match: small in memory, and large in a copy.
    let large = vec!["0"; 1_000].join(",");
    let items = vec![r#"{"k":1}"#; 200].join(",");
    let context = format!(r#"{{"items":[{items}],"with":[{{"k":1,"l":[{large}]}}]}}"#);
    for (kind, as_name) in [("inner", "null"), ("left", r#""m""#), ("group", r#""m""#)] {
        let program = over(&format!(
            r#"{{"op":"join","with":{{"op":"load","name":"with"}},"on":"k","kind":"{kind}","as":{as_name}}}"#
        ));
        for units in [None, Some(50)] {
            let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT);
            let mut lab = lab
                .unwrap_or_else(|end| panic!("{end:?}"))
                .given(&context, "{}");
            lab.heap.give();
            lab.limits.words = 20_000;
            let end = match units {
                None => lab.in_one_go(),
                Some(units) => lab.in_executions(|| units),
            };
            assert_eq!(end, End::MemoryExceeded, "{kind}");
        }
    }
}

#[test]
fn entries_of_a_map_and_back() {
    let rows = r#"{"op":"first"},{"op":"entries"}"#;
    let context = r#"{"items":[{"b":[1],"a":null}]}"#;
    let expected = r#"[%{"key" => "a", "value" => nil}, %{"key" => "b", "value" => [1]}]"#;
    assert_eq!(value(rows, context), expected);
    let back = format!(r#"{rows},{{"op":"from_entries"}}"#);
    assert_eq!(value(&back, context), r#"%{"a" => nil, "b" => [1]}"#);
    let (code, requires, terms) = error(r#"{"op":"entries"}"#, r#"{"items":[1]}"#);
    assert_eq!(
        (code, terms),
        (Code::NeedsMap, vec!["[1]".to_string()]),
        "{requires:?}"
    );
}

#[test]
fn items_by_their_keys() {
    let context = r#"{"items":[{"k":"a","n":1},{"k":7,"n":2},{"k":"a","n":3}]}"#;
    let expected = r#"%{"7" => %{"k" => 7, "n" => 2}, "a" => %{"k" => "a", "n" => 3}}"#;
    assert_eq!(value(r#"{"op":"index_by","field":"k"}"#, context), expected);
    let by_expr = r#"{"op":"index_by","expr":{"op":"get","field":"k"}}"#;
    assert_eq!(value(by_expr, context), expected);
    let (code, _, terms) = error(r#"{"op":"index_by","field":"none"}"#, context);
    assert_eq!((code, terms), (Code::Requires, vec!["nil".to_string()]));
}
