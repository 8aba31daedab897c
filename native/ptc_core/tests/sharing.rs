//! Terms that are small where they are and huge as a copy: they do not leave a run.

mod common;

use common::{End, Lab, STRICT};
use ptc_core::meter::{Deadline, Limits};
use ptc_core::plain::PlainHeap;
use std::time::{Duration, Instant};

/// `name` is bound to `{"a": name, "b": name}`, so many times over, around `body`.
fn doubled(name: &str, times: usize, body: &str) -> String {
    let seed =
        format!(r#"{{"op":"let","name":"{name}","value":{{"op":"literal","value":[1]}},"in":"#);
    let open = format!(
        r#"{{"op":"let","name":"{name}","value":{{"a":{{"op":"var","name":"{name}"}},"b":{{"op":"var","name":"{name}"}}}},"in":"#
    );
    format!("{seed}{}{body}{}}}", open.repeat(times), "}".repeat(times))
}

fn ends(program: &str, context: &str) -> End {
    let limits = Limits {
        deadline: Deadline::At(Instant::now() + Duration::from_millis(200)),
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
