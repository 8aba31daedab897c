//! Terms that are small in memory and huge as a copy: a run does not return them.

use crate::common::{End, Lab, STRICT};
use ptc_term::meter::{Deadline, Limits};
use ptc_term::plain::PlainHeap;
use std::time::{Duration, Instant};

/// Binds `name` to `{"a": name, "b": name}`, this many times, around `body`.
fn doubled(name: &str, times: usize, body: &str) -> String {
    let seed =
        format!(r#"{{"op":"let","name":"{name}","value":{{"op":"literal","value":[1]}},"in":"#);
    let open = format!(
        r#"{{"op":"let","name":"{name}","value":{{"a":{{"op":"var","name":"{name}"}},"b":{{"op":"var","name":"{name}"}}}},"in":"#
    );
    format!("{seed}{}{body}{}}}", open.repeat(times), "}".repeat(times))
}

fn ends(program: &str, context: &str) -> End {
    let deadline = Deadline::At(Instant::now() + Duration::from_secs(20));
    ends_by(deadline, program, context)
}

fn ends_by(deadline: Deadline, program: &str, context: &str) -> End {
    let limits = Limits {
        deadline,
        words: 100_000,
    };
    let mut lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT)
        .unwrap_or_else(|end| panic!("{end:?}"))
        .given(context, "{}");
    lab.limits = limits;
    lab.heap.give();
    lab.in_one_go()
}

const X: &str = r#"{"op":"var","name":"x"}"#;

#[test]
fn a_value_that_is_huge_as_a_copy_is_none() {
    assert!(matches!(ends(&doubled("x", 8, X), "{}"), End::Value(_)));
    assert_eq!(ends(&doubled("x", 24, X), "{}"), End::MemoryExceeded);
    assert_eq!(ends(&doubled("x", 200, X), "{}"), End::MemoryExceeded);
}

#[test]
fn nor_is_it_shown_in_an_error() {
    let count = format!(r#"{{"op":"pipe","steps":[{X},{{"op":"count"}}]}}"#);
    assert!(matches!(
        ends(&doubled("x", 8, &count), "{}"),
        End::Fault(_)
    ));
    assert_eq!(ends(&doubled("x", 30, &count), "{}"), End::MemoryExceeded);
}

#[test]
fn a_value_from_outside_of_a_loop_counts_with_each_item() {
    let rows = format!("{{\"rows\":[{}1]}}", "1,".repeat(999));
    let each = r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},
        {"op":"map","expr":{"op":"load","name":"rows"}}]}"#;
    assert_eq!(ends(each, &rows), End::MemoryExceeded);
    let few = format!("{{\"rows\":[{}1]}}", "1,".repeat(9));
    assert!(matches!(ends(each, &few), End::Value(_)));
}

/// An object of this many values: all of the list, or what `step` makes of it.
fn many(times: usize, step: impl Fn(usize) -> String) -> String {
    let value = |index: usize| {
        let step = step(index);
        format!(r#""k{index}":{{"op":"pipe","steps":[{{"op":"load","name":"rows"}}{step}]}}"#)
    };
    let values: Vec<String> = (0..times).map(value).collect();
    format!("{{{}}}", values.join(","))
}

#[test]
fn each_tail_of_a_list_counts_as_its_copy() {
    let rows = |count: usize| format!(r#"{{"rows":[{}1]}}"#, "1,".repeat(count - 1));
    let tails = |step: &'static str| move |index: usize| step.replace('N', &index.to_string());
    for step in [r#",{"op":"drop","count":N}"#, ""] {
        let ends = |program: &str, rows: &str| ends_by(Deadline::Never, program, rows);
        assert_eq!(
            ends(&many(60, tails(step)), &rows(1_000)),
            End::MemoryExceeded
        );
        let few = ends(&many(40, tails(step)), &rows(1_000));
        assert!(matches!(few, End::Value(_)), "{step}: {few:?}");
        // What is given may be larger than the limit, but not twice.
        let two = ends(&many(2, tails(step)), &rows(60_000));
        assert_eq!(two, End::MemoryExceeded, "{step}");
        let one = ends(&many(1, tails(step)), &rows(60_000));
        assert!(matches!(one, End::Value(_)), "{step}: {one:?}");
    }
}

#[test]
fn what_is_given_can_be_returned_however_large_it_is() {
    let rows: Vec<String> = (0..20_000)
        .map(|n| format!(r#"{{"n":{n},"s":"t{n}"}}"#))
        .collect();
    let rows = format!(r#"{{"rows":[{}]}}"#, rows.join(","));
    let load = r#"{"op":"load","name":"rows"}"#;
    let count = format!(r#"{{"op":"pipe","steps":[{load},{{"op":"count"}}]}}"#);
    let max = format!(r#"{{"op":"pipe","steps":[{load},{{"op":"max","field":"n"}}]}}"#);
    for program in [
        load.to_string(),
        format!(r#"{{"rows":{load},"n":{count},"max":{max}}}"#),
        format!(
            r#"{{"op":"pipe","steps":[{load},{{"op":"map","expr":{{"n":{{"op":"get","field":"n"}},
            "s":{{"op":"get","field":"s"}}}}}},{{"op":"first"}}]}}"#
        ),
    ] {
        let end = ends_by(Deadline::Never, &program, &rows);
        assert!(matches!(end, End::Value(_)), "{program}");
    }
    let twice = format!(r#"{{"a":{load},"b":{load},"n":{count}}}"#);
    assert_eq!(ends_by(Deadline::Never, &twice, &rows), End::MemoryExceeded);
}

#[test]
fn only_programs_that_may_use_a_value_twice_are_weighed() {
    let weighs = |program: &str| {
        let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT);
        lab.unwrap_or_else(|end| panic!("{end:?}"))
            .program
            .multiplies
    };
    let (a, b) = (r#"{"op":"load","name":"a"}"#, r#"{"op":"load","name":"b"}"#);
    let get = |field: &str| format!(r#"{{"op":"get","field":"{field}"}}"#);
    let map = |list: &str, expr: &str| {
        format!(r#"{{"op":"pipe","steps":[{list},{{"op":"map","expr":{expr}}}]}}"#)
    };
    for once in [
        a.to_string(),
        format!(r#"{{"a":{a},"b":{b}}}"#),
        format!(r#"{{"a":{a},"n":{{"op":"pipe","steps":[{a},{{"op":"count"}}]}}}}"#),
        map(a, &format!(r#"{{"x":{},"y":{}}}"#, get("x"), get("y"))),
        map(
            a,
            &format!(
                r#"{{"op":"if","condition":{0},"then":{0},"else":{1}}}"#,
                get("x"),
                get("y")
            ),
        ),
        format!(r#"{{"op":"if","condition":{a},"then":{a},"else":{b}}}"#),
        format!(r#"{{"op":"concat","lists":[{a},{b}]}}"#),
        map(a, r#"{"op":"call","tool":"t"}"#),
    ] {
        assert!(!weighs(&once), "{once}");
    }
    for twice in [
        format!(r#"{{"a":{a},"b":{a}}}"#),
        format!(r#"{{"a":{a},"n":{{"op":"pipe","steps":[{a},{{"op":"first"}}]}}}}"#),
        format!(r#"{{"op":"let","name":"x","value":{{"a":{a}}},"in":{{"op":"concat","lists":[{X},{X}]}}}}"#),
        map(a, &format!(r#"{{"x":{},"y":{}}}"#, get("x"), get("x"))),
        map(a, &format!(r#"{{"x":{},"y":{{"op":"var","name":"__input"}}}}"#, get("x"))),
        map(a, b),
        format!(r#"{{"a":{a},"b":{{"op":"if","condition":{b},"then":{b},"else":{a}}}}}"#),
        format!(r#"{{"op":"zip","lists":[{a},{}]}}"#, map(a, &get("x"))),
        r#"{"op":"let","name":"x","value":{"op":"call","tool":"t"},"in":{"a":{"op":"var","name":"x"},"b":{"op":"var","name":"x"}}}"#
            .to_string(),
    ] {
        assert!(weighs(&twice), "{twice}");
    }
}

#[test]
fn looks_into_it_end_at_the_deadline() {
    for last in [
        format!(r#"{{"op":"eq","value":{}}}"#, r#"{"op":"var","name":"y"}"#),
        r#"{"op":"pipe","steps":[{"op":"zip","lists":[{"op":"literal","value":[1]}]},
            {"op":"map","expr":{"op":"var","name":"x"}},{"op":"distinct"},{"op":"count"}]}"#
            .to_string(),
    ] {
        let compare = format!(r#"{{"op":"pipe","steps":[{X},{last}]}}"#);
        let program = doubled("x", 40, &doubled("y", 40, &compare));
        // Without a deadline it would take years.
        let soon = Deadline::At(Instant::now() + Duration::from_millis(300));
        let end = ends_by(soon, &program, "{}");
        assert_eq!(end, End::DeadlinePassed, "{last}");
    }
}

/// A list of this many references to the value, built by a loop.
fn repeated(value: &str, times: usize) -> End {
    let rows = format!("{{\"rows\":[{}true]}}", "true,".repeat(times - 1));
    let program = format!(
        r#"{{"op":"pipe","steps":[{{"op":"load","name":"rows"}},{{"op":"map","expr":{value}}}]}}"#
    );
    ends_by(Deadline::Never, &program, &rows)
}

#[test]
fn a_constant_counts_as_often_as_a_loop_repeats_it() {
    // A string of 60 bytes takes 10 words; it stands in memory once.
    let string = format!(r#"{{"op":"literal","value":"{}"}}"#, "s".repeat(60));
    assert!(matches!(repeated(&string, 8_333), End::Value(_)));
    assert_eq!(repeated(&string, 8_334), End::MemoryExceeded);
    // A longer one is not copied, but its reference of 6 words is.
    let long = format!(r#"{{"op":"literal","value":"{}"}}"#, "s".repeat(1000));
    assert!(matches!(repeated(&long, 12_500), End::Value(_)));
    assert_eq!(repeated(&long, 12_501), End::MemoryExceeded);
    // An integer takes a word and its limbs.
    let integer = format!(r#"{{"op":"literal","value":1{}}}"#, "0".repeat(19_265));
    assert!(matches!(repeated(&integer, 95), End::Value(_)));
    assert_eq!(repeated(&integer, 200), End::MemoryExceeded);
    // So does a default, and a key of a map.
    let default = format!(
        r#"{{"op":"get","field":"f","default":"{}"}}"#,
        "s".repeat(60)
    );
    assert!(matches!(repeated(&default, 8_333), End::Value(_)));
    assert_eq!(repeated(&default, 8_334), End::MemoryExceeded);
    let key = format!(
        r#"{{"{}":{{"op":"literal","value":true}}}}"#,
        "k".repeat(60)
    );
    assert!(matches!(repeated(&key, 5_500), End::Value(_)));
    assert_eq!(repeated(&key, 6_000), End::MemoryExceeded);
}

#[test]
fn a_key_that_set_select_or_join_adds_counts_with_each_map() {
    let key = "k".repeat(60);
    let set = format!(r#"{{"op":"set","fields":{{"{key}":true}}}}"#);
    let both = format!(r#"{{"op":"set","fields":{{"{key}":true,"a":"b"}}}}"#);
    let named = format!(
        r#"{{"op":"join","with":[{{"n":1}}],"left":"none","right":"n","kind":"left","as":"{key}"}}"#
    );
    for (step, most) in [(&set, 5_500), (&both, 3_700), (&named, 5_500)] {
        let ends = |count: usize| {
            let rows = format!(r#"{{"rows":[{}{{}}]}}"#, "{},".repeat(count - 1));
            let load = r#"{"op":"load","name":"rows"}"#;
            let program = format!(r#"{{"op":"pipe","steps":[{load},{step}]}}"#);
            ends_by(Deadline::Never, &program, &rows)
        };
        assert!(matches!(ends(most), End::Value(_)), "{step}");
        assert_eq!(ends(most + most / 8), End::MemoryExceeded, "{step}");
    }
}

#[test]
fn a_default_with_parts_counts_like_a_value_from_outside() {
    let default = |length: usize| {
        let list = format!("[{}1]", "1,".repeat(length - 1));
        format!(r#"{{"op":"get","field":"f","default":{list}}}"#)
    };
    assert!(matches!(repeated(&default(10), 1_000), End::Value(_)));
    assert_eq!(repeated(&default(100), 1_000), End::MemoryExceeded);
}
