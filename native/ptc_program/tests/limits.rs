//! Every limit, at N and at N + 1.

use crate::common::{End, Lab, FREE, STRICT};
use ptc_json::{Document, JsonError, JsonLimits, Table};
use ptc_program::compile::{compile, Failure, Options, Walk};
use ptc_program::fault::Code;
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::plain::PlainHeap;
use ptc_term::stop::Stop;
use std::time::{Duration, Instant};

#[test]
fn depth_of_brackets() {
    let limits = JsonLimits::depth(4);
    assert!(Table::parse(b"[[{\"a\":[1]}]]", limits).is_ok());
    let too_deep = |text: &[u8]| match Table::parse(text, limits) {
        Err(JsonError::TooDeep { limit: 4, position }) => position,
        other => panic!("{other:?}"),
    };
    assert_eq!(too_deep(b"[[{\"a\":[[]]}]]"), 8);
    assert_eq!(too_deep(b"[[[[ { "), 5);
    // What came before is still what is wrong first.
    assert_eq!(
        Table::parse(b"[[[x[[", limits).err(),
        Some(JsonError::UnexpectedToken(3))
    );
    let none = JsonLimits::depth(0);
    assert!(Table::parse(b"1", none).is_ok());
    assert!(Table::parse(b"[]", none).is_err());
}

/// Operations nested this deep.
fn nested(depth: usize) -> String {
    let open = r#"{"op":"not","condition":"#;
    format!("{}{{}}{}", open.repeat(depth - 1), "}".repeat(depth - 1))
}

#[test]
fn depth_of_operations() {
    let options = Options {
        depth: 10,
        ..STRICT
    };
    let lab = |depth| Lab::of_text(PlainHeap::new(), nested(depth).as_bytes(), options);
    assert!(lab(10).is_ok());
    match lab(11) {
        Err(End::Rejected(mistake)) => {
            assert_eq!(mistake.code, Code::TooDeep);
            assert_eq!(mistake.terms, ["10"]);
        }
        _ => panic!("it is too deep"),
    }
    // In an unchecked part it matters once it is reached.
    let unchecked = Options {
        checked: false,
        ..options
    };
    let mut lab = Lab::of_text(PlainHeap::new(), nested(11).as_bytes(), unchecked)
        .unwrap_or_else(|end| panic!("{end:?}"));
    assert!(matches!(lab.in_one_go(), End::Fault(mistake) if mistake.code == Code::TooDeep));
}

#[test]
fn a_long_program_is_counted_and_can_be_left_between_its_parts() {
    let step = r#"{"op":"get","field":"a"}"#;
    let text = format!(
        r#"{{"op":"pipe","steps":[{}]}}"#,
        vec![step; 5_000].join(",")
    );
    let mut table = Table::parse(text.as_bytes(), crate::common::DEEP).expect("JSON");
    let mut walk = Walk::new(&mut table, 0, STRICT);
    let document = Document::new(text.as_bytes(), &table);
    let mut same = Table::parse(text.as_bytes(), crate::common::DEEP).expect("JSON");
    let whole =
        compile(text.as_bytes(), &mut same, 0, STRICT).unwrap_or_else(|_| panic!("it is right"));
    let (mut asked, mut fuel, mut most) = (0, 0, 0);
    loop {
        let went = walk.resume(&document, &mut |cost, words| {
            asked += 1;
            fuel += cost;
            most = most.max(words.unwrap_or(0));
            match asked % 2 {
                0 => Err(Stop::SliceOver),
                _ => Ok(()),
            }
        });
        match went {
            Ok(()) => break,
            Err(failure) => assert_eq!(failure, Failure::Stopped(Stop::SliceOver)),
        }
    }
    let again = walk.finish(&document);
    assert_eq!((again.program, again.consts), (whole.program, whole.consts));
    assert!(asked > 20, "{asked}");
    assert!(fuel > 50_000, "{fuel}");
    assert!(most > 10_000, "{most}");
}

fn lab(program: &str, limits: Limits) -> Lab {
    let mut lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT)
        .unwrap_or_else(|end| panic!("{end:?}"));
    lab.limits = limits;
    lab
}

/// Returns the words that a program has built at its end.
fn words_of(program: &str) -> usize {
    use ptc_term::heap::Heap;
    let mut lab = lab(program, crate::common::FREE);
    assert!(matches!(lab.in_one_go(), End::Value(_)), "{program}");
    lab.heap.words_built()
}

#[test]
fn words() {
    let list = r#"{"op":"literal","value":[1,2,3,4,5,6,7,8]}"#;
    for program in [
        format!(r#"{{"op":"concat","lists":[{list},{list}]}}"#),
        format!(r#"{{"op":"zip","lists":[{list},{list}]}}"#),
        r#"{"op":"mul","left":100000000000000000000000,"right":100000000000000000000000}"#
            .to_string(),
        format!(r#"{{"op":"pipe","steps":[{list},{{"op":"distinct"}}]}}"#),
        format!(r#"{{"a":{list},"b":{list}}}"#),
    ] {
        let words = words_of(&program);
        let ends = |words| {
            lab(
                &program,
                Limits {
                    words,
                    ..crate::common::FREE
                },
            )
            .in_one_go()
        };
        assert!(matches!(ends(words), End::Value(_)), "{program}");
        assert_eq!(ends(words - 1), End::MemoryExceeded, "{program}");
    }
}

/// A list that is doubled this many times, in a small program.
fn doubled(times: usize) -> String {
    let open = r#"{"op":"let","name":"x","value":{"op":"concat","lists":[{"op":"var","name":"x"},{"op":"var","name":"x"}]},"in":"#;
    let start = r#"{"op":"let","name":"x","value":{"op":"literal","value":[1]},"in":"#;
    format!(
        r#"{start}{}{{"op":"var","name":"x"}}{}}}"#,
        open.repeat(times),
        "}".repeat(times)
    )
}

#[test]
fn what_would_be_far_too_much_is_never_built() {
    use ptc_term::heap::Heap;
    let mut lab = lab(
        &doubled(60),
        Limits {
            words: 100_000,
            ..crate::common::FREE
        },
    );
    assert_eq!(lab.in_one_go(), End::MemoryExceeded);
    assert!(
        lab.heap.words_built() <= 100_000,
        "{}",
        lab.heap.words_built()
    );
    // A loop is stopped before it has all its values.
    let rows = format!(
        r#"{{"op":"pipe","steps":[{},{{"op":"map","expr":{{"op":"literal","value":1}}}}]}}"#,
        doubled(14)
    );
    let enough = words_of(&rows);
    let mut lab = self::lab(
        &rows,
        Limits {
            words: enough - 20_000,
            ..crate::common::FREE
        },
    );
    assert_eq!(lab.in_one_go(), End::MemoryExceeded);
}

#[test]
fn numbers_grow_within_the_limit_too() {
    let open = r#"{"op":"let","name":"x","value":{"op":"mul","left":{"op":"var","name":"x"},"right":{"op":"var","name":"x"}},"in":"#;
    let start = r#"{"op":"let","name":"x","value":{"op":"literal","value":123456789},"in":"#;
    let squares = format!(
        r#"{start}{}{{"op":"var","name":"x"}}{}}}"#,
        open.repeat(40),
        "}".repeat(40)
    );
    let mut lab = lab(
        &squares,
        Limits {
            words: 10_000,
            ..crate::common::FREE
        },
    );
    assert_eq!(lab.in_one_go(), End::MemoryExceeded);
}

/// Work that takes far longer than any test: nested loops over the same list.
fn endless() -> String {
    let list = r#"{"op":"load","name":"items"}"#;
    (0..6).fold(list.to_string(), |inner, _| {
        format!(
            r#"{{"op":"pipe","steps":[{list},{{"op":"map","expr":{inner}}},{{"op":"count"}}]}}"#
        )
    })
}

fn endless_lab(limits: Limits) -> Lab {
    let items = vec!["1"; 1000].join(",");
    lab(&endless(), limits).given(&format!(r#"{{"items":[{items}]}}"#), "{}")
}

#[test]
fn a_deadline_ends_work_that_does_not_end() {
    for deadline in [
        Deadline::At(Instant::now()),
        Deadline::After(Duration::ZERO),
        Deadline::After(Duration::from_millis(20)),
    ] {
        let started = Instant::now();
        let mut lab = endless_lab(Limits {
            deadline,
            ..crate::common::FREE
        });
        assert_eq!(lab.in_one_go(), End::DeadlinePassed);
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn a_deadline_beyond_all_clocks_is_none() {
    let limits = Limits {
        deadline: Deadline::After(Duration::MAX),
        ..crate::common::FREE
    };
    let items = vec!["1"; 10_000].join(",");
    let program = r#"{"op":"pipe","steps":[{"op":"load","name":"items"},{"op":"count"}]}"#;
    let mut lab = lab(program, limits).given(&format!(r#"{{"items":[{items}]}}"#), "{}");
    assert_eq!(lab.in_one_go(), End::Value("10000".into()));
}

#[test]
fn nobody_waits_for_a_run_that_was_abandoned() {
    let mut lab = endless_lab(crate::common::FREE);
    lab.heap.abandon();
    assert_eq!(lab.in_one_go(), End::Abandoned);
}

#[test]
fn a_product_that_would_outlast_the_deadline_is_not_begun() {
    let digits = "7".repeat(200_000);
    let program = format!(r#"{{"op":"mul","left":{digits},"right":{digits}}}"#);
    let limits = Limits {
        deadline: Deadline::After(Duration::from_millis(1)),
        ..crate::common::FREE
    };
    assert_eq!(lab(&program, limits).in_one_go(), End::DeadlinePassed);
}

#[test]
fn a_meter_knows_what_was_consumed() {
    let heap = PlainHeap::new();
    for mut meter in [Meter::new(FREE, Pace::Quantum), Meter::with_fuel(FREE, 10)] {
        for (cost, sum) in [(7, 7), (100_000, 100_007), (3, 100_010)] {
            let _ = meter.consume_fuel(cost, &heap);
            assert_eq!(meter.fuel_consumed(), sum);
        }
    }
}

/// Consumes units that take a microsecond each until the slice is over; returns their number.
fn units_of_a_microsecond(heap: &PlainHeap) -> usize {
    let mut meter = Meter::new(Limits::UNLIMITED, Pace::Slice);
    for units in 0.. {
        if meter.consume_fuel(1, heap).is_err() {
            return units;
        }
        let end = Instant::now() + Duration::from_micros(1);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
    }
    0
}

/// A unit takes much longer than assumed where the caches always miss. The clock is then read more often.
#[test]
fn a_slice_of_slow_units_ends_in_time() {
    let heap = PlainHeap::new();
    let units = units_of_a_microsecond(&heap);
    assert!((256..1_500).contains(&units), "{units} units");
}
