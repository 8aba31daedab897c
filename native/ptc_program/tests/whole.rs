//! Walks over whole terms: the weight of a copy, normal forms, names in another spelling, lines of errors.

use crate::common::rng::Rng;
use crate::common::whole::{weight, whole, whole_cost};
use ptc_term::heap::Heap;
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::number::Number;
use ptc_term::plain::{Opaque, PlainHeap, Term};
use ptc_term::weight::Weighing;
use ptc_term::workspace::unlimited;
use ptc_type::normalize::{normalize, Form};

#[test]
fn random_terms_give_what_the_oracles_give() {
    let mut rng = Rng::new(23);
    for _ in 0..4_000 {
        let bytes: Vec<u8> = (0..rng.below(60)).map(|_| rng.next() as u8).collect();
        whole(&bytes);
    }
    for _ in 0..100 {
        let bytes: Vec<u8> = (0..rng.below(400)).map(|_| rng.next() as u8).collect();
        whole_cost(&bytes);
    }
}

fn small(heap: &mut PlainHeap, value: i64) -> Term {
    heap.make_number(Number::Int(value)).expect("an integer")
}

/// A term whose copy has 2^40 parts: this many times, `step` uses it twice.
fn shared(heap: &mut PlainHeap, step: impl Fn(&mut PlainHeap, Term) -> Term) -> Term {
    let (key, one) = (heap.make_string(b"a-b"), small(heap, 1));
    let first = heap.make_map(&[key], &[one]);
    (0..40).fold(first, |term, _| step(heap, term))
}

type Step = fn(&mut PlainHeap, Term) -> Term;

const STEPS: [Step; 4] = [
    |heap, term| heap.make_list(&[term, term]),
    |heap, term| heap.cons(term, term),
    |heap, term| heap.tuple(&[term, term]),
    |heap, term| {
        let keys = ["a-b", "_c"].map(|name| heap.make_string(name.as_bytes()));
        heap.make_map(&keys, &[term, term])
    },
];

#[test]
fn a_huge_copy_is_weighed_up_to_the_limit() {
    for step in STEPS {
        let mut heap = PlainHeap::new();
        let term = shared(&mut heap, step);
        assert_eq!(weight(&mut heap, term, 100_000, 1_000), None);
    }
}

#[test]
fn parts_that_are_shared_are_converted_once() {
    for step in STEPS {
        for form in [Form::Keys, Form::CacheKey, Form::Public] {
            let mut heap = PlainHeap::new();
            let term = shared(&mut heap, step);
            let mut meter = unlimited();
            // The first 2^18 units are converted again each time.
            let _ = normalize(&mut heap, term, form, &mut meter);
            assert!(meter.fuel_consumed() < 600_000, "{}", meter.fuel_consumed());
        }
    }
}

#[test]
fn the_rest_of_a_list_is_converted_once() {
    let mut heap = PlainHeap::new();
    let (key, one) = (heap.make_string(b"a-b"), small(&mut heap, 1));
    let row = heap.make_map(&[key], &[one]);
    let rows = heap.make_list(&vec![row; 5_000]);
    let mut tails = vec![rows];
    while let Some((_, tail)) = heap.uncons(tails[tails.len() - 1]) {
        tails.push(tail);
    }
    let list = heap.make_list(&tails);
    let mut meter = unlimited();
    let made = normalize(&mut heap, list, Form::Keys, &mut meter).expect("proper lists");
    assert!(
        meter.fuel_consumed() < 1_500_000,
        "{}",
        meter.fuel_consumed()
    );
    let (first, rest) = heap.uncons(made).expect("the tails");
    let (second, _) = heap.uncons(rest).expect("the tails");
    assert_eq!(heap.show(first).matches("a_b").count(), 5_000);
    assert_eq!(heap.show(second).matches("a_b").count(), 4_999);
}

#[test]
fn a_slice_ends_and_a_quantum_does_not() {
    let mut heap = PlainHeap::new();
    let rows: Vec<Term> = (0..1_000).map(|n| small(&mut heap, n)).collect();
    let rows = heap.make_list(&rows);
    let meter = |pace| Meter::with_fuel_at(pace, Limits::UNLIMITED, 10);
    assert!(normalize(&mut heap, rows, Form::Keys, &mut meter(Pace::Slice)).is_err());
    let whole = normalize(&mut heap, rows, Form::Keys, &mut meter(Pace::Quantum));
    assert_eq!(whole.ok(), Some(rows));
}

#[test]
fn parts_that_only_elixir_can_read_are_told() {
    let mut heap = PlainHeap::new();
    let fun = heap.opaque(Opaque::Fun, 1);
    let pair = heap.tuple(&[fun, heap.nil(), fun]);
    let mut weighing = Weighing::new([pair, fun], 10, 1_000);
    weighing.run(&heap, &mut unlimited()).expect("it is light");
    assert_eq!(weighing.words(), 10 + 4 + 3 * 5);
    let opaque = weighing.opaque(&mut heap).expect("there are some");
    assert_eq!(heap.show(opaque), "[#Fun<1>, #Fun<1>, #Fun<1>]");
}
