//! Long strings, long integers and large terms are counted before all of them is read.

use crate::common::rng::Rng;
use crate::common::{term, Lab, EDITION_1, FREE, STRICT};
use ptc_program::code::State;
use ptc_program::code::Vm;
use ptc_term::heap::Heap;
use ptc_term::meter::{Meter, Pace};
use ptc_term::plain::{PlainHeap, Term};
use ptc_vm::{Exit, Inputs};

/// Returns whether the program ends within the fuel of a probe.
fn ends_at_once(program: &str, pace: Pace, context: impl FnOnce(&mut PlainHeap) -> Term) -> bool {
    let mut lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT)
        .unwrap_or_else(|end| panic!("{program}: {end:?}"));
    let context = context(&mut lab.heap);
    let inputs = Inputs {
        consts: &lab.consts,
        context,
        environment: lab.memory,
    };
    let meter = Meter::new(FREE, pace);
    let state = State::start(&lab.program, &mut lab.heap, None, |heap| heap.nil());
    let mut vm = Vm::new(&lab.program, &mut lab.heap, inputs, state, meter);
    match vm.run() {
        Exit::Done(_) => true,
        Exit::Halted(ptc_vm::Halt::Stop(ptc_term::stop::Stop::SliceOver)) => false,
        other => panic!("{program}: {other:?}"),
    }
}

/// A context of equal terms at different addresses, from the JSON text of one.
fn context(heap: &mut PlainHeap, json: &str) -> Term {
    context_of(heap, |heap| term(heap, json).expect("JSON"))
}

/// A context of equal terms at different addresses, each made by `copy`.
fn context_of(heap: &mut PlainHeap, mut copy: impl FnMut(&mut PlainHeap) -> Term) -> Term {
    let (a, b, c) = (copy(heap), copy(heap), copy(heap));
    let mut row = |value| {
        let key = heap.make_string(b"k");
        heap.make_map(&[key], &[value])
    };
    let rows = [row(a), row(b)];
    let rows = heap.make_list(&rows);
    let many = heap.make_list(&[a, b]);
    let map = heap.make_map(&[a], &[b]);
    let names = ["a", "c", "rows", "many", "map"];
    let keys: Vec<_> = (names.iter())
        .map(|name| heap.make_string(name.as_bytes()))
        .collect();
    heap.make_map(&keys, &[a, c, rows, many, map])
}

/// Every operation that reads all of a term.
const LOOKS: &[&str] = &[
    r#"{"op":"pipe","steps":[{"op":"load","name":"a"},{"op":"eq","value":{"op":"load","name":"c"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"a"},{"op":"neq","value":{"op":"load","name":"c"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"a"},{"op":"lt","value":{"op":"load","name":"c"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"many"},{"op":"in","value":{"op":"load","name":"c"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"many"},{"op":"contains","value":{"op":"load","name":"c"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"map"},{"op":"in","value":{"op":"load","name":"c"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"map"},{"op":"contains","value":{"op":"load","name":"c"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"filter_in","field":"k","value":{"op":"load","name":"many"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"filter_in","field":"k","value":{"op":"load","name":"map"}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"many"},{"op":"distinct"}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"distinct"}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"sort_by","field":"k"}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"max","field":"k"}]}"#,
    r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"min_by","field":"k"}]}"#,
    r#"{"op":"merge","objects":[{"op":"load","name":"map"},{"op":"load","name":"map"}]}"#,
];

#[test]
fn looks_count_what_they_look_at() {
    // Each of the long ones is a look of more than 256 units, the most that a probe takes.
    let string = |length| format!("\"{}\"", "s".repeat(length));
    let integer = |digits| "7".repeat(digits);
    let list = |length| format!("[{}0]", "0,".repeat(length));
    let map = |length| {
        let entries: Vec<_> = (0..length).map(|at| format!("\"{at}\":0")).collect();
        format!("{{{}}}", entries.join(","))
    };
    let key = |length| format!("{{\"{}\":0}}", "k".repeat(length));
    for (short, long) in [
        (string(8), string(64 * 257)),
        (integer(8), integer(64 * 257)),
        (integer(30), integer(40_000)),
        (list(0), list(257)),
        (map(1), map(128)),
        (key(8), key(64 * 257)),
    ] {
        for look in LOOKS {
            let fits = |json: &str| ends_at_once(look, Pace::Probe, |heap| context(heap, json));
            assert!(fits(&short), "{look} at {short}");
            let is_integer = long.starts_with('7');
            let is_tight = is_integer && long.len() < 40_000;
            assert!(is_tight || !fits(&long), "{look} at {}", &long[..20]);
        }
    }
}

#[test]
fn looks_of_more_than_a_slice_are_not_begun_in_one() {
    // A look at a long text may end between its pieces: it takes longer than a slice on the fastest memory.
    let text = "s".repeat(60_000_000);
    for look in LOOKS {
        let text = |heap: &mut PlainHeap| heap.make_string(text.as_bytes());
        let at_once = ends_at_once(look, Pace::Slice, |heap| context_of(heap, text));
        assert!(!at_once, "{look}");
    }
}

#[test]
fn tuples_and_keys_count_their_parts() {
    let eq = LOOKS[0];
    let of_tuples = |size: usize| {
        ends_at_once(eq, Pace::Probe, |heap| {
            let zero = term(heap, "0").expect("JSON");
            let inner = [heap.tuple(&vec![zero; size]), heap.tuple(&vec![zero; size])];
            let sides = inner.map(|inner| heap.tuple(&[zero, inner]));
            let keys = [heap.make_string(b"a"), heap.make_string(b"c")];
            heap.make_map(&keys, &sides)
        })
    };
    assert!(of_tuples(3));
    assert!(!of_tuples(300));
}

#[test]
fn a_comparison_ends_where_the_smaller_side_does() {
    let eq = LOOKS[0];
    for (a, c) in [
        (format!("[{}0]", "0,".repeat(100_000)), "[0,0]".to_string()),
        (
            "[[1,[2]],3]".into(),
            format!("[[1,[2]],[{}0]]", "0,".repeat(100_000)),
        ),
        (format!("\"{}\"", "s".repeat(100_000)), "\"s\"".into()),
        ("{\"s\":1}".into(), format!("\"{}\"", "s".repeat(100_000))),
    ] {
        let at_once = ends_at_once(eq, Pace::Probe, |heap| {
            let sides = [&a, &c].map(|json| term(heap, json).expect("JSON"));
            let keys = [heap.make_string(b"a"), heap.make_string(b"c")];
            heap.make_map(&keys, &sides)
        });
        assert!(at_once);
    }
}

/// A filter of `rows` short texts by a needle of this many bytes.
fn filter(rows: usize, needle: usize) -> bool {
    let program = r#"{"op":"pipe","steps":[{"op":"load","name":"rows"},
        {"op":"filter","where":{"op":"contains","value":{"op":"load","name":"needle"}}}]}"#;
    ends_at_once(program, Pace::Probe, |heap| {
        let rows = format!("[{}\"t\"]", "\"text\",".repeat(rows - 1));
        let needle = format!("\"{}\"", "n".repeat(needle));
        let (rows, needle) = (term(heap, &rows), term(heap, &needle));
        let keys = [heap.make_string(b"rows"), heap.make_string(b"needle")];
        heap.make_map(&keys, &[rows.expect("JSON"), needle.expect("JSON")])
    })
}

#[test]
fn a_needle_longer_than_the_text_costs_nothing() {
    assert!(filter(20, 1));
    assert!(filter(20, 10_000_000));
}

#[test]
fn a_constant_key_counts_its_bytes() {
    for steps in [
        r#"{"op":"get","field":"KEY"}"#,
        r#"{"op":"get","path":["KEY"]}"#,
        r#"{"op":"select","fields":["KEY"]}"#,
        r#"{"op":"eq","field":"KEY","value":1}"#,
    ] {
        let ends = |length: usize| {
            let key = "k".repeat(length);
            let program =
                format!(r#"{{"op":"pipe","steps":[{{"op":"load","name":"map"}},{steps}]}}"#);
            let program = program.replace("KEY", &key);
            ends_at_once(&program, Pace::Probe, |heap| {
                let json = format!(r#"{{"map":{{"{key}":1}}}}"#);
                term(heap, &json).expect("JSON")
            })
        };
        assert!(ends(100), "{steps}");
        assert!(!ends(64 * 257), "{steps}");
    }
}

#[test]
fn parts_are_found_as_a_naive_search_finds_them() {
    let mut rng = Rng::new(5);
    let program = r#"{"op":"pipe","steps":[{"op":"load","name":"texts"},
        {"op":"filter","where":{"op":"contains","value":{"op":"load","name":"part"}}},{"op":"count"}]}"#;
    for round in 0..60 {
        let (longest, most) = match round % 3 {
            0 => (8, 3),
            1 => (300, 12),
            _ => (140_000, 30),
        };
        let letters = |length: usize, rng: &mut Rng| -> Vec<u8> {
            (0..length).map(|_| b'a' + rng.below(2) as u8).collect()
        };
        let texts: Vec<_> = (0..4)
            .map(|_| {
                let length = rng.below(longest);
                letters(length, &mut rng)
            })
            .collect();
        let length = rng.below(most);
        let part = letters(length, &mut rng);
        let is_in = |text: &Vec<u8>| {
            part.is_empty() || text.windows(part.len()).any(|window| window == part)
        };
        let expected = texts.iter().filter(|text| is_in(text)).count();

        let mut lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT)
            .unwrap_or_else(|end| panic!("{end:?}"));
        let texts: Vec<_> = texts
            .iter()
            .map(|text| lab.heap.make_string(text))
            .collect();
        let values = [lab.heap.make_list(&texts), lab.heap.make_string(&part)];
        let keys = [
            lab.heap.make_string(b"texts"),
            lab.heap.make_string(b"part"),
        ];
        lab.context = lab.heap.make_map(&keys, &values);
        assert_eq!(
            lab.in_one_go(),
            crate::common::End::Value(expected.to_string())
        );
    }
}

#[test]
fn comparisons_are_those_of_the_heap() {
    let mut rng = Rng::new(6);
    for op in ["eq", "neq", "lt", "lte", "gt", "gte"] {
        let program = format!(
            r#"{{"op":"pipe","steps":[{{"op":"load","name":"a"}},{{"op":"{op}","value":{{"op":"load","name":"b"}}}}]}}"#
        );
        for _ in 0..200 {
            let mut lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), EDITION_1)
                .unwrap_or_else(|end| panic!("{end:?}"));
            let sides = [(); 2].map(|()| {
                let json = crate::common::generate::json(&mut rng, 3);
                term(&mut lab.heap, &json).expect("JSON")
            });
            let order = lab.heap.compare(sides[0], sides[1]);
            let expected = match op {
                "eq" => order.is_eq(),
                "neq" => order.is_ne(),
                "lt" => order.is_lt(),
                "lte" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            };
            let keys = [lab.heap.make_string(b"a"), lab.heap.make_string(b"b")];
            lab.context = lab.heap.make_map(&keys, &sides);
            assert_eq!(
                lab.in_one_go(),
                crate::common::End::Value(expected.to_string())
            );
        }
    }
}
