//! Terms that are small in memory and huge as a copy: a run does not return them.

mod common;

use common::{End, Lab, STRICT};
use ptc_core::meter::{Deadline, Limits};
use ptc_core::plain::PlainHeap;
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
    let deadline = Deadline::At(Instant::now() + Duration::from_millis(200));
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
        assert_eq!(ends(&program, "{}"), End::DeadlinePassed, "{last}");
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
    assert!(matches!(repeated(&string, 10_001), End::Value(_)));
    assert_eq!(repeated(&string, 10_002), End::MemoryExceeded);
    // A longer one is not copied, but its reference of 6 words is.
    let long = format!(r#"{{"op":"literal","value":"{}"}}"#, "s".repeat(1000));
    assert!(matches!(repeated(&long, 16_667), End::Value(_)));
    assert_eq!(repeated(&long, 16_668), End::MemoryExceeded);
    // An integer takes a word and its limbs.
    let integer = format!(r#"{{"op":"literal","value":1{}}}"#, "0".repeat(19_265));
    assert!(matches!(repeated(&integer, 97), End::Value(_)));
    assert_eq!(repeated(&integer, 200), End::MemoryExceeded);
    // So does a default, and a key of a map.
    let default = format!(
        r#"{{"op":"get","field":"f","default":"{}"}}"#,
        "s".repeat(60)
    );
    assert_eq!(repeated(&default, 10_002), End::MemoryExceeded);
    let key = format!(
        r#"{{"{}":{{"op":"literal","value":true}}}}"#,
        "k".repeat(60)
    );
    assert!(matches!(repeated(&key, 9_000), End::Value(_)));
    assert_eq!(repeated(&key, 10_002), End::MemoryExceeded);
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
