//! Results of edition 2's operations over lists, its values and choices, on plain values; their limits.

use crate::common::{over, End, Lab, FREE, STRICT};
use ptc_program::fault::Code;
use ptc_term::meter::{Deadline, Limits};
use ptc_term::plain::PlainHeap;
use std::time::Duration;

/// The end of a program of edition 2.
fn end(program: &str, context: &str) -> End {
    match Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT) {
        Ok(lab) => lab.given(context, r#"{"g":"m"}"#).in_one_go(),
        Err(end) => end,
    }
}

/// Steps over `items` give this value.
fn gives(steps: &str, items: &str, value: &str) {
    let context = format!(r#"{{"items":{items}}}"#);
    assert_eq!(
        end(&over(steps), &context),
        End::Value(value.into()),
        "{steps}"
    );
}

/// A program without data gives this value.
fn is(program: &str, value: &str) {
    assert_eq!(end(program, "{}"), End::Value(value.into()), "{program}");
}

/// Steps over `items` end with this fault.
fn faults(steps: &str, items: &str, code: Code, terms: &[&str]) {
    match end(&over(steps), &format!(r#"{{"items":{items}}}"#)) {
        End::Fault(mistake) => {
            assert_eq!(mistake.code, code, "{steps}");
            assert_eq!(mistake.terms, terms, "{steps}");
        }
        end => panic!("{steps}: {end:?}"),
    }
}

/// A step is refused with this code and this phrase.
fn rejects(step: &str, code: Code, phrase: &str) {
    match end(&over(step), "{}") {
        End::Rejected(mistake) => {
            assert_eq!(mistake.code, code, "{step}");
            assert_eq!(mistake.field, Some(phrase), "{step}");
        }
        end => panic!("{step}: {end:?}"),
    }
}

const IT: &str = r#"{"op":"it"}"#;

#[test]
fn values_and_choices() {
    is(
        r#"{"op":"list","items":[1,{"a":{"op":"range","from":1,"to":2}}]}"#,
        r#"[1, %{"a" => [1, 2]}]"#,
    );
    is(
        r#"{"op":"coalesce","values":[null,{"op":"load","name":"x"},0,{"op":"div","left":1,"right":0}]}"#,
        "0",
    );
    is(r#"{"op":"coalesce","values":[false,1]}"#, "false");
    is(r#"{"op":"coalesce","values":[]}"#, "nil");
    is(
        r#"{"op":"list","items":[{"op":"coalesce","values":[{"op":"coalesce","values":[null]},[{"op":"coalesce","values":[2]}]]},3]}"#,
        "[[2], 3]",
    );
    gives(IT, "[1]", "[1]");
    gives(
        r#"{"op":"map","expr":{"op":"switch","cases":[{"when":{"op":"gt","value":10},"then":["big",{"op":"it"}]},
        {"when":{"op":"gt","value":5},"then":"middle"}],"else":{"n":{"op":"it"}}}}"#,
        "[1,7,20]",
        r#"[%{"n" => 1}, "middle", ["big", 20]]"#,
    );
    is(r#"{"op":"switch","cases":[]}"#, "nil");
    rejects(
        r#"{"op":"switch","cases":[{"when":{"op":"it"}}]}"#,
        Code::PartWrong,
        "Each case in 'cases' must have 'when' and 'then'",
    );
    is(r#"{"op":"range","from":-1,"to":1}"#, "[-1, 0, 1]");
    is(r#"{"op":"range","from":2,"to":1}"#, "[]");
    is(
        r#"{"op":"range","from":9223372036854775806,"to":9223372036854775808}"#,
        "[9223372036854775806, 9223372036854775807, 9223372036854775808]",
    );
    faults(
        r#"{"op":"range","from":1.0,"to":{"op":"count"}}"#,
        "[]",
        Code::RequiresBoth,
        &["1.0", "0"],
    );
}

#[test]
fn searches() {
    let over_two = r#""where":{"op":"gt","value":2}"#;
    for (op, on_some, on_none, on_empty) in [
        ("some", "true", "false", "false"),
        ("find", "3", "nil", "nil"),
    ] {
        let step = format!(r#"{{"op":"{op}",{over_two}}}"#);
        gives(&step, "[1,3,4]", on_some);
        gives(&step, "[1,2]", on_none);
        gives(&step, "[]", on_empty);
        faults(&step, "{}", Code::NeedsList, &["%{}"]);
    }
    let every = format!(r#"{{"op":"every",{over_two}}}"#);
    gives(&every, "[3,4]", "true");
    gives(&every, "[3,1]", "false");
    gives(&every, "[]", "true");
    // What follows is not evaluated.
    let division = r#""where":{"op":"div","left":1,"right":{"op":"it"}}"#;
    gives(&format!(r#"{{"op":"some",{division}}}"#), "[1,0]", "true");
    faults(
        &format!(r#"{{"op":"some",{division}}}"#),
        "[0,1]",
        Code::DivisionByZero,
        &[],
    );
}

#[test]
fn arrangements() {
    gives(
        r#"{"op":"flat_map","expr":{"op":"get","field":"l"}}"#,
        r#"[{"l":[1,[2]]},{"l":[]},{"l":[3]}]"#,
        "[1, [2], 3]",
    );
    faults(
        r#"{"op":"flat_map","expr":{"op":"get","field":"l"}}"#,
        r#"[{"l":[1]},{},7]"#,
        Code::NeedsListValues,
        &["nil"],
    );
    gives(
        r#"{"op":"flatten"}"#,
        r#"[1,[2,[3]],[],{"a":[4]}]"#,
        r#"[1, 2, [3], %{"a" => [4]}]"#,
    );
    gives(r#"{"op":"reverse"}"#, "[1,[2,3],null]", "[nil, [2, 3], 1]");
    gives(r#"{"op":"chunk","size":2}"#, "[1,2,3]", "[[1, 2], [3]]");
    gives(
        r#"{"op":"chunk","size":18446744073709551616}"#,
        "[1,2,3]",
        "[[1, 2, 3]]",
    );
    gives(r#"{"op":"chunk","size":2}"#, "[]", "[]");
    rejects(
        r#"{"op":"chunk","size":0}"#,
        Code::FieldWrong,
        "'size' must be a positive integer",
    );
    for step in ["flatten", "reverse", r#"chunk","size":"#] {
        let step = match step.ends_with(':') {
            true => format!(r#"{{"op":"{step}2}}"#),
            false => format!(r#"{{"op":"{step}"}}"#),
        };
        faults(&step, "null", Code::NeedsList, &["nil"]);
    }
}

#[test]
fn folds() {
    let add = r#"{"op":"add","left":{"op":"var","name":"acc"},"right":{"op":"it"}}"#;
    gives(
        &format!(r#"{{"op":"fold","init":{{"op":"count"}},"expr":{add}}}"#),
        "[10,20]",
        "32",
    );
    gives(
        r#"{"op":"fold","as":"x","init":[],"expr":{"op":"concat","lists":[[{"op":"it"}],{"op":"var","name":"x"}]}}"#,
        "[1,2,3]",
        "[3, 2, 1]",
    );
    // The name of the current value: as by `let`.
    gives(
        r#"{"op":"fold","as":"__input","init":1,"expr":{"op":"add","left":{"op":"it"},"right":1}}"#,
        "[7,7]",
        "3",
    );
    gives(
        &format!(
            r#"{{"op":"fold","init":0,"expr":{{"op":"add","left":{{"op":"var","name":"acc"}},"right":{{"op":"fold","init":0,"expr":{add}}}}}}}"#
        ),
        "[[1,2],[3],[]]",
        "6",
    );
    // The list comes before `init`.
    faults(
        r#"{"op":"fold","init":{"op":"div","left":1,"right":0},"expr":1}"#
            .replace("1}", "{\"op\":\"it\"}}")
            .as_str(),
        "7",
        Code::NeedsList,
        &["7"],
    );
    rejects(
        r#"{"op":"fold","init":{"op":"nope"}}"#,
        Code::FieldMissing,
        "expr",
    );
}

#[test]
fn names_of_items() {
    for (op, field, value) in [
        ("map", "expr", "[[1, 1]]"),
        ("filter", "where", "[1]"),
        ("reject", "where", "[]"),
        ("some", "where", "true"),
        ("every", "where", "true"),
        ("find", "where", "1"),
        ("flat_map", "expr", "[1, 1]"),
    ] {
        let body = r#"{"op":"list","items":[{"op":"var","name":"g"},{"op":"it"}]}"#;
        gives(
            &format!(r#"{{"op":"{op}","as":"g","{field}":{body}}}"#),
            "[1]",
            value,
        );
        rejects(
            &format!(r#"{{"op":"{op}","as":5,"{field}":{body}}}"#),
            Code::FieldNotString,
            "as",
        );
    }
    gives(
        r#"{"op":"map","as":null,"expr":{"op":"var","name":"g"}}"#,
        "[1]",
        r#"["m"]"#,
    );
}

#[test]
fn keys_and_values_of_expressions() {
    let half =
        r#""expr":{"op":"mul","left":{"op":"get","field":"p"},"right":{"op":"get","field":"q"}}"#;
    let rows = r#"[{"p":2,"q":3},{"p":1.5,"q":2},{"p":10,"q":1}]"#;
    gives(&format!(r#"{{"op":"sum",{half}}}"#), rows, "19.0");
    gives(
        &format!(r#"{{"op":"avg",{half}}}"#),
        rows,
        "6.333333333333333",
    );
    gives(&format!(r#"{{"op":"min",{half}}}"#), rows, "3.0");
    gives(&format!(r#"{{"op":"max",{half}}}"#), rows, "10");
    gives(
        &format!(r#"{{"op":"max_by",{half}}},{{"op":"get","field":"q"}}"#),
        rows,
        "1",
    );
    gives(
        &format!(
            r#"{{"op":"sort_by",{half},"order":"desc"}},{{"op":"map","expr":{{"op":"get","field":"q"}}}}"#
        ),
        rows,
        "[1, 3, 2]",
    );
    gives(
        r#"{"op":"count","where":{"op":"gt","field":"p","value":1.5}}"#,
        rows,
        "2",
    );
    gives(
        r#"{"op":"count","where":{"op":"it"}},{"op":"list","items":[{"op":"it"}]}"#,
        "[1,null,false]",
        "[1]",
    );
    faults(
        r#"{"op":"count","where":{"op":"it"}},{"op":"count"}"#,
        "[1]",
        Code::NeedsList,
        &["1"],
    );
    faults(
        r#"{"op":"find","where":{"op":"it"}},{"op":"count"}"#,
        "[5]",
        Code::NeedsList,
        &["5"],
    );
    gives(
        r#"{"op":"find","where":{"op":"it"}},{"op":"count"}"#,
        "[null,[1,2]]",
        "2",
    );
    gives(
        r#"{"op":"flat_map","expr":{"op":"it"}},{"op":"count"}"#,
        "[[1,2],[],[3]]",
        "3",
    );
    gives(
        r#"{"op":"sum","expr":{"op":"it"}}"#,
        "[9223372036854775807,null,1]",
        "9223372036854775808",
    );
    // A value that cannot be added is an error before the next item is visited.
    faults(
        r#"{"op":"sum","expr":{"op":"div","left":1,"right":{"op":"coalesce","values":[{"op":"get","field":"n"},0]}}}"#,
        r#"[{"n":1},{}]"#,
        Code::DivisionByZero,
        &[],
    );
    faults(
        r#"{"op":"sum","expr":{"op":"it"}}"#,
        r#"[1,"x",2]"#,
        Code::NeedsNumbers,
        &[r#""x""#],
    );
    gives(
        r#"{"op":"distinct","field":"k"},{"op":"map","expr":{"op":"get","field":"i"}}"#,
        r#"[{"k":1,"i":0},{"k":1.0,"i":1},{"k":1,"i":2},{"i":3},{"k":null,"i":4},7]"#,
        "[0, 1, 3]",
    );
    gives(
        r#"{"op":"distinct","expr":{"op":"typeof"}}"#,
        r#"[1,2,"a",null,"b"]"#,
        r#"[1, "a", nil]"#,
    );
    for op in [
        "sum", "avg", "min", "max", "min_by", "max_by", "distinct", "sort_by",
    ] {
        rejects(
            &format!(r#"{{"op":"{op}","field":"a","expr":{{"op":"it"}}}}"#),
            Code::Accepts,
            "'field' or 'expr', not both",
        );
        if op != "distinct" {
            rejects(
                &format!(r#"{{"op":"{op}","field":null}}"#),
                Code::FieldMissing,
                "field",
            );
        }
    }
}

#[test]
fn several_sort_keys() {
    let rows = r#"[{"a":1,"b":1,"c":2},{"a":1,"b":2,"c":1},{"a":1,"b":1,"c":1},{"a":0,"b":9}]"#;
    let c = r#"{"op":"map","expr":{"op":"get","field":"c"}}"#;
    gives(
        &format!(
            r#"{{"op":"sort_by","by":[{{"field":"a"}},{{"field":"b","order":"desc"}},{{"field":"c"}}]}},{c}"#
        ),
        rows,
        "[nil, 1, 1, 2]",
    );
    let of = |field: &str| format!(r#"{{"expr":{{"op":"get","field":"{field}"}}}}"#);
    gives(
        &format!(
            r#"{{"op":"sort_by","by":[{},{{"field":"b"}},{}]}},{c}"#,
            of("a"),
            of("c")
        ),
        rows,
        "[nil, 1, 2, 1]",
    );
    gives(
        &format!(
            r#"{{"op":"sort_by","by":[{}]}},{c},{{"op":"take","count":2}}"#,
            of("c")
        ),
        rows,
        "[1, 1]",
    );
    gives(
        r#"{"op":"sort_by","by":[{"field":"a"}]},{"op":"take","count":1}"#,
        rows,
        r#"[%{"a" => 0, "b" => 9}]"#,
    );
    rejects(
        r#"{"op":"sort_by","by":[]}"#,
        Code::FieldWrong,
        "'by' must not be empty",
    );
    rejects(
        r#"{"op":"sort_by","by":[{"field":"a"},7]}"#,
        Code::PartWrong,
        "All elements in 'by' must be maps",
    );
    rejects(
        r#"{"op":"sort_by","by":[{"field":"a","order":"up"}]}"#,
        Code::UnknownOrder,
        "order",
    );
    rejects(
        r#"{"op":"sort_by","by":[{"field":"a"}],"order":"asc"}"#,
        Code::Accepts,
        "'order' or 'by', not both",
    );
    rejects(
        r#"{"op":"sort_by","by":[{"order":"asc"}]}"#,
        Code::FieldMissing,
        "field",
    );
    rejects(
        r#"{"op":"sort_by","by":[{"field":7}]}"#,
        Code::FieldNotString,
        "field",
    );
    // In ascending order of the fields, also where one is an expression.
    match end(
        &over(r#"{"op":"sort_by","expr":{"op":"nope"},"order":"up"}"#),
        "{}",
    ) {
        End::Rejected(mistake) => assert_eq!(mistake.code, Code::UnknownOp),
        end => panic!("{end:?}"),
    }
}

/// The end of a program within limits.
fn within(program: &str, limits: Limits) -> End {
    let mut lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT)
        .unwrap_or_else(|end| panic!("{program}: {end:?}"));
    lab.limits = limits;
    lab.in_one_go()
}

#[test]
fn what_is_too_large_ends_by_a_limit() {
    let words = Limits {
        words: 100_000,
        ..FREE
    };
    let doubles = r#"{"op":"fold","init":[0],"expr":{"op":"concat","lists":[{"op":"var","name":"acc"},{"op":"var","name":"acc"}]}}"#;
    let nests = r#"{"op":"fold","init":[0],"expr":{"op":"list","items":[{"op":"var","name":"acc"},{"op":"var","name":"acc"}]}}"#;
    let long = r#"{"op":"range","from":1,"to":1000}"#;
    for program in [
        r#"{"op":"range","from":1,"to":1000000000000}"#.to_string(),
        r#"{"op":"range","from":-100000000000000000000,"to":100000000000000000000}"#.to_string(),
        format!(r#"{{"op":"pipe","steps":[{long},{doubles}]}}"#),
        format!(r#"{{"op":"pipe","steps":[{{"op":"range","from":1,"to":60}},{nests}]}}"#),
        format!(
            r#"{{"op":"let","name":"l","value":{long},"in":{{"op":"pipe","steps":[{long},{{"op":"flat_map","expr":{{"op":"var","name":"l"}}}}]}}}}"#
        ),
        format!(
            r#"{{"op":"let","name":"l","value":{long},"in":{{"op":"pipe","steps":[{long},{{"op":"map","expr":{{"op":"var","name":"l"}}}},{{"op":"flatten"}}]}}}}"#
        ),
    ] {
        assert_eq!(within(&program, words), End::MemoryExceeded, "{program}");
    }
    let time = Limits {
        deadline: Deadline::After(Duration::from_millis(20)),
        words: usize::MAX,
    };
    let endless = r#"{"op":"pipe","steps":[{"op":"range","from":1,"to":3000},{"op":"map","expr":{"op":"pipe","steps":[
        {"op":"range","from":1,"to":3000},{"op":"fold","init":0,"expr":{"op":"it"}}]}}]}"#;
    assert_eq!(within(endless, time), End::DeadlinePassed);
}

#[test]
fn words_are_counted_before_they_are_built() {
    use ptc_term::heap::Heap;
    let items = r#"{"op":"literal","value":[[1,2],[3],[4,5,6],[7,8]]}"#;
    for step in [
        r#"{"op":"reverse"}"#,
        r#"{"op":"flatten"}"#,
        r#"{"op":"chunk","size":3}"#,
        r#"{"op":"range","from":1,"to":50}"#,
        r#"{"op":"distinct","expr":{"op":"first"}}"#,
        r#"{"op":"sort_by","by":[{"expr":{"op":"last"}},{"expr":{"op":"first"}}]}"#,
    ] {
        let program = format!(r#"{{"op":"pipe","steps":[{items},{step}]}}"#);
        let mut lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT)
            .unwrap_or_else(|end| panic!("{end:?}"));
        assert!(matches!(lab.in_one_go(), End::Value(_)), "{program}");
        let built = lab.heap.words_built();
        let ends = |words| within(&program, Limits { words, ..FREE });
        // What an evaluation keeps meanwhile counts, too.
        assert!(matches!(ends(2 * built), End::Value(_)), "{program}");
        assert_eq!(ends(built - 1), End::MemoryExceeded, "{program}");
    }
}
