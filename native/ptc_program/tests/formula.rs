//! Arithmetic on two sides as one instruction: the same values and faults as with the instructions that it stands for, and
//! after every unit of fuel.

use crate::common::{over, End, Lab, STRICT};
use ptc_program::code::{Instr, Own};
use ptc_term::heap::Heap;
use ptc_term::plain::PlainHeap;

fn lab(step: &str, rows: &str) -> Lab {
    let lab = Lab::of_text(PlainHeap::new(), over(step).as_bytes(), STRICT);
    let lab = lab.unwrap_or_else(|end| panic!("{step}: {end:?}"));
    lab.given(&format!(r#"{{"items":{rows}}}"#), "{}")
}

/// Arithmetic whose left side is `from`.
fn arithmetic(op: &str, left: &str) -> String {
    format!(r#"{{"op":"{op}","left":{left},"right":{{"op":"get","field":"b"}}}}"#)
}

const A: &str = r#"{"op":"get","field":"a"}"#;
/// The field `a`, by another instruction, for which there is no formula.
const OTHER_A: &str = r#"{"op":"coalesce","values":[{"op":"get","field":"a"}]}"#;

const ROWS: &[&str] = &[
    "[]",
    r#"[{"a":2,"b":3}]"#,
    r#"[{"a":2,"b":3},{"a":4,"b":5},{"a":-1,"b":7}]"#,
    r#"[{"a":2,"b":3},{"a":4.5,"b":5},{"a":-1,"b":0.5},{"a":1,"b":1}]"#,
    r#"[{"a":1,"b":2},{"a":9223372036854775807,"b":9223372036854775807},{"a":3,"b":4},{"a":3,"b":-4}]"#,
    r#"[{"a":1.0e308,"b":1},{"a":1.0e308,"b":1}]"#,
    r#"[{"a":1.0e308,"b":1.0e308},{"a":1,"b":1}]"#,
    r#"[{"a":1,"b":2},{"b":2}]"#,
    r#"[{"a":1,"b":2},{"a":"x","b":2},{"a":1,"b":2}]"#,
    r#"[{"a":1,"b":0},{"a":1,"b":2}]"#,
    r#"[{"a":1,"b":2},7]"#,
    r#"[{"a":1,"b":2},{"b":3,"a":4,"c":5},{"a":6,"b":7}]"#,
];

#[test]
fn a_formula_is_the_instructions_that_it_stands_for() {
    for op in ["add", "sub", "mul", "div"] {
        for rows in ROWS {
            for (outer, field) in [
                ("sum", "expr"),
                ("avg", "expr"),
                ("max", "expr"),
                ("map", "expr"),
            ] {
                let step = |left| {
                    let formula = arithmetic(op, left);
                    format!(r#"{{"op":"{outer}","{field}":{formula}}}"#)
                };
                let usual = lab(&step(OTHER_A), rows).in_one_go();
                let (step, fused) = (step(A), lab(&step(A), rows).in_one_go());
                assert_eq!(fused, usual, "{step} {rows}");
                for units in [1, 2, 3, 7, 30] {
                    let cut = lab(&step, rows).in_executions(|| units);
                    assert_eq!(cut, usual, "{step} {rows} {units}");
                    assert_eq!(
                        lab(&step, rows).in_slices(units),
                        usual,
                        "{step} {rows} {units}"
                    );
                }
                assert_eq!(lab(&step, rows).after_a_probe(5), usual, "{step} {rows}");
            }
        }
    }
}

/// The formulas of a step, and those that tally.
fn formulas(step: &str) -> (usize, usize) {
    let code = lab(step, "[]").program.code;
    let formulas = code.iter().filter_map(|instr| match instr {
        Instr::Own(Own::Formula(formula)) => Some(formula.tallied_by),
        _ => None,
    });
    let formulas: Vec<_> = formulas.collect();
    let tallies = formulas
        .iter()
        .filter(|by| **by != ptc_program::code::NO_PC);
    (formulas.len(), tallies.count())
}

#[test]
fn which_arithmetic_is_a_formula() {
    let sum = |expr: &str| format!(r#"{{"op":"sum","expr":{expr}}}"#);
    assert_eq!(formulas(&sum(&arithmetic("mul", A))), (1, 1));
    assert_eq!(formulas(&sum(&arithmetic("mul", "2"))), (1, 1));
    assert_eq!(formulas(&sum(&arithmetic("mul", r#"{"op":"it"}"#))), (1, 1));
    assert_eq!(formulas(&sum(&arithmetic("mul", OTHER_A))), (0, 0));
    let inner = arithmetic("sub", "1");
    assert_eq!(formulas(&sum(&arithmetic("mul", &inner))), (1, 0));
    let map = format!(r#"{{"op":"map","expr":{}}}"#, arithmetic("div", A));
    assert_eq!(formulas(&map), (1, 0));
}

#[test]
fn a_tally_of_formulas_builds_no_terms() {
    let rows: Vec<String> = (0..2_000)
        .map(|n| format!(r#"{{"a":{n},"b":2}}"#))
        .collect();
    let step = format!(r#"{{"op":"sum","expr":{}}}"#, arithmetic("mul", A));
    let mut lab = lab(&step, &format!("[{}]", rows.join(",")));
    lab.limits.words = lab.heap.words_built() + 200;
    assert_eq!(lab.in_one_go(), End::Value("3998000".into()));
}

#[test]
fn equal_keys_share_one_constant() {
    let step =
        r#"{"op":"filter","where":{"op":"gt","field":"a","value":1}},{"op":"sum","field":"a"}"#;
    // `items`, `a` and 1.
    assert_eq!(lab(step, "[]").consts.len(), 3);
    let step = r#"{"op":"map","expr":{"op":"object","fields":{"a":{"op":"get","field":"a"},"b":{"op":"get","field":"a"}}}}"#;
    let rows = r#"[{"a":1},{"a":2}]"#;
    assert_eq!(
        lab(step, rows).in_one_go(),
        End::Value(r#"[%{"a" => 1, "b" => 1}, %{"a" => 2, "b" => 2}]"#.into())
    );
}
