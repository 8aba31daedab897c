//! Programs whose tools answer JSON texts that are not decoded end as over what the texts are decoded to.

use crate::common::answered::{same, Answers};
use crate::common::lazy::{context, ANY_KEYS, LIMITS, VALUES};
use crate::common::rng::Rng;
use crate::common::{generate, rounds, STRICT, UNCHECKED};
use ptc_term::meter::Limits;

const LOAD: &str = r#"{"op":"load","name":"items"}"#;
const CALL: &str = r#"{"op":"call","tool":"rows"}"#;
const CAUGHT: &str = r#"{"op":"call","tool":"rows","args":{"n":1},"on_error":"no"}"#;

/// A program in which some of what would be loaded is the answer of a tool.
fn program(rng: &mut Rng) -> String {
    let program = generate::program(rng, 3);
    let mut parts = program.split(LOAD);
    let mut calling = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        calling.push_str(rng.pick(&[CALL, CALL, CAUGHT, LOAD]));
        calling.push_str(part);
    }
    calling
}

#[test]
fn random_programs_with_random_answers() {
    let mut rng = Rng::new(29);
    let mut in_place = 0;
    for round in 0..rounds(1_000) {
        let program = program(&mut rng);
        let given = (&context(&mut rng), Answers::new(&mut rng));
        let options = [STRICT, UNCHECKED, ANY_KEYS, VALUES][round % 4];
        in_place += same(&program, given, options, LIMITS, &mut rng).0;
    }
    assert!(in_place > rounds(1_000) / 4, "{in_place}");
}

#[test]
fn a_tight_heap_limit_stops_a_run_and_breaks_nothing() {
    let mut rng = Rng::new(30);
    for _ in 0..rounds(200) {
        let program = program(&mut rng);
        let given = (&context(&mut rng), Answers::new(&mut rng));
        let words = rng.below(400);
        let limits = Limits { words, ..LIMITS };
        same(&program, given, STRICT, limits, &mut rng);
    }
}

#[test]
fn each_round_of_a_loop_may_answer_a_text() {
    let mut rng = Rng::new(31);
    let load = r#"{"op":"literal","value":[1,2,3,4,5,6,7,8,9,10,11,12]}"#;
    let count = r#"{"op":"count"}"#;
    let first = r#"{"op":"first"}"#;
    for last in [count, first, r#"{"op":"reverse"}"#] {
        let body = format!(r#"{{"op":"pipe","steps":[{CAUGHT},{last}]}}"#);
        let program = format!(
            r#"{{"op":"pipe","steps":[{load},{{"op":"map","expr":{body}}},{{"op":"distinct"}}]}}"#
        );
        for _ in 0..rounds(20) {
            let given = (&context(&mut rng), Answers::new(&mut rng));
            let (_, held) = same(&program, given, STRICT, LIMITS, &mut rng);
            // What is not read any more is not held.
            assert!(held <= 1 || last != count, "{held}");
        }
    }
}
