//! Plain values behave like terms.

use crate::common::rng::Rng;
use crate::common::{generate, term};
use num_bigint::BigInt;
use ptc_term::heap::{Heap, Kind, Lookup};
use ptc_term::number::Number;
use ptc_term::plain::{Opaque, PlainHeap, Term};
use std::cmp::Ordering;

fn json(heap: &mut PlainHeap, text: &str) -> Term {
    term(heap, text).expect("JSON")
}

/// Terms in ascending order, no two of them `==`.
fn ladder(heap: &mut PlainHeap) -> Vec<Term> {
    let mut steps: Vec<Term> = [
        "-1e300",
        "-123456789012345678901234567890",
        "-9223372036854775809",
        "-1",
        "-0.5",
        "0",
        "0.5",
        "1",
        "9007199254740992.0",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808.0",
        "9223372036854775809",
        "1e300",
    ]
    .iter()
    .map(|text| json(heap, text))
    .collect();
    let big = heap.make_number(Number::Big(BigInt::from(10).pow(301)));
    steps.extend(big);
    for name in ["a", "false", "nil", "true", "z"] {
        steps.push(heap.atom(name));
    }
    for kind in [Opaque::Reference, Opaque::Fun, Opaque::Port, Opaque::Pid] {
        steps.push(heap.opaque(kind, 1));
        steps.push(heap.opaque(kind, 2));
    }
    let (one, two) = (json(heap, "1"), json(heap, "2"));
    for elements in [&[][..], &[two], &[one, one], &[one, two]] {
        steps.push(heap.tuple(elements));
    }
    // Maps by size, then keys (every integer before every float), then values.
    for (keys, values) in [
        ("[]", "[]"),
        ("[5]", "[0]"),
        ("[1.0]", "[0]"),
        ("[1.0]", "[1]"),
        (r#"["b"]"#, "[0]"),
        (r#"["a","b"]"#, "[0,9]"),
        (r#"["a","b"]"#, "[1,0]"),
        (r#"["a","c"]"#, "[0,0]"),
    ] {
        let (keys, values) = (json(heap, keys), json(heap, values));
        let parts = |list| {
            std::iter::successors(heap.uncons(list), |(_, rest)| heap.uncons(*rest))
                .map(|(head, _)| head)
        };
        let (keys, values): (Vec<_>, Vec<_>) = (parts(keys).collect(), parts(values).collect());
        steps.push(heap.make_map(&keys, &values));
    }
    steps.push(json(heap, "[]"));
    steps.push(heap.cons(one, two));
    steps.push(json(heap, "[1]"));
    for text in [
        "[1,2]",
        "[1,[]]",
        "[2]",
        r#"[""]"#,
        r#""""#,
        r#""a""#,
        r#""a\u0000""#,
        r#""b""#,
        r#""é""#,
    ] {
        steps.push(json(heap, text));
    }
    steps
}

#[test]
fn term_order() {
    let mut heap = PlainHeap::new();
    let steps = ladder(&mut heap);
    for (i, a) in steps.iter().enumerate() {
        for (j, b) in steps.iter().enumerate() {
            assert_eq!(
                heap.compare(*a, *b),
                i.cmp(&j),
                "{} and {}",
                heap.show(*a),
                heap.show(*b)
            );
            assert_eq!(heap.identical(*a, *b), i == j);
        }
    }
}

#[test]
fn equal_and_identical() {
    let mut heap = PlainHeap::new();
    for (a, b, equal, identical) in [
        ("1", "1.0", true, false),
        ("0.0", "-0.0", true, false),
        ("[1,[2]]", "[1,[2.0]]", true, false),
        (r#"{"a":1}"#, r#"{"a":1.0}"#, true, false),
        ("9007199254740993", "9007199254740992.0", false, false),
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, true, true),
        ("18446744073709551616", "18446744073709551616", true, true),
    ] {
        let (a, b) = (json(&mut heap, a), json(&mut heap, b));
        assert_eq!(
            heap.compare(a, b).is_eq(),
            equal,
            "{} == {}",
            heap.show(a),
            heap.show(b)
        );
        assert_eq!(
            heap.identical(a, b),
            identical,
            "{} === {}",
            heap.show(a),
            heap.show(b)
        );
    }
    // The keys of maps are the same only if they are identical.
    let (one, float) = (json(&mut heap, "1"), json(&mut heap, "1.0"));
    let (a, b) = (
        heap.make_map(&[one], &[one]),
        heap.make_map(&[float], &[one]),
    );
    assert!(heap.compare(a, b).is_lt());
}

#[test]
fn any_terms_are_in_one_order() {
    let mut rng = Rng::new(41);
    for _ in 0..2_000 {
        let mut heap = PlainHeap::new();
        let mut any = || generate::any_term(&mut rng, &mut heap, 3);
        let (a, b, c) = (any(), any(), any());
        let order = |a, b| heap.compare(a, b);
        assert_eq!(order(a, b), order(b, a).reverse());
        if order(a, b) != Ordering::Greater && order(b, c) != Ordering::Greater {
            assert_ne!(order(a, c), Ordering::Greater);
        }
        if heap.identical(a, b) {
            assert!(order(a, b).is_eq());
            assert_eq!(heap.hash(a, 7), heap.hash(b, 7));
            assert_eq!(heap.show(a), heap.show(b));
        }
        assert_eq!(heap.kind(a) == Kind::Map, heap.map_size(a).is_some());
        for (key, value) in heap.entries(a) {
            let found = heap.lookup(a, key, &mut rng.below(4));
            assert!(matches!(found, Lookup::Found(found) if found == value));
        }
    }
}

#[test]
fn of_equal_keys_the_first_one_counts() {
    let mut heap = PlainHeap::new();
    let keys = ["1", "1.0", "1", r#""a""#, r#""a""#].map(|text| json(&mut heap, text));
    let map = heap.make_map(&keys, &keys);
    assert_eq!(heap.map_size(map), Some(3));
    let shared = [heap.nil(), heap.boolean(true)];
    let map = heap.make_map(&[keys[3], keys[4]], &shared);
    assert_eq!(heap.show(map), r#"%{"a" => nil}"#);
}

#[test]
fn words_are_counted() {
    let mut heap = PlainHeap::new();
    let mut built = |make: &dyn Fn(&mut PlainHeap) -> Option<Term>| {
        let before = heap.words_built();
        make(&mut heap).map(|_| heap.words_built() - before)
    };
    assert_eq!(
        built(&|heap| Some(heap.make_list(&[heap.nil(); 5]))),
        Some(10)
    );
    assert_eq!(built(&|heap| Some(heap.make_string(&[0; 9]))), Some(4));
    assert_eq!(
        built(&|heap| Some(heap.make_map(&[heap.nil()], &[heap.nil()]))),
        Some(6)
    );
    assert_eq!(built(&|heap| heap.make_number(Number::Float(0.5))), Some(2));
    assert_eq!(
        built(&|heap| heap.make_number(Number::from_digits(&[b'9'; 39]))),
        Some(4)
    );
    assert_eq!(
        built(&|heap| heap.make_number(Number::Float(f64::NAN))),
        None
    );
}

#[test]
fn terms_as_text() {
    let mut heap = PlainHeap::new();
    let (ok, text) = (heap.atom("ok"), json(&mut heap, r#"{"a":[1,2.0,null]}"#));
    let (pid, bytes) = (heap.opaque(Opaque::Pid, 3), heap.make_string(&[255, 1]));
    let tuple = heap.tuple(&[ok, text, pid]);
    let improper = heap.cons(tuple, bytes);
    assert_eq!(
        heap.show(improper),
        r#"[{:ok, %{"a" => [1, 2.0, nil]}, #Pid<3>} | <<255, 1>>]"#
    );
}
