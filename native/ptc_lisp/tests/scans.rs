//! Loops whose items are passed many at a time: they give what calls of their functions give, however short the executions are.

use crate::running::value;

/// Collections of more items than are passed at once, and of items that are not like the others.
const COLLS: [&str; 7] = [
    "(range 135)",
    "[1 2.5 -3 4.0 9223372036854775807 5]",
    "[]",
    "(map (fn [i] (if (= i 130) 2.5 i)) (range 136))",
    "(let [m {:a 1 :b 2} n {:a 5.5 :b 1}] [m m n {:a 4} m {:b 3} {\"a\" 8} nil m])",
    "(let [m {:a 3}] (map (fn [i] m) (range 131)))",
    "(let [m {:b 3}] (map (fn [i] m) (range 130)))",
];

fn wrong(calls: &[(&str, &str, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (builtin, function, before) in calls {
        for coll in COLLS {
            let scanned = format!("(let [k 2] ({builtin} {function} {before} {coll}))");
            let called = format!("(let [k 2 f {function}] ({builtin} f {before} {coll}))");
            // An error names the function, which is another term in each program.
            let [scanned_value, called_value] = [&scanned, &called].map(|it| {
                value(it).map_err(|error| error.split(' ').take(2).collect::<Vec<_>>().join(" "))
            });
            if scanned_value != called_value {
                wrong.push(format!(
                    "{scanned}: {scanned_value:?}, not {called_value:?}"
                ));
            }
        }
    }
    wrong
}

#[test]
fn filters_and_maps() {
    let functions = [
        "(fn [x] (> x 2))",
        "(fn [x] (<= k x))",
        "(fn [x] (* x 2))",
        "(fn [x] (+ x k))",
        "(fn [x] (* x x))",
        "(fn [x] (> (:a x) 2))",
        "(fn [x] (:a x))",
        "(fn [x] (+ (:a x) k))",
    ];
    for builtin in ["filter", "remove", "map"] {
        let calls = functions.map(|function| (builtin, function, ""));
        assert_eq!(wrong(&calls), Vec::<String>::new());
    }
}

#[test]
fn folds() {
    let functions = [
        "(fn [s x] (+ s x))",
        "(fn [s x] (- x s))",
        "(fn [s x] (* x 3))",
        "(fn [s x] (+ s (:a x)))",
        "(fn [s x] (:a x))",
        "(fn [s x] (< s x))",
    ];
    for before in ["", "0", "1.5"] {
        let calls = functions.map(|function| ("reduce", function, before));
        assert_eq!(wrong(&calls), Vec::<String>::new());
    }
}
