//! Results of the operations on plain values, except those over lists (`collections.rs`).

use crate::common::{over, End, Lab, ROWS, STRICT};
use ptc_program::ops::OpCode;
use ptc_term::plain::PlainHeap;

#[test]
fn every_operation_stands_in_these_files() {
    let files = [
        include_str!("programs.rs"),
        include_str!("collections.rs"),
        include_str!("editions.rs"),
        include_str!("lists.rs"),
        include_str!("dates_and_numbers.rs"),
        include_str!("text.rs"),
        include_str!("groups.rs"),
    ]
    .concat();
    for op in OpCode::ALL {
        // In a program, or as the argument of a function of a test.
        let used = [
            format!(r#""op":"{}""#, op.name()),
            format!(r#"("{}","#, op.name()),
        ];
        assert!(
            used.iter().any(|used| files.contains(used)),
            "no test of {op:?} in these files"
        );
    }
}

#[test]
fn data() {
    runs!(r#"{"op":"literal","value":{"op":"nonsense"}}"# => r#"%{"op" => "nonsense"}"#);
    runs!(r#"{"op":"load","name":"a"}"#, r#"{"a":1}"#, r#"{"a":2}"# => "1");
    runs!(r#"{"op":"load","name":"b"}"#, r#"{"a":1}"#, r#"{"b":2}"# => "nil");
    runs!(r#"{"op":"var","name":"a"}"#, r#"{"a":1}"#, r#"{"a":2}"# => "2");
    runs!(r#"{"op":"var","name":"__input"}"# => "nil");
    runs!(r#"{"op":"var","name":"__input"}"#, "{}", r#"{"__input":7}"# => "7");
}

#[test]
fn flow() {
    runs!(r#"{"op":"pipe","steps":[]}"# => "nil");
    runs!(over(r#"{"op":"first"},{"op":"get","field":"n"}"#).as_str(), ROWS => "2");
    runs!(r#"{"op":"let","name":"x","value":{"op":"literal","value":1},
             "in":{"op":"let","name":"x","value":{"op":"add","left":{"op":"var","name":"x"},"right":1},
             "in":{"op":"var","name":"x"}}}"# => "2");
    runs!(r#"{"op":"if","condition":{"op":"literal","value":0},
             "then":{"op":"literal","value":"yes"},"else":{"op":"literal","value":"no"}}"# => r#""yes""#);
    runs!(r#"{"op":"if","condition":{"op":"literal","value":null},
             "then":{"op":"count"},"else":{"op":"literal","value":"no"}}"# => r#""no""#);
}

#[test]
fn bindings_are_lexical() {
    runs!(r#"{"a":{"op":"let","name":"x","value":{"op":"literal","value":1},"in":{"op":"var","name":"x"}},
              "b":{"op":"var","name":"x"}}"# => r#"%{"a" => 1, "b" => nil}"#);
    runs!(r#"{"op":"let","name":"__input","value":{"op":"literal","value":[1,2]},"in":{"op":"count"}}"# => "2");
    // The first step of an inner pipe can go on with the item; later steps see what is piped.
    let inner = r#"{"op":"map","expr":{"op":"pipe","steps":[{"op":"var","name":"__input"},{"op":"get","field":"s"}]}}"#;
    runs!(over(inner).as_str(), ROWS => r#"["b", "a", "c", "d"]"#);
    runs!(r#"{"op":"pipe","steps":[{"op":"literal","value":3},{"op":"var","name":"__input"}]}"# => "3");
    // A part's own current value, and the one that a pipe gives, which wins.
    runs!(r#"{"op":"count","__input":[1,2,3]}"# => "3");
    runs!(r#"{"op":"pipe","steps":[{"op":"literal","value":[]},{"op":"count","__input":[1]}]}"# => "0");
    runs!(r#"{"__input":[1],"n":{"op":"count"}}"# => r#"%{"n" => 1}"#);
}

#[test]
fn logic() {
    let truth = |value: &str| format!(r#"{{"op":"literal","value":{value}}}"#);
    let (yes, no) = (truth("0"), truth("null"));
    runs!(r#"{"op":"and","conditions":[]}"# => "true");
    runs!(r#"{"op":"or","conditions":[]}"# => "false");
    runs!(format!(r#"{{"op":"and","conditions":[{yes},{no},{{"op":"count"}}]}}"#).as_str() => "false");
    runs!(format!(r#"{{"op":"or","conditions":[{no},{yes},{{"op":"count"}}]}}"#).as_str() => "true");
    runs!(format!(r#"{{"op":"not","condition":{no}}}"#).as_str() => "true");
    fails!(format!(r#"{{"op":"and","conditions":[{yes},{{"op":"count"}}]}}"#).as_str() => NoInput);
}

#[test]
fn comparisons_follow_term_order() {
    let of = |op: &str, value: &str| {
        format!(r#"{{"op":"{op}","field":"n","value":{value},"__input":{{"n":1}}}}"#)
    };
    for (op, holds) in [
        ("eq", [false, true, false]),
        ("neq", [true, false, true]),
        ("gt", [true, false, false]),
        ("gte", [true, true, false]),
        ("lt", [false, false, true]),
        ("lte", [false, true, true]),
    ] {
        for (value, holds) in ["0", "1.0", "null"].into_iter().zip(holds) {
            runs!(of(op, value).as_str() => holds);
        }
    }
    // The names, where they can be found: "op":"eq" "op":"neq" "op":"gt" "op":"gte" "op":"lt" "op":"lte"
    runs!(r#"{"op":"gt","field":"missing","value":100,"__input":{}}"# => "true");
    runs!(r#"{"op":"eq","value":9007199254740992.0,"__input":9007199254740993}"# => "false");
    runs!(r#"{"op":"eq","field":"a","value":{"op":"get","field":"b"},"__input":{"a":[1,{"x":2}],"b":[1.0,{"x":2.0}]}}"# => "true");
    fails!(r#"{"op":"eq","field":"a","value":1,"__input":[]}"# => NeedsMap, "[]");
    fails!(r#"{"op":"eq","field":"a","value":{"op":"bogus"},"__input":{}}"# => UnknownOp, r#""bogus""#);
}

#[test]
fn arithmetic() {
    for (program, value) in [
        (
            r#"{"op":"add","left":9223372036854775807,"right":1}"#,
            "9223372036854775808",
        ),
        (r#"{"op":"sub","left":1,"right":0.5}"#, "0.5"),
        (
            r#"{"op":"mul","left":4294967296,"right":4294967296}"#,
            "18446744073709551616",
        ),
        (r#"{"op":"div","left":10,"right":4}"#, "2.5"),
        (r#"{"op":"pct","part":1,"whole":4}"#, "25.0"),
        (r#"{"op":"round","value":2.5}"#, "3.0"),
        (r#"{"op":"round","value":-0.4}"#, "-0.0"),
        (r#"{"op":"round","value":2.675,"precision":2}"#, "2.67"),
    ] {
        runs!(program => value);
    }
    fails!(r#"{"op":"div","left":1,"right":-0.0}"# => DivisionByZero);
    fails!(r#"{"op":"pct","part":1,"whole":0}"# => DivisionByZero);
    fails!(r#"{"op":"mul","left":1e200,"right":1e200}"# => BadArith);
    fails!(r#"{"op":"round","value":1,"precision":16}"# => PrecisionOutOfRange, "16");
    fails!(r#"{"op":"round","value":1,"precision":-1}"# => PrecisionOutOfRange, "-1");
    fails!(r#"{"op":"round","value":1,"precision":null}"# => NeedsValueAndPrecision, "1", "nil");
    fails!(r#"{"op":"add","left":{"op":"load","name":"x"},"right":1}"# => NeedsNumericOperands, "nil", "1");
}

#[test]
fn combinations() {
    let a = r#"{"op":"literal","value":{"a":1,"b":1}}"#;
    let b = r#"{"op":"literal","value":{"b":2}}"#;
    let list = r#"{"op":"literal","value":[1,2]}"#;
    runs!(format!(r#"{{"op":"merge","objects":[{a},{b}]}}"#).as_str() => r#"%{"a" => 1, "b" => 2}"#);
    runs!(r#"{"op":"merge","objects":[]}"# => "%{}");
    runs!(format!(r#"{{"op":"concat","lists":[{list},{list}]}}"#).as_str() => "[1, 2, 1, 2]");
    runs!(r#"{"op":"concat","lists":[]}"# => "[]");
    runs!(format!(r#"{{"op":"zip","lists":[{list},{{"op":"literal","value":["a"]}}]}}"#).as_str() => r#"[[1, "a"]]"#);
    runs!(r#"{"op":"zip","lists":[]}"# => "[]");
    runs!(format!(r#"{{"op":"object","fields":{{"x":{list},"op":1,"a":{{"b":{list}}}}}}}"#).as_str()
        => r#"%{"a" => %{"b" => %{"op" => "literal", "value" => [1, 2]}}, "op" => 1, "x" => [1, 2]}"#);
    // Each is looked at before the next one is evaluated.
    fails!(format!(r#"{{"op":"merge","objects":[{list},{{"op":"count"}}]}}"#).as_str() => NeedsMapValues, "[1, 2]");
    fails!(format!(r#"{{"op":"zip","lists":[{a},{{"op":"count"}}]}}"#).as_str() => NeedsListValues, r#"%{"a" => 1, "b" => 1}"#);
    // An object without fields beside one with fields.
    runs!(r#"{"op":"merge","objects":[{"op":"object","fields":{}},{"op":"object","fields":{"a":1}}]}"# => r#"%{"a" => 1}"#);
}

#[test]
fn access() {
    let of = |path: &str, rest: &str| {
        format!(r#"{{"op":"get","path":{path},"__input":{{"a":{{"b":1,"c":null}},"d":5}}{rest}}}"#)
    };
    runs!(of(r#"["a","b"]"#, "").as_str() => "1");
    runs!(of(r#"["a","c","x"]"#, "").as_str() => "nil");
    runs!(of(r#"["a","c","x"]"#, r#","default":[0]"#).as_str() => "[0]");
    runs!(of(r#"["a","b"]"#, r#","default":0"#).as_str() => "1");
    runs!(of("[]", "").as_str() => r#"%{"a" => %{"b" => 1, "c" => nil}, "d" => 5}"#);
    fails!(of(r#"["d","e"]"#, r#","default":0"#).as_str() => PathThroughNonMap, "5");
    runs!(r#"{"op":"get","field":"a","__input":"text"}"# => "nil");
    runs!(r#"{"op":"get","field":"a","default":1,"__input":{"a":false}}"# => "false");
}

#[test]
fn introspection() {
    runs!(r#"{"op":"keys","__input":{"b":1,"a":2}}"# => r#"["a", "b"]"#);
    fails!(r#"{"op":"keys","__input":[1]}"# => NeedsMap, "[1]");
    for (value, name) in [
        ("null", "null"),
        ("{}", "object"),
        ("[]", "list"),
        (r#""""#, "string"),
        ("1.5", "number"),
        ("false", "boolean"),
    ] {
        runs!(format!(r#"{{"op":"typeof","__input":{value}}}"#).as_str() => format!("{name:?}"));
    }
}

#[test]
fn tools() {
    let text = r#"{"op":"concat","lists":[{"op":"map","expr":{"op":"call","tool":"count"},"__input":[1,1]},
                   {"op":"map","expr":{"op":"call","tool":"echo","args":{"op":"literal"}},"__input":[1]}]}"#;
    let mut lab = Lab::of_text(PlainHeap::new(), text.as_bytes(), STRICT)
        .unwrap_or_else(|end| panic!("{end:?}"));
    assert_eq!(
        lab.in_one_go(),
        End::Value(r#"[1, 2, %{"op" => "literal"}]"#.into())
    );
    assert_eq!(
        lab.calls,
        [
            r#""count" %{}"#,
            r#""count" %{}"#,
            r#""echo" %{"op" => "literal"}"#
        ]
    );
}
