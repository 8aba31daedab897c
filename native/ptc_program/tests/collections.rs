//! Results of the operations over lists on plain values.

use crate::common::{over, ROWS};

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
fn a_list_that_is_counted_at_once_is_counted_as_if_it_had_been_made() {
    let filter =
        r#"{"op":"filter","where":{"op":"gt","field":"n","value":{"op":"get","path":["m","x"]}}}"#;
    let sum = over(&format!(r#"{filter},{{"op":"sum","field":"n"}}"#));
    runs!(sum.as_str(), r#"{"items":[{"n":1,"m":{"x":0}},{"n":2.5},{"n":9}]}"# => "1");
    runs!(sum.as_str(), r#"{"items":[]}"# => "0");
    // What is wrong with the condition is wrong before anything is added.
    fails!(sum.as_str(), r#"{"items":[{"n":"1","m":{"x":0}},{"n":1,"m":5}]}"# => PathThroughNonMap, "5");
    fails!(sum.as_str(), r#"{"items":[{"n":"1","m":{"x":0}},{"n":[],"m":{"x":0}},{"n":1}]}"# => NeedsNumbers, r#""1""#);
    let sum = over(r#"{"op":"map","expr":{"op":"get","field":"k"}},{"op":"sum","field":"n"}"#);
    fails!(sum.as_str(), r#"{"items":[{"k":{"n":1}},{},{"k":7}]}"# => NeedsListOfMaps, "nil");
    let mean = over(
        r#"{"op":"reject","where":{"op":"eq","field":"n","value":2}},{"op":"avg","field":"n"}"#,
    );
    runs!(mean.as_str(), r#"{"items":[{"n":1},{"n":2},{"n":4},7]}"#.replace(",7", "").as_str() => "2.5");
    runs!(mean.as_str(), r#"{"items":[{"n":2}]}"# => "nil");
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
}

#[test]
fn sets_of_any_size() {
    for size in [1, 7, 8, 9, 63, 64, 65, 1000] {
        let once: Vec<_> = (0..size).map(|n| format!(r#"{{"n":{n}}}"#)).collect();
        let items = format!(r#"{{"items":[{0},{0}]}}"#, once.join(","));
        let distinct = over(r#"{"op":"distinct"},{"op":"count"}"#);
        runs!(distinct.as_str(), items.as_str() => size);
        let members: Vec<_> = (0..size).map(|n| (2 * n).to_string()).collect();
        let members = members.join(",");
        let even =
            format!(r#"{{"op":"filter_in","field":"n","value":[{members}]}},{{"op":"count"}}"#);
        runs!(over(&even).as_str(), items.as_str() => 2 * ((size + 1) / 2));
    }
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
