//! Functions that are written where a built-in calls them: what the loops that they become give is what calls give, however short the
//! executions are.

use crate::running::{value, Run};
use ptc_term::meter::Limits;

/// A call with a function that is written there, and the same with one that is called.
fn both(builtin: &str, function: &str, rest: &str) -> [String; 2] {
    [
        format!("({builtin} {function} {rest})"),
        format!("(let [f {function}] ({builtin} f {rest}))"),
    ]
}

#[test]
fn loops_give_what_calls_give() {
    let colls = [
        "[1 2 3 4]",
        "[]",
        "nil",
        "\"abé\"",
        "{:a 1 :b 2}",
        "#{7}",
        "(range 70)",
        "[nil false 3]",
        "[[1 2] [3 4]]",
    ];
    let functions = [
        "(fn [x] x)",
        "(fn [x] [x x])",
        "#(= % 3)",
        "(fn [[a b]] b)",
        "(fn [x] (if (number? x) (+ x 1) nil))",
        "(fn [x] (let [y [x]] (fn [] y)))",
        "(fn [_] (map (fn [y] (* y 2)) [1 2]))",
        "(fn [x] (loop [i 0] (if (< i 3) (recur (inc i)) [i x])))",
        "(fn [x] (:k {:k x}))",
        "(fn [{:keys [a]}] a)",
        "(fn [x] (reduce (fn [s y] (+ s y)) 0 (filter number? [x 1])))",
    ];
    let mut wrong = Vec::new();
    for builtin in ["map", "filter", "remove", "keep"] {
        for function in functions {
            for coll in colls {
                let [inlined, called] =
                    both(builtin, function, coll).map(|source| match function.contains("(fn []") {
                        true => format!("(map (fn [g] (if (fn? g) (g) g)) {source})"),
                        false => source,
                    });
                if value(&inlined) != value(&called) {
                    wrong.push(format!(
                        "{inlined}: {:?}, not {:?}",
                        value(&inlined),
                        value(&called)
                    ));
                }
            }
        }
    }
    let two = [
        "(fn [s x] [s x])",
        "(fn [_ x] x)",
        "(fn [s [a b]] [s b])",
        "(fn [[s] x] [x s])",
        "(fn [s x] (if (number? x) (+ 1 x) s))",
        "(fn [s x] (str (map (fn [y] [y s]) [x])))",
    ];
    for function in two {
        for coll in colls {
            if coll.contains("range") && function != two[0] {
                continue;
            }
            for rest in [
                coll.to_owned(),
                format!("nil {coll}"),
                format!("[5] {coll}"),
            ] {
                let [inlined, called] = both("reduce", function, &rest);
                if value(&inlined) != value(&called) {
                    wrong.push(format!(
                        "{inlined}: {:?}, not {:?}",
                        value(&inlined),
                        value(&called)
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_are_those_of_calls() {
    // A function among the arguments is another term in each run.
    let error = |source: &str| {
        let run = Run {
            source,
            context: &[],
            units: 1_000,
            limits: Limits::UNLIMITED,
        };
        let error = run.run().end.expect_err("an error");
        error.split(' ').take(3).collect::<Vec<_>>().join(" ")
    };
    for builtin in [
        "map", "mapv", "filter", "filterv", "remove", "keep", "reduce",
    ] {
        for coll in ["5", ":a", "inc", "1.5"] {
            let function = match builtin {
                "reduce" => "(fn [s x] x)",
                _ => "(fn [x] x)",
            };
            let [inlined, called] = both(builtin, function, coll);
            assert_eq!(error(&inlined), error(&called), "{inlined}");
        }
        if builtin != "reduce" {
            let [inlined, called] = both(builtin, "(fn [x] (+ x :a))", "[1]");
            assert_eq!(error(&inlined), error(&called), "{inlined}");
        }
    }
    let [inlined, called] = both("reduce", "(fn [s x] x)", "0 5");
    assert_eq!(error(&inlined), error(&called));
}

#[test]
fn arithmetic_with_any_operands() {
    for (source, expected) in [
        ("(+ (count [1 2]) 1)", "3"),
        ("(+ 1 (count [1 2]))", "3"),
        ("(- 10 (count [1 2]))", "8"),
        ("(- (count [1 2]) 10)", "-8"),
        ("(let [x 3] (- x (first [1])))", "2"),
        ("(let [x 3] (- (first [1]) x))", "-2"),
        ("(let [x 3] (- (first [1]) (first [x])))", "-2"),
        ("(inc (first [1.5]))", "2.5"),
        ("(dec (first [9223372036854775807]))", "9223372036854775806"),
        ("(inc (first [9223372036854775807]))", "9223372036854775808"),
        (
            "(* 2 (first [9223372036854775807]))",
            "18446744073709551614",
        ),
        (
            "(- 1 (first [9223372036854775809]))",
            "-9223372036854775808",
        ),
        ("(< 1 (first [2.0]))", "true"),
        ("(= :a (first [:a]))", "true"),
        ("(= (first [1]) 1.0)", "true"),
        ("(let [m {:a 5}] (> (:a m) 4))", "true"),
        ("(let [m {:a 5}] (- 4 (:a m)))", "-1"),
        ("(let [m 5] (:a m))", "nil"),
    ] {
        let got = value(source);
        assert_eq!(got.as_deref(), Ok(expected), "{source}");
    }
}
