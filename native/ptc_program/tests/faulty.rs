//! Texts that are not JSON, or almost an answer: work that is suspended at every unit gives the same value, the
//! same error or the same repairs as work that is not.

use crate::common::rng::Rng;
use crate::common::{answers, generate, repairs, suspended};
use ptc_answer::repair::{repair, Refusal, Repaired, Repairing, Wanted};
use ptc_answer::{read_answer, NoAnswer, Search};
use ptc_json::{PartialValue, TermBuilder};
use ptc_term::meter::{Limits, Meter, Pace};
use ptc_term::plain::PlainHeap;
use ptc_term::stop::Stop;
use ptc_term::workspace::Workspace;
use ptc_type::{AnswerType, Field, Scalar, Type, Types};

/// A text like an answer: right, wrong, or almost right.
fn text(rng: &mut Rng) -> Vec<u8> {
    match rng.below(4) {
        0 => {
            let text = generate::json(rng, 4);
            generate::mutated(rng, &text)
        }
        1 => repairs::almost(rng),
        2 => {
            let text = answers::answer(rng, |rng| generate::json(rng, 3));
            let text = String::from_utf8_lossy(&text).into_owned();
            generate::mutated(rng, &text)
        }
        _ => answers::answer(rng, |rng| generate::json(rng, 3)),
    }
}

/// Finds the answer with this much fuel in each quantum; also returns the number of suspensions.
fn searched(text: &[u8], units: usize) -> (Result<String, NoAnswer>, usize) {
    let mut heap = PlainHeap::new();
    let (mut search, mut value, mut left) = (Search::default(), PartialValue::default(), 0);
    // Each quantum has more fuel than the last one: a step that needs more than one quantum has would never end.
    loop {
        let mut meter = Meter::with_fuel(Limits::UNLIMITED, units + left);
        let work = Workspace::new(&mut heap, &mut meter);
        let mut builder = TermBuilder::resume(work, value);
        match search.resume(text, &mut builder) {
            Ok(found) => {
                let found = found.map(|_range| builder.finish());
                return (found.map(|value| heap.show(value)), left);
            }
            Err(stop) => {
                assert_eq!(stop, Stop::SliceOver);
                let partial = builder.into_partial();
                value = suspended(partial, &mut heap);
                left += 1;
            }
        }
    }
}

#[test]
fn a_search_for_an_answer() {
    let mut rng = Rng::new(51);
    let (mut wrong, mut left) = (0, 0);
    for _ in 0..4_000 {
        let text = text(&mut rng);
        let mut heap = PlainHeap::new();
        let whole = read_answer(&text, &mut heap).map(|found| heap.show(found.value));
        wrong += usize::from(whole.is_err());
        for units in [0, 1, 7] {
            let (found, suspensions) = searched(&text, units);
            assert_eq!(found, whole, "{}", String::from_utf8_lossy(&text));
            left += suspensions;
        }
    }
    assert!(wrong > 400 && left > 10_000, "{wrong} {left}");
}

/// `[{id :int, name :string?, tags [:string]}]`
fn rows() -> Wanted {
    let mut types = Types::new();
    let [int, string] = [Scalar::Int, Scalar::String].map(|scalar| types.add(Type::Scalar(scalar)));
    let (name, tags) = (
        types.add(Type::Optional(string)),
        types.add(Type::List(string)),
    );
    let fields = [("id", int), ("name", name), ("tags", tags)].map(|(name, holds)| Field {
        name: name.as_bytes(),
        holds,
    });
    let fields = types.add_fields(fields.into_iter());
    let closed = false;
    let row = types.add(Type::Map { fields, closed });
    let root = types.add(Type::List(row));
    Wanted::new(AnswerType::new(types, root, false))
}

#[test]
fn a_repair() {
    let told = |found: Result<Repaired, Refusal>| {
        found.map(|found| (found.repairs(), format!("{found:?}")))
    };
    let heap = PlainHeap::new();
    let mut rng = Rng::new(52);
    let row = r#"{"id": 1 "name": "a "quoted" word", tags: ['x', "y"], "n": 1,234},"#;
    let mut left = 0;
    for round in 0..1_500 {
        let text = match round % 3 {
            0 => {
                let rows = row.repeat(1 + rng.below(3));
                generate::mutated(&mut rng, &rows)
            }
            _ => text(&mut rng),
        };
        for wanted in [Wanted::anything(), rows()] {
            let mut meter = Meter::new(Limits::UNLIMITED, Pace::Quantum);
            let whole = told(repair(&text, &wanted, &mut meter, &heap));
            for units in [0, 1] {
                let mut repairing = Repairing::new(text.len());
                let found = loop {
                    let mut meter = Meter::with_fuel(Limits::UNLIMITED, units);
                    match repairing.resume(&text, &wanted, &mut meter, &heap) {
                        Err(Refusal::Stopped(Stop::SliceOver)) => left += 1,
                        found => break found,
                    }
                };
                assert_eq!(told(found), whole, "{}", String::from_utf8_lossy(&text));
            }
        }
    }
    assert!(left > 10_000, "{left}");
}
