//! Types of samples: what is read of large and hostile values, in pieces like at once.

use crate::common::types::shown;
use crate::common::{suspended, term};
use ptc_program::typing::sample::Sample;
use ptc_term::heap::Heap;
use ptc_term::job::Job;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};
use ptc_term::stop::Stop;

/// The type of a value as text, and the fuel; `units`: the fuel of each quantum, after which it is suspended.
fn sampled(
    heap: &mut PlainHeap,
    value: Term,
    rows: usize,
    units: Option<usize>,
) -> (String, usize) {
    let (mut sample, mut fuel) = (Sample::new(value, rows, heap), 0);
    loop {
        let mut meter = match units {
            Some(units) => Meter::with_fuel(Limits::UNLIMITED, units),
            None => Meter::whole(Limits::UNLIMITED, Pace::Quantum),
        };
        let done = Job::step(&mut sample, &[], heap, &mut meter);
        fuel += meter.fuel_consumed();
        match done {
            Ok(ty) => return (shown(heap, ty), fuel),
            Err(Stop::SliceOver) => sample = suspended(sample, heap),
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

/// The type of a sample, which must not depend on where the sampling is suspended.
fn ty(heap: &mut PlainHeap, value: Term, rows: usize) -> String {
    let (whole, _) = sampled(heap, value, rows, None);
    for units in [1, 7, 300] {
        assert_eq!(sampled(heap, value, rows, Some(units)).0, whole);
    }
    whole
}

fn of_json(json: &str, rows: usize) -> String {
    let mut heap = PlainHeap::new();
    let value = term(&mut heap, json).expect("JSON");
    ty(&mut heap, value, rows)
}

fn number(heap: &mut PlainHeap, value: i64) -> Term {
    heap.make_number(Number::Int(value)).expect("an integer")
}

/// A map with these keys, all with the same value.
fn map(heap: &mut PlainHeap, keys: impl Iterator<Item = String>, value: Term) -> Term {
    let keys: Vec<Term> = keys.map(|key| heap.make_string(key.as_bytes())).collect();
    let values = vec![value; keys.len()];
    heap.make_map(&keys, &values)
}

#[test]
fn what_stands_at_one_place_is_read_together() {
    for (json, wanted) in [
        ("[]", "[never]"),
        ("[[],[1],[]]", "[[int]]"),
        ("[1,\"x\",null,1.5]", "[null|number|text]"),
        (r#"[{"a":1},{}]"#, "[{a? int|null}]"),
        (
            r#"[{"a":{"b":1}},{"a":{"c":[true]}}]"#,
            "[{a {b? int|null, c? null|[bool]}}]",
        ),
        (
            r#"[{"b":1,"a":2},{"c":1,"b":2,"a":3},{"a":1,"c":"x"}]"#,
            "[{a int, b? int|null, c? int|null|text}]",
        ),
        (r#"[{"a":1},[2],"x"]"#, "[[int]|text|{a int}]"),
    ] {
        assert_eq!(of_json(json, 1_000), wanted, "{json}");
    }
}

#[test]
fn rows_that_are_not_read_may_have_other_keys() {
    let rows = r#"[{"a":{"b":1}},{"a":{"b":2}},{"c":3}]"#;
    assert_eq!(of_json(rows, 2), "[{a {b int, …}, …}]");
    assert_eq!(of_json(rows, 3), "[{a? null|{b int}, c? int|null}]");
}

#[test]
fn a_thousand_rows_of_twenty_fields() {
    let mut heap = PlainHeap::new();
    let rows: Vec<Term> = (0..1_000)
        .map(|row| {
            // Each tenth row has one key less, and each hundredth one key more.
            let keys = (usize::from(row % 10 == 0)..20 + usize::from(row % 100 == 0))
                .map(|key| format!("field_{key:02}"));
            let value = number(&mut heap, row);
            map(&mut heap, keys, value)
        })
        .collect();
    let rows = heap.make_list(&rows);
    let found = ty(&mut heap, rows, 1_000);
    assert!(
        found.starts_with("[{field_00? int|null, field_01 int, "),
        "{found}"
    );
    assert!(
        found.ends_with("field_19 int, field_20? int|null}]"),
        "{found}"
    );
    // About three units for each value, names included.
    let (_, fuel) = sampled(&mut heap, rows, 1_000, None);
    assert!((20_000..150_000).contains(&fuel), "{fuel}");
}

#[test]
fn maps_with_many_or_long_keys_are_no_records() {
    let mut heap = PlainHeap::new();
    let one = number(&mut heap, 1);
    let large = map(&mut heap, (0..100_000).map(|n| n.to_string()), one);
    assert_eq!(ty(&mut heap, large, 1_000), "{…}");
    assert!(sampled(&mut heap, large, 1_000, None).1 < 1_000);
    // A hundred thousand long keys, each in a row of its own.
    let long = "k".repeat(1_000);
    let rows: Vec<Term> = (0..100_000)
        .map(|n| map(&mut heap, std::iter::once(format!("{long}{n}")), one))
        .collect();
    let rows = heap.make_list(&rows);
    assert_eq!(ty(&mut heap, rows, 200_000), "[{…}]");
    let longest = map(&mut heap, std::iter::once("k".repeat(10_000_000)), one);
    assert_eq!(ty(&mut heap, longest, 10), "{…}");
    let odd = heap.tuple(&[one]);
    let keys = heap.make_map(&[odd], &[one]);
    assert_eq!(ty(&mut heap, keys, 10), "{…}");
}

#[test]
fn depth_needs_no_call_stack() {
    let mut heap = PlainHeap::new();
    let key = heap.make_string(b"a");
    let mut value = number(&mut heap, 1);
    for at in 0..200_000 {
        value = match at % 2 {
            0 => heap.make_list(&[value]),
            _ => heap.make_map(&[key], &[value]),
        };
    }
    let mut ty = Sample::new(value, 1_000, &heap);
    let whole = Job::step(
        &mut ty,
        &[],
        &mut heap,
        &mut Meter::whole(Limits::UNLIMITED, Pace::Quantum),
    );
    // Of what is nested deeper than a thousand levels nothing is known.
    let (mut rest, mut depth) = (whole.expect("a type"), 0);
    while let Some(&[_, inner]) = heap.elements(rest) {
        rest = match heap.uncons(inner) {
            Some((field, _)) => heap.element(field, 1).expect("a field"),
            None => inner,
        };
        depth += 1;
    }
    assert_eq!((heap.show(rest).as_str(), depth), (":any", 1_000));
}

#[test]
fn what_is_beyond_the_budget_counts_as_rows_that_are_not_read() {
    let mut heap = PlainHeap::new();
    let one = number(&mut heap, 1);
    let row = map(&mut heap, ["a".to_string()].into_iter(), one);
    let inner = heap.make_list(&vec![row; 1_000]);
    let outer = heap.make_list(&vec![inner; 1_000]);
    for units in [None, Some(2_000)] {
        assert_eq!(sampled(&mut heap, outer, 1_000, units).0, "[[{a int, …}]]");
    }
    // A long list does not take all of it: the first rows of each are read.
    let keys = ["long", "short"].map(|key| heap.make_string(key.as_bytes()));
    for (values, wanted) in [
        ([outer, inner], "{long [[{a int, …}]], short [{a int, …}]}"),
        ([inner, outer], "{long [{a int}], short [[{a int, …}]]}"),
    ] {
        let pair = heap.make_map(&keys, &values);
        let whole = sampled(&mut heap, pair, 1_000, None).0;
        assert_eq!(whole, wanted);
        assert_eq!(sampled(&mut heap, pair, 1_000, Some(2_000)).0, whole);
    }
}

#[test]
fn improper_lists_and_other_terms() {
    let mut heap = PlainHeap::new();
    let one = number(&mut heap, 1);
    let improper = heap.cons(one, one);
    assert_eq!(ty(&mut heap, improper, 10), "[int]");
    let pair = heap.tuple(&[one, one]);
    let mixed = heap.make_list(&[one, pair]);
    assert_eq!(ty(&mut heap, mixed, 10), "[any]");
    let atom = heap.atom("ok");
    assert_eq!(ty(&mut heap, atom, 10), "any");
}
