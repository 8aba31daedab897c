//! Operations on text.

use crate::common::{run_in, End, STRICT};
use ptc_program::fault::Code;

fn end(op: &str, fields: &str, x: &str) -> End {
    let comma = if fields.is_empty() { "" } else { "," };
    let program = format!(
        r#"{{"op":"pipe","steps":[{{"op":"load","name":"x"}},{{"op":"{op}"{comma}{fields}}}]}}"#
    );
    run_in(STRICT, &program, &format!(r#"{{"x":{x}}}"#), "{}")
}

/// The value of an operation on `x`.
fn value(op: &str, fields: &str, x: &str) -> String {
    match end(op, fields, x) {
        End::Value(value) => value,
        end => panic!("{op}, {fields}, {x}: {end:?}"),
    }
}

fn error(op: &str, fields: &str, x: &str) -> (Code, Option<&'static str>) {
    match end(op, fields, x) {
        End::Rejected(mistake) | End::Fault(mistake) => (mistake.code, mistake.field),
        end => panic!("{op}, {fields}, {x}: {end:?}"),
    }
}

#[test]
fn case_and_white_space() {
    assert_eq!(value("upper", "", r#""straße ž1""#), r#""STRASSE Ž1""#);
    assert_eq!(
        value("lower", r#""field":"a""#, r#"{"a":"ΣΑΣ"}"#),
        r#""σασ""#
    );
    assert_eq!(value("lower", r#""value":"AB""#, "1"), r#""ab""#);
    assert_eq!(value("trim", "", r#""\u00a0 a b\n""#), r#""a b""#);
    assert_eq!(value("upper", r#""field":"a""#, "{}"), "nil");
    assert_eq!(
        error("upper", r#""field":"a""#, "1"),
        (Code::NeedsMap, None)
    );
    assert_eq!(
        error("trim", "", r#"["a"]"#),
        (Code::Requires, Some("a string"))
    );
    let both = r#""field":"a","value":1"#;
    let accepts = (Code::Accepts, Some("'field' or 'value', not both"));
    assert_eq!(error("upper", both, "1"), accepts);
}

#[test]
fn lengths() {
    for (x, length) in [
        (r#""e\u0301🇨🇿a""#, "3"),
        ("[1,2]", "2"),
        (r#"{"a":1}"#, "1"),
        ("null", "nil"),
    ] {
        assert_eq!(value("length", "", x), length);
    }
    let error = error("length", "", "5");
    assert_eq!(error, (Code::Requires, Some("a string, a list or a map")));
}

#[test]
fn values_as_text() {
    let parts = r#""separator":"|","parts":["a",null,1.0,true,{"b":[1,"\"\n"],"a":{}},[]]"#;
    let text = r#""a||1.0|true|{\"a\":{},\"b\":[1,\"\\\"\\n\"]}|[]""#;
    assert_eq!(value("text", parts, "1"), text);
    let many: Vec<_> = (0..50)
        .map(|n| format!(r#""k{:02}":{n}"#, 49 - n))
        .collect();
    let many = format!("{{{}}}", many.join(","));
    let sorted: Vec<_> = (0..50)
        .map(|n| format!(r#"\"k{n:02}\":{}"#, 49 - n))
        .collect();
    assert_eq!(
        value("to_text", "", &many),
        format!(r#""{{{}}}""#, sorted.join(","))
    );
    let deep = "[".repeat(5_000) + &"]".repeat(5_000);
    assert_eq!(value("to_text", "", &deep), format!("\"{deep}\""));
    assert_eq!(value("to_text", "", "null"), "nil");
    assert_eq!(
        value("to_text", "", "123456789012345678901234567890").len(),
        32
    );
}

#[test]
fn numbers_with_fixed_decimals() {
    for (decimals, x, text) in [
        (2, "12.5", "12.50"),
        (0, "12.5", "13"),
        (2, "7", "7.00"),
        (2, "-0.125", "-0.13"),
        (2, "-0.001", "0.00"),
        (2, "1.005", "1.00"),
        (1, "999.95", "1000.0"),
        (3, "1e3", "1000.000"),
        (20, "0.1", "0.10000000000000000555"),
        (
            2,
            "123456789012345678901234567890",
            "123456789012345678901234567890.00",
        ),
    ] {
        let decimals = format!(r#""decimals":{decimals}"#);
        assert_eq!(value("to_text", &decimals, x), format!("{text:?}"), "{x}");
    }
    assert_eq!(value("to_text", r#""decimals":null"#, "12.5"), r#""12.5""#);
    assert_eq!(value("to_text", r#""decimals":2"#, "null"), "nil");
    for wrong in [r#""12.5""#, "true", "[1]", "{}"] {
        let code = error("to_text", r#""decimals":2"#, wrong).0;
        assert_eq!(code, Code::NeedsNumberForDecimals, "{wrong}");
    }
    for wrong in ["21", "-1", "1.0", r#""2""#, "{\"op\":\"it\"}"] {
        let found = error("to_text", &format!(r#""decimals":{wrong}"#), "1");
        let phrase = "'decimals' must be an integer from 0 to 20";
        assert_eq!(found, (Code::FieldWrong, Some(phrase)), "{wrong}");
    }
    let huge = value("to_text", r#""decimals":1"#, "1e300");
    assert_eq!(huge.len(), 305);
}

#[test]
fn parts_of_texts() {
    assert_eq!(value("split", r#""by":", ""#, r#""a, b""#), r#"["a", "b"]"#);
    assert_eq!(
        value("split", r#""by":"a""#, r#""aaa""#),
        r#"["", "", "", ""]"#
    );
    assert_eq!(
        value(
            "split",
            r#""by":{"op":"get","field":"s"},"field":"t""#,
            r#"{"s":"-","t":"a-b"}"#
        ),
        r#"["a", "b"]"#
    );
    assert_eq!(
        value("replace", r#""find":"aa","with":"b""#, r#""aaaaa""#),
        r#""bba""#
    );
    assert_eq!(
        value("replace", r#""find":"x","with":"b""#, r#""a""#),
        r#""a""#
    );
    let computed = r#""find":{"op":"get","field":"f"},"with":{"op":"get","field":"w"},"field":"t""#;
    assert_eq!(
        value("replace", computed, r#"{"f":"a","w":"","t":"banana"}"#),
        r#""bnn""#
    );
    assert_eq!(value("replace", computed, r#"{"f":"a"}"#), "nil");
    let string = (Code::Requires, Some("a string in 'find'"));
    assert_eq!(error("replace", computed, r#"{"t":"a","f":7}"#), string);
    let string = (Code::Requires, Some("a non-empty string in 'by'"));
    let by = r#""by":{"op":"literal","value":""}"#;
    assert_eq!(error("split", by, r#""a""#), string);
    for by in [r#""by":{}"#, r#""by":{"op":1}"#, r#""by":7"#] {
        assert_eq!(
            error("split", by, r#""a""#),
            (Code::FieldNotString, Some("by"))
        );
    }
}

#[test]
fn starts_and_ends() {
    assert_eq!(value("starts_with", r#""value":"a""#, r#""ab""#), "true");
    assert_eq!(
        value("ends_with", r#""value":"b","field":"t""#, r#"{"t":"ab"}"#),
        "true"
    );
    assert_eq!(value("ends_with", r#""value":5"#, "5"), "false");
    let computed = r#""left":{"op":"upper"},"value":{"op":"literal","value":"A"}"#;
    assert_eq!(value("starts_with", computed, r#""ab""#), "true");
    assert_eq!(
        error("starts_with", r#""value":"b","field":"t""#, "1"),
        (Code::NeedsMap, None)
    );
}

#[test]
fn patterns() {
    let digits = r#""pattern":"^\\d+$""#;
    for (x, holds) in [(r#""12""#, "true"), (r#""1a""#, "false"), ("12", "false")] {
        assert_eq!(value("matches", digits, x), holds);
    }
    assert_eq!(
        value("matches", r#""pattern":"b","left":"abc""#, "1"),
        "true"
    );
    assert_eq!(value("extract", r#""pattern":"b.""#, r#""abc""#), r#""bc""#);
    assert_eq!(
        value("extract", r#""pattern":"(a)|(b)""#, r#""b""#),
        r#"[nil, "b"]"#
    );
    assert_eq!(
        value("extract", r#""pattern":"(?P<k>.)=(.)""#, r#""a=1""#),
        r#"%{"k" => "a"}"#
    );
    assert_eq!(value("extract", r#""pattern":"z""#, r#""b""#), "nil");
    let all = r#""all":true,"pattern":"a*""#;
    assert_eq!(value("extract", all, r#""aab""#), r#"["aa", ""]"#);
    assert_eq!(value("extract", all, "null"), "nil");
    let wrong = (Code::PatternWrong, Some("unclosed group"));
    assert_eq!(error("matches", r#""pattern":"(""#, r#""a""#), wrong);
    let large = (Code::FieldWrong, Some("'pattern' is too large"));
    assert_eq!(
        error("matches", r#""pattern":"\\w{9999}""#, r#""a""#),
        large
    );
    let boolean = (Code::FieldWrong, Some("'all' must be true or false"));
    assert_eq!(
        error("extract", r#""all":1,"pattern":"(""#, r#""a""#),
        boolean
    );
}

#[test]
fn one_pattern_is_compiled_once() {
    let texts: Vec<_> = (0..2_000)
        .map(|_| r#"{"op":"matches","pattern":"\\w{20}"}"#)
        .collect();
    let fields = format!(r#""conditions":[{}]"#, texts.join(","));
    assert_eq!(
        value("and", &fields, r#""abcdefghijklmnopqrstuvw""#),
        "true"
    );
}

#[test]
fn numbers() {
    for (x, number) in [
        (r#"" 12.5 ""#, "12.5"),
        (r#""+7""#, "7"),
        (r#""-0""#, "0"),
        (r#""1e3""#, "1000.0"),
        (r#""007""#, "nil"),
        (r#""+-5""#, "nil"),
        (r#""1e999""#, "nil"),
        (r#""""#, "nil"),
        (
            r#""123456789012345678901234567890""#,
            "123456789012345678901234567890",
        ),
        ("5", "5"),
        ("true", "nil"),
    ] {
        assert_eq!(value("to_number", "", x), number, "{x}");
    }
    let long = "9".repeat(100_000);
    assert_eq!(value("to_number", "", &format!("\"{long}\"")), long);
}
