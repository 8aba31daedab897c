//! Every operation over a list can be suspended after any unit of fuel, and resumes where it was.

use crate::common::rng::Rng;
use crate::common::{steps, End, Lab, STRICT};
use ptc_program::ops::OpCode;
use ptc_term::heap::Heap;
use ptc_term::plain::PlainHeap;

/// More items than one tuple of a suspended run holds.
const ITEMS: usize = 1_500;

/// The steps of every operation that reads all of a list.
fn steps() -> impl Iterator<Item = &'static str> {
    let of = |op: &OpCode| steps::over_a_list(*op).iter().copied();
    OpCode::ALL.iter().flat_map(of)
}

fn pipe(step: &str) -> String {
    format!(r#"{{"op":"pipe","steps":[{{"op":"load","name":"items"}},{step}]}}"#)
}

fn items(count: usize) -> String {
    let long = "x".repeat(5_000);
    let item = |index: usize| {
        let n = index * 7_919 % 1_009;
        let mixed = if n.is_multiple_of(2) { "1.5" } else { "1" };
        // Keys of 5,000 bytes make pieces of few items, which are merged in many rounds.
        let long = if index < 200 { &*long } else { "" };
        format!(
            r#"{{"n":{n},"f":{n}.5,"s":"s{n}","mixed":{mixed},"k":{},"long":"{long}{n}"}}"#,
            n * 3
        )
    };
    let items: Vec<String> = (0..count).map(item).collect();
    format!("[{}]", items.join(","))
}

fn lab(program: &str, context: &str) -> Lab {
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT);
    let lab = lab.unwrap_or_else(|end| panic!("{program}: {end:?}"));
    lab.given(context, "{}")
}

#[test]
fn leaving_after_every_unit() {
    let context = format!(r#"{{"items":{}}}"#, items(ITEMS));
    for step in steps() {
        let program = pipe(step);
        let (mut whole, mut cut) = (lab(&program, &context), lab(&program, &context));
        let end = whole.in_one_go();
        assert!(matches!(end, End::Value(_)), "{step}: {end:?}");
        assert_eq!(end, cut.in_executions(|| 1), "{step}");
        assert!(
            cut.executions > ITEMS,
            "{step}: {} executions for {ITEMS} items",
            cut.executions
        );
    }
}

#[test]
fn leaving_after_some_units() {
    let mut rng = Rng::new(21);
    let context = format!(r#"{{"items":{}}}"#, items(ITEMS));
    for step in steps() {
        let program = pipe(step);
        let end = lab(&program, &context).in_one_go();
        for longest in [30, 3_000] {
            let mut cut = lab(&program, &context);
            let units = || 1 + rng.below(longest);
            assert_eq!(end, cut.in_executions(units), "{step}");
        }
    }
}

#[test]
fn sets_and_sorts_of_many_items() {
    let count = 60_000;
    let numbers: Vec<String> = (0..count)
        .map(|n| (n * 7_919 % 50_021).to_string())
        .collect();
    let rows: Vec<String> = numbers.iter().map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let context = format!(
        r#"{{"numbers":[{}],"items":[{}]}}"#,
        numbers.join(","),
        rows.join(",")
    );
    for program in [
        r#"{"op":"pipe","steps":[{"op":"load","name":"numbers"},{"op":"distinct"}]}"#,
        r#"{"op":"pipe","steps":[{"op":"load","name":"items"},{"op":"sort_by","field":"n"}]}"#,
        r#"{"op":"pipe","steps":[{"op":"load","name":"items"},{"op":"sort_by","field":"n","order":"desc"}]}"#,
    ] {
        let end = lab(program, &context).in_one_go();
        let mut cut = lab(program, &context);
        assert!(end == cut.in_executions(|| 700), "{program}");
        assert!(cut.executions > 60, "{} executions", cut.executions);
    }
}

#[test]
fn the_keys_of_a_map() {
    let entries: Vec<String> = (0..ITEMS).map(|n| format!(r#""k{n}":{n}"#)).collect();
    let context = format!(r#"{{"items":{{{}}}}}"#, entries.join(","));
    let program = pipe(r#"{"op":"keys"}"#);
    let end = lab(&program, &context).in_one_go();
    let mut cut = lab(&program, &context);
    assert_eq!(end, cut.in_executions(|| 1));
    assert!(cut.executions > ITEMS, "{} executions", cut.executions);
}

/// A list of items whose last tail is `last`, as the program's `items`.
fn given_improper(mut lab: Lab, wrong: bool) -> Lab {
    let mut list = lab.heap.atom("end");
    let one = lab.heap.make_number(ptc_term::number::Number::Int(1));
    let (one, key) = (one.expect("an integer"), lab.heap.make_string(b"n"));
    for index in 0..50 {
        let item = match wrong && index == 25 {
            true => one,
            false => lab.heap.make_map(&[key], &[one]),
        };
        list = lab.heap.cons(item, list);
    }
    let items = lab.heap.make_string(b"items");
    lab.context = lab.heap.make_map(&[items], &[list]);
    lab
}

#[test]
fn mistakes_are_the_same_wherever_a_run_is_left() {
    let mut faults = 0;
    for step in steps() {
        let program = pipe(step);
        for wrong in [false, true] {
            let end = given_improper(lab(&program, "{}"), wrong).in_one_go();
            let mut cut = given_improper(lab(&program, "{}"), wrong);
            assert_eq!(end, cut.in_executions(|| 1), "{step}");
            faults += usize::from(matches!(end, End::Fault(_)));
        }
        // A proper list with an item that is none of those the operation takes.
        let context = format!(r#"{{"items":[{}1,{{"n":"a"}}]}}"#, r#"{"n":1},"#.repeat(40));
        let end = lab(&program, &context).in_one_go();
        assert_eq!(end, lab(&program, &context).in_executions(|| 1), "{step}");
    }
    assert!(faults > steps().count(), "{faults} faults");
}

#[test]
fn no_words_are_counted_twice() {
    let context = format!(r#"{{"items":{}}}"#, items(ITEMS));
    for step in steps() {
        let program = pipe(step);
        let (mut whole, mut cut) = (lab(&program, &context), lab(&program, &context));
        whole.in_one_go();
        cut.in_executions(|| 100);
        assert_eq!(whole.heap.words_built(), cut.heap.words_built(), "{step}");
    }
}
