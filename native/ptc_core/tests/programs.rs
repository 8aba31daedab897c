//! What every operation computes, on plain values.

mod common;

use common::{run_unchecked, End, Lab, STRICT};
use ptc_core::fault::Code;
use ptc_core::heap::Heap;
use ptc_core::ops::OpCode;
use ptc_core::plain::{Opaque, PlainHeap, Term};

/// A step over the items of the context.
fn over(step: &str) -> String {
    format!(r#"{{"op":"pipe","steps":[{{"op":"load","name":"items"}},{step}]}}"#)
}

const ROWS: &str = r#"{"items":[{"n":2,"s":"b"},{"n":1,"s":"a"},{"n":2.0,"s":"c"},{"s":"d"}]}"#;

#[test]
fn every_operation_stands_in_this_file() {
    for op in OpCode::ALL {
        let used = format!(r#""op":"{}""#, op.name());
        assert!(include_str!("programs.rs").contains(&used), "{used}");
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
fn filter_map_reject_select() {
    runs!(over(r#"{"op":"filter","where":{"op":"get","field":"n"}},{"op":"count"}"#).as_str(), ROWS => "3");
    runs!(over(r#"{"op":"reject","where":{"op":"get","field":"n"}}"#).as_str(), ROWS => r#"[%{"s" => "d"}]"#);
    runs!(over(r#"{"op":"map","expr":{"op":"get","field":"n"}}"#).as_str(), ROWS => "[2, 1, 2.0, nil]");
    runs!(over(r#"{"op":"map","expr":{"k":{"op":"get","field":"n"}}},{"op":"last"}"#).as_str(), ROWS => r#"%{"k" => nil}"#);
    runs!(over(r#"{"op":"select","fields":["n"]}"#).as_str(), r#"{"items":[{"n":1,"m":2},5,{"m":3}]}"# => r#"[%{"n" => 1}, 5, %{}]"#);
    runs!(over(r#"{"op":"first"},{"op":"select","fields":["n"]}"#).as_str(), ROWS => r#"%{"n" => 2}"#);
    runs!(over(r#"{"op":"filter_in","field":"n","value":[1,2]},{"op":"count"}"#).as_str(), ROWS => "2");
    runs!(over(r#"{"op":"filter_in","field":"n","value":{"op":"literal","value":[null]}}"#).as_str(), ROWS => r#"[%{"s" => "d"}]"#);
    runs!(over(r#"{"op":"filter_in","field":"s","value":{"a":0,"d":0}},{"op":"count"}"#).as_str(), ROWS => "2");
    fails!(over(r#"{"op":"filter","where":{"op":"count"}}"#).as_str(), r#"{"items":{}}"# => NeedsList, "%{}");
    fails!(over(r#"{"op":"select","fields":[]}"#).as_str(), r#"{"items":1}"# => NeedsList, "1");
    // A body that is never run is never wrong.
    runs!(over(r#"{"op":"map","expr":{"op":"count"}}"#).as_str(), r#"{"items":[]}"# => "[]");
}

#[test]
fn sort_is_stable_both_ways() {
    let by_n = r#"{"op":"sort_by","field":"n"},{"op":"map","expr":{"op":"get","field":"s"}}"#;
    runs!(over(by_n).as_str(), ROWS => r#"["a", "b", "c", "d"]"#);
    let by_n = r#"{"op":"sort_by","field":"n","order":"desc"},{"op":"map","expr":{"op":"get","field":"s"}}"#;
    runs!(over(by_n).as_str(), ROWS => r#"["d", "b", "c", "a"]"#);
    let by_s = r#"{"op":"sort_by","field":"s","order":"asc"},{"op":"first"}"#;
    runs!(over(by_s).as_str(), ROWS => r#"%{"n" => 1, "s" => "a"}"#);
    // Floats and integers alone are sorted without being taken for terms.
    let keys = r#"{"op":"sort_by","field":"k"},{"op":"map","expr":{"op":"get","field":"k"}}"#;
    runs!(over(keys).as_str(), r#"{"items":[{"k":0.0},{"k":-1.5},{"k":-0.0}]}"# => "[-1.5, 0.0, -0.0]");
    runs!(over(keys).as_str(), r#"{"items":[{"k":3},{"k":-1},{"k":2}]}"# => "[-1, 2, 3]");
    runs!(over(keys).as_str(), r#"{"items":[{"k":"1"},{"k":[]},{"k":{}},{"k":null},{"k":1}]}"# => r#"[1, nil, %{}, [], "1"]"#);
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
fn membership_is_strict() {
    let of = |op: &str, field: &str, value: &str| {
        format!(r#"{{"op":"{op}","field":"f","value":{value},"__input":{{"f":{field}}}}}"#)
    };
    // "op":"contains" and "op":"in"
    for (op, field, value, holds) in [
        ("contains", "[1,2]", "2", true),
        ("contains", "[1,2]", "2.0", false),
        ("contains", r#""abc""#, r#""bc""#, true),
        ("contains", r#""abc""#, r#""""#, true),
        ("contains", r#""abc""#, "1", false),
        ("contains", r#"{"k":null}"#, r#""k""#, true),
        ("contains", "5", "5", false),
        ("in", "[1,2]", "2", true),
        ("in", r#"{"k":null}"#, r#""k""#, true),
        ("in", r#""abc""#, r#""bc""#, false),
    ] {
        runs!(of(op, field, value).as_str() => holds);
    }
}

#[test]
fn aggregates() {
    for (step, value) in [
        (r#"{"op":"count"}"#, "4"),
        (r#"{"op":"sum","field":"n"}"#, "5.0"),
        (r#"{"op":"avg","field":"n"}"#, "1.6666666666666667"),
        (r#"{"op":"min","field":"n"}"#, "1"),
        (r#"{"op":"max","field":"n"}"#, "2"),
        (
            r#"{"op":"min_by","field":"n"}"#,
            r#"%{"n" => 1, "s" => "a"}"#,
        ),
        (
            r#"{"op":"max_by","field":"n"}"#,
            r#"%{"n" => 2, "s" => "b"}"#,
        ),
        (r#"{"op":"max","field":"none"}"#, "nil"),
        (r#"{"op":"avg","field":"s"}"#, "nil"),
    ] {
        runs!(over(step).as_str(), ROWS => value);
    }
    let sum = over(r#"{"op":"sum","field":"n"}"#);
    runs!(sum.as_str(), r#"{"items":[]}"# => "0");
    runs!(sum.as_str(), r#"{"items":[{"n":9223372036854775807},{"n":1}]}"# => "9223372036854775808");
    fails!(sum.as_str(), r#"{"items":[{"n":1},7]}"# => NeedsListOfMaps, "7");
    fails!(sum.as_str(), r#"{"items":[{"n":"1"}]}"# => NeedsNumbers, r#""1""#);
    fails!(sum.as_str(), r#"{"items":[{"n":1e308},{"n":1e308}]}"# => BadArith);
    fails!(sum.as_str(), r#"{"items":"text"}"# => NeedsList, r#""text""#);
    fails!(r#"{"op":"count"}"# => NoInput);
}

#[test]
fn positions() {
    let items = r#"{"items":[10,11,12]}"#;
    for (step, value) in [
        (r#"{"op":"first"}"#, "10"),
        (r#"{"op":"last"}"#, "12"),
        (r#"{"op":"nth","index":1}"#, "11"),
        (r#"{"op":"nth","index":3}"#, "nil"),
        (r#"{"op":"nth","index":100000000000000000000}"#, "nil"),
        (r#"{"op":"take","count":2}"#, "[10, 11]"),
        (r#"{"op":"take","count":0}"#, "[]"),
        (r#"{"op":"drop","count":2}"#, "[12]"),
        (r#"{"op":"drop","count":100000000000000000000}"#, "[]"),
    ] {
        runs!(over(step).as_str(), items => value);
    }
    let distinct = over(r#"{"op":"distinct"}"#);
    runs!(distinct.as_str(), r#"{"items":[1,1.0,1,[1],[1.0],[1],{"a":1},{"a":1},null]}"#
        => r#"[1, 1.0, [1], [1.0], %{"a" => 1}, nil]"#);
    let many: Vec<_> = (0..40).map(|n| (n % 20).to_string()).collect();
    runs!(over(r#"{"op":"distinct"},{"op":"count"}"#).as_str(), format!(r#"{{"items":[{}]}}"#, many.join(",")).as_str() => "20");
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

/// A program over one term that JSON cannot say, as the current value.
fn over_term(program: &str, make: impl FnOnce(&mut PlainHeap) -> Term) -> End {
    let mut heap = PlainHeap::new();
    let (input, key) = (make(&mut heap), heap.make_string(b"__input"));
    let memory = heap.make_map(&[key], &[input], None);
    let mut lab =
        Lab::of_text(heap, program.as_bytes(), STRICT).unwrap_or_else(|end| panic!("{end:?}"));
    lab.memory = memory;
    lab.in_one_go()
}

fn faults(end: End, code: Code, terms: &[&str]) {
    match end {
        End::Fault(mistake) => assert_eq!(
            (mistake.code, mistake.terms),
            (code, terms.iter().map(|term| term.to_string()).collect())
        ),
        end => panic!("{end:?}"),
    }
}

#[test]
fn terms_that_json_cannot_say() {
    let typeof_ = r#"{"op":"typeof"}"#;
    faults(
        over_term(typeof_, |heap| heap.atom("ok")),
        Code::NoTypeName,
        &[":ok"],
    );
    faults(
        over_term(typeof_, |heap| heap.tuple(&[])),
        Code::NoTypeName,
        &["{}"],
    );
    faults(
        over_term(typeof_, |heap| heap.opaque(Opaque::Pid, 1)),
        Code::NoTypeName,
        &["#Pid<1>"],
    );
    assert_eq!(
        over_term(typeof_, |heap| heap.make_string(&[255])),
        End::Value(r#""string""#.into())
    );
    let improper = |heap: &mut PlainHeap| heap.cons(heap.boolean(true), heap.boolean(false));
    // No operation takes an improper list, whatever else is wrong.
    for step in [
        r#"{"op":"count"}"#,
        r#"{"op":"first"}"#,
        r#"{"op":"drop","count":1}"#,
        r#"{"op":"take","count":0}"#,
        r#"{"op":"sum","field":"n"}"#,
        r#"{"op":"map","expr":{"op":"keys"}}"#,
        r#"{"op":"distinct"}"#,
        r#"{"op":"filter","where":{"op":"var","name":"__input"}}"#,
        r#"{"op":"select","fields":[]}"#,
        r#"{"op":"map","expr":{"op":"call","tool":"never"}}"#,
        r#"{"op":"sort_by","field":"n"}"#,
    ] {
        faults(
            over_term(step, improper),
            Code::NeedsList,
            &["[true | false]"],
        );
    }
    // Membership looks at what comes before the tail.
    assert_eq!(
        over_term(r#"{"op":"in","value":true}"#, improper),
        End::Value("true".into())
    );
    assert_eq!(
        over_term(r#"{"op":"in","value":false}"#, improper),
        End::Value("false".into())
    );
    let atom_keys = |heap: &mut PlainHeap| {
        let keys = [heap.atom("a"), heap.make_string(b"a"), heap.boolean(true)];
        heap.make_map(&keys, &keys, None)
    };
    assert_eq!(
        over_term(r#"{"op":"keys"}"#, atom_keys),
        End::Value(r#"[:a, true, "a"]"#.into())
    );
}

#[test]
fn parts_that_were_never_checked() {
    for (program, code, terms) in [
        ("5", Code::NodeNotAMap, vec!["5"]),
        (r#"{"op":null}"#, Code::MissingOp, vec![]),
        (r#"{"op":42}"#, Code::UnknownOp, vec!["42"]),
        (r#"{"op":"load","name":1}"#, Code::ContextKey, vec!["1"]),
        (r#"{"op":"var"}"#, Code::MemoryKey, vec!["nil"]),
        (
            r#"{"op":"let","name":[],"value":{}}"#,
            Code::LetName,
            vec!["[]"],
        ),
        (
            r#"{"op":"let","name":[],"value":{"op":"count"}}"#,
            Code::NoInput,
            vec![],
        ),
        (r#"{"op":"not"}"#, Code::NodeNotAMap, vec!["nil"]),
        (
            r#"{"op":"pipe","steps":1}"#,
            Code::UncheckedNotList,
            vec!["1"],
        ),
        (
            r#"{"op":"object","fields":[]}"#,
            Code::UncheckedNotMap,
            vec!["[]"],
        ),
        (
            r#"{"op":"take","count":-1,"__input":[]}"#,
            Code::NotACount,
            vec!["-1"],
        ),
        (
            r#"{"op":"nth","index":1.0,"__input":[]}"#,
            Code::NotACount,
            vec!["1.0"],
        ),
        (
            r#"{"op":"nth","index":1.0,"__input":{}}"#,
            Code::NeedsList,
            vec!["%{}"],
        ),
        (
            r#"{"op":"get","path":"a","__input":{}}"#,
            Code::UncheckedNotList,
            vec![r#""a""#],
        ),
        (
            r#"{"op":"select","fields":1,"__input":{}}"#,
            Code::UncheckedNotList,
            vec!["1"],
        ),
    ] {
        faults(run_unchecked(program, "{}"), code, &terms);
    }
    for (program, value) in [
        (r#"{"op":"pipe"}"#, "nil"),
        (r#"{"op":"and"}"#, "true"),
        (r#"{"op":"merge"}"#, "%{}"),
        (r#"{"op":"zip"}"#, "[]"),
        (r#"{"op":"object"}"#, "%{}"),
        (r#"{"op":"get","__input":1}"#, "1"),
        (r#"{"op":"select","__input":[{"a":1}]}"#, "[%{}]"),
        (r#"{"op":"literal"}"#, "nil"),
        (
            r#"{"op":"sort_by","field":"n","order":"up","__input":[{"n":2},{"n":1}]}"#,
            r#"[%{"n" => 1}, %{"n" => 2}]"#,
        ),
        (r#"{"op":"map","__input":[]}"#, "[]"),
    ] {
        assert_eq!(
            run_unchecked(program, "{}"),
            End::Value(value.into()),
            "{program}"
        );
    }
}
