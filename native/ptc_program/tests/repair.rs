//! Random answers that are almost correct: the target `repair` of `fuzz/`, on stable Rust.

use crate::common::rng::Rng;
use crate::common::{answers, generate, repairs, rounds};
use ptc_answer::repair::{repair, Refusal, Repaired, Repairing, Stop, Wanted};
use ptc_term::meter::{Deadline, Limits, Meter, Pace};
use ptc_term::plain::PlainHeap;

fn checked(text: &[u8]) {
    repairs::repair_cost(text);
    repairs::repaired(text);
}

#[test]
fn spoiled_json_is_repaired_or_refused() {
    let mut rng = Rng::new(1);
    for _ in 0..rounds(10_000) {
        let text = generate::json(&mut rng, 4);
        checked(text.as_bytes());
        let spoiled = generate::mutated(&mut rng, &text);
        checked(&spoiled);
    }
}

#[test]
fn answers_that_are_almost_right() {
    let mut rng = Rng::new(2);
    for _ in 0..rounds(20_000) {
        checked(&repairs::almost(&mut rng));
        let text = answers::answer(&mut rng, |rng| generate::json(rng, 3));
        checked(&text);
    }
}

#[test]
fn random_bytes() {
    let mut rng = Rng::new(3);
    for _ in 0..rounds(10_000) {
        let text: Vec<u8> = (0..rng.below(40)).map(|_| rng.next() as u8).collect();
        checked(&text);
    }
}

/// The work is linear in the text, measured by the fuel that a slice or a limit permits.
#[test]
fn limits_hold() {
    let text = "[\"a\" ".repeat(400_000);
    let heap = PlainHeap::new();
    let run = |words, pace| {
        let deadline = Deadline::Never;
        let mut meter = Meter::new(Limits { deadline, words }, pace);
        repair(text.as_bytes(), &Wanted::anything(), &mut meter, &heap).err()
    };
    let stopped = |stop| Some(Refusal::Stopped(stop));
    assert_eq!(run(usize::MAX, Pace::Slice), stopped(Stop::SliceOver));
    assert_eq!(run(10_000, Pace::Quantum), stopped(Stop::MemoryExceeded));
    let mut heap = PlainHeap::new();
    heap.abandon();
    let deadline = Deadline::Never;
    let words = usize::MAX;
    let mut meter = Meter::new(Limits { deadline, words }, Pace::Quantum);
    let gone = repair(text.as_bytes(), &Wanted::anything(), &mut meter, &heap).err();
    assert_eq!(gone, stopped(Stop::Abandoned));
}

/// A search that is suspended wherever possible finds the same as one without suspension.
#[test]
fn quanta_change_nothing() {
    let row = r#"{"id": 1 "name": "a "quoted" word", tags: ['x', "y"], "n": 1,234},"#;
    let texts = [
        format!("Here it is:\n```json\n[{}]\n```\n", row.repeat(40)),
        format!("[{}", row.repeat(40)),
        format!("{{\"a\": [\"x\" {}", "{\"a\": \"".repeat(300)),
        "a b: ".repeat(500),
        format!("[note] {{\"a\": 1,}} and {{\"a\": 1 \"b\": 2}} {}", row),
        "```\n{a: 1}\n```\n```\n{a: 2}\n```".to_string(),
    ];
    let heap = PlainHeap::new();
    let limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    let anything = Wanted::anything();
    let told = |found: Result<Repaired, Refusal>| {
        found.map(|found| (found.repairs(), format!("{found:?}")))
    };
    let mut most = 0;
    for text in &texts {
        let text = text.as_bytes();
        let mut meter = Meter::new(limits, Pace::Quantum);
        let whole = told(repair(text, &anything, &mut meter, &heap));
        for units in [0, 1, 50, 1_000] {
            let mut repairing = Repairing::new(text.len());
            let mut quanta = 0;
            let found = loop {
                let mut meter = Meter::with_fuel(limits, units);
                match repairing.resume(text, &anything, &mut meter, &heap) {
                    Err(Refusal::Stopped(Stop::SliceOver)) => quanta += 1,
                    found => break found,
                }
            };
            assert_eq!(told(found), whole);
            most = most.max(quanta);
        }
    }
    assert!(most > 1_000, "{most} quanta at most");
}

/// A million brackets are treated like a few.
#[test]
fn depth_costs_memory_only() {
    let text = format!("{}1,{}", "[".repeat(300_000), "]".repeat(300_000));
    let heap = PlainHeap::new();
    let limits = Limits {
        deadline: Deadline::Never,
        words: usize::MAX,
    };
    let mut meter = Meter::new(limits, Pace::Quantum);
    let anything = Wanted::anything();
    let found = repair(text.as_bytes(), &anything, &mut meter, &heap);
    assert_eq!(found.map(|found| found.repairs().len()), Ok(1));
    let open = "{\"a\": [".repeat(100_000);
    let mut meter = Meter::new(limits, Pace::Quantum);
    let _ = repair(open.as_bytes(), &anything, &mut meter, &heap);
}
