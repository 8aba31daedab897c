//! Suspending the machine changes nothing except where the terms are stored meanwhile.

use crate::common::rng::Rng;
use crate::common::{generate, End, Lab, STRICT};
use ptc_term::plain::PlainHeap;

fn lab(program: &str, context: &str) -> Lab {
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT);
    let lab = lab.unwrap_or_else(|end| panic!("{program}: {end:?}"));
    lab.given(context, "{}")
}

/// A program has one value and makes the same calls, with and without suspension.
fn same(program: &str, context: &str, mut units: impl FnMut() -> usize) -> Lab {
    let (mut whole, mut cut) = (lab(program, context), lab(program, context));
    assert_eq!(
        whole.in_one_go(),
        cut.in_executions(&mut units),
        "{program} over {context}"
    );
    assert_eq!(whole.calls, cut.calls, "{program} over {context}");
    cut
}

const NESTED: &str = r#"{"op":"pipe","steps":[
  {"op":"load","name":"items"},
  {"op":"filter","where":{"op":"gt","field":"n","value":1}},
  {"op":"map","expr":{"op":"let","name":"i","value":{"op":"var","name":"__input"},"in":
    {"n":{"op":"get","field":"n"},
     "rest":{"op":"pipe","steps":[{"op":"var","name":"__input"},{"op":"get","field":"l"},
       {"op":"map","expr":{"op":"concat","lists":[
         {"op":"literal","value":[0]},
         {"op":"zip","lists":[{"op":"literal","value":[1,2]},{"op":"pipe","steps":[{"op":"var","name":"i"},{"op":"get","field":"l"}]}]}]}}]},
     "answer":{"op":"call","tool":"count"}}}},
  {"op":"sort_by","field":"n","order":"desc"}]}"#;

const ITEMS: &str =
    r#"{"items":[{"n":1,"l":[]},{"n":2,"l":["a","b"]},{"n":5,"l":["c"]},{"n":3,"l":[]}]}"#;

#[test]
fn leaving_after_every_instruction() {
    let left = same(NESTED, ITEMS, || 1);
    assert!(
        left.executions > left.program.code.len(),
        "{} executions",
        left.executions
    );
    assert_eq!(left.calls.len(), 3);
}

#[test]
fn leaving_at_random_places() {
    let mut rng = Rng::new(11);
    for _ in 0..200 {
        let longest = 1 + rng.below(40);
        same(NESTED, ITEMS, || 1 + rng.below(longest));
    }
}

#[test]
fn leaving_in_the_middle_of_a_sum() {
    for step in [r#""count""#, r#""sum","field":"n""#, r#""avg","field":"n""#] {
        let program = format!(
            r#"{{"op":"pipe","steps":[{{"op":"load","name":"items"}},
                {{"op":"filter","where":{{"op":"get","field":"n"}}}},{{"op":{step}}}]}}"#
        );
        for items in [
            r#"[{"n":9223372036854775807},{},{"n":1},{"n":0.5}]"#,
            r#"[{"n":"a"},{"n":2}]"#,
            "[{},{}]",
            "[]",
        ] {
            let context = format!(r#"{{"items":{items}}}"#);
            for units in 1..5 {
                same(&program, &context, || units);
            }
        }
    }
}

#[test]
fn random_programs() {
    // Where a run is cut changes nothing about the next program.
    let (mut rng, mut cuts) = (Rng::new(12), Rng::new(13));
    let (mut values, mut faults) = (0, 0);
    for _ in 0..20_000 {
        let (program, context) = (generate::program(&mut rng, 3), generate::context(&mut rng));
        let Ok(compiled) = Lab::of_text(PlainHeap::new(), program.as_bytes(), STRICT) else {
            continue;
        };
        match compiled.given(&context, "{}").in_one_go() {
            End::Value(_) => values += 1,
            End::Fault(_) => faults += 1,
            _ => continue,
        }
        same(&program, &context, || 1);
        same(&program, &context, || 1 + cuts.below(10));
        let end = lab(&program, &context).in_one_go();
        for units in [1, 1 + cuts.below(10)] {
            let cut = lab(&program, &context).in_slices(units);
            assert_eq!(end, cut, "{program} over {context} in slices of {units}");
            let cut = lab(&program, &context).after_a_probe(10 * units);
            assert_eq!(end, cut, "{program} over {context} after a probe");
        }
    }
    // Otherwise the programs are not worth running.
    assert!(values > 3_700, "only {values} values");
    assert!(faults > 2_000, "only {faults} faults");
}

#[test]
fn a_loop_that_calls_a_tool_an_item_freezes_each_value_once() {
    let items = vec!["1"; 10_000].join(",");
    let program = r#"{"op":"pipe","steps":[{"op":"load","name":"items"},
        {"op":"map","expr":{"op":"call","tool":"count"}},{"op":"count"}]}"#;
    let mut lab = lab(program, &format!(r#"{{"items":[{items}]}}"#));
    let before = lab.heap.conses();
    assert_eq!(lab.in_one_go(), End::Value("10000".into()));
    assert_eq!(lab.executions, 10_001);
    let conses = lab.heap.conses() - before;
    assert!(conses <= 10_000, "{conses} cells for 10000 calls");
}

#[test]
fn a_loop_within_a_loop_freezes_each_value_once_too() {
    let items = vec!["1"; 100].join(",");
    let list = format!(r#"{{"op":"literal","value":[{items}]}}"#);
    let program = format!(
        r#"{{"op":"pipe","steps":[{list},{{"op":"map","expr":{{"op":"pipe","steps":[{list},
            {{"op":"map","expr":{{"op":"call","tool":"count"}}}}]}}}},{{"op":"count"}}]}}"#
    );
    let mut lab = lab(&program, "{}");
    assert_eq!(lab.in_one_go(), End::Value("100".into()));
    assert_eq!(lab.executions, 10_001);
    assert!(lab.heap.conses() <= 10_100, "{} cells", lab.heap.conses());
}

#[test]
fn a_frozen_run_keeps_its_place_in_every_kind_of_loop() {
    for kind in ["map\",\"expr", "filter\",\"where", "reject\",\"where"] {
        let program = format!(
            r#"{{"op":"pipe","steps":[{{"op":"load","name":"items"}},
                {{"op":"{kind}":{{"op":"gt","value":{{"op":"call","tool":"count"}}}}}}]}}"#
        );
        let cut = same(&program, r#"{"items":[9,1,9,2,9,3]}"#, || 1);
        assert_eq!(cut.calls.len(), 6);
    }
}
