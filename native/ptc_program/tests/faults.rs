//! A run that fails is left after every unit of fuel, and fails in the same way: for each operation, in
//! each form of a loop.

use crate::common::steps::{failing, BAD, GOOD};
use crate::common::{rounds, End, Lab, UNCHECKED};
use ptc_program::compile::Options;
use ptc_program::ops::OpCode;
use ptc_term::heap::Heap;
use ptc_term::plain::PlainHeap;

/// Rows of which one is bad.
const ROWS: usize = 5;

/// Places of the bad row.
const PLACES: &[usize] = &[0, 2, ROWS - 1];

/// A condition that holds, and that no sieve can evaluate.
const HOLDS: &str = r#"{"op":"not","condition":{"op":"get","field":"none"}}"#;

/// Programs in which `EXPR` is evaluated for each row of `items`.
const FORMS: &[&str] = &[
    r#"[ITEMS,{"op":"map","expr":EXPR}]"#,
    r#"[ITEMS,{"op":"filter","where":EXPR}]"#,
    r#"[ITEMS,{"op":"reject","where":EXPR}]"#,
    // In an object, with values on the stack below the loop.
    r#"[{"op":"object","fields":{"a":{"op":"literal","value":36},"b":{"op":"pipe","steps":
        [ITEMS,{"op":"map","expr":{"best":{"op":"get","field":"n"},"total":EXPR}}]}}}]"#,
    // Fused with what reads the list.
    r#"[ITEMS,{"op":"map","expr":EXPR},{"op":"count"}]"#,
    r#"[ITEMS,{"op":"map","expr":{"x":EXPR,"n":1}},{"op":"first"}]"#,
    r#"[ITEMS,{"op":"map","expr":{"x":EXPR,"n":1}},{"op":"take","count":2}]"#,
    r#"[ITEMS,{"op":"map","expr":{"x":EXPR,"n":1}},{"op":"nth","index":3}]"#,
    r#"[ITEMS,{"op":"map","expr":{"x":EXPR,"n":1}},{"op":"last"}]"#,
    r#"[ITEMS,{"op":"map","expr":EXPR},{"op":"map","expr":{"x":1}},{"op":"take","count":1}]"#,
    r#"[ITEMS,{"op":"filter","where":EXPR},{"op":"count"}]"#,
    r#"[ITEMS,{"op":"filter","where":EXPR},{"op":"sum","field":"x"}]"#,
    r#"[ITEMS,{"op":"reject","where":EXPR},{"op":"avg","field":"n"}]"#,
    r#"[ITEMS,{"op":"filter","where":HOLDS},{"op":"map","expr":{"x":EXPR}},{"op":"sum","field":"x"}]"#,
    // After and before a sieve.
    r#"[ITEMS,{"op":"filter","where":{"op":"neq","field":"n","value":0}},{"op":"map","expr":EXPR}]"#,
    r#"[ITEMS,{"op":"map","expr":{"op":"and","conditions":[{"op":"gt","field":"n","value":0},EXPR]}}]"#,
    r#"[ITEMS,{"op":"sort_by","field":"n"},{"op":"select","fields":["n","l","m","s","bad"]},
        {"op":"map","expr":EXPR},{"op":"distinct"}]"#,
    // Nested.
    r#"[ITEMS,{"op":"map","expr":{"op":"let","name":"row","value":{"op":"var","name":"__input"},"in":
        {"op":"pipe","steps":[{"op":"literal","value":[1,2]},{"op":"map","expr":{"op":"pipe","steps":
        [{"op":"var","name":"row"},EXPR]}}]}}}]"#,
    r#"[{"op":"literal","value":[1,2]},{"op":"map","expr":{"op":"pipe","steps":
        [ITEMS,{"op":"filter","where":EXPR},{"op":"count"}]}},{"op":"last"}]"#,
    r#"[{"op":"literal","value":[1,2]},{"op":"reject","where":{"op":"pipe","steps":
        [ITEMS,{"op":"map","expr":{"op":"pipe","steps":[ITEMS,{"op":"map","expr":EXPR},{"op":"first"}]}}]}}]"#,
];

/// Programs that fail for an item of `items` that is no map, or whose `n` is no number.
const LISTS: &[&str] = &[
    r#"[ITEMS,{"op":"filter","where":{"op":"gte","field":"n","value":0}}]"#,
    r#"[ITEMS,{"op":"reject","where":{"op":"lt","field":"n","value":0}},{"op":"last"}]"#,
    r#"[ITEMS,{"op":"filter","where":{"op":"and","conditions":[{"op":"gte","field":"n","value":0},
        {"op":"neq","field":"n","value":100}]}},{"op":"take","count":2}]"#,
    r#"[ITEMS,{"op":"filter","where":{"op":"or","conditions":[{"op":"lt","field":"n","value":0},
        {"op":"eq","field":"n","value":2}]}},{"op":"sum","field":"n"}]"#,
    r#"[ITEMS,{"op":"filter","where":{"op":"neq","field":"n","value":0}},{"op":"sum","field":"n"}]"#,
    r#"[ITEMS,{"op":"reject","where":{"op":"eq","field":"n","value":0}},{"op":"avg","field":"n"}]"#,
    r#"[ITEMS,{"op":"filter","where":{"op":"neq","field":"n","value":0}},{"op":"count"}]"#,
    r#"[ITEMS,{"op":"filter","where":HOLDS},{"op":"sum","field":"n"}]"#,
    r#"[ITEMS,{"op":"reject","where":{"op":"not","condition":HOLDS}},{"op":"sum","field":"n"}]"#,
    r#"[ITEMS,{"op":"map","expr":{"n":{"op":"get","field":"n"}}},{"op":"sum","field":"n"}]"#,
    r#"[ITEMS,{"op":"map","expr":{"op":"var","name":"__input"}},{"op":"sum","field":"n"}]"#,
    r#"[ITEMS,{"op":"sum","field":"n"}]"#,
    r#"[ITEMS,{"op":"map","expr":{"op":"gt","field":"n","value":1}},{"op":"count"}]"#,
];

/// Where a list program stands: alone, in an object, in loops.
const AROUND: &[&str] = &[
    r#"{"op":"pipe","steps":STEPS}"#,
    r#"{"n":{"op":"pipe","steps":[ITEMS,{"op":"count"}]},"per":{"op":"pipe","steps":STEPS}}"#,
    r#"{"op":"pipe","steps":[{"op":"literal","value":[1,2,3]},{"op":"map","expr":
        {"op":"pipe","steps":STEPS}}]}"#,
    r#"{"op":"pipe","steps":[{"op":"literal","value":[1,2]},{"op":"filter","where":{"best":
        {"op":"var","name":"__input"},"all":{"op":"pipe","steps":[ITEMS,{"op":"map","expr":
        {"op":"pipe","steps":STEPS}}]}}},{"op":"count"}]}"#,
];

fn whole(form: &str, expr: &str) -> String {
    let text = form.replace("EXPR", expr).replace("HOLDS", HOLDS);
    text.replace("ITEMS", r#"{"op":"load","name":"items"}"#)
}

fn pipe(steps: &str) -> String {
    format!(r#"{{"op":"pipe","steps":{steps}}}"#)
}

fn lab(program: &str, context: &str, options: Options) -> Lab {
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), options);
    let lab = lab.unwrap_or_else(|end| panic!("{program}: {end:?}"));
    lab.given(context, "{}")
}

/// Rows of which the one at this index is `bad`.
fn rows(at: usize, bad: &str) -> String {
    let row = |index| if index == at { bad } else { GOOD };
    let rows: Vec<&str> = (0..ROWS).map(row).collect();
    format!(r#"{{"items":[{}]}}"#, rows.join(","))
}

/// Asserts that the run ends in the same way, wherever it is left.
fn assert_same(program: &str, mut make: impl FnMut() -> Lab) -> End {
    let end = make().in_one_go();
    for units in [1, 2, 7] {
        let cut = make().in_executions(|| units);
        assert_eq!(end, cut, "{program} in executions of {units}");
        let cut = make().in_slices(units);
        assert_eq!(end, cut, "{program} in slices of {units}");
    }
    assert_eq!(end, make().after_a_probe(256), "{program} after a probe");
    end
}

/// Asserts that the run ends in the same way if it is left once, after each unit in turn.
fn assert_same_after_each_unit(program: &str, mut make: impl FnMut() -> Lab) {
    let end = make().in_one_go();
    for units in 1..=make().cost() {
        let cut = make().after_a_probe(units);
        assert_eq!(end, cut, "{program} after a probe of {units}");
    }
}

// In two parts, because the tests of a file run side by side.
#[test]
fn every_operation_fails_in_every_form() {
    fail_in_every_form(0);
}

#[test]
fn every_other_operation_fails_in_every_form() {
    fail_in_every_form(1);
}

/// Whether a pair of an expression and a form is also run with a suspension after each unit: one of twelve, and with
/// `PTC_CASES` all of them.
fn suspends(pair: usize) -> bool {
    pair.is_multiple_of(12) || rounds(1) > 1
}

/// Where the bad row of a pair stands: in one of these places, and with `PTC_CASES` in each of them.
fn places(pair: usize) -> &'static [usize] {
    match rounds(1) {
        1 => &PLACES[pair % PLACES.len()..][..1],
        _ => PLACES,
    }
}

fn fail_in_every_form(part: usize) {
    let mut harmless = Vec::new();
    let all = OpCode::ALL.iter().flat_map(|op| failing(*op));
    for (row, expr) in all.skip(part).step_by(2).enumerate() {
        let mut faults = 0;
        for (number, form) in FORMS.iter().enumerate() {
            let program = pipe(&whole(form, expr));
            for at in places(number + row) {
                let context = rows(*at, BAD);
                let end = assert_same(&program, || lab(&program, &context, UNCHECKED));
                faults += usize::from(matches!(end, End::Fault(_)));
            }
            if suspends(number + row) {
                let context = rows(1, BAD);
                assert_same_after_each_unit(&program, || lab(&program, &context, UNCHECKED));
            }
        }
        // Some forms do not evaluate it for each row.
        if faults <= FORMS.len() * places(0).len() / PLACES.len() {
            harmless.push((expr, faults));
        }
    }
    assert!(harmless.is_empty(), "{harmless:#?}");
}

#[test]
fn every_list_program_fails_wherever_it_stands() {
    for list in LISTS {
        let mut faults = 0;
        for around in AROUND {
            let program = whole(&around.replace("STEPS", list), "");
            for bad in [r#"{"n":"12.50"}"#, "5", r#"{"n":1e308}"#, "[]"] {
                for at in [0, 2, ROWS - 1] {
                    let context = rows(at, bad);
                    let end = assert_same(&program, || lab(&program, &context, UNCHECKED));
                    faults += usize::from(matches!(end, End::Fault(_)));
                }
                let context = rows(1, bad);
                assert_same_after_each_unit(&program, || lab(&program, &context, UNCHECKED));
            }
        }
        assert!(faults >= 12, "{list}: {faults} faults");
    }
}

/// A context whose list `items` ends with an atom; the item at `at` is wrong.
fn given_improper(mut lab: Lab, at: usize) -> Lab {
    let mut list = lab.heap.atom("end");
    let bad = crate::common::term(&mut lab.heap, BAD).expect("JSON");
    let good = crate::common::term(&mut lab.heap, GOOD).expect("JSON");
    for index in (0..ROWS).rev() {
        list = lab.heap.cons(if index == at { bad } else { good }, list);
    }
    let items = lab.heap.make_string(b"items");
    lab.context = lab.heap.make_map(&[items], &[list]);
    lab
}

#[test]
fn an_improper_list_is_the_earlier_fault_in_every_form() {
    for op in OpCode::ALL {
        for (expr, form) in failing(*op)
            .iter()
            .flat_map(|e| FORMS.iter().map(move |f| (e, f)))
        {
            let program = pipe(&whole(form, expr));
            let make = || given_improper(lab(&program, "{}", UNCHECKED), 1);
            let end = assert_same(&program, make);
            assert!(matches!(end, End::Fault(_)), "{program}: {end:?}");
        }
    }
}

#[test]
fn the_fault_of_a_shared_term_is_the_same() {
    // The terms of the fault are weighed before they are shown, which takes many units.
    let shared = (0..12).fold(r#"{"op":"load","name":"items"}"#.to_string(), |inner, _| {
        format!(
            r#"{{"op":"let","name":"x","value":{inner},"in":{{"a":{{"op":"var","name":"x"}},"b":{{"op":"var","name":"x"}}}}}}"#
        )
    });
    for step in [
        r#"{"op":"count"}"#,
        r#"{"op":"map","expr":{"op":"get","field":"n"}}"#,
    ] {
        for around in AROUND {
            let steps = format!("[{shared},{step}]");
            let program = whole(&around.replace("STEPS", &steps), "");
            let context = rows(0, GOOD);
            let end = assert_same(&program, || lab(&program, &context, UNCHECKED));
            assert!(matches!(end, End::Fault(_)), "{end:?}");
        }
    }
}
