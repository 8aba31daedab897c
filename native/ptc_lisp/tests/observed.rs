//! Observed programs: they give what programs give that are not observed, and the counts of their forms do not depend on how short the
//! executions are.

use crate::running::Run;
use ptc_term::meter::Limits;

const PROGRAMS: [&str; 12] = [
    "(+ 1 (* 2 3))",
    "(loop [i 0 acc []] (if (< i 40) (recur (inc i) (conj acc (* i i))) acc))",
    "(loop [i 0 m {}] (if (< i 9) (recur (inc i) (update m (mod i 2) (fnil conj []) i)) m))",
    "(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 7)",
    "(defn f [n] (if (> n 3) [n n] (recur (inc n)))) (f 0)",
    "(map (fn [x] (let [[a b] [x x]] (filter odd? (range (* a b))))) [1 2 3])",
    "(let [f (fn [x] (inc x))] (reduce + (map f (range 100))))",
    "(for [x [1 2 3] :when (odd? x) y (range x) :while (< y 2)] (cond (= x y) :same (and x (> x y)) [x y] :else nil))",
    "(println 1) (doseq [x [1 2]] (println x)) (case 3 1 :a (2 3) :b)",
    "(sort-by - (vec (range 50)))",
    "(defn g [x] (/ 1 x)) (mapv g [2 1 0])",
    "(map inc [1 2 (return [3 (inc 4)])])",
];

fn run(source: &str, units: usize) -> Run<'_> {
    Run {
        source,
        context: &[],
        units,
        limits: Limits::UNLIMITED,
    }
}

#[test]
fn observed_runs_end_as_others_do() {
    for source in PROGRAMS {
        let (ended, whole) = run(source, 1_000_000).observed();
        assert_eq!(ended, run(source, 1_000_000).run(), "{source}");
        assert!(whole.iter().any(|form| form.runs > 0), "{source}");
        for units in [1, 7, 100] {
            let (again, counts) = run(source, units).observed();
            assert_eq!(again, ended, "{source} in executions of {units}");
            assert_eq!(counts, whole, "{source} in executions of {units}");
        }
    }
}

#[test]
fn nothing_stays_open() {
    let source = "(loop [i 0] (if (< i 100) (let [j (inc i)] (do (inc j) (recur j))) i))";
    let (_, counts) = run(source, 1_000_000).observed();
    let unfinished: u64 = counts.iter().map(|form| form.runs - form.ended).sum();
    // `if` once less than it begins; `let`, `do` and `recur` never end.
    assert_eq!(unfinished, 4 * 100);
}
