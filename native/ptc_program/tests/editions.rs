//! What edition 2 brought, beside edition 1.

use crate::common::{run, run_in, End, Lab, EDITION_1, STRICT, UNCHECKED};
use ptc_program::fault::Code;
use ptc_term::plain::PlainHeap;

/// Runs a program in edition 2.
fn value(program: &str, context: &str) -> String {
    match run_in(STRICT, program, context, "{}") {
        End::Value(value) => value,
        end => panic!("{program}: {end:?}"),
    }
}

/// The code and the field of the error in edition 2.
fn error(program: &str) -> (Code, Option<&'static str>) {
    match run_in(STRICT, program, "{}", "{}") {
        End::Rejected(mistake) | End::Fault(mistake) => (mistake.code, mistake.field),
        end => panic!("{program}: {end:?}"),
    }
}

#[test]
fn templates_are_evaluated_at_any_depth() {
    let context = r#"{"a":1,"b":[2]}"#;
    let load = |name: &str| format!(r#"{{"op":"load","name":"{name}"}}"#);
    let (a, b) = (load("a"), load("b"));
    let program = format!(r#"{{"x":[{a},{{"y":{b},"op":5}}],"z":{{}}}}"#);
    let expected = r#"%{"x" => [1, %{"op" => 5, "y" => [2]}], "z" => %{}}"#;
    assert_eq!(value(&program, context), expected);
    let list = format!(r#"{{"op":"list","items":[{a},[{a}],null]}}"#);
    assert_eq!(value(&list, context), "[1, [1], nil]");
    let echo = format!(r#"{{"op":"call","tool":"echo","args":{{"op":{a},"n":[{b}]}}}}"#);
    assert_eq!(value(&echo, context), r#"%{"n" => [[2]], "op" => 1}"#);
    let literal = r#"{"op":"literal","value":[{"op":"x"}]}"#;
    assert_eq!(value(literal, "{}"), r#"[%{"op" => "x"}]"#);
    let inside = format!(r#"{{"a":[{literal},{{"b":{literal}}}]}}"#);
    let expected = r#"%{"a" => [[%{"op" => "x"}], %{"b" => [%{"op" => "x"}]}]}"#;
    assert_eq!(value(&inside, "{}"), expected);
    assert_eq!(error(r#"{"a":{"b":{"op":"x"}}}"#), (Code::UnknownOp, None));
}

#[test]
fn an_error_in_a_field_comes_before_one_in_a_later_field() {
    for program in [
        r#"{"op":"call","args":{"a":{"op":"x"}}}"#,
        r#"{"op":"call","on_error":[{"op":"x"}]}"#,
        r#"{"op":"eq","left":{"op":"x"}}"#,
        r#"{"op":"in","left":{"op":"x"}}"#,
    ] {
        assert_eq!(error(program), (Code::UnknownOp, None), "{program}");
    }
}

#[test]
fn a_comparison_holds_only_between_values_of_one_kind() {
    let compared = |op: &str, left: &str, right: &str| {
        let program =
            format!(r#"{{"op":"{op}","left":{{"op":"literal","value":{left}}},"value":{right}}}"#);
        value(&program, "{}")
    };
    for (op, left, right, holds) in [
        ("gt", "null", "1", false),
        ("lt", "1", "null", false),
        ("gt", r#""a""#, "1", false),
        ("gt", "2", "1.5", true),
        ("lte", r#""a""#, r#""b""#, true),
        ("gte", "null", "null", false),
        ("eq", "null", "null", true),
        ("in", r#""new""#, r#"["old","new"]"#, true),
        ("in", "null", "[null]", true),
        ("in", "[1]", "1", true),
        ("contains", "[1]", "1", true),
    ] {
        assert_eq!(
            compared(op, left, right),
            holds.to_string(),
            "{op} {left} {right}"
        );
    }
    let both = r#"{"op":"gt","field":"a","left":1,"value":2}"#;
    assert_eq!(
        error(both),
        (Code::Accepts, Some("'field' or 'left', not both"))
    );
    assert_eq!(
        run(both, "{}", r#"{"__input":{"a":3}}"#),
        End::Value("true".to_string())
    );
}

#[test]
fn get_reads_by_a_computed_key() {
    let get = |from: &str, key: &str| {
        let program = format!(
            r#"{{"op":"get","from":{{"op":"literal","value":{from}}},"key":{key},"default":"no"}}"#
        );
        value(&program, "{}")
    };
    assert_eq!(get(r#"{"a":1}"#, r#""a""#), "1");
    assert_eq!(get(r#"{"7":1}"#, "7"), "1");
    assert_eq!(get("[5,6]", "1"), "6");
    assert_eq!(get("[5,6]", "-1"), r#""no""#);
    assert_eq!(get("[5,6]", "2"), r#""no""#);
    assert_eq!(get("5", "2"), r#""no""#);
    let several = r#"{"op":"get","field":"a","key":"b"}"#;
    assert_eq!(
        error(several),
        (Code::Accepts, Some("'field', 'path' or 'key', not several"))
    );
}

#[test]
fn the_first_step_of_a_pipe_gets_its_current_value() {
    let program = r#"{"op":"map","expr":{"op":"pipe","steps":[{"op":"get","field":"a"}]}}"#;
    let program = crate::common::over(program);
    assert_eq!(value(&program, r#"{"items":[{"a":1}]}"#), "[1]");
    assert_eq!(
        run(&program, r#"{"items":[{"a":1}]}"#, "{}"),
        End::Value("[nil]".to_string())
    );
}

#[test]
fn null_in_an_optional_field_counts_as_absent() {
    let get = r#"{"op":"get","field":"a","path":null,"__input":{"a":1}}"#;
    assert_eq!(value(get, "{}"), "1");
    let call = r#"{"op":"call","tool":"echo","args":null}"#;
    assert_eq!(value(call, "{}"), "%{}");
    assert_eq!(
        error(r#"{"op":"get","field":null}"#),
        (Code::NeitherFieldNorPath, Some("field"))
    );
}

#[test]
fn a_new_operation_in_an_unchecked_part_is_checked_when_it_is_reached() {
    let run = |program: &str| {
        let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), UNCHECKED);
        lab.expect("nothing is checked").in_one_go()
    };
    let branch = |condition: &str| {
        format!(
            r#"{{"op":"if","condition":{condition},"then":1,"else":{{"op":"list","items":[{{"op":"first"}},{{"op":"nope"}}]}}}}"#
        )
    };
    let (holds, holds_not) = (
        r#"{"op":"literal","value":true}"#,
        r#"{"op":"literal","value":false}"#,
    );
    assert_eq!(run(&branch(holds)), End::Value("1".to_string()));
    match run(&branch(holds_not)) {
        End::Fault(mistake) => assert_eq!(mistake.code, Code::UnknownOp),
        end => panic!("{end:?}"),
    }
    let not_a_list = r#"{"op":"list","items":5}"#;
    match run(not_a_list) {
        End::Fault(mistake) => assert_eq!(mistake.code, Code::FieldNotList),
        end => panic!("{end:?}"),
    }
}

#[test]
fn new_operations_are_unknown_in_edition_1() {
    let list = r#"{"op":"list","items":[]}"#;
    match run_in(EDITION_1, list, "{}", "{}") {
        End::Rejected(mistake) => assert_eq!(mistake.code, Code::UnknownOp),
        end => panic!("{end:?}"),
    }
}
