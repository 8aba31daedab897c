//! What a program will do: its terms, suspension, and programs that are made to be hard.

use crate::common::generate;
use crate::common::rng::Rng;
use crate::common::types::planned;
use crate::common::{EDITION_1, STRICT};

fn plan(program: &str) -> String {
    planned(program, STRICT, None).unwrap_or_else(|| panic!("{program}"))
}

#[test]
fn a_plan_is_one_term() {
    let call = r#"{"op":"call","tool":"t","args":{"n":{"op":"get","field":"n"}}}"#;
    let program = format!(
        r#"{{"op":"pipe","steps":[{{"op":"load","name":"rows"}},{{"op":"map","expr":{call}}}]}}"#
    );
    assert_eq!(
        plan(&program),
        concat!(
            r#"{[{"t", [{1, [{:context, ["rows"], false}]}], [{1, [{:context, ["rows"], false}]}], "#,
            r#"[{:context, ["rows"], false}], [{:context, ["rows"], false}], "#,
            r#"[{"n", [{:context, ["rows", :each, "n"], true}], [], []}]}], "#,
            r#"[{:context, ["rows", :each, "n"], true}, {:answer, ["t"], true}], "#,
            r#"{[{:answer, ["t"], true}], [{:context, ["rows"], false}], [{:context, ["rows"], false}]}, "#,
            r#"[{nil, [{:context, ["rows"], false}], [{:answer, ["t"], true}]}]}"#
        )
    );
}

#[test]
fn random_programs_have_the_same_plan_when_it_is_suspended_after_each_unit() {
    let mut rng = Rng::new(7);
    for _ in 0..400 {
        let program = generate::program(&mut rng, 4);
        for options in [STRICT, EDITION_1] {
            let whole = planned(&program, options, None);
            let units = crate::common::types::quantum(&program);
            assert_eq!(whole, planned(&program, options, Some(units)), "{program}");
        }
    }
}

/// A program that is a text inside the same one many times.
fn nested(times: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(times), close.repeat(times))
}

#[test]
fn hard_programs_end() {
    let it = r#"{"op":"it"}"#;
    let rows = r#"{"op":"load","name":"rows"}"#;
    let call = r#"{"op":"call","tool":"t","args":{"a":{"op":"it"}}}"#;
    for program in [
        // A value in two fields of the next one, and each of these in two of its own.
        nested(
            60,
            r#"{"op":"pipe","steps":["#,
            rows,
            r#",{"op":"object","fields":{"a":{"op":"it"},"b":{"op":"it"},"c":{"op":"if","condition":{"op":"it"},"then":{"op":"it"},"else":{"x":{"op":"it"}}}}}]}"#,
        ),
        // Loops in loops over the same list.
        format!(
            r#"{{"op":"pipe","steps":[{rows},{}]}}"#,
            nested(
                60,
                r#"{"op":"map","expr":{"op":"pipe","steps":[{"op":"load","name":"rows"},"#,
                &format!(r#"{{"op":"map","expr":{call}}}"#),
                "]}}"
            )
        ),
        // Reading deeper than paths go.
        format!(
            r#"{{"op":"get","from":{rows},"path":[{}"x"]}}"#,
            r#""x","#.repeat(500)
        ),
        // Folds in folds.
        nested(
            40,
            r#"{"op":"fold","init":{"op":"load","name":"a"},"expr":{"op":"pipe","steps":[{"op":"var","name":"acc"},"#,
            it,
            "]}}",
        ),
        // Many tools, and many parts of the data.
        format!(
            r#"{{"op":"list","items":[{}1]}}"#,
            (0..300)
                .map(|n| format!(
                    r#"{{"op":"call","tool":"t{n}","args":{{"a":{{"op":"load","name":"x{n}"}}}}}},"#
                ))
                .collect::<String>()
        ),
    ] {
        assert!(planned(&program, STRICT, None).is_some(), "{program}");
        let whole = planned(&program, STRICT, None);
        assert_eq!(whole, planned(&program, STRICT, Some(50)));
    }
}

#[test]
fn what_is_refused_has_no_plan() {
    for program in [r#"{"op":"lod"}"#, "1", r#"{"op":"map"}"#] {
        assert_eq!(planned(program, STRICT, None), None);
    }
}
