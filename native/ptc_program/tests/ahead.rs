//! Runs that look ahead for the calls of several rounds, and pass the bodies of these rounds when they have the answers, end as those that make
//! one call at a time.

use crate::common::generate::{self, context};
use crate::common::rng::Rng;
use crate::common::{rounds, End, Lab, UNCHECKED};
use ptc_term::heap::Heap;
use ptc_term::meter::Limits;
use ptc_term::plain::PlainHeap;

fn lab(program: &str, context: &str, words: usize) -> Option<Lab> {
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), UNCHECKED).ok()?;
    let mut lab = lab.given(context, "{}");
    lab.heap.give();
    let limits = lab.limits;
    lab.limits = Limits { words, ..limits };
    Some(lab)
}

/// Runs a program in both ways. Returns how it ended, and how often bodies were passed.
fn same(program: &str, context: &str, takes: impl FnMut(usize) -> usize) -> Option<(End, usize)> {
    let (mut alone, mut ahead) = (
        lab(program, context, usize::MAX)?,
        lab(program, context, usize::MAX)?,
    );
    let end = alone.in_one_go();
    let (other, passed) = ahead.looking_ahead(32, takes);
    assert_eq!(end, other, "{program}");
    assert_eq!(alone.calls, ahead.calls, "{program}");
    let built = alone.heap.words_built();
    assert_eq!(built, ahead.heap.words_built(), "{program}");
    Some((end, passed))
}

fn over(list: &str, step: &str) -> String {
    format!(r#"{{"op":"pipe","steps":[{list},{step}]}}"#)
}

fn map(body: &str) -> String {
    format!(r#"{{"op":"map","expr":{body}}}"#)
}

fn call(args: &str) -> String {
    format!(r#"{{"op":"call","tool":"echo","args":{{"a":{args}}}}}"#)
}

const ITEMS: &str = r#"{"op":"load","name":"items"}"#;
const N: &str = r#"{"op":"get","field":"n"}"#;

#[test]
fn the_bodies_of_rounds_are_passed_where_each_makes_one_call() {
    let context = r#"{"items":[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5},{"n":6},{"n":7}]}"#;
    let all = |count| count;
    let passed = |program: &str| same(program, context, all).expect("a program").1;
    assert_eq!(passed(&over(ITEMS, &map(&call(N)))), 1);
    for op in ["filter", "reject"] {
        let step = format!(r#"{{"op":"{op}","where":{}}}"#, call(N));
        assert_eq!(passed(&over(ITEMS, &step)), 1);
    }
    // Some rounds make no call.
    let either = |condition: &str| {
        let call = call(N);
        format!(r#"{{"op":"if","condition":{condition},"then":{call},"else":0}}"#)
    };
    let few = either(r#"{"op":"lte","field":"n","value":5}"#);
    assert_eq!(passed(&over(ITEMS, &map(&few))), 1);
    let odd = either(r#"{"op":"in","field":"n","value":[1,3,5,7]}"#);
    assert_eq!(passed(&over(ITEMS, &map(&odd))), 0);
    // The last rounds of an inner loop make none, and the next loop begins with as many items.
    let context = r#"{"items":[[{"n":1},{"n":2}],[{"n":1},{"n":2}],[{"n":1},{"n":2}]]}"#;
    let first = either(r#"{"op":"eq","field":"n","value":1}"#);
    let inner = format!(r#"{{"op":"pipe","steps":[{}]}}"#, map(&first));
    let (_, passed) = same(&over(ITEMS, &map(&inner)), context, all).expect("a program");
    assert_eq!(passed, 0);
}

#[test]
fn a_run_that_gets_some_of_the_answers_computes_the_arguments_again() {
    let context = r#"{"items":[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5},{"n":6},{"n":7}]}"#;
    let program = over(ITEMS, &map(&call(N)));
    for given in 1..8 {
        let takes = |count: usize| count.min(given);
        same(&program, context, takes).expect("a program");
    }
}

/// A loop that calls a tool in each round, or in some, with arguments that a random program computes.
fn program(rng: &mut Rng) -> String {
    let tool = rng.pick(&["echo", "count", "other"]);
    let args = generate::program(rng, 2);
    let call = format!(r#"{{"op":"call","tool":"{tool}","args":{{"a":{args}}}}}"#);
    let body = match rng.below(6) {
        0 => {
            let condition = generate::program(rng, 1);
            format!(r#"{{"op":"if","condition":{condition},"then":1,"else":{call}}}"#)
        }
        1 => over(ITEMS, &map(&call)),
        2 => {
            let value = generate::program(rng, 1);
            format!(r#"{{"op":"let","name":"x","value":{value},"in":{call}}}"#)
        }
        _ => call,
    };
    let step = match rng.below(4) {
        0 => format!(r#"{{"op":"filter","where":{body}}}"#),
        1 => format!(r#"{{"op":"reject","where":{body}}}"#),
        _ => map(&body),
    };
    let last = rng.pick(&[
        "",
        r#",{"op":"count"}"#,
        r#",{"op":"first"}"#,
        r#",{"op":"last"}"#,
        r#",{"op":"sum","field":"a"}"#,
    ]);
    over(ITEMS, &format!("{step}{last}"))
}

#[test]
fn random_programs_end_as_those_that_make_one_call_at_a_time() {
    let mut rng = Rng::new(38);
    let mut passed = 0;
    for round in 0..rounds(2_000) {
        let (program, context) = (program(&mut rng), context(&mut rng));
        let takes = |count: usize| match round % 3 {
            0 => rng.below(count) + 1,
            _ => count,
        };
        passed += same(&program, &context, takes).map_or(0, |(_, passed)| passed);
    }
    assert!(passed > rounds(2_000) / 20, "{passed}");
}

#[test]
fn a_heap_limit_that_answers_meet_is_met_as_with_one_call_at_a_time() {
    let mut rng = Rng::new(39);
    for _ in 0..rounds(1_000) {
        let (program, context) = (program(&mut rng), context(&mut rng));
        let words = rng.below(400);
        let Some(mut alone) = lab(&program, &context, words) else {
            continue;
        };
        let end = alone.in_one_go();
        let mut ahead = lab(&program, &context, words).expect("it was one before");
        let (other, _) = ahead.looking_ahead(32, |count| count);
        // Answers count before what is computed behind their calls.
        assert!(
            end == other || other == End::MemoryExceeded,
            "{program}: {end:?}, {other:?}"
        );
    }
}
